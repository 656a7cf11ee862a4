// RUN: fuse-opt %s --fuse-boundary=emit=remarks --remarks-filter="fuse-boundary" --remark-format=emitRemark -o /dev/null 2>&1 | grep "remark:" | FileCheck %s

#csr = #sparse_tensor.encoding<{map = (d0, d1) -> (d0 : dense, d1 : compressed)}>
#id = affine_map<(d0, d1) -> (d0, d1)>
#tr = affine_map<(d0, d1) -> (d1, d0)>
#bc = affine_map<(d0, d1) -> (d1)>
#map1 = affine_map<(d0) -> (d0)>

// A transposed and a broadcast access compose.
// CHECK: Function=transposed | {{.*}}Verdict=fuse
func.func @transposed(%x: tensor<4x8xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %e2 = tensor.empty() : tensor<8x4xf32>
  %p = linalg.exp ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %q = linalg.generic {indexing_maps = [#tr, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %y : tensor<4x8xf32>, tensor<8x4xf32>) outs(%e2 : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  return %q : tensor<8x4xf32>
}

// CHECK: Function=sparse | {{.*}}Reason="shape: tensor encoding is not understood", Verdict=keep
func.func @sparse(%x: tensor<8x8xf32, #csr>, %y: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  %p = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x8xf32, #csr>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %q = linalg.negf ins(%p : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %q : tensor<8x8xf32>
}

// Two dynamic extents in one group of a reshape cannot be recovered from their product ...
// CHECK: Function=two_dynamic | {{.*}}Reason="shape: dynamic extents cannot be proved equal", Verdict=keep
func.func @two_dynamic(%x: tensor<?x?xf32>, %m: index, %n: index, %mn: index) -> tensor<?xf32> {
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %p = linalg.exp ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %c = tensor.collapse_shape %p [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %e2 = tensor.empty(%mn) : tensor<?xf32>
  %q = linalg.negf ins(%c : tensor<?xf32>) outs(%e2 : tensor<?xf32>) -> tensor<?xf32>
  return %q : tensor<?xf32>
}

// ... one can.
// CHECK: Function=one_dynamic | {{.*}}Verdict=fuse
func.func @one_dynamic(%x: tensor<?x4xf32>, %m: index, %mn: index) -> tensor<?xf32> {
  %e = tensor.empty(%m) : tensor<?x4xf32>
  %p = linalg.exp ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %c = tensor.collapse_shape %p [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
  %e2 = tensor.empty(%mn) : tensor<?xf32>
  %q = linalg.negf ins(%c : tensor<?xf32>) outs(%e2 : tensor<?xf32>) -> tensor<?xf32>
  return %q : tensor<?xf32>
}

// The destination is written through a sum of loops: no inverse. (A stencil spelled as a scatter.)
// CHECK: Function=scatter | {{.*}}Reason="shape: iteration spaces do not compose", Verdict=keep
func.func @scatter(%x: tensor<4x3xf32>, %init: tensor<6xf32>) -> tensor<6xf32> {
  %e = tensor.empty() : tensor<6xf32>
  %p = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (d0 + d1)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x3xf32>) outs(%e : tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<6xf32>
  %q = linalg.negf ins(%p : tensor<6xf32>) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  return %q : tensor<6xf32>
}

// A quantised element type has no rule; i8 has.
// CHECK: Function=quant | {{.*}}Reason="numerics: element type has no fusion rule", Verdict=keep
!q = !quant.uniform<i8:f32, 1.0>
func.func @quant(%x: tensor<8x!q>) -> tensor<8xi8> {
  %e = tensor.empty() : tensor<8x!q>
  %e2 = tensor.empty() : tensor<8xi8>
  %p = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel"]} ins(%x : tensor<8x!q>) outs(%e : tensor<8x!q>) {
  ^bb0(%a: !q, %o: !q):
    linalg.yield %o : !q
  } -> tensor<8x!q>
  %q = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel"]} ins(%p : tensor<8x!q>) outs(%e2 : tensor<8xi8>) {
  ^bb0(%a: !q, %o: i8):
    %s = quant.scast %a : !q to i8
    linalg.yield %s : i8
  } -> tensor<8xi8>
  return %q : tensor<8xi8>
}
// CHECK: Function=int8 | {{.*}}Verdict=fuse
func.func @int8(%x: tensor<8xi8>) -> tensor<8xi8> {
  %e = tensor.empty() : tensor<8xi8>
  %p = linalg.add ins(%x, %x : tensor<8xi8>, tensor<8xi8>) outs(%e : tensor<8xi8>) -> tensor<8xi8>
  %q = linalg.mul ins(%p, %p : tensor<8xi8>, tensor<8xi8>) outs(%e : tensor<8xi8>) -> tensor<8xi8>
  return %q : tensor<8xi8>
}
