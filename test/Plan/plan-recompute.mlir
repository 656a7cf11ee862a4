// RUN: fuse-opt %s --fuse-boundary --fuse-plan | FileCheck %s --check-prefix=PLAN
// RUN: fuse-opt %s --fuse-boundary=emit=remarks --fuse-greedy | FileCheck %s
// RUN: fuse-opt %s --fuse-boundary --fuse-plan --fuse-verify-plan -o /dev/null
// RUN: fuse-opt %s --fuse-boundary --fuse-greedy --fuse-unfuse | FileCheck %s --check-prefix=BACK

// A cheap producer of two contractions is stored by no kernel: each evaluates it while it loads.
// PLAN-LABEL: @cheap
// PLAN: linalg.abs {{.*}}fuse.recompute
// PLAN: plan = "recomputed in kernel 0"
// PLAN: plan = "recomputed in kernel 1"
// CHECK-LABEL: @cheap
// CHECK: fuse.kernel "contraction"
// CHECK: linalg.abs
// CHECK: linalg.matmul
// CHECK: fuse.kernel "contraction"
// CHECK: linalg.abs
// CHECK: linalg.matmul
// BACK-LABEL: @cheap
// BACK-COUNT-2: linalg.abs
// BACK-NOT: linalg.abs
// BACK: return
func.func @cheap(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %v: tensor<32x64xf32>) -> (tensor<64x64xf32>, tensor<32x64xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = linalg.abs ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = linalg.matmul ins(%a, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %e2 = tensor.empty() : tensor<32x64xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<32x64xf32>) -> tensor<32x64xf32>
  %n = linalg.matmul ins(%v, %a : tensor<32x64xf32>, tensor<64x64xf32>) outs(%f2 : tensor<32x64xf32>) -> tensor<32x64xf32>
  return %m, %n : tensor<64x64xf32>, tensor<32x64xf32>
}

// A transcendental one is evaluated once and stored.
// PLAN-LABEL: @costly
// PLAN-NOT: fuse.recompute
// CHECK-LABEL: @costly
// CHECK: fuse.kernel "pointwise"
// CHECK: linalg.exp
// CHECK: fuse.kernel "siblings"
// CHECK-NOT: linalg.exp
// CHECK: return
func.func @costly(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %v: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = linalg.exp ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = linalg.matmul ins(%a, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %n = linalg.matmul ins(%a, %v : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %m, %n : tensor<64x64xf32>, tensor<64x64xf32>
}
