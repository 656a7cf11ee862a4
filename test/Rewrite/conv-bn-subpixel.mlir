// RUN: fuse-opt %s --fuse-conv-bn --remarks-filter=fuse-fold --remark-format=emitRemark -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=IR --input-file=%t
// RUN: fuse-opt %t --fuse-conv-bn -o %t.twice
// RUN: diff %t %t.twice
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=parameters %s
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=constants %s
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=before_and_behind %s

// As TOSA lowers a transposed convolution of stride 2: an ordinary one computes the pixels of a stride as channels, which a
// reshape makes pixels; a slice takes those that are asked for.

// CHECK: [Passed] conv-bn #0 {{.*}}Function=parameters {{.*}}Decision=folded{{.*}}Weights=parameter
// CHECK: [Passed] conv-bn #0 {{.*}}Function=constants {{.*}}Decision=folded{{.*}}Weights=constant
// CHECK: [Passed] conv-bn #0 {{.*}}Function=before_and_behind {{.*}}Decision=folded
// CHECK: [Failure] conv-bn #0 {{.*}}Function=pixels {{.*}}Decision=kept{{.*}}Reason="shape: scale is not along the output channel"
// CHECK: [Failure] conv-bn #0 {{.*}}Function=some_channels {{.*}}Decision=kept{{.*}}Reason="shape: scale is not along the output channel"
// CHECK: [Failure] conv-bn #0 {{.*}}Function=split_otherwise {{.*}}Decision=kept{{.*}}Reason="shape: scale is not along the output channel"
// CHECK-NOT: Decision=

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#c = affine_map<(d0, d1, d2) -> (d2)>
#w = affine_map<(d0, d1, d2) -> (d1)>

// The scale is repeated for the pixels of a stride.
// IR-LABEL: @parameters(
// IR: %[[PARTS:.*]] = linalg.generic {{.*}} ins(%arg2 : tensor<3xf32>) outs(%{{.*}} : tensor<2x3xf32>)
// IR: %[[SCALE:.*]] = tensor.collapse_shape %[[PARTS]] {{\[\[}}0, 1]] : tensor<2x3xf32> into tensor<6xf32>
// IR: linalg.generic {{.*}} ins(%arg1, %[[SCALE]] :
// IR: linalg.conv_1d_nwc_wcf {fuse.folded = "conv-bn"}
// IR: %[[SLICE:.*]] = tensor.extract_slice
// IR-NEXT: return %[[SLICE]]
func.func @parameters(%x: tensor<1x4x2xf32>, %w: tensor<1x2x6xf32> {fuse.param}, %s: tensor<3xf32> {fuse.param}, %b: tensor<3xf32> {fuse.param}) -> tensor<1x3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %ey = tensor.empty() : tensor<1x4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%ey : tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  %y = linalg.conv_1d_nwc_wcf ins(%x, %w : tensor<1x4x2xf32>, tensor<1x2x6xf32>) outs(%f : tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  %r = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [1, 4, 2, 3] : tensor<1x4x6xf32> into tensor<1x4x2x3xf32>
  %q = tensor.collapse_shape %r [[0], [1, 2], [3]] : tensor<1x4x2x3xf32> into tensor<1x8x3xf32>
  %k = tensor.extract_slice %q[0, 0, 0] [1, 3, 3] [1, 1, 1] : tensor<1x8x3xf32> to tensor<1x3x3xf32>
  %e = tensor.empty() : tensor<1x3x3xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%k, %s, %b : tensor<1x3x3xf32>, tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<1x3x3xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<1x3x3xf32>
  return %z : tensor<1x3x3xf32>
}

