// RUN: fuse-opt %s --fuse-conv-bn="weights=always" --split-input-file --remarks-filter=fuse-fold --remark-format=emitRemark -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=IR --input-file=%t
// RUN: fuse-opt %s --split-input-file --fuse-boundary --fuse-explain -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPLAIN

// What is not right is kept, with the gate that says why; each stands beside a chain that folds and differs in one fact.
// No refused program is changed.
// IR-COUNT-4: fuse.folded
// IR-NOT: fuse.folded

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
#w = affine_map<(d0, d1, d2, d3) -> (d2)>
// The generic form of a convolution, or a window maximum over sums: not linear in the filter.
// CHECK: [Passed] conv-bn #0 | Category:fuse-fold | Function=generic_conv
// CHECK: [Failure] conv-bn #0 | Category:fuse-fold | Function=max_plus {{.*}}Decision=kept{{.*}}Reason="shape: convolution form is not supported"
func.func @generic_conv(%x: tensor<1x5x5x2xf32>, %w: tensor<3x3x2x4xf32>, %g: tensor<4xf32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n, h, w, f, p, q, c) -> (n, h + p, w + q, c)>, affine_map<(n, h, w, f, p, q, c) -> (p, q, c, f)>, affine_map<(n, h, w, f, p, q, c) -> (n, h, w, f)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<1x5x5x2xf32>, tensor<3x3x2x4xf32>) outs(%f : tensor<1x3x3x4xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %p = arith.mulf %i, %j : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<1x3x3x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %g : tensor<1x3x3x4xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<1x3x3x4xf32>
  return %z : tensor<1x3x3x4xf32>
}
func.func @max_plus(%x: tensor<1x5x5x2xf32>, %w: tensor<3x3x2x4xf32>, %g: tensor<4xf32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n, h, w, f, p, q, c) -> (n, h + p, w + q, c)>, affine_map<(n, h, w, f, p, q, c) -> (p, q, c, f)>, affine_map<(n, h, w, f, p, q, c) -> (n, h, w, f)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<1x5x5x2xf32>, tensor<3x3x2x4xf32>) outs(%f : tensor<1x3x3x4xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %p = arith.addf %i, %j : f32
    %r = arith.maximumf %o, %p : f32
    linalg.yield %r : f32
  } -> tensor<1x3x3x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %g : tensor<1x3x3x4xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<1x3x3x4xf32>
  return %z : tensor<1x3x3x4xf32>
}

// -----

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
#w = affine_map<(d0, d1, d2, d3) -> (d2)>
// Scaling a filter of f16 would round what an f32 accumulator does not.
// CHECK: [Passed] conv-bn #0 | Category:fuse-fold | Function=f32_filter
// CHECK: [Failure] conv-bn #0 | Category:fuse-fold | Function=f16_filter {{.*}}Decision=kept{{.*}}Reason="numerics: fold would elide a rounding"
func.func @f32_filter(%x: tensor<1x5x5x2xf16>, %w: tensor<3x3x2x4xf32>, %g: tensor<4xf32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x5x5x2xf16>, tensor<3x3x2x4xf32>) outs(%f : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %g : tensor<1x3x3x4xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<1x3x3x4xf32>
  return %z : tensor<1x3x3x4xf32>
}
func.func @f16_filter(%x: tensor<1x5x5x2xf16>, %w: tensor<3x3x2x4xf16>, %g: tensor<4xf32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x5x5x2xf16>, tensor<3x3x2x4xf16>) outs(%f : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %g : tensor<1x3x3x4xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<1x3x3x4xf32>
  return %z : tensor<1x3x3x4xf32>
}

// -----

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
#w = affine_map<(d0, d1, d2, d3) -> (d2)>
// Batch and image may be dynamic, the channel may not.
// CHECK: [Passed] conv-bn #0 | Category:fuse-fold | Function=dynamic_image
// CHECK: [Failure] conv-bn #0 | Category:fuse-fold | Function=dynamic_channel {{.*}}Decision=kept{{.*}}Reason="shape: dynamic extents cannot be proved equal"
func.func @dynamic_image(%x: tensor<?x?x?x2xf32>, %w: tensor<3x3x2x4xf32>, %g: tensor<4xf32>, %e: tensor<?x?x?x4xf32>) -> tensor<?x?x?x4xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?x4xf32>) -> tensor<?x?x?x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<?x?x?x2xf32>, tensor<3x3x2x4xf32>) outs(%f : tensor<?x?x?x4xf32>) -> tensor<?x?x?x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %g : tensor<?x?x?x4xf32>, tensor<4xf32>) outs(%e : tensor<?x?x?x4xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<?x?x?x4xf32>
  return %z : tensor<?x?x?x4xf32>
}
func.func @dynamic_channel(%x: tensor<?x?x?x2xf32>, %w: tensor<3x3x2x?xf32>, %g: tensor<?xf32>, %e: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<?x?x?x2xf32>, tensor<3x3x2x?xf32>) outs(%f : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %g : tensor<?x?x?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?x?x?xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<?x?x?x?xf32>
  return %z : tensor<?x?x?x?xf32>
}

