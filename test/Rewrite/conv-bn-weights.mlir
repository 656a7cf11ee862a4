// RUN: fuse-opt %s --fuse-conv-bn --split-input-file --remarks-filter=fuse-fold --remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --input-file=%t --check-prefix=AUTO
// RUN: fuse-opt %s --fuse-conv-bn="weights=constants" --split-input-file --remarks-filter=fuse-fold --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=CONST
// RUN: fuse-opt %s --fuse-conv-bn="weights=always" --split-input-file --remarks-filter=fuse-fold --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALWAYS

// When weights are known decides: constants are folded here, parameters in IR that depends on nothing else, run-time
// weights where scaling them is cheaper than an epilogue.

// AUTO: Function=dense {{.*}}Decision=folded{{.*}}Weights=constant
// CONST: Function=dense {{.*}}Decision=folded{{.*}}Weights=constant
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

// Parameters and run-time weights: the same program but for one mark. One run-time operand makes the weights run-time.
// CHECK-LABEL: @parameters
// CHECK: linalg.conv_2d_nhwc_hwcf {fuse.folded
// CHECK-LABEL: @run_time
// CHECK: linalg.conv_2d_nhwc_hwcf ins
// AUTO: [Passed] {{.*}} Function=parameters {{.*}}Decision=folded{{.*}}Weights=parameter
// AUTO: [Missed] {{.*}} Function=run_time {{.*}}Decision=kept, Flip="fuse.param on the weights, or weights=always"{{.*}}Reason="profit: run-time weights cost more to fold than an epilogue", Weights=run-time, epilogue_us={{.*}}, fold_us=
// CONST: [Missed] {{.*}} Function=parameters {{.*}}Reason="profit: weights are not constant", Weights=parameter
// CONST: [Missed] {{.*}} Function=run_time {{.*}}Reason="profit: weights are not constant", Weights=run-time
// ALWAYS: Function=parameters {{.*}}Decision=folded
// ALWAYS: Function=run_time {{.*}}Decision=folded
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
func.func @parameters(%x: tensor<1x3x3x2xf32>, %w: tensor<1x1x2x4xf32> {fuse.param}, %s: tensor<4xf32> {fuse.param}, %b: tensor<4xf32> {fuse.param}) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
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
func.func @run_time(%x: tensor<1x3x3x2xf32>, %w: tensor<1x1x2x4xf32> {fuse.param}, %s: tensor<4xf32> {fuse.param}, %b: tensor<4xf32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
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

// Scaling 8 weights is cheaper than two operations on 128 million elements.
// AUTO: Function=large_output {{.*}}Decision=folded{{.*}}Weights=run-time
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
func.func @large_output(%x: tensor<2560x112x112x2xf32>, %w: tensor<1x1x2x4xf32>, %s: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<2560x112x112x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2560x112x112x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2560x112x112x4xf32>) -> tensor<2560x112x112x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<2560x112x112x2xf32>, tensor<1x1x2x4xf32>) outs(%f : tensor<2560x112x112x4xf32>) -> tensor<2560x112x112x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %s, %b : tensor<2560x112x112x4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<2560x112x112x4xf32>) {
  ^bb0(%i: f32, %sc: f32, %sh: f32, %o: f32):
    %m = arith.mulf %i, %sc : f32
    %a = arith.addf %m, %sh : f32
    linalg.yield %a : f32
  } -> tensor<2560x112x112x4xf32>
  return %z : tensor<2560x112x112x4xf32>
}
