// A grid-stride loop whose last turn is ragged: 3 blocks of 48 threads over 1003 elements. A block of 48 has half a warp.
// RUN: %python %tools/emulate.py %s --reference=twice_plus_one | FileCheck %s
// CHECK: equal: 1003 elements

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @scale(%a: memref<1003xf32>) kernel {
      %two = arith.constant 2.0 : f32
      %one = arith.constant 1.0 : f32
      %n = arith.constant 1003 : index
      %t = gpu.thread_id x
      %block = gpu.block_id x
      %size = gpu.block_dim x
      %blocks = gpu.grid_dim x
      %start = arith.muli %block, %size : index
      %first = arith.addi %start, %t : index
      %stride = arith.muli %blocks, %size : index
      scf.for %i = %first to %n step %stride {
        %x = memref.load %a[%i] : memref<1003xf32>
        %y = arith.mulf %x, %two : f32
        %z = arith.addf %y, %one : f32
        memref.store %z, %a[%i] : memref<1003xf32>
      }
      gpu.return
    }
  }

  func.func private @fuseFillF32(memref<*xf32>, i64) attributes {llvm.emit_c_interface}
  func.func private @fuseSaveF32(memref<*xf32>, i64, i64) attributes {llvm.emit_c_interface}
  func.func @main() {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %a = memref.alloc() : memref<1003xf32>
    %ua = memref.cast %a : memref<1003xf32> to memref<*xf32>
    call @fuseFillF32(%ua, %zero) : (memref<*xf32>, i64) -> ()
    call @fuseSaveF32(%ua, %zero, %one) : (memref<*xf32>, i64, i64) -> ()
    gpu.host_register %ua : memref<*xf32>
    %c1 = arith.constant 1 : index
    %blocks = arith.constant 3 : index
    %threads = arith.constant 48 : index
    gpu.launch_func @kernels::@scale blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1)
        args(%a: memref<1003xf32>)
    gpu.host_unregister %ua : memref<*xf32>
    call @fuseSaveF32(%ua, %zero, %zero) : (memref<*xf32>, i64, i64) -> ()
    return
  }
}
