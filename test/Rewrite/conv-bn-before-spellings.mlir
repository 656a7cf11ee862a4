// RUN: fuse-opt %s --fuse-conv-bn --remarks-filter=fuse-fold --remark-format=emitRemark -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=IR --input-file=%t
// RUN: fuse-opt %t --fuse-conv-bn -o %t.twice
// RUN: diff %t %t.twice
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=full_rank %s
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=broadcast %s
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=in_place %s
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=non_zero_fill %s

// Spellings of a chain in front of a convolution: parameters of full rank, operations that write in place, initial values.

// CHECK: [Passed] bn-conv #0 {{.*}}Function=full_rank {{.*}}Decision=folded
// CHECK: [Passed] bn-conv #0 {{.*}}Function=broadcast {{.*}}Decision=folded
// CHECK-NOT: Function=two_images
// CHECK: [Passed] bn-conv #0 {{.*}}Function=in_place {{.*}}Decision=folded
// CHECK-NOT: Function=in_place_and_read
// CHECK: [Passed] bn-conv #0 {{.*}}Function=non_zero_fill {{.*}}Decision=folded
// CHECK: [Failure] bn-conv #0 {{.*}}Function=init_per_column {{.*}}Decision=kept{{.*}}Reason="shape: initial value is not per channel"
// CHECK-NOT: Decision=

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#c = affine_map<(d0, d1, d2) -> (d1)>
#unit = affine_map<(d0, d1, d2) -> (0, d1, 0)>