// IR-LABEL: @constants(
// IR-DAG: arith.constant dense<{{\[\[\[}}2.000000e+00, 1.000000e+00, 9.000000e+00, 8.000000e+00, 2.500000e+00, 1.800000e+01], [-2.000000e+00, 5.000000e-01, 0.000000e+00, 1.000000e+00, -5.000000e-01, 3.000000e+00]]]>
// IR-DAG: arith.constant dense<[1.000000e+00, 0.000000e+00, -1.000000e+00, 1.000000e+00, 0.000000e+00, -1.000000e+00]> : tensor<6xf32>
// IR-NOT: linalg.generic
// IR: return
func.func @constants(%x: tensor<1x4x2xf32>) -> tensor<1x3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<[[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [-1.0, 1.0, 0.0, 0.5, -1.0, 1.0]]]> : tensor<1x2x6xf32>
  %s = arith.constant dense<[2.0, 0.5, 3.0]> : tensor<3xf32>
  %b = arith.constant dense<[1.0, 0.0, -1.0]> : tensor<3xf32>
  %ey = tensor.empty() : tensor<1x4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%ey : tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  %y = linalg.conv_1d_nwc_wcf ins(%x, %w : tensor<1x4x2xf32>, tensor<1x2x6xf32>) outs(%f : tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  %r = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [1, 4, 2, 3] : tensor<1x4x6xf32> into tensor<1x4x2x3xf32>
  %q = tensor.collapse_shape %r [[0], [1, 2], [3]] : tensor<1x4x2x3xf32> into tensor<1x8x3xf32>
  %k = tensor.extract_slice %q[0, 0, 0] [1, 3, 3] [1, 1, 1] : tensor<1x8x3xf32> to tensor<1x3x3xf32>
  %e = tensor.empty() : tensor<1x3x3xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%k, %s, %b : tensor<1x3x3xf32>, tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<1x3x3xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<1x3x3xf32>
  return %z : tensor<1x3x3xf32>
}

// A bias for each channel of the convolution, before they are pixels.
func.func @before_and_behind(%x: tensor<1x4x2xf32>, %w: tensor<1x2x6xf32> {fuse.param}, %s: tensor<3xf32> {fuse.param}, %b: tensor<3xf32> {fuse.param}, %p: tensor<6xf32> {fuse.param}) -> tensor<1x3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %ey = tensor.empty() : tensor<1x4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%ey : tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  %y = linalg.conv_1d_nwc_wcf ins(%x, %w : tensor<1x4x2xf32>, tensor<1x2x6xf32>) outs(%f : tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  %eb = tensor.empty() : tensor<1x4x6xf32>
  %n = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %p : tensor<1x4x6xf32>, tensor<6xf32>) outs(%eb : tensor<1x4x6xf32>) {
  ^bb0(%i: f32, %pi: f32, %o: f32):
    %a = arith.addf %i, %pi : f32
    linalg.yield %a : f32
  } -> tensor<1x4x6xf32>
  %r = tensor.expand_shape %n [[0], [1], [2, 3]] output_shape [1, 4, 2, 3] : tensor<1x4x6xf32> into tensor<1x4x2x3xf32>
  %q = tensor.collapse_shape %r [[0], [1, 2], [3]] : tensor<1x4x2x3xf32> into tensor<1x8x3xf32>
  %k = tensor.extract_slice %q[0, 0, 0] [1, 3, 3] [1, 1, 1] : tensor<1x8x3xf32> to tensor<1x3x3xf32>
  %e = tensor.empty() : tensor<1x3x3xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%k, %s, %b : tensor<1x3x3xf32>, tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<1x3x3xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<1x3x3xf32>
  return %z : tensor<1x3x3xf32>
}

