// RUN: fuse-opt %s --fuse-conv-bn --remarks-filter=fuse-fold --remark-format=emitRemark -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=IR --input-file=%t
// RUN: fuse-opt %t --fuse-conv-bn -o %t.twice
// RUN: diff %t %t.twice
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=one_pixel %s
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=extent %s

// Extents in front of a convolution: a border, an image of one pixel, extents that are not known.

// CHECK: [Failure] bn-conv #0 {{.*}}Function=padded_channels {{.*}}Decision=kept{{.*}}Reason="shape: padding stands between scale and convolution"
// CHECK: [Passed] bn-conv #0 {{.*}}Function=one_pixel {{.*}}Decision=folded
// CHECK: [Passed] bn-conv #0 {{.*}}Function=extent {{.*}}Decision=folded
// CHECK-NOT: Decision=

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#c = affine_map<(d0, d1, d2) -> (d1)>

// The border is a channel that the scale does not have.
func.func @padded_channels(%x: tensor<2x2x6xf32>, %w: tensor<4x3x3xf32> {fuse.param}, %s: tensor<2xf32> {fuse.param}) -> tensor<2x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<2x2x6xf32>
  %n = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s : tensor<2x2x6xf32>, tensor<2xf32>) outs(%ex : tensor<2x2x6xf32>) {
  ^bb0(%i: f32, %si: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    linalg.yield %m : f32
  } -> tensor<2x2x6xf32>
  %p = tensor.pad %n low[0, 0, 0] high[0, 1, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index):
    tensor.yield %zero : f32
  } : tensor<2x2x6xf32> to tensor<2x3x6xf32>
  %e = tensor.empty() : tensor<2x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %y = linalg.conv_1d_ncw_fcw ins(%p, %w : tensor<2x3x6xf32>, tensor<4x3x3xf32>) outs(%f : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  return %y : tensor<2x4x4xf32>
}

// An image of one pixel has as many values as a parameter; it comes with the call.
func.func @one_pixel(%x: tensor<1x3x1xf32>, %w: tensor<4x3x1xf32> {fuse.param}, %s: tensor<1x3x1xf32> {fuse.param}, %b: tensor<1x3x1xf32> {fuse.param}) -> tensor<1x4x1xf32> {
  %zero = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<1x3x1xf32>
  %n = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s, %b : tensor<1x3x1xf32>, tensor<1x3x1xf32>, tensor<1x3x1xf32>) outs(%ex : tensor<1x3x1xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<1x3x1xf32>
  %e = tensor.empty() : tensor<1x4x1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x1xf32>) -> tensor<1x4x1xf32>
  %y = linalg.conv_1d_ncw_fcw ins(%n, %w : tensor<1x3x1xf32>, tensor<4x3x1xf32>) outs(%f : tensor<1x4x1xf32>) -> tensor<1x4x1xf32>
  return %y : tensor<1x4x1xf32>
}

// Who asks for its extent reads nothing.
// IR-LABEL: @extent(
// IR: linalg.conv_1d_ncw_fcw {fuse.folded_input = "bn-conv"} ins(%arg0,
func.func @extent(%x: tensor<2x3x?xf32>, %w: tensor<4x3x1xf32> {fuse.param}, %s: tensor<3xf32> {fuse.param}, %b: tensor<3xf32> {fuse.param}) -> tensor<2x4x?xf32> {
  %zero = arith.constant 0.0 : f32
  %c2 = arith.constant 2 : index
  %dx = tensor.dim %x, %c2 : tensor<2x3x?xf32>
  %ex = tensor.empty(%dx) : tensor<2x3x?xf32>
  %n = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s, %b : tensor<2x3x?xf32>, tensor<3xf32>, tensor<3xf32>) outs(%ex : tensor<2x3x?xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<2x3x?xf32>
  %d = tensor.dim %n, %c2 : tensor<2x3x?xf32>
  %e = tensor.empty(%d) : tensor<2x4x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x?xf32>) -> tensor<2x4x?xf32>
  %y = linalg.conv_1d_ncw_fcw ins(%n, %w : tensor<2x3x?xf32>, tensor<4x3x1xf32>) outs(%f : tensor<2x4x?xf32>) -> tensor<2x4x?xf32>
  return %y : tensor<2x4x?xf32>
}
