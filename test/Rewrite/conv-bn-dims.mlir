// RUN: fuse-opt %s --fuse-conv-bn --remarks-filter=fuse-fold --remark-format=emitRemark -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=IR --input-file=%t
// RUN: fuse-opt %t --fuse-conv-bn -o %t.twice
// RUN: diff %t %t.twice
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=reshaped %s
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=in_place %s

// Who asks for an extent reads nothing, of the result, of a reshape of it, or of an operation that writes in place.

// CHECK: [Passed] conv-bn #0 {{.*}}Function=reshaped {{.*}}Decision=folded
// CHECK: [Failure] conv-bn #0 {{.*}}Function=reshaped_and_read {{.*}}Decision=kept{{.*}}Reason="dependency: multiple consumers"
// CHECK: [Passed] conv-bn #0 {{.*}}Function=in_place {{.*}}Decision=folded
// CHECK-NOT: Decision=

#id = affine_map<(d0, d1) -> (d0, d1)>
#c = affine_map<(d0, d1) -> (d0)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#c3 = affine_map<(d0, d1, d2) -> (d1)>

// IR-LABEL: @reshaped(
// IR: %[[F:.*]] = linalg.fill
// IR: %[[C:.*]] = tensor.collapse_shape %[[F]]
// IR: tensor.dim %[[C]]
// IR: linalg.conv_1d_ncw_fcw
// IR-NOT: linalg.conv_1d_ncw_fcw
// IR: return
func.func @reshaped(%x: tensor<1x3x?xf32>, %w: tensor<4x3x1xf32> {fuse.param}, %s: tensor<4xf32> {fuse.param}) -> (tensor<4x?xf32>, index) {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c2 : tensor<1x3x?xf32>
  %e = tensor.empty(%n) : tensor<1x4x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x?xf32>) -> tensor<1x4x?xf32>
  %y = linalg.conv_1d_ncw_fcw ins(%x, %w : tensor<1x3x?xf32>, tensor<4x3x1xf32>) outs(%f : tensor<1x4x?xf32>) -> tensor<1x4x?xf32>
  %r = tensor.collapse_shape %y [[0, 1], [2]] : tensor<1x4x?xf32> into tensor<4x?xf32>
  %d = tensor.dim %r, %c1 : tensor<4x?xf32>
  %er = tensor.empty(%d) : tensor<4x?xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel"]} ins(%r, %s : tensor<4x?xf32>, tensor<4xf32>) outs(%er : tensor<4x?xf32>) {
  ^bb0(%i: f32, %si: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    linalg.yield %m : f32
  } -> tensor<4x?xf32>
  return %z, %d : tensor<4x?xf32>, index
}

// One element of it is read.
func.func @reshaped_and_read(%x: tensor<1x3x?xf32>, %w: tensor<4x3x1xf32> {fuse.param}, %s: tensor<4xf32> {fuse.param}) -> (tensor<4x?xf32>, f32) {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c2 : tensor<1x3x?xf32>
  %e = tensor.empty(%n) : tensor<1x4x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x?xf32>) -> tensor<1x4x?xf32>
  %y = linalg.conv_1d_ncw_fcw ins(%x, %w : tensor<1x3x?xf32>, tensor<4x3x1xf32>) outs(%f : tensor<1x4x?xf32>) -> tensor<1x4x?xf32>
  %r = tensor.collapse_shape %y [[0, 1], [2]] : tensor<1x4x?xf32> into tensor<4x?xf32>
  %d = tensor.extract %r[%c1, %c1] : tensor<4x?xf32>
  %er = tensor.empty(%n) : tensor<4x?xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel"]} ins(%r, %s : tensor<4x?xf32>, tensor<4xf32>) outs(%er : tensor<4x?xf32>) {
  ^bb0(%i: f32, %si: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    linalg.yield %m : f32
  } -> tensor<4x?xf32>
  return %z, %d : tensor<4x?xf32>, f32
}

// The convolution is done once.
// IR-LABEL: @in_place(
// IR: %[[F:.*]] = linalg.fill
// IR: tensor.dim %[[F]]
// IR: linalg.conv_1d_ncw_fcw
// IR-NOT: linalg.conv_1d_ncw_fcw
// IR: return
func.func @in_place(%x: tensor<1x3x?xf32>, %w: tensor<4x3x1xf32> {fuse.param}, %s: tensor<4xf32> {fuse.param}, %b: tensor<4xf32> {fuse.param}) -> (tensor<1x4x?xf32>, index) {
  %zero = arith.constant 0.0 : f32
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c2 : tensor<1x3x?xf32>
  %e = tensor.empty(%n) : tensor<1x4x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x?xf32>) -> tensor<1x4x?xf32>
  %y = linalg.conv_1d_ncw_fcw ins(%x, %w : tensor<1x3x?xf32>, tensor<4x3x1xf32>) outs(%f : tensor<1x4x?xf32>) -> tensor<1x4x?xf32>
  %m = linalg.generic {indexing_maps = [#c3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<4xf32>) outs(%y : tensor<1x4x?xf32>) {
  ^bb0(%si: f32, %o: f32):
    %v = arith.mulf %o, %si : f32
    linalg.yield %v : f32
  } -> tensor<1x4x?xf32>
  %d = tensor.dim %m, %c2 : tensor<1x4x?xf32>
  %z = linalg.generic {indexing_maps = [#c3, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%b : tensor<4xf32>) outs(%m : tensor<1x4x?xf32>) {
  ^bb0(%si: f32, %o: f32):
    %v = arith.addf %o, %si : f32
    linalg.yield %v : f32
  } -> tensor<1x4x?xf32>
  return %z, %d : tensor<1x4x?xf32>, index
}
