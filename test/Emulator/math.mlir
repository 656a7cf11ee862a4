// NVVM's arithmetic and conversions against numpy, one row each, at 32 values around and far from zero.
// RUN: %python %tools/emulate.py %s --reference=arithmetic --rtol=1e-6 | FileCheck %s
// RUN: env FUSE_EMULATOR_CPU=x86-64 %python %tools/emulate.py %s --reference=arithmetic --rtol=1e-6 | FileCheck %s
// CHECK: equal: 672 elements

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @math(%in: memref<32xf32>, %out: memref<21x32xf32>) kernel {
      %tid = gpu.thread_id x
      %half = arith.constant 0.5 : f32
      %small = arith.constant 1.0e-20 : f32
      %x = memref.load %in[%tid] : memref<32xf32>
      %magnitude = arith.mulf %x, %x : f32
      %p = arith.addf %magnitude, %half : f32
      %tinyx = arith.mulf %x, %small : f32
      %v0 = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"(%x) : (f32) -> f32
      %r0 = arith.constant 0 : index
      memref.store %v0, %out[%r0, %tid] : memref<21x32xf32>
      %v1 = llvm.call_intrinsic "llvm.nvvm.lg2.approx.f"(%p) : (f32) -> f32
      %r1 = arith.constant 1 : index
      memref.store %v1, %out[%r1, %tid] : memref<21x32xf32>
      %v2 = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%p) : (f32) -> f32
      %r2 = arith.constant 2 : index
      memref.store %v2, %out[%r2, %tid] : memref<21x32xf32>
      %v3 = llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.f"(%p) : (f32) -> f32
      %r3 = arith.constant 3 : index
      memref.store %v3, %out[%r3, %tid] : memref<21x32xf32>
      %v4 = llvm.call_intrinsic "llvm.nvvm.sqrt.rn.f"(%p) : (f32) -> f32
      %r4 = arith.constant 4 : index
      memref.store %v4, %out[%r4, %tid] : memref<21x32xf32>
      %v5 = llvm.call_intrinsic "llvm.nvvm.sin.approx.f"(%x) : (f32) -> f32
      %r5 = arith.constant 5 : index
      memref.store %v5, %out[%r5, %tid] : memref<21x32xf32>
      %v6 = llvm.call_intrinsic "llvm.nvvm.cos.approx.f"(%x) : (f32) -> f32
      %r6 = arith.constant 6 : index
      memref.store %v6, %out[%r6, %tid] : memref<21x32xf32>
      %v7 = llvm.call_intrinsic "llvm.nvvm.fma.rn.f"(%x, %p, %x) : (f32, f32, f32) -> f32
      %r7 = arith.constant 7 : index
      memref.store %v7, %out[%r7, %tid] : memref<21x32xf32>
      %v8 = llvm.call_intrinsic "llvm.nvvm.fmax.f"(%x, %half) : (f32, f32) -> f32
      %r8 = arith.constant 8 : index
      memref.store %v8, %out[%r8, %tid] : memref<21x32xf32>
      %v9 = llvm.call_intrinsic "llvm.nvvm.fmin.f"(%x, %half) : (f32, f32) -> f32
      %r9 = arith.constant 9 : index
      memref.store %v9, %out[%r9, %tid] : memref<21x32xf32>
      %v10 = llvm.call_intrinsic "llvm.nvvm.div.approx.f"(%x, %p) : (f32, f32) -> f32
      %r10 = arith.constant 10 : index
      memref.store %v10, %out[%r10, %tid] : memref<21x32xf32>
      %v11 = llvm.call_intrinsic "llvm.nvvm.add.rn.sat.f"(%x, %half) : (f32, f32) -> f32
      %r11 = arith.constant 11 : index
      memref.store %v11, %out[%r11, %tid] : memref<21x32xf32>
      %v12 = llvm.call_intrinsic "llvm.nvvm.f2i.rz"(%x) : (f32) -> i32
      %w12 = arith.sitofp %v12 : i32 to f32
      %r12 = arith.constant 12 : index
      memref.store %w12, %out[%r12, %tid] : memref<21x32xf32>
      %v13 = llvm.call_intrinsic "llvm.nvvm.f2i.rn"(%x) : (f32) -> i32
      %w13 = arith.sitofp %v13 : i32 to f32
      %r13 = arith.constant 13 : index
      memref.store %w13, %out[%r13, %tid] : memref<21x32xf32>
      %v14 = llvm.call_intrinsic "llvm.nvvm.f2tf32.rna"(%x) : (f32) -> i32
      %w14 = arith.bitcast %v14 : i32 to f32
      %r14 = arith.constant 14 : index
      memref.store %w14, %out[%r14, %tid] : memref<21x32xf32>
      %tiny = arith.constant 1.0e-20 : f32
      %v15 = llvm.call_intrinsic "llvm.nvvm.mul.rn.ftz.f"(%tiny, %tinyx) : (f32, f32) -> f32
      %r15 = arith.constant 15 : index
      memref.store %v15, %out[%r15, %tid] : memref<21x32xf32>
      %pair = llvm.call_intrinsic "llvm.nvvm.ff2f16x2.rn"(%x, %p) : (f32, f32) -> vector<2xf16>
      %high = vector.extract %pair[1] : f16 from vector<2xf16>
      %wide = arith.extf %high : f16 to f32
      %r16 = arith.constant 16 : index
      memref.store %wide, %out[%r16, %tid] : memref<21x32xf32>
      %bf = arith.truncf %x : f32 to bf16
      %unbf = arith.extf %bf : bf16 to f32
      %r17 = arith.constant 17 : index
      memref.store %unbf, %out[%r17, %tid] : memref<21x32xf32>
      %r18 = arith.constant 18 : index
      %tanh = llvm.call_intrinsic "llvm.tanh.f32"(%x) : (f32) -> f32
      memref.store %tanh, %out[%r18, %tid] : memref<21x32xf32>
      %r19 = arith.constant 19 : index
      %bits = llvm.call_intrinsic "llvm.nvvm.f2h.rn"(%x) : (f32) -> i16
      %f16 = arith.bitcast %bits : i16 to f16
      %f32 = arith.extf %f16 : f16 to f32
      memref.store %f32, %out[%r19, %tid] : memref<21x32xf32>
      %r20 = arith.constant 20 : index
      %up = llvm.call_intrinsic "llvm.nvvm.f2i.rp.ftz"(%x) : (f32) -> i32
      %whole = llvm.call_intrinsic "llvm.nvvm.i2f.rn"(%up) : (i32) -> f32
      memref.store %whole, %out[%r20, %tid] : memref<21x32xf32>
      gpu.return
    }
  }

  func.func private @fuseUnitF32(memref<*xf32>, i64) attributes {llvm.emit_c_interface}
  func.func private @fuseSaveF32(memref<*xf32>, i64, i64) attributes {llvm.emit_c_interface}
  func.func @main() {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %in = memref.alloc() : memref<32xf32>
    %out = memref.alloc() : memref<21x32xf32>
    %ui = memref.cast %in : memref<32xf32> to memref<*xf32>
    %uo = memref.cast %out : memref<21x32xf32> to memref<*xf32>
    call @fuseUnitF32(%ui, %zero) : (memref<*xf32>, i64) -> ()
    call @fuseSaveF32(%ui, %zero, %one) : (memref<*xf32>, i64, i64) -> ()
    gpu.host_register %ui : memref<*xf32>
    gpu.host_register %uo : memref<*xf32>
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    gpu.launch_func @kernels::@math blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
        args(%in: memref<32xf32>, %out: memref<21x32xf32>)
    call @fuseSaveF32(%uo, %zero, %zero) : (memref<*xf32>, i64, i64) -> ()
    return
  }
}
