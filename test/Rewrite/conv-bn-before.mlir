// RUN: fuse-opt %s --fuse-conv-bn --remarks-filter=fuse-fold --remark-format=emitRemark -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=IR --input-file=%t
// RUN: fuse-opt %s --fuse-conv-bn=weights=constants --remarks-filter=fuse-fold --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=CONSTANTS
// RUN: fuse-opt %t --fuse-conv-bn -o %t.twice
// RUN: diff %t %t.twice
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=unpadded %s
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=scale_padded %s
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=depthwise_and_behind %s
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn=weights=always --require-change --entry=run_time %s

// A scale and shift per input channel moves into the convolution behind it, unless a border stands between.

// CHECK: [Passed] bn-conv #0 {{.*}}Function=unpadded {{.*}}Decision=folded{{.*}}Weights=parameter
// CHECK: [Passed] bn-conv #0 {{.*}}Function=scale_padded {{.*}}Decision=folded
// CHECK: [Failure] bn-conv #0 {{.*}}Function=shift_padded {{.*}}Decision=kept{{.*}}Reason="shape: padding stands between scale and convolution"
// CHECK: [Passed] conv-bn #0 {{.*}}Function=depthwise_and_behind {{.*}}Decision=folded
// CHECK: [Passed] bn-conv #0 {{.*}}Function=depthwise_and_behind {{.*}}Decision=folded
// CHECK: [Missed] bn-conv #0 {{.*}}Function=run_time {{.*}}Decision=kept{{.*}}Reason="profit: run-time weights cost more to fold than an epilogue"
// CHECK-NOT: Decision=
// CONSTANTS: Function=run_time {{.*}}Reason="profit: weights are not constant"

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d1)>

// The weights are scaled per input channel, and their sum with the shift joins the bias.
// IR-LABEL: @unpadded(
// IR-SAME: %[[X:[a-z0-9]*]]: tensor<2x3x5x5xf32>, %[[W:[a-z0-9]*]]: tensor<4x3x2x2xf32> {fuse.param}, %[[BIAS:[a-z0-9]*]]: tensor<4xf32>
// IR: %[[SUM:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "reduction", "reduction"]} ins(%[[W]], {{.*}}) outs(%[[BIAS]] :
// IR: %[[INIT:.*]] = linalg.broadcast ins(%[[SUM]] :
// IR: %[[SCALED:.*]] = linalg.generic {{.*}} ins(%[[W]],
// IR: linalg.conv_2d_nchw_fchw {fuse.folded_input = "bn-conv"} ins(%[[X]], %[[SCALED]] : {{.*}}) outs(%[[INIT]] :
func.func @unpadded(%x: tensor<2x3x5x5xf32>, %w: tensor<4x3x2x2xf32> {fuse.param}, %bias: tensor<4xf32> {fuse.param}, %mean: tensor<3xf32> {fuse.param}, %s: tensor<3xf32> {fuse.param}) -> tensor<2x4x4x4xf32> {
  %ex = tensor.empty() : tensor<2x3x5x5xf32>
  %d = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %mean : tensor<2x3x5x5xf32>, tensor<3xf32>) outs(%ex : tensor<2x3x5x5xf32>) {
  ^bb0(%i: f32, %m: f32, %o: f32):
    %a = arith.subf %i, %m : f32
    linalg.yield %a : f32
  } -> tensor<2x3x5x5xf32>
  %n = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%d, %s : tensor<2x3x5x5xf32>, tensor<3xf32>) outs(%ex : tensor<2x3x5x5xf32>) {
  ^bb0(%i: f32, %si: f32, %o: f32):
    %a = arith.mulf %i, %si : f32
    linalg.yield %a : f32
  } -> tensor<2x3x5x5xf32>
  %e = tensor.empty() : tensor<2x4x4x4xf32>
  %f = linalg.broadcast ins(%bias : tensor<4xf32>) outs(%e : tensor<2x4x4x4xf32>) dimensions = [0, 2, 3]
  %y = linalg.conv_2d_nchw_fchw ins(%n, %w : tensor<2x3x5x5xf32>, tensor<4x3x2x2xf32>) outs(%f : tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  return %y : tensor<2x4x4x4xf32>
}

