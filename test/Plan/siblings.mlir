// RUN: fuse-opt %s -split-input-file --fuse-boundary --fuse-plan --fuse-verify-plan --fuse-explain -o /dev/null 2>&1 | FileCheck %s
// RUN: fuse-opt %s -split-input-file --fuse-boundary --fuse-greedy | FileCheck %s --check-prefix=KERNEL
// RUN: fuse-opt %s -split-input-file --fuse-boundary --fuse-greedy --fuse-split-kernels | FileCheck %s --check-prefix=SPLIT

// Two matmuls of one input are one launch; split again they are a kernel each.
// CHECK: siblings #0 matmul, #1 matmul  fuse {{ *}}can fuse
// CHECK-NEXT: bytes_removed=16384, gain_us=
// CHECK: kernel 0 siblings (planned): matmul, matmul
// KERNEL-LABEL: @same_input
// KERNEL: %{{.*}}:2 = fuse.kernel "siblings" {{.*}} (%arg0, %arg1, %arg2)
// SPLIT-LABEL: @same_input
// SPLIT: fuse.kernel "contraction" {{.*}} (%arg0, %arg1)
// SPLIT: fuse.kernel "contraction" {{.*}} (%arg0, %arg2)
func.func @same_input(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %v: tensor<64x32xf32>) -> (tensor<64x64xf32>, tensor<64x32xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %e2 = tensor.empty() : tensor<64x32xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<64x32xf32>) -> tensor<64x32xf32>
  %m = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %n = linalg.matmul ins(%x, %v : tensor<64x64xf32>, tensor<64x32xf32>) outs(%f2 : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %m, %n : tensor<64x64xf32>, tensor<64x32xf32>
}

// -----

// Nothing is read twice: two kernels, and no record.
// CHECK-NOT: siblings #
// CHECK: kernel 0 contraction (planned): matmul
// KERNEL-LABEL: @other_input
// KERNEL-COUNT-2: fuse.kernel "contraction"
func.func @other_input(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>, %w: tensor<64x64xf32>, %v: tensor<64x32xf32>) -> (tensor<64x64xf32>, tensor<64x32xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %e2 = tensor.empty() : tensor<64x32xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<64x32xf32>) -> tensor<64x32xf32>
  %m = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %n = linalg.matmul ins(%y, %v : tensor<64x64xf32>, tensor<64x32xf32>) outs(%f2 : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %m, %n : tensor<64x64xf32>, tensor<64x32xf32>
}

// -----

// The second one reads x as its other operand: it has 32 rows, the first one 64.
// CHECK: siblings #0 matmul, #1 matmul  keep {{ *}}profile: siblings are not cut alike
// CHECK-NEXT: first_rows=64, rows=32
// CHECK-NEXT: flips with: siblings that are cut along the same rows
func.func @other_rows(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %v: tensor<32x64xf32>) -> (tensor<64x64xf32>, tensor<32x64xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %e2 = tensor.empty() : tensor<32x64xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<32x64xf32>) -> tensor<32x64xf32>
  %m = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %n = linalg.matmul ins(%v, %x : tensor<32x64xf32>, tensor<64x64xf32>) outs(%f2 : tensor<32x64xf32>) -> tensor<32x64xf32>
  return %m, %n : tensor<64x64xf32>, tensor<32x64xf32>
}

// -----

// The second one needs, through a kernel between, what the first one computes.
// CHECK: siblings #0 matmul, #2 matmul  keep {{ *}}dependency: fusing would make a cycle
// CHECK-NEXT: flips with: siblings of which neither needs the other's result
func.func @path_between(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = linalg.matmul ins(%w, %m : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %n = linalg.matmul ins(%x, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %n : tensor<64x64xf32>
}

// -----

// A call with unknown effects stands between.
// CHECK: siblings #0 matmul, #1 matmul  keep {{ *}}dependency: side effect
// CHECK-NEXT: flips with: move the operation with the effect before or behind both kernels
func.func private @print()
func.func @effect_between(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %v: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  func.call @print() : () -> ()
  %n = linalg.matmul ins(%x, %v : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %m, %n : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// One of them is not to be fused.
// CHECK: siblings #0 matmul, #1 matmul  keep {{ *}}override: kept by hint
// CHECK-NEXT: flips with: remove the hint
func.func @hint(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %v: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %n = linalg.matmul {fuse.hint = "never"} ins(%x, %v : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %m, %n : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// The second one overwrites what the first one reads: it needs a copy of it, made in between.
// CHECK: siblings #0 exp, #1 generic(addf)  keep {{ *}}dependency: a copy is needed
// CHECK-NEXT: flips with: use a fresh tensor.empty as the destination
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @overwritten(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %e = tensor.empty() : tensor<64x64xf32>
  %a = linalg.exp ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<64x64xf32>) outs(%x : tensor<64x64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %r = arith.addf %p, %o : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  return %a, %b : tensor<64x64xf32>, tensor<64x64xf32>
}
