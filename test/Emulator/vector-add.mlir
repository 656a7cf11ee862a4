// Vector addition over allocated device memory, with asynchronous copies and a ragged last block.
// RUN: %python %tools/emulate.py %s --reference=vector_add | FileCheck %s
// CHECK: equal: 1000 elements

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @add(%a: memref<1000xf32>, %b: memref<1000xf32>, %n: index) kernel {
      %t = gpu.thread_id x
      %block = gpu.block_id x
      %size = gpu.block_dim x
      %first = arith.muli %block, %size : index
      %i = arith.addi %first, %t : index
      %inside = arith.cmpi ult, %i, %n : index
      scf.if %inside {
        %x = memref.load %a[%i] : memref<1000xf32>
        %y = memref.load %b[%i] : memref<1000xf32>
        %sum = arith.addf %x, %y : f32
        memref.store %sum, %b[%i] : memref<1000xf32>
      }
      gpu.return
    }
  }

  func.func private @fuseFillF32(memref<*xf32>, i64) attributes {llvm.emit_c_interface}
  func.func private @fuseSaveF32(memref<*xf32>, i64, i64) attributes {llvm.emit_c_interface}
  func.func @main() {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %a = memref.alloc() : memref<1000xf32>
    %b = memref.alloc() : memref<1000xf32>
    %ua = memref.cast %a : memref<1000xf32> to memref<*xf32>
    %ub = memref.cast %b : memref<1000xf32> to memref<*xf32>
    call @fuseFillF32(%ua, %zero) : (memref<*xf32>, i64) -> ()
    call @fuseFillF32(%ub, %one) : (memref<*xf32>, i64) -> ()
    call @fuseSaveF32(%ua, %zero, %one) : (memref<*xf32>, i64, i64) -> ()
    call @fuseSaveF32(%ub, %one, %one) : (memref<*xf32>, i64, i64) -> ()
    %c1 = arith.constant 1 : index
    %blocks = arith.constant 8 : index
    %threads = arith.constant 128 : index
    %n = arith.constant 1000 : index
    %t0 = gpu.wait async
    %da, %t1 = gpu.alloc async [%t0] () : memref<1000xf32>
    %db, %t2 = gpu.alloc async [%t1] () : memref<1000xf32>
    %t3 = gpu.memcpy async [%t2] %da, %a : memref<1000xf32>, memref<1000xf32>
    %t4 = gpu.memcpy async [%t3] %db, %b : memref<1000xf32>, memref<1000xf32>
    %t5 = gpu.launch_func async [%t4] @kernels::@add blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1)
        args(%da: memref<1000xf32>, %db: memref<1000xf32>, %n: index)
    %t6 = gpu.memcpy async [%t5] %b, %db : memref<1000xf32>, memref<1000xf32>
    %t7 = gpu.dealloc async [%t6] %da : memref<1000xf32>
    %t8 = gpu.dealloc async [%t7] %db : memref<1000xf32>
    gpu.wait [%t8]
    call @fuseSaveF32(%ub, %zero, %zero) : (memref<*xf32>, i64, i64) -> ()
    return
  }
}
