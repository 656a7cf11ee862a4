// RUN: fuse-opt %s --fuse-apply -o %t.mlir 2> %t.err
// RUN: count 0 < %t.err
// RUN: FileCheck %s --input-file=%t.mlir

// Group 0 begins first and ends before group 1, but one of its operators needs group 1: forming that moves the operator behind it,
// and group 0 is formed where its last operator then stands.
// CHECK: %[[B:.*]] = fuse.kernel "row"
// CHECK: %[[A:.*]]:2 = fuse.kernel "row" {{.*}}(%arg0, %[[B]])
// CHECK: return %[[A]]#
func.func @f(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %e1 = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e1 : tensor<64xf32>) -> tensor<64xf32>
  %a = linalg.negf {fuse.group = #fuse.group<id = 0, kernel = "row">} ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = linalg.exp {fuse.group = #fuse.group<id = 1, kernel = "row">} ins(%y : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = linalg.reduce { arith.addf } ins(%b : tensor<64x64xf32>) outs(%f : tensor<64xf32>) dimensions = [1] {fuse.group = #fuse.group<id = 1, kernel = "row">}
  %d = linalg.generic {fuse.group = #fuse.group<id = 0, kernel = "row">, indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%a, %c : tensor<64x64xf32>, tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.subf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %g = linalg.reduce { arith.maximumf } ins(%a : tensor<64x64xf32>) outs(%f : tensor<64xf32>) dimensions = [1] {fuse.group = #fuse.group<id = 0, kernel = "row">}
  %h = linalg.sqrt {fuse.group = #fuse.group<id = 1, kernel = "row">} ins(%c : tensor<64xf32>) outs(%e1 : tensor<64xf32>) -> tensor<64xf32>
  %k = linalg.add {fuse.group = #fuse.group<id = 1, kernel = "row">} ins(%h, %c : tensor<64xf32>, tensor<64xf32>) outs(%e1 : tensor<64xf32>) -> tensor<64xf32>
  return %d, %g : tensor<64x64xf32>, tensor<64xf32>
}
