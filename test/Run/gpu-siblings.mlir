// RUN: %python %tools/run_dynamic.py --target=emulator:sm_80 --extents=37 %s | FileCheck %s
// RUN: %python %tools/run_dynamic.py --target=emulator:sm_80 --extents=1 %s | FileCheck %s

// Three products of x, each with its epilogue, as one launch: two have code in common, the third has other columns. The number of
// rows, and with it where the blocks of each begin, is known at the launch.
// CHECK:     kernel_0_siblings 1 siblings
// CHECK-NOT: kernel_
// CHECK:     result 0: equal
// CHECK:     result 1: equal
// CHECK:     result 2: equal

#map = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>

func.func @main(%x: tensor<?x96xf32>, %w: tensor<96x48xf32>, %v: tensor<96x80xf32>, %u: tensor<96x48xf32>, %b: tensor<48xf32>, %c: tensor<80xf32>)
    -> (tensor<?x48xf32>, tensor<?x80xf32>, tensor<?x48xf32>) {
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x96xf32>
  %e = tensor.empty(%m) : tensor<?x48xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x48xf32>) -> tensor<?x48xf32>
  %q = linalg.matmul ins(%x, %w : tensor<?x96xf32>, tensor<96x48xf32>) outs(%f : tensor<?x48xf32>) -> tensor<?x48xf32>
  %qb = linalg.generic {indexing_maps = [#map, #col, #map], iterator_types = ["parallel", "parallel"]} ins(%q, %b : tensor<?x48xf32>, tensor<48xf32>) outs(%e : tensor<?x48xf32>) {
  ^bb0(%p: f32, %o: f32, %r: f32):
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<?x48xf32>
  %e2 = tensor.empty(%m) : tensor<?x80xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<?x80xf32>) -> tensor<?x80xf32>
  %k = linalg.matmul ins(%x, %v : tensor<?x96xf32>, tensor<96x80xf32>) outs(%f2 : tensor<?x80xf32>) -> tensor<?x80xf32>
  %kb = linalg.generic {indexing_maps = [#map, #col, #map], iterator_types = ["parallel", "parallel"]} ins(%k, %c : tensor<?x80xf32>, tensor<80xf32>) outs(%e2 : tensor<?x80xf32>) {
  ^bb0(%p: f32, %o: f32, %r: f32):
    %s = arith.addf %p, %o : f32
    %t = arith.maximumf %s, %z : f32
    linalg.yield %t : f32
  } -> tensor<?x80xf32>
  %h = linalg.matmul ins(%x, %u : tensor<?x96xf32>, tensor<96x48xf32>) outs(%f : tensor<?x48xf32>) -> tensor<?x48xf32>
  %hb = linalg.generic {indexing_maps = [#map, #col, #map], iterator_types = ["parallel", "parallel"]} ins(%h, %b : tensor<?x48xf32>, tensor<48xf32>) outs(%e : tensor<?x48xf32>) {
  ^bb0(%p: f32, %o: f32, %r: f32):
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<?x48xf32>
  return %qb, %kb, %hb : tensor<?x48xf32>, tensor<?x80xf32>, tensor<?x48xf32>
}