// -----

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
#w = affine_map<(d0, d1, d2, d3) -> (d2)>
// Dense and sparse filters; float and quantised convolutions.
// CHECK: [Passed] conv-bn #0 | Category:fuse-fold | Function=dense
// CHECK: [Failure] conv-bn #0 | Category:fuse-fold | Function=sparse {{.*}}Decision=kept{{.*}}Reason="shape: tensor encoding is not understood"
// CHECK: [Failure] conv-bn #0 | Category:fuse-fold | Function=quantised {{.*}}Reason="shape: convolution form is not supported"
#csr = #sparse_tensor.encoding<{ map = (d0, d1, d2, d3) -> (d0 : dense, d1 : dense, d2 : dense, d3 : compressed) }>
func.func @dense(%x: tensor<1x5x5x2xf32>, %w: tensor<3x3x2x4xf32>, %g: tensor<4xf32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x5x5x2xf32>, tensor<3x3x2x4xf32>) outs(%f : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %g : tensor<1x3x3x4xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<1x3x3x4xf32>
  return %z : tensor<1x3x3x4xf32>
}
func.func @sparse(%x: tensor<1x5x5x2xf32>, %w: tensor<3x3x2x4xf32, #csr>, %g: tensor<4xf32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x5x5x2xf32>, tensor<3x3x2x4xf32, #csr>) outs(%f : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %g : tensor<1x3x3x4xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<1x3x3x4xf32>
  return %z : tensor<1x3x3x4xf32>
}
func.func @quantised(%x: tensor<1x5x5x2xi8>, %w: tensor<3x3x2x4xi8>, %g: tensor<4xf32>, %zp: i32) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0 : i32
  %e0 = tensor.empty() : tensor<1x3x3x4xi32>
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : i32) outs(%e0 : tensor<1x3x3x4xi32>) -> tensor<1x3x3x4xi32>
  %y = linalg.conv_2d_nhwc_hwcf_q ins(%x, %w, %zp, %zp : tensor<1x5x5x2xi8>, tensor<3x3x2x4xi8>, i32, i32) outs(%f : tensor<1x3x3x4xi32>) -> tensor<1x3x3x4xi32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %g : tensor<1x3x3x4xi32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
  ^bb0(%i0: i32, %i1: f32, %o: f32):
    %s = arith.sitofp %i0 : i32 to f32
    %r = arith.mulf %s, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<1x3x3x4xf32>
  return %z : tensor<1x3x3x4xf32>
}

// -----

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
// Code that is never reached may go in circles.
// EXPLAIN: function @circle
// EXPLAIN: batch norm behind #0 conv_2d_nhwc_hwcf: keep shape: initial value is not per channel
// CHECK: [Failure] conv-bn #0 | Category:fuse-fold | Function=circle {{.*}}Reason="shape: initial value is not per channel"
func.func @circle(%x: tensor<1x4x4x3xf32>, %w: tensor<1x1x3x4xf32>) {
  return
^bb1:
  %e = tensor.empty() : tensor<1x4x4x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x4x4x3xf32>, tensor<1x1x3x4xf32>) outs(%k : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %g = tensor.expand_shape %h [[0, 1]] output_shape [4, 1] : tensor<4xf32> into tensor<4x1xf32>
  %h = tensor.collapse_shape %g [[0, 1]] : tensor<4x1xf32> into tensor<4xf32>
  %k = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel","parallel","parallel","parallel"]} ins(%y, %h : tensor<1x4x4x4xf32>, tensor<4xf32>) outs(%k : tensor<1x4x4x4xf32>) {
  ^bb0(%i: f32, %sc: f32, %o: f32):
    %m = arith.mulf %i, %sc : f32
    linalg.yield %m : f32
  } -> tensor<1x4x4x4xf32>
  cf.br ^bb1
}