// A scale keeps zeros; the padding moves in front of it.
// IR-LABEL: @scale_padded(
// IR: %[[PAD:.*]] = tensor.pad %arg0
// IR: linalg.conv_2d_nchw_fchw {fuse.folded_input = "bn-conv"} ins(%[[PAD]],
func.func @scale_padded(%x: tensor<2x3x5x5xf32>, %w: tensor<4x3x3x3xf32> {fuse.param}, %s: tensor<3xf32> {fuse.param}) -> tensor<2x4x5x5xf32> {
  %zero = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<2x3x5x5xf32>
  %n = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %s : tensor<2x3x5x5xf32>, tensor<3xf32>) outs(%ex : tensor<2x3x5x5xf32>) {
  ^bb0(%i: f32, %si: f32, %o: f32):
    %a = arith.mulf %i, %si : f32
    linalg.yield %a : f32
  } -> tensor<2x3x5x5xf32>
  %p = tensor.pad %n low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<2x3x5x5xf32> to tensor<2x3x7x7xf32>
  %e = tensor.empty() : tensor<2x4x5x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<2x3x7x7xf32>, tensor<4x3x3x3xf32>) outs(%f : tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  return %y : tensor<2x4x5x5xf32>
}

// A shift does not.
// IR-LABEL: @shift_padded(
// IR: arith.addf
// IR: linalg.conv_2d_nchw_fchw ins(%{{.*}}, %arg1 :
func.func @shift_padded(%x: tensor<2x3x5x5xf32>, %w: tensor<4x3x3x3xf32> {fuse.param}, %s: tensor<3xf32> {fuse.param}, %b: tensor<3xf32> {fuse.param}) -> tensor<2x4x5x5xf32> {
  %zero = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<2x3x5x5xf32>
  %n = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %s, %b : tensor<2x3x5x5xf32>, tensor<3xf32>, tensor<3xf32>) outs(%ex : tensor<2x3x5x5xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<2x3x5x5xf32>
  %p = tensor.pad %n low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<2x3x5x5xf32> to tensor<2x3x7x7xf32>
  %e = tensor.empty() : tensor<2x4x5x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<2x3x7x7xf32>, tensor<4x3x3x3xf32>) outs(%f : tensor<2x4x5x5xf32>) -> tensor<2x4x5x5xf32>
  return %y : tensor<2x4x5x5xf32>
}

// A batch norm on either side; the input channel is the output channel.
// IR-LABEL: @depthwise_and_behind(
// IR: linalg.depthwise_conv_2d_nchw_chw {fuse.folded = "conv-bn", fuse.folded_input = "bn-conv"} ins(%arg0,
// IR-NOT: linalg.generic
// IR: return
func.func @depthwise_and_behind(%x: tensor<2x3x5x5xf32>, %w: tensor<3x2x2xf32> {fuse.param}, %s: tensor<3xf32> {fuse.param}, %b: tensor<3xf32> {fuse.param}) -> tensor<2x3x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<2x3x5x5xf32>
  %n = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %s, %b : tensor<2x3x5x5xf32>, tensor<3xf32>, tensor<3xf32>) outs(%ex : tensor<2x3x5x5xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<2x3x5x5xf32>
  %e = tensor.empty() : tensor<2x3x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
  %y = linalg.depthwise_conv_2d_nchw_chw ins(%n, %w : tensor<2x3x5x5xf32>, tensor<3x2x2xf32>) outs(%f : tensor<2x3x4x4xf32>) -> tensor<2x3x4x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %b, %s : tensor<2x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<2x3x4x4xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<2x3x4x4xf32>
  return %z : tensor<2x3x4x4xf32>
}

// Weights that come with the call: only on request. An activation in between is no chain.
// IR-LABEL: @run_time(
// IR: linalg.conv_2d_nchw_fchw ins(%{{.*}}, %arg1 :
func.func @run_time(%x: tensor<2x3x5x5xf32>, %w: tensor<4x3x2x2xf32>, %s: tensor<3xf32>) -> tensor<2x4x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<2x3x5x5xf32>
  %n = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %s : tensor<2x3x5x5xf32>, tensor<3xf32>) outs(%ex : tensor<2x3x5x5xf32>) {
  ^bb0(%i: f32, %si: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    linalg.yield %m : f32
  } -> tensor<2x3x5x5xf32>
  %e = tensor.empty() : tensor<2x4x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%n, %w : tensor<2x3x5x5xf32>, tensor<4x3x2x2xf32>) outs(%f : tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  return %y : tensor<2x4x4x4xf32>
}
func.func @activation(%x: tensor<2x3x5x5xf32>, %w: tensor<4x3x2x2xf32> {fuse.param}, %s: tensor<3xf32> {fuse.param}) -> tensor<2x4x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<2x3x5x5xf32>
  %n = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %s : tensor<2x3x5x5xf32>, tensor<3xf32>) outs(%ex : tensor<2x3x5x5xf32>) {
  ^bb0(%i: f32, %si: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %r = arith.maximumf %m, %zero : f32
    linalg.yield %r : f32
  } -> tensor<2x3x5x5xf32>
  %e = tensor.empty() : tensor<2x4x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%n, %w : tensor<2x3x5x5xf32>, tensor<4x3x2x2xf32>) outs(%f : tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32>
  return %y : tensor<2x4x4x4xf32>
}