// Along the pixels, of which there are as many; along two channels that a slice leaves; along other parts than the first reshape
// makes. Two slices go their own ways.
func.func @pixels(%x: tensor<1x4x2xf32>, %w: tensor<1x2x6xf32> {fuse.param}, %s: tensor<3xf32> {fuse.param}) -> tensor<1x3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %ey = tensor.empty() : tensor<1x4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%ey : tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  %y = linalg.conv_1d_nwc_wcf ins(%x, %w : tensor<1x4x2xf32>, tensor<1x2x6xf32>) outs(%f : tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  %r = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [1, 4, 2, 3] : tensor<1x4x6xf32> into tensor<1x4x2x3xf32>
  %q = tensor.collapse_shape %r [[0], [1, 2], [3]] : tensor<1x4x2x3xf32> into tensor<1x8x3xf32>
  %k = tensor.extract_slice %q[0, 0, 0] [1, 3, 3] [1, 1, 1] : tensor<1x8x3xf32> to tensor<1x3x3xf32>
  %e = tensor.empty() : tensor<1x3x3xf32>
  %z = linalg.generic {indexing_maps = [#id, #w, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%k, %s : tensor<1x3x3xf32>, tensor<3xf32>) outs(%e : tensor<1x3x3xf32>) {
  ^bb0(%i: f32, %si: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    linalg.yield %m : f32
  } -> tensor<1x3x3xf32>
  return %z : tensor<1x3x3xf32>
}
func.func @some_channels(%x: tensor<1x4x2xf32>, %w: tensor<1x2x6xf32> {fuse.param}, %s: tensor<2xf32> {fuse.param}) -> tensor<1x8x2xf32> {
  %zero = arith.constant 0.0 : f32
  %ey = tensor.empty() : tensor<1x4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%ey : tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  %y = linalg.conv_1d_nwc_wcf ins(%x, %w : tensor<1x4x2xf32>, tensor<1x2x6xf32>) outs(%f : tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  %r = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [1, 4, 2, 3] : tensor<1x4x6xf32> into tensor<1x4x2x3xf32>
  %q = tensor.collapse_shape %r [[0], [1, 2], [3]] : tensor<1x4x2x3xf32> into tensor<1x8x3xf32>
  %k = tensor.extract_slice %q[0, 0, 0] [1, 8, 2] [1, 1, 1] : tensor<1x8x3xf32> to tensor<1x8x2xf32>
  %e = tensor.empty() : tensor<1x8x2xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%k, %s : tensor<1x8x2xf32>, tensor<2xf32>) outs(%e : tensor<1x8x2xf32>) {
  ^bb0(%i: f32, %si: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    linalg.yield %m : f32
  } -> tensor<1x8x2xf32>
  return %z : tensor<1x8x2xf32>
}
func.func @split_otherwise(%x: tensor<1x4x2xf32>, %w: tensor<1x2x6xf32> {fuse.param}, %s: tensor<2xf32> {fuse.param}) -> tensor<1x12x2xf32> {
  %zero = arith.constant 0.0 : f32
  %ey = tensor.empty() : tensor<1x4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%ey : tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  %y = linalg.conv_1d_nwc_wcf ins(%x, %w : tensor<1x4x2xf32>, tensor<1x2x6xf32>) outs(%f : tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  %r = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [1, 4, 2, 3] : tensor<1x4x6xf32> into tensor<1x4x2x3xf32>
  %q = tensor.collapse_shape %r [[0], [1], [2, 3]] : tensor<1x4x2x3xf32> into tensor<1x4x6xf32>
  %r2 = tensor.expand_shape %q [[0], [1], [2, 3]] output_shape [1, 4, 3, 2] : tensor<1x4x6xf32> into tensor<1x4x3x2xf32>
  %k = tensor.collapse_shape %r2 [[0], [1, 2], [3]] : tensor<1x4x3x2xf32> into tensor<1x12x2xf32>
  %e = tensor.empty() : tensor<1x12x2xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%k, %s : tensor<1x12x2xf32>, tensor<2xf32>) outs(%e : tensor<1x12x2xf32>) {
  ^bb0(%i: f32, %si: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    linalg.yield %m : f32
  } -> tensor<1x12x2xf32>
  return %z : tensor<1x12x2xf32>
}
func.func @two_slices(%x: tensor<1x4x2xf32>, %w: tensor<1x2x6xf32> {fuse.param}, %s: tensor<3xf32> {fuse.param}) -> (tensor<1x3x3xf32>, tensor<1x3x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %ey = tensor.empty() : tensor<1x4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%ey : tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  %y = linalg.conv_1d_nwc_wcf ins(%x, %w : tensor<1x4x2xf32>, tensor<1x2x6xf32>) outs(%f : tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  %r = tensor.expand_shape %y [[0], [1], [2, 3]] output_shape [1, 4, 2, 3] : tensor<1x4x6xf32> into tensor<1x4x2x3xf32>
  %q = tensor.collapse_shape %r [[0], [1, 2], [3]] : tensor<1x4x2x3xf32> into tensor<1x8x3xf32>
  %k = tensor.extract_slice %q[0, 0, 0] [1, 3, 3] [1, 1, 1] : tensor<1x8x3xf32> to tensor<1x3x3xf32>
  %l = tensor.extract_slice %q[0, 3, 0] [1, 3, 3] [1, 1, 1] : tensor<1x8x3xf32> to tensor<1x3x3xf32>
  %e = tensor.empty() : tensor<1x3x3xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%k, %s : tensor<1x3x3xf32>, tensor<3xf32>) outs(%e : tensor<1x3x3xf32>) {
  ^bb0(%i: f32, %si: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    linalg.yield %m : f32
  } -> tensor<1x3x3xf32>
  return %z, %l : tensor<1x3x3xf32>, tensor<1x3x3xf32>
}
