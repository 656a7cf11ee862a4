// RUN: fuse-opt %s --fuse-conv-bn | FileCheck %s
// RUN: fuse-opt %s --fuse-conv-bn | fuse-opt --fuse-conv-bn | FileCheck %s
// RUN: fuse-opt %s --fuse-conv-bn --remarks-filter="fuse-fold" --remark-format=emitRemark -o /dev/null 2>&1 | grep "remark:" | FileCheck %s --check-prefix=REMARK
// RUN: fuse-opt %s --fuse-boundary --fuse-conv-bn --fuse-explain -o /dev/null 2>&1 | FileCheck %s --check-prefix=SUMMARY

// A bias alone becomes the accumulator's initial value; the filter stays as it is. It is no batch norm.
// REMARK: [Passed] conv-bias #0 | Category:fuse-fold | Function=bias
// REMARK-NOT: Function=
// SUMMARY: batch norms folded 0 of 0 found

// CHECK-LABEL: @bias(
// CHECK-SAME: %[[X:.*]]: tensor<1x2x4x4xf32>, %[[W:.*]]: tensor<3x2x1x1xf32> {fuse.param}, %[[B:.*]]: tensor<3xf32> {fuse.param})
// CHECK: %[[INIT:.*]] = linalg.broadcast ins(%[[B]]
// CHECK: %[[C:.*]] = linalg.conv_2d_nchw_fchw {{.*}}fuse.folded = "bias"{{.*}} ins(%[[X]], %[[W]] {{.*}} outs(%[[INIT]]
// CHECK: return %[[C]]
func.func @bias(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x1x1xf32> {fuse.param}, %b: tensor<3xf32> {fuse.param}) -> tensor<1x3x4x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x4x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>) outs(%f : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c, %b : tensor<1x3x4x4xf32>, tensor<3xf32>) outs(%e : tensor<1x3x4x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<1x3x4x4xf32>
  return %r : tensor<1x3x4x4xf32>
}

// Along W, which has the channels' extent, it is none: left as it is, without a word.
// CHECK-LABEL: @wrong_axis
// CHECK-NOT: fuse.folded
// CHECK: arith.addf
func.func @wrong_axis(%x: tensor<1x2x3x3xf32>, %w: tensor<3x2x1x1xf32> {fuse.param}, %b: tensor<3xf32> {fuse.param}) -> tensor<1x3x3x3xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x3x3xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x2x3x3xf32>, tensor<3x2x1x1xf32>) outs(%f : tensor<1x3x3x3xf32>) -> tensor<1x3x3x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c, %b : tensor<1x3x3x3xf32>, tensor<3xf32>) outs(%e : tensor<1x3x3x3xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<1x3x3x3xf32>
  return %r : tensor<1x3x3x3xf32>
}

// Weights that may change on every call: an epilogue.
// CHECK-LABEL: @run_time
// CHECK-NOT: fuse.folded
// CHECK: arith.addf
func.func @run_time(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x1x1xf32>, %b: tensor<3xf32>) -> tensor<1x3x4x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x4x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>) outs(%f : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c, %b : tensor<1x3x4x4xf32>, tensor<3xf32>) outs(%e : tensor<1x3x4x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<1x3x4x4xf32>
  return %r : tensor<1x3x4x4xf32>
}
