// RUN: fuse-opt %s --fuse-conv-bn="weights=always" --split-input-file --remarks-filter=fuse-fold --remark-format=emitRemark -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=IR --input-file=%t

// What is not right is kept, with the gate that says why; each stands beside a chain that folds and differs in one fact.
// No refused program is changed.
// IR-COUNT-2: fuse.folded
// IR-NOT: fuse.folded

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
#w = affine_map<(d0, d1, d2, d3) -> (d2)>
// The scale runs along another axis than the output channel, of the same extent.
// CHECK: [Passed] conv-bn #0 | Category:fuse-fold | Function=channel
// CHECK: [Failure] conv-bn #0 | Category:fuse-fold | Function=width {{.*}}Decision=kept{{.*}}Reason="shape: scale is not along the output channel"
func.func @channel(%x: tensor<1x5x5x2xf32>, %w: tensor<3x3x2x4xf32>, %g: tensor<4xf32>) -> tensor<1x3x3x4xf32> {
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
func.func @width(%x: tensor<1x5x5x2xf32>, %w: tensor<3x3x2x4xf32>, %g: tensor<3xf32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x5x5x2xf32>, tensor<3x3x2x4xf32>) outs(%f : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #w, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %g : tensor<1x3x3x4xf32>, tensor<3xf32>) outs(%e : tensor<1x3x3x4xf32>) {
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
// The accumulator starts from a value per channel, or from one per element.
// CHECK: [Passed] conv-bn #0 | Category:fuse-fold | Function=init_channel
// CHECK: [Failure] conv-bn #0 | Category:fuse-fold | Function=init_element {{.*}}Decision=kept{{.*}}Reason="shape: initial value is not per channel"
func.func @init_channel(%x: tensor<1x5x5x2xf32>, %w: tensor<3x3x2x4xf32>, %g: tensor<4xf32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %b = linalg.broadcast ins(%g : tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) dimensions = [0, 1, 2]
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x5x5x2xf32>, tensor<3x3x2x4xf32>) outs(%b : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %g : tensor<1x3x3x4xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<1x3x3x4xf32>
  return %z : tensor<1x3x3x4xf32>
}
func.func @init_element(%x: tensor<1x5x5x2xf32>, %w: tensor<3x3x2x4xf32>, %g: tensor<4xf32>, %b: tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x5x5x2xf32>, tensor<3x3x2x4xf32>) outs(%b : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %g : tensor<1x3x3x4xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<1x3x3x4xf32>
  return %z : tensor<1x3x3x4xf32>
}
