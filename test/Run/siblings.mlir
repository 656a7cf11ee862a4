// RUN: fuse-opt %s --fuse-boundary=target=cpu --fuse-greedy | FileCheck %s --check-prefix=PLAN
// RUN: fuse-run %s --mode=full --compare --repeat=1 | FileCheck %s

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Two matmuls that both evaluate |x| again, in one launch; two sums of rows in another. The CPU runs a kernel for each, and none
// evaluates more than it needs.
// PLAN: fuse.kernel "siblings"
// PLAN: linalg.abs
// PLAN-NOT: linalg.abs
// PLAN: linalg.matmul
// PLAN: linalg.matmul
// CHECK: kernel_{{[0-9]+}}_contraction
// CHECK: kernel_{{[0-9]+}}_contraction
// CHECK-NOT: siblings
// CHECK: result 0: equal
// CHECK: result 1: equal
// CHECK: result 2: equal
// CHECK: result 3: equal
func.func @main(%x: tensor<96x64xf32>, %w: tensor<64x48xf32>, %v: tensor<64x80xf32>, %y: tensor<96x512xf32>)
    -> (tensor<96x48xf32>, tensor<96x80xf32>, tensor<96xf32>, tensor<96xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x64xf32>
  %a = linalg.abs ins(%x : tensor<96x64xf32>) outs(%e : tensor<96x64xf32>) -> tensor<96x64xf32>
  %m0 = tensor.empty() : tensor<96x48xf32>
  %m1 = linalg.fill ins(%z : f32) outs(%m0 : tensor<96x48xf32>) -> tensor<96x48xf32>
  %m = linalg.matmul ins(%a, %w : tensor<96x64xf32>, tensor<64x48xf32>) outs(%m1 : tensor<96x48xf32>) -> tensor<96x48xf32>
  %n0 = tensor.empty() : tensor<96x80xf32>
  %n1 = linalg.fill ins(%z : f32) outs(%n0 : tensor<96x80xf32>) -> tensor<96x80xf32>
  %n = linalg.matmul ins(%a, %v : tensor<96x64xf32>, tensor<64x80xf32>) outs(%n1 : tensor<96x80xf32>) -> tensor<96x80xf32>
  %s0 = tensor.empty() : tensor<96xf32>
  %s1 = linalg.fill ins(%z : f32) outs(%s0 : tensor<96xf32>) -> tensor<96xf32>
  %s = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<96x512xf32>) outs(%s1 : tensor<96xf32>) {
  ^bb0(%p: f32, %o: f32):
    %r = arith.addf %p, %o : f32
    linalg.yield %r : f32
  } -> tensor<96xf32>
  %t = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<96x512xf32>) outs(%s1 : tensor<96xf32>) {
  ^bb0(%p: f32, %o: f32):
    %q = arith.mulf %p, %p : f32
    %r = arith.addf %q, %o : f32
    linalg.yield %r : f32
  } -> tensor<96xf32>
  return %m, %n, %s, %t : tensor<96x48xf32>, tensor<96x80xf32>, tensor<96xf32>, tensor<96xf32>
}
