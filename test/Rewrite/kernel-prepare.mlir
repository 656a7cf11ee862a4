// RUN: fuse-opt %s --fuse-boundary --fuse-greedy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: fuse-opt %t.mlir --fuse-boundary --fuse-greedy | diff %t.mlir -

// What depends on parameters only moves to @f.prepare; the function keeps its signature and calls both. A parameter that is used
// as it is, and a view of one, are no preparation.
// CHECK-LABEL: func.func private @scaled.prepare(
// CHECK-SAME: %[[W:.*]]: tensor<64x64xf32> {fuse.param}, %[[S:.*]]: tensor<64xf32> {fuse.param}) -> ({{.*}}tensor<64x64xf32>
// CHECK: fuse.kernel "pointwise"
// CHECK: return
// CHECK-LABEL: func.func private @scaled.body(
// CHECK-SAME: %[[X:.*]]: tensor<64x64xf32>, %{{.*}}: tensor<64{{.*}}> {fuse.param}, %{{.*}}: tensor<64{{.*}}> {fuse.param}) -> tensor<64x64xf32>
// CHECK: fuse.kernel "contraction"
// CHECK-NOT: fuse.kernel
// CHECK: return
// CHECK-LABEL: func.func @scaled(
// CHECK-SAME: %[[W:.*]]: tensor<64x64xf32> {fuse.param}, %[[X:.*]]: tensor<64x64xf32>, %[[S:.*]]: tensor<64xf32> {fuse.param}) -> tensor<64x64xf32>
// CHECK: %[[P:.*]]:2 = call @scaled.prepare(%[[W]], %[[S]])
// CHECK: %[[R:.*]] = call @scaled.body(%[[X]], %[[P]]#0, %[[P]]#1)
// CHECK: return %[[R]]
func.func @scaled(%w: tensor<64x64xf32> {fuse.param}, %x: tensor<64x64xf32>, %s: tensor<64xf32> {fuse.param}) -> tensor<64x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%w, %s : tensor<64x64xf32>, tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.mulf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = linalg.matmul ins(%x, %v : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%m, %s : tensor<64x64xf32>, tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.addf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  return %a : tensor<64x64xf32>
}

// Without a parameter, and with one that nothing is computed from alone, there is one function.
// CHECK-LABEL: func.func @plain(
// CHECK: fuse.kernel "contraction"
// CHECK-LABEL: func.func @used_as_it_is(
// CHECK: fuse.kernel "contraction"
// CHECK-NOT: .prepare
func.func @plain(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %n = linalg.negf ins(%w : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = linalg.matmul ins(%x, %n : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %m : tensor<64x64xf32>
}
func.func @used_as_it_is(%x: tensor<64x64xf32>, %w: tensor<64x64xf32> {fuse.param}) -> tensor<64x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %et = tensor.empty() : tensor<64x64xf32>
  %t = linalg.transpose ins(%w : tensor<64x64xf32>) outs(%et : tensor<64x64xf32>) permutation = [1, 0]
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = linalg.matmul ins(%x, %t : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %m : tensor<64x64xf32>
}
