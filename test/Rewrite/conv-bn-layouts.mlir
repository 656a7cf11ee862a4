// RUN: fuse-opt %s --fuse-conv-bn="weights=always" | FileCheck %s
// RUN: fuse-opt %s --fuse-conv-bn="weights=always" -o %t.once
// RUN: fuse-opt %t.once --fuse-conv-bn="weights=always" -o %t.twice
// RUN: diff %t.once %t.twice

// The scale goes to the axes of the filter that the output channel indexes, whatever the layout; stride, dilation and
// other attributes stay.

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c1 = affine_map<(d0, d1, d2, d3) -> (d1)>
#c3 = affine_map<(d0, d1, d2, d3) -> (d3)>

// CHECK-LABEL: @nchw_fchw
// CHECK-SAME: %[[X:.*]]: tensor<1x3x9x9xf32>, %[[W:.*]]: tensor<4x3x3x3xf32>, %[[S:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>
// CHECK: %[[E:.*]] = tensor.empty() : tensor<1x4x3x2xf32>
// CHECK-NOT: linalg.fill
// CHECK: %[[WS:.*]] = linalg.generic {indexing_maps = [#[[ID:.*]], #[[C0:.*]], #[[ID]]]{{.*}} ins(%[[W]], %[[S]] : tensor<4x3x3x3xf32>, tensor<4xf32>)
// CHECK: mulf
// CHECK: %[[I:.*]] = linalg.broadcast ins(%[[B]] : tensor<4xf32>) outs(%[[E]] : tensor<1x4x3x2xf32>) dimensions = [0, 2, 3]
// CHECK: %[[Y:.*]] = linalg.conv_2d_nchw_fchw {dilations = dense<[1, 3]> : tensor<2xi64>, fuse.folded = "conv-bn", my.note = "kept", strides = dense<[3, 2]> : tensor<2xi64>} ins(%[[X]], %[[WS]] : {{.*}}) outs(%[[I]] : tensor<1x4x3x2xf32>)
// CHECK-NEXT: return %[[Y]]
func.func @nchw_fchw(%x: tensor<1x3x9x9xf32>, %w: tensor<4x3x3x3xf32>, %s: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<1x4x3x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x3x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x3x2xf32>) -> tensor<1x4x3x2xf32>
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<[1, 3]> : tensor<2xi64>, strides = dense<[3, 2]> : tensor<2xi64>, my.note = "kept"} ins(%x, %w : tensor<1x3x9x9xf32>, tensor<4x3x3x3xf32>) outs(%f : tensor<1x4x3x2xf32>) -> tensor<1x4x3x2xf32>
  %z = linalg.generic {indexing_maps = [#id, #c1, #c1, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %s, %b : tensor<1x4x3x2xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<1x4x3x2xf32>) {
  ^bb0(%in: f32, %sc: f32, %sh: f32, %out: f32):
    %m = arith.mulf %in, %sc : f32
    %a = arith.addf %m, %sh : f32
    linalg.yield %a : f32
  } -> tensor<1x4x3x2xf32>
  return %z : tensor<1x4x3x2xf32>
}

// CHECK-LABEL: @nhwc_hwcf
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[C3:.*]], #[[ID]]]{{.*}} ins(%{{.*}}, %{{.*}} : tensor<3x3x2x4xf32>, tensor<4xf32>)
// CHECK: linalg.conv_2d_nhwc_hwcf {fuse.folded = "conv-bn"}
func.func @nhwc_hwcf(%x: tensor<1x5x5x2xf32>, %w: tensor<3x3x2x4xf32>, %s: tensor<4xf32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x5x5x2xf32>, tensor<3x3x2x4xf32>) outs(%f : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c3, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %s : tensor<1x3x3x4xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
  ^bb0(%in: f32, %sc: f32, %out: f32):
    %m = arith.mulf %in, %sc : f32
    linalg.yield %m : f32
  } -> tensor<1x3x3x4xf32>
  return %z : tensor<1x3x3x4xf32>
}

