// Softmax of rows by a warp each: redux-like shuffles, ex2.approx and rcp.approx.
// RUN: %python %tools/emulate.py %s --reference=softmax --rtol=1e-5 | FileCheck %s
// CHECK: equal: 448 elements

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @softmax(%a: memref<7x64xf32>, %out: memref<7x64xf32>) kernel {
      %width = arith.constant 32 : i32
      %c32 = arith.constant 32 : index
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c5 = arith.constant 5 : index
      %one = arith.constant 1 : i32
      %log2e = arith.constant 1.44269504 : f32
      %t = gpu.thread_id x
      %row = gpu.block_id x
      %t2 = arith.addi %t, %c32 : index
      %x = memref.load %a[%row, %t] : memref<7x64xf32>
      %y = memref.load %a[%row, %t2] : memref<7x64xf32>
      %m0 = arith.maximumf %x, %y : f32
      %max = scf.for %i = %c0 to %c5 step %c1 iter_args(%m = %m0) -> f32 {
        %i32 = arith.index_cast %i : index to i32
        %d = arith.shli %one, %i32 : i32
        %s, %p = gpu.shuffle xor %m, %d, %width : f32
        %n = arith.maximumf %m, %s : f32
        scf.yield %n : f32
      }
      %dx = arith.subf %x, %max : f32
      %dy = arith.subf %y, %max : f32
      %sx = arith.mulf %dx, %log2e : f32
      %sy = arith.mulf %dy, %log2e : f32
      %ex = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"(%sx) : (f32) -> f32
      %ey = llvm.call_intrinsic "llvm.nvvm.ex2.approx"(%sy) : (f32) -> f32
      %e0 = arith.addf %ex, %ey : f32
      %total = scf.for %i = %c0 to %c5 step %c1 iter_args(%e = %e0) -> f32 {
        %i32 = arith.index_cast %i : index to i32
        %d = arith.shli %one, %i32 : i32
        %s, %p = gpu.shuffle xor %e, %d, %width : f32
        %n = arith.addf %e, %s : f32
        scf.yield %n : f32
      }
      %inverse = nvvm.rcp.approx.ftz.f %total : f32
      %rx = arith.mulf %ex, %inverse : f32
      %ry = arith.mulf %ey, %inverse : f32
      memref.store %rx, %out[%row, %t] : memref<7x64xf32>
      memref.store %ry, %out[%row, %t2] : memref<7x64xf32>
      gpu.return
    }
  }

  func.func private @fuseFillF32(memref<*xf32>, i64) attributes {llvm.emit_c_interface}
  func.func private @fuseSaveF32(memref<*xf32>, i64, i64) attributes {llvm.emit_c_interface}
  func.func @main() {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %a = memref.alloc() : memref<7x64xf32>
    %out = memref.alloc() : memref<7x64xf32>
    %ua = memref.cast %a : memref<7x64xf32> to memref<*xf32>
    %uo = memref.cast %out : memref<7x64xf32> to memref<*xf32>
    call @fuseFillF32(%ua, %zero) : (memref<*xf32>, i64) -> ()
    call @fuseSaveF32(%ua, %zero, %one) : (memref<*xf32>, i64, i64) -> ()
    gpu.host_register %ua : memref<*xf32>
    gpu.host_register %uo : memref<*xf32>
    %c1 = arith.constant 1 : index
    %c7 = arith.constant 7 : index
    %c32 = arith.constant 32 : index
    gpu.launch_func @kernels::@softmax blocks in (%c7, %c1, %c1) threads in (%c32, %c1, %c1)
        args(%a: memref<7x64xf32>, %out: memref<7x64xf32>)
    call @fuseSaveF32(%uo, %zero, %zero) : (memref<*xf32>, i64, i64) -> ()
    return
  }
}
