// RUN: fuse-opt %s --fuse-boundary=target=cpu --fuse-greedy | FileCheck %s --check-prefix=PLAN
// RUN: %python %tools/attention_dynamic.py --fuse-run=fuse-run %s | FileCheck %s

// A batch of unknown size is attention too; five of them are computed right.
// PLAN: fuse.kernel "attention"
// PLAN-NOT: fuse.kernel
// CHECK: kernel_0_attention
// CHECK: within the tolerance
#all = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (b, m)>
func.func @main(%q: tensor<?x64x32xf32>, %k: tensor<?x32x128xf32>, %v: tensor<?x128x32xf32>) -> tensor<?x64x32xf32> {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %b = tensor.dim %q, %c0 : tensor<?x64x32xf32>
  %s0 = tensor.empty(%b) : tensor<?x64x128xf32>
  %s1 = linalg.fill ins(%z : f32) outs(%s0 : tensor<?x64x128xf32>) -> tensor<?x64x128xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<?x64x32xf32>, tensor<?x32x128xf32>) outs(%s1 : tensor<?x64x128xf32>) -> tensor<?x64x128xf32>
  %e = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<?x64x128xf32>) outs(%s0 : tensor<?x64x128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<?x64x128xf32>
  %t0 = tensor.empty(%b) : tensor<?x64xf32>
  %t1 = linalg.fill ins(%z : f32) outs(%t0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %t = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : tensor<?x64x128xf32>) outs(%t1 : tensor<?x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<?x64xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e, %t : tensor<?x64x128xf32>, tensor<?x64xf32>) outs(%s0 : tensor<?x64x128xf32>) {
  ^bb0(%a: f32, %b2: f32, %o: f32):
    %r = arith.divf %a, %b2 : f32
    linalg.yield %r : f32
  } -> tensor<?x64x128xf32>
  %o0 = tensor.empty(%b) : tensor<?x64x32xf32>
  %o1 = linalg.fill ins(%z : f32) outs(%o0 : tensor<?x64x32xf32>) -> tensor<?x64x32xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<?x64x128xf32>, tensor<?x128x32xf32>) outs(%o1 : tensor<?x64x32xf32>) -> tensor<?x64x32xf32>
  return %o : tensor<?x64x32xf32>
}