// CHECK-LABEL: @depthwise_chw
// CHECK: linalg.generic {indexing_maps = [#[[ID3:.*]], #[[D0:.*]], #[[ID3]]]{{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x3x3xf32>, tensor<4xf32>)
// CHECK: linalg.depthwise_conv_2d_nchw_chw {fuse.folded = "conv-bn"}
func.func @depthwise_chw(%x: tensor<1x4x5x5xf32>, %w: tensor<4x3x3xf32>, %s: tensor<4xf32>) -> tensor<1x4x3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x3x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %y = linalg.depthwise_conv_2d_nchw_chw ins(%x, %w : tensor<1x4x5x5xf32>, tensor<4x3x3xf32>) outs(%f : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %z = linalg.generic {indexing_maps = [#id, #c1, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %s : tensor<1x4x3x3xf32>, tensor<4xf32>) outs(%e : tensor<1x4x3x3xf32>) {
  ^bb0(%in: f32, %sc: f32, %out: f32):
    %m = arith.mulf %in, %sc : f32
    linalg.yield %m : f32
  } -> tensor<1x4x3x3xf32>
  return %z : tensor<1x4x3x3xf32>
}

// CHECK-LABEL: @depthwise_hwc
// CHECK: linalg.generic {indexing_maps = [#[[ID3]], #[[D2:.*]], #[[ID3]]]{{.*}} ins(%{{.*}}, %{{.*}} : tensor<3x3x4xf32>, tensor<4xf32>)
// CHECK: linalg.depthwise_conv_2d_nhwc_hwc {fuse.folded = "conv-bn"}
func.func @depthwise_hwc(%x: tensor<1x5x5x4xf32>, %w: tensor<3x3x4xf32>, %s: tensor<4xf32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.depthwise_conv_2d_nhwc_hwc ins(%x, %w : tensor<1x5x5x4xf32>, tensor<3x3x4xf32>) outs(%f : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c3, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %s : tensor<1x3x3x4xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
  ^bb0(%in: f32, %sc: f32, %out: f32):
    %m = arith.mulf %in, %sc : f32
    linalg.yield %m : f32
  } -> tensor<1x3x3x4xf32>
  return %z : tensor<1x3x3x4xf32>
}

// The channel multiplier: channel = c * 3 + m, a pair of filter axes; the collapse comes again after the convolution.
// CHECK-LABEL: @depthwise_hwcm
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<3x3x2x3xf32>, %[[S:.*]]: tensor<6xf32>
// CHECK: %[[S2:.*]] = tensor.expand_shape %[[S]] {{\[}}[0, 1]] output_shape [2, 3]
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[CM:.*]], #[[ID]]]{{.*}} ins(%[[W]], %[[S2]] : tensor<3x3x2x3xf32>, tensor<2x3xf32>)
// CHECK: %[[Y:.*]] = linalg.depthwise_conv_2d_nhwc_hwcm {fuse.folded = "conv-bn"}
// CHECK: tensor.collapse_shape %[[Y]] {{\[}}[0], [1], [2], [3, 4]]
func.func @depthwise_hwcm(%x: tensor<1x5x5x2xf32>, %w: tensor<3x3x2x3xf32>, %s: tensor<6xf32>) -> tensor<1x3x3x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x3x2x3xf32>
  %e2 = tensor.empty() : tensor<1x3x3x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x2x3xf32>) -> tensor<1x3x3x2x3xf32>
  %y = linalg.depthwise_conv_2d_nhwc_hwcm ins(%x, %w : tensor<1x5x5x2xf32>, tensor<3x3x2x3xf32>) outs(%f : tensor<1x3x3x2x3xf32>) -> tensor<1x3x3x2x3xf32>
  %c = tensor.collapse_shape %y [[0], [1], [2], [3, 4]] : tensor<1x3x3x2x3xf32> into tensor<1x3x3x6xf32>
  %z = linalg.generic {indexing_maps = [#id, #c3, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c, %s : tensor<1x3x3x6xf32>, tensor<6xf32>) outs(%e2 : tensor<1x3x3x6xf32>) {
  ^bb0(%in: f32, %sc: f32, %out: f32):
    %m = arith.mulf %in, %sc : f32
    linalg.yield %m : f32
  } -> tensor<1x3x3x6xf32>
  return %z : tensor<1x3x3x6xf32>
}

// CHECK-LABEL: @grouped
// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
// CHECK: ins(%{{.*}}, %{{.*}} : tensor<2x4x3x3x3xf32>, tensor<2x4xf32>)
// CHECK: linalg.conv_2d_ngchw_gfchw {fuse.folded = "conv-bn"}
func.func @grouped(%x: tensor<1x2x3x5x5xf32>, %w: tensor<2x4x3x3x3xf32>, %s: tensor<8xf32>) -> tensor<1x8x3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x2x4x3x3xf32>
  %e2 = tensor.empty() : tensor<1x8x3x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x4x3x3xf32>) -> tensor<1x2x4x3x3xf32>
  %y = linalg.conv_2d_ngchw_gfchw ins(%x, %w : tensor<1x2x3x5x5xf32>, tensor<2x4x3x3x3xf32>) outs(%f : tensor<1x2x4x3x3xf32>) -> tensor<1x2x4x3x3xf32>
  %c = tensor.collapse_shape %y [[0], [1, 2], [3], [4]] : tensor<1x2x4x3x3xf32> into tensor<1x8x3x3xf32>
  %z = linalg.generic {indexing_maps = [#id, #c1, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c, %s : tensor<1x8x3x3xf32>, tensor<8xf32>) outs(%e2 : tensor<1x8x3x3xf32>) {
  ^bb0(%in: f32, %sc: f32, %out: f32):
    %m = arith.mulf %in, %sc : f32
    linalg.yield %m : f32
  } -> tensor<1x8x3x3xf32>
  return %z : tensor<1x8x3x3xf32>
}

// A transpose between: it comes again after the convolution.
// CHECK-LABEL: @transposed
// CHECK: ins(%{{.*}}, %{{.*}} : tensor<3x3x2x4xf32>, tensor<4xf32>)
// CHECK: %[[Y:.*]] = linalg.conv_2d_nhwc_hwcf {fuse.folded = "conv-bn"}
// CHECK: linalg.transpose ins(%[[Y]] : tensor<1x3x3x4xf32>) outs(%{{.*}} : tensor<1x4x3x3xf32>) permutation = [0, 3, 1, 2]
// CHECK-NEXT: return
func.func @transposed(%x: tensor<1x5x5x2xf32>, %w: tensor<3x3x2x4xf32>, %s: tensor<4xf32>) -> tensor<1x4x3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %e2 = tensor.empty() : tensor<1x4x3x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x5x5x2xf32>, tensor<3x3x2x4xf32>) outs(%f : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %t = linalg.transpose ins(%y : tensor<1x3x3x4xf32>) outs(%e2 : tensor<1x4x3x3xf32>) permutation = [0, 3, 1, 2]
  %z = linalg.generic {indexing_maps = [#id, #c1, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%t, %s : tensor<1x4x3x3xf32>, tensor<4xf32>) outs(%e2 : tensor<1x4x3x3xf32>) {
  ^bb0(%in: f32, %sc: f32, %out: f32):
    %m = arith.mulf %in, %sc : f32
    linalg.yield %m : f32
  } -> tensor<1x4x3x3xf32>
  return %z : tensor<1x4x3x3xf32>
}
