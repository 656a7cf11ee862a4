// What upstream's transform dialect makes of linalg.matmul (mma.sync m16n8k4 of tf32, and m16n8k16 of f16), lowered by the
// stock pipeline. The inputs are small whole numbers: both types hold them and their sums.
// RUN: %python %tools/emulate.py %s --reference=both_matmuls \
// RUN:   --passes="--transform-interpreter --test-transform-dialect-erase-schedule --gpu-kernel-outlining --lower-affine" \
// RUN:   | FileCheck %s
// CHECK: equal: 256 elements

module attributes {gpu.container_module, transform.with_named_sequence} {
  func.func private @fuseFillI32(memref<*xi32>, i64) attributes {llvm.emit_c_interface}
  func.func private @fuseSaveI32(memref<*xi32>, i64, i64) attributes {llvm.emit_c_interface}
  func.func private @fuseSaveF32(memref<*xf32>, i64, i64) attributes {llvm.emit_c_interface}

  func.func @multiply(%a: memref<16x4xf32>, %b: memref<4x8xf32>, %c: memref<16x8xf32>,
                      %p: memref<16x16xf16>, %q: memref<16x8xf16>, %r: memref<16x8xf16>) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%nx = %c32, %ny = %c1, %nz = %c1) {
      linalg.matmul ins(%a, %b : memref<16x4xf32>, memref<4x8xf32>) outs(%c : memref<16x8xf32>)
      gpu.terminator
    }
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%nx = %c32, %ny = %c1, %nz = %c1) {
      linalg.matmul ins(%p, %q : memref<16x16xf16>, memref<16x8xf16>) outs(%r : memref<16x8xf16>)
      gpu.terminator
    }
    return
  }

  func.func @main() {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %none = arith.constant 0.0 : f32
    %none16 = arith.constant 0.0 : f16
    %i = memref.alloc() : memref<16x16xi32>
    %j = memref.alloc() : memref<16x8xi32>
    %ui = memref.cast %i : memref<16x16xi32> to memref<*xi32>
    %uj = memref.cast %j : memref<16x8xi32> to memref<*xi32>
    call @fuseFillI32(%ui, %zero) : (memref<*xi32>, i64) -> ()
    call @fuseFillI32(%uj, %one) : (memref<*xi32>, i64) -> ()
    call @fuseSaveI32(%ui, %zero, %one) : (memref<*xi32>, i64, i64) -> ()
    call @fuseSaveI32(%uj, %one, %one) : (memref<*xi32>, i64, i64) -> ()
    %a = memref.alloc() : memref<16x4xf32>
    %b = memref.alloc() : memref<4x8xf32>
    %c = memref.alloc() : memref<16x8xf32>
    %p = memref.alloc() : memref<16x16xf16>
    %q = memref.alloc() : memref<16x8xf16>
    %r = memref.alloc() : memref<16x8xf16>
    %out = memref.alloc() : memref<2x16x8xf32>
    affine.for %x = 0 to 16 {
      affine.for %y = 0 to 16 {
        %v = affine.load %i[%x, %y] : memref<16x16xi32>
        %h = arith.sitofp %v : i32 to f16
        affine.store %h, %p[%x, %y] : memref<16x16xf16>
      }
      affine.for %y = 0 to 4 {
        %v = affine.load %i[%x, %y] : memref<16x16xi32>
        %f = arith.sitofp %v : i32 to f32
        affine.store %f, %a[%x, %y] : memref<16x4xf32>
      }
      affine.for %y = 0 to 8 {
        %v = affine.load %j[%x, %y] : memref<16x8xi32>
        %h = arith.sitofp %v : i32 to f16
        affine.store %h, %q[%x, %y] : memref<16x8xf16>
        affine.store %none16, %r[%x, %y] : memref<16x8xf16>
        affine.store %none, %c[%x, %y] : memref<16x8xf32>
      }
    }
    affine.for %x = 0 to 4 {
      affine.for %y = 0 to 8 {
        %v = affine.load %j[%x, %y] : memref<16x8xi32>
        %f = arith.sitofp %v : i32 to f32
        affine.store %f, %b[%x, %y] : memref<4x8xf32>
      }
    }
    %ua = memref.cast %a : memref<16x4xf32> to memref<*xf32>
    %ub = memref.cast %b : memref<4x8xf32> to memref<*xf32>
    %uc = memref.cast %c : memref<16x8xf32> to memref<*xf32>
    %up = memref.cast %p : memref<16x16xf16> to memref<*xf16>
    %uq = memref.cast %q : memref<16x8xf16> to memref<*xf16>
    %ur = memref.cast %r : memref<16x8xf16> to memref<*xf16>
    gpu.host_register %ua : memref<*xf32>
    gpu.host_register %ub : memref<*xf32>
    gpu.host_register %uc : memref<*xf32>
    gpu.host_register %up : memref<*xf16>
    gpu.host_register %uq : memref<*xf16>
    gpu.host_register %ur : memref<*xf16>
    call @multiply(%a, %b, %c, %p, %q, %r) : (memref<16x4xf32>, memref<4x8xf32>, memref<16x8xf32>,
                                              memref<16x16xf16>, memref<16x8xf16>, memref<16x8xf16>) -> ()
    affine.for %x = 0 to 16 {
      affine.for %y = 0 to 8 {
        %f = affine.load %c[%x, %y] : memref<16x8xf32>
        %h = affine.load %r[%x, %y] : memref<16x8xf16>
        %g = arith.extf %h : f16 to f32
        affine.store %f, %out[0, %x, %y] : memref<2x16x8xf32>
        affine.store %g, %out[1, %x, %y] : memref<2x16x8xf32>
      }
    }
    %uo = memref.cast %out : memref<2x16x8xf32> to memref<*xf32>
    call @fuseSaveF32(%uo, %zero, %zero) : (memref<*xf32>, i64, i64) -> ()
    return
  }

  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %matmuls = transform.structured.match ops{["linalg.matmul"]} in %module : (!transform.any_op) -> !transform.any_op
    transform.nvgpu.rewrite_matmul_as_mma_sync %matmuls : (!transform.any_op) -> ()
    transform.yield
  }
}
