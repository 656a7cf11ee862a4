// RUN: fuse-opt %s --fuse-conv-bn --split-input-file | FileCheck %s
// RUN: fuse-opt %s --fuse-conv-bn="weights=constants" --split-input-file | FileCheck %s

// Constant weights are computed here: what is left is a convolution with a constant filter and a constant shift.

// CHECK-LABEL: @dense
// CHECK-DAG: %[[W:.*]] = arith.constant dense<{{\[\[\[\[}}2.000000e+00, 6.000000e+00, -3.000000e+00, 2.000000e+00], [1.000000e+00, 7.500000e-01, 1.000000e+00, -1.000000e+00]]]]> : tensor<1x1x2x4xf32>
// CHECK-DAG: %[[B:.*]] = arith.constant dense<[1.000000e+00, 0.000000e+00, 2.000000e+00, 3.000000e+00]> : tensor<4xf32>
// CHECK-NOT: mulf
// CHECK: %[[I:.*]] = linalg.broadcast ins(%[[B]] : tensor<4xf32>) outs(%{{.*}}) dimensions = [0, 1, 2]
// CHECK: linalg.conv_2d_nhwc_hwcf {{.*}} ins(%{{.*}}, %[[W]] : {{.*}}) outs(%[[I]] :
// CHECK-NEXT: return
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
func.func @dense(%x: tensor<1x3x3x2xf32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<[[[[1.0, 2.0, 3.0, 4.0], [0.5, 0.25, -1.0, -2.0]]]]> : tensor<1x1x2x4xf32>
  %s = arith.constant dense<[2.0, 3.0, -1.0, 0.5]> : tensor<4xf32>
  %b = arith.constant dense<[1.0, 0.0, 2.0, 3.0]> : tensor<4xf32>
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x3x3x2xf32>, tensor<1x1x2x4xf32>) outs(%f : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %s, %b : tensor<1x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
  ^bb0(%i: f32, %sc: f32, %sh: f32, %o: f32):
    %m = arith.mulf %i, %sc : f32
    %a = arith.addf %m, %sh : f32
    linalg.yield %a : f32
  } -> tensor<1x3x3x4xf32>
  return %z : tensor<1x3x3x4xf32>
}

// -----

// A splat that is scaled is one no more; a shift that comes out as zero leaves the fill.
// CHECK-LABEL: @splat
// CHECK-DAG: %[[F:.*]] = linalg.fill
// CHECK-DAG: arith.constant dense<{{\[\[\[\[}}4.000000e+00, 6.000000e+00, -2.000000e+00, 1.000000e+00], [4.000000e+00, 6.000000e+00, -2.000000e+00, 1.000000e+00]]]]>
// CHECK-NOT: linalg.broadcast
// CHECK: linalg.conv_2d_nhwc_hwcf {{.*}} outs(%[[F]] :
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
func.func @splat(%x: tensor<1x3x3x2xf32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<2.0> : tensor<1x1x2x4xf32>
  %s = arith.constant dense<[2.0, 3.0, -1.0, 0.5]> : tensor<4xf32>
  %b = arith.constant dense<0.0> : tensor<4xf32>
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x3x3x2xf32>, tensor<1x1x2x4xf32>) outs(%f : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %s, %b : tensor<1x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
  ^bb0(%i: f32, %sc: f32, %sh: f32, %o: f32):
    %m = arith.mulf %i, %sc : f32
    %a = arith.addf %m, %sh : f32
    linalg.yield %a : f32
  } -> tensor<1x3x3x4xf32>
  return %z : tensor<1x3x3x4xf32>
}

// -----

// A shift that cancels the initial value leaves no fill of the old one.
// CHECK-LABEL: @cancelled_init
// CHECK-DAG: %[[B:.*]] = arith.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK: %[[I:.*]] = linalg.broadcast ins(%[[B]] : tensor<4xf32>)
// CHECK: linalg.conv_2d_nhwc_hwcf {{.*}} outs(%[[I]] :
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
func.func @cancelled_init(%x: tensor<1x3x3x2xf32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.5 : f32
  %w = arith.constant dense<2.0> : tensor<1x1x2x4xf32>
  %s = arith.constant dense<[2.0, 3.0, -1.0, 0.5]> : tensor<4xf32>
  %b = arith.constant dense<[-1.0, -1.5, 0.5, -0.25]> : tensor<4xf32>
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x3x3x2xf32>, tensor<1x1x2x4xf32>) outs(%f : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %s, %b : tensor<1x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
  ^bb0(%i: f32, %sc: f32, %sh: f32, %o: f32):
    %m = arith.mulf %i, %sc : f32
    %a = arith.addf %m, %sh : f32
    linalg.yield %a : f32
  } -> tensor<1x3x3x4xf32>
  return %z : tensor<1x3x3x4xf32>
}

