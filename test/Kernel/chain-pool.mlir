// RUN: fuse-opt %s -split-input-file --fuse-boundary --fuse-plan=objective=bytes --fuse-verify-plan --fuse-explain -o /dev/null 2>&1 | FileCheck %s
// RUN: fuse-opt %s -split-input-file --fuse-boundary --fuse-greedy=objective=bytes --fuse-split-kernels | FileCheck %s --check-prefix=SPLIT

#x = affine_map<(c, h, w) -> (c, h, w)>
#c = affine_map<(c, h, w) -> (c)>

// The mean over an image, and the linear layer that reads it.
// CHECK: function @pool
// CHECK: kernel 0 chain (planned): generic(addf), matmul
// SPLIT-LABEL: @pool
// SPLIT: fuse.kernel "row" {{.*}} (%arg0)
// SPLIT: fuse.kernel "contraction"
func.func @pool(%x: tensor<64x7x7xf32>, %w: tensor<64x100xf32>) -> tensor<1x100xf32> {
  %z = arith.constant 0.0 : f32
  %p0 = tensor.empty() : tensor<64xf32>
  %p1 = linalg.fill ins(%z : f32) outs(%p0 : tensor<64xf32>) -> tensor<64xf32>
  %p = linalg.generic {indexing_maps = [#x, #c], iterator_types = ["parallel", "reduction", "reduction"]} ins(%x : tensor<64x7x7xf32>) outs(%p1 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %m = tensor.expand_shape %p [[0, 1]] output_shape [1, 64] : tensor<64xf32> into tensor<1x64xf32>
  %y0 = tensor.empty() : tensor<1x100xf32>
  %y1 = linalg.fill ins(%z : f32) outs(%y0 : tensor<1x100xf32>) -> tensor<1x100xf32>
  %y = linalg.matmul ins(%m, %w : tensor<1x64xf32>, tensor<64x100xf32>) outs(%y1 : tensor<1x100xf32>) -> tensor<1x100xf32>
  return %y : tensor<1x100xf32>
}

// -----
#x = affine_map<(k, n, h) -> (k, n, h)>
#c = affine_map<(k, n, h) -> (k, n)>

// Means that are the weights: each block would need those of all its columns.
// CHECK: function @weights
// CHECK: keep {{ *}}profile: no kernel class chains these loop nests
// CHECK-NEXT: flips with: a window or pooling that gives the rows of the contraction, not its weights
func.func @weights(%x: tensor<64x64x7xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %z = arith.constant 0.0 : f32
  %p0 = tensor.empty() : tensor<64x64xf32>
  %p1 = linalg.fill ins(%z : f32) outs(%p0 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.generic {indexing_maps = [#x, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<64x64x7xf32>) outs(%p1 : tensor<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %y = linalg.matmul ins(%w, %p : tensor<64x64xf32>, tensor<64x64xf32>) outs(%p1 : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// -----
#x = affine_map<(m, k) -> (m, k)>
#m = affine_map<(m, k) -> (m)>

// A sum of each row that scales the row: its result is no element that is multiplied.
// CHECK: function @norm
// CHECK: plan: profile: no kernel class chains these loop nests
// CHECK: kernel 0 row (planned): generic(addf)
// CHECK: kernel 1 contraction (planned): generic(divf), matmul
func.func @norm(%x: tensor<64x64xf32>, %w: tensor<64x100xf32>) -> tensor<64x100xf32> {
  %z = arith.constant 0.0 : f32
  %p0 = tensor.empty() : tensor<64xf32>
  %p1 = linalg.fill ins(%z : f32) outs(%p0 : tensor<64xf32>) -> tensor<64xf32>
  %p = linalg.generic {indexing_maps = [#x, #m], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x64xf32>) outs(%p1 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %n0 = tensor.empty() : tensor<64x64xf32>
  %n = linalg.generic {indexing_maps = [#x, #m, #x], iterator_types = ["parallel", "parallel"]} ins(%x, %p : tensor<64x64xf32>, tensor<64xf32>) outs(%n0 : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %y0 = tensor.empty() : tensor<64x100xf32>
  %y1 = linalg.fill ins(%z : f32) outs(%y0 : tensor<64x100xf32>) -> tensor<64x100xf32>
  %y = linalg.matmul ins(%n, %w : tensor<64x64xf32>, tensor<64x100xf32>) outs(%y1 : tensor<64x100xf32>) -> tensor<64x100xf32>
  return %y : tensor<64x100xf32>
}