// IR-LABEL: @full_rank(
// IR: linalg.conv_1d_ncw_fcw {fuse.folded_input = "bn-conv"} ins(%arg0,
func.func @full_rank(%x: tensor<2x3x6xf32>, %w: tensor<4x3x3xf32> {fuse.param}, %s: tensor<3xf32> {fuse.param}, %b: tensor<3xf32> {fuse.param}) -> tensor<2x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<2x3x6xf32>
  %s1 = tensor.expand_shape %s [[0, 1, 2]] output_shape [1, 3, 1] : tensor<3xf32> into tensor<1x3x1xf32>
  %b1 = tensor.expand_shape %b [[0, 1, 2]] output_shape [1, 3, 1] : tensor<3xf32> into tensor<1x3x1xf32>
  %n = linalg.generic {indexing_maps = [#id, #unit, #unit, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s1, %b1 : tensor<2x3x6xf32>, tensor<1x3x1xf32>, tensor<1x3x1xf32>) outs(%ex : tensor<2x3x6xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<2x3x6xf32>
  %e = tensor.empty() : tensor<2x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %y = linalg.conv_1d_ncw_fcw ins(%n, %w : tensor<2x3x6xf32>, tensor<4x3x3xf32>) outs(%f : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  return %y : tensor<2x4x4xf32>
}

// Parameters with a value for each element, all the same along batch and columns.
// IR-LABEL: @broadcast(
// IR: linalg.conv_1d_ncw_fcw {fuse.folded_input = "bn-conv"} ins(%arg0,
func.func @broadcast(%x: tensor<2x3x6xf32>, %w: tensor<4x3x3xf32> {fuse.param}, %s: tensor<3xf32> {fuse.param}, %b: tensor<3xf32> {fuse.param}) -> tensor<2x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<2x3x6xf32>
  %s1 = linalg.broadcast ins(%s : tensor<3xf32>) outs(%ex : tensor<2x3x6xf32>) dimensions = [0, 2]
  %b1 = linalg.broadcast ins(%b : tensor<3xf32>) outs(%ex : tensor<2x3x6xf32>) dimensions = [0, 2]
  %n = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s1, %b1 : tensor<2x3x6xf32>, tensor<2x3x6xf32>, tensor<2x3x6xf32>) outs(%ex : tensor<2x3x6xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<2x3x6xf32>
  %e = tensor.empty() : tensor<2x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %y = linalg.conv_1d_ncw_fcw ins(%n, %w : tensor<2x3x6xf32>, tensor<4x3x3xf32>) outs(%f : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  return %y : tensor<2x4x4xf32>
}

// The one that is not the same is a second image.
// IR-LABEL: @two_images(
// IR: arith.mulf
func.func @two_images(%x: tensor<2x3x6xf32>, %w: tensor<4x3x3xf32> {fuse.param}, %s: tensor<3xf32> {fuse.param}, %b1: tensor<2x3x6xf32> {fuse.param}) -> tensor<2x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<2x3x6xf32>
  %s1 = linalg.broadcast ins(%s : tensor<3xf32>) outs(%ex : tensor<2x3x6xf32>) dimensions = [0, 2]
  %n = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s1, %b1 : tensor<2x3x6xf32>, tensor<2x3x6xf32>, tensor<2x3x6xf32>) outs(%ex : tensor<2x3x6xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<2x3x6xf32>
  %e = tensor.empty() : tensor<2x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %y = linalg.conv_1d_ncw_fcw ins(%n, %w : tensor<2x3x6xf32>, tensor<4x3x3xf32>) outs(%f : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  return %y : tensor<2x4x4xf32>
}

// IR-LABEL: @in_place(
// IR: linalg.conv_1d_ncw_fcw {fuse.folded_input = "bn-conv"} ins(%arg0,
func.func @in_place(%x: tensor<2x3x6xf32>, %w: tensor<4x3x3xf32> {fuse.param}, %s: tensor<3xf32> {fuse.param}, %b: tensor<3xf32> {fuse.param}) -> tensor<2x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %m = linalg.generic {indexing_maps = [#c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<3xf32>) outs(%x : tensor<2x3x6xf32>) {
  ^bb0(%si: f32, %o: f32):
    %v = arith.mulf %o, %si : f32
    linalg.yield %v : f32
  } -> tensor<2x3x6xf32>
  %n = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%m, %b : tensor<2x3x6xf32>, tensor<3xf32>) outs(%m : tensor<2x3x6xf32>) {
  ^bb0(%i: f32, %bi: f32, %o: f32):
    %v = arith.addf %i, %bi : f32
    linalg.yield %v : f32
  } -> tensor<2x3x6xf32>
  %e = tensor.empty() : tensor<2x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %y = linalg.conv_1d_ncw_fcw ins(%n, %w : tensor<2x3x6xf32>, tensor<4x3x3xf32>) outs(%f : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  return %y : tensor<2x4x4xf32>
}

// A value in between is returned as well.
// IR-LABEL: @in_place_and_read(
// IR: arith.mulf
// IR: arith.addf
func.func @in_place_and_read(%x: tensor<2x3x6xf32>, %w: tensor<4x3x3xf32> {fuse.param}, %s: tensor<3xf32> {fuse.param}, %b: tensor<3xf32> {fuse.param}) -> (tensor<2x4x4xf32>, tensor<2x3x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %m = linalg.generic {indexing_maps = [#c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<3xf32>) outs(%x : tensor<2x3x6xf32>) {
  ^bb0(%si: f32, %o: f32):
    %v = arith.mulf %o, %si : f32
    linalg.yield %v : f32
  } -> tensor<2x3x6xf32>
  %n = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%m, %b : tensor<2x3x6xf32>, tensor<3xf32>) outs(%m : tensor<2x3x6xf32>) {
  ^bb0(%i: f32, %bi: f32, %o: f32):
    %v = arith.addf %i, %bi : f32
    linalg.yield %v : f32
  } -> tensor<2x3x6xf32>
  %e = tensor.empty() : tensor<2x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %y = linalg.conv_1d_ncw_fcw ins(%n, %w : tensor<2x3x6xf32>, tensor<4x3x3xf32>) outs(%f : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  return %y, %n : tensor<2x4x4xf32>, tensor<2x3x6xf32>
}

// Half of it stands in the accumulators from the start.
// IR-LABEL: @non_zero_fill(
// IR: linalg.conv_1d_ncw_fcw {fuse.folded_input = "bn-conv"} ins(%arg0,
func.func @non_zero_fill(%x: tensor<2x3x6xf32>, %w: tensor<4x3x3xf32> {fuse.param}, %s: tensor<3xf32> {fuse.param}, %b: tensor<3xf32> {fuse.param}) -> tensor<2x4x4xf32> {
  %half = arith.constant 0.5 : f32
  %ex = tensor.empty() : tensor<2x3x6xf32>
  %n = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s, %b : tensor<2x3x6xf32>, tensor<3xf32>, tensor<3xf32>) outs(%ex : tensor<2x3x6xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<2x3x6xf32>
  %e = tensor.empty() : tensor<2x4x4xf32>
  %f = linalg.fill ins(%half : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %y = linalg.conv_1d_ncw_fcw ins(%n, %w : tensor<2x3x6xf32>, tensor<4x3x3xf32>) outs(%f : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  return %y : tensor<2x4x4xf32>
}

// One value for each column.
func.func @init_per_column(%x: tensor<2x3x6xf32>, %w: tensor<4x3x3xf32> {fuse.param}, %s: tensor<3xf32> {fuse.param}, %b: tensor<3xf32> {fuse.param}, %q: tensor<4xf32> {fuse.param}) -> tensor<2x4x4xf32> {
  %ex = tensor.empty() : tensor<2x3x6xf32>
  %n = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s, %b : tensor<2x3x6xf32>, tensor<3xf32>, tensor<3xf32>) outs(%ex : tensor<2x3x6xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<2x3x6xf32>
  %e = tensor.empty() : tensor<2x4x4xf32>
  %f = linalg.broadcast ins(%q : tensor<4xf32>) outs(%e : tensor<2x4x4xf32>) dimensions = [0, 1]
  %y = linalg.conv_1d_ncw_fcw ins(%n, %w : tensor<2x3x6xf32>, tensor<4x3x3xf32>) outs(%f : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  return %y : tensor<2x4x4xf32>
}