// -----

// Reshapes and a transpose of a constant are a constant.
// CHECK-LABEL: @reshaped
// CHECK-DAG: arith.constant dense<{{\[\[\[\[}}2.000000e+00, 6.000000e+00, -3.000000e+00, 2.000000e+00], [1.000000e+00, 7.500000e-01, 1.000000e+00, -1.000000e+00]]]]>
// CHECK-NOT: expand_shape
// CHECK-NOT: mulf
// CHECK: linalg.conv_2d_nhwc_hwcf
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
func.func @reshaped(%x: tensor<1x3x3x2xf32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %wt = arith.constant dense<[[1.0, 0.5], [2.0, 0.25], [3.0, -1.0], [4.0, -2.0]]> : tensor<4x2xf32>
  %we = tensor.empty() : tensor<2x4xf32>
  %w2 = linalg.transpose ins(%wt : tensor<4x2xf32>) outs(%we : tensor<2x4xf32>) permutation = [1, 0]
  %w = tensor.expand_shape %w2 [[0, 1, 2], [3]] output_shape [1, 1, 2, 4] : tensor<2x4xf32> into tensor<1x1x2x4xf32>
  %s = arith.constant dense<[2.0, 3.0, -1.0, 0.5]> : tensor<4xf32>
  %b = arith.constant dense<[1.0, 0.0, 2.0, 3.0]> : tensor<4xf32>
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x3x3x2xf32>, tensor<1x1x2x4xf32>) outs(%f : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %s, %b : tensor<1x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
  ^bb0(%i: f32, %sc: f32, %sh: f32, %o: f32):
    %m = arith.mulf %i, %sc : f32
    %a = arith.addf %m, %sh : f32
    linalg.yield %a : f32
  } -> tensor<1x3x3x4xf32>
  return %z : tensor<1x3x3x4xf32>
}

// -----

// A resource stays as it is; the folded filter is a resource of its own. Two convolutions that share a filter get one each.
// CHECK-LABEL: @shared_resource
// CHECK-DAG: arith.constant dense_resource<weights_folded> : tensor<1x1x2x4xf32>
// CHECK-DAG: arith.constant dense_resource<weights_folded_1> : tensor<1x1x2x4xf32>
// CHECK-DAG: return %[[WT:.*]], %{{.*}}, %{{.*}} : tensor<1x1x2x4xf32>
// CHECK: weights: "0x040000000000803F000000400000404000008040000000BF0000803E000080BF000000C0"
// CHECK-NEXT: weights_folded{{.*}}: "0x40000000
// CHECK-NEXT: weights_folded{{.*}}: "0x40000000
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
func.func @shared_resource(%x: tensor<1x3x3x2xf32>) -> (tensor<1x1x2x4xf32>, tensor<1x3x3x4xf32>, tensor<1x3x3x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense_resource<weights> : tensor<1x1x2x4xf32>
  %s = arith.constant dense<[2.0, 3.0, -1.0, 0.5]> : tensor<4xf32>
  %b = arith.constant dense<[1.0, 0.0, 2.0, 3.0]> : tensor<4xf32>
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x3x3x2xf32>, tensor<1x1x2x4xf32>) outs(%f : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %s, %b : tensor<1x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
  ^bb0(%i: f32, %sc: f32, %sh: f32, %o: f32):
    %m = arith.mulf %i, %sc : f32
    %a = arith.addf %m, %sh : f32
    linalg.yield %a : f32
  } -> tensor<1x3x3x4xf32>
  %y2 = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x3x3x2xf32>, tensor<1x1x2x4xf32>) outs(%f : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %z2 = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y2, %b, %s : tensor<1x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
  ^bb0(%i: f32, %sc: f32, %sh: f32, %o: f32):
    %m = arith.mulf %i, %sc : f32
    %a = arith.addf %m, %sh : f32
    linalg.yield %a : f32
  } -> tensor<1x3x3x4xf32>
  return %w, %z, %z2 : tensor<1x1x2x4xf32>, tensor<1x3x3x4xf32>, tensor<1x3x3x4xf32>
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F000000400000404000008040000000BF0000803E000080BF000000C0"
    }
  }
#-}
