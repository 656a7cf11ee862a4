// RUN: fuse-opt %s --fuse-conv-bn --remarks-filter=fuse-fold --remark-format=emitRemark -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=IR --input-file=%t
// RUN: fuse-opt %t --fuse-conv-bn -o %t.twice
// RUN: diff %t %t.twice
// RUN: fuse-opt %s --fuse-conv-bn=weights=always --remarks-filter=fuse-fold --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALWAYS
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=constants %s
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=depthwise %s
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=bias_of_the_call %s

// Constant weights behind a chain are computed here, and looked at: 16-bit ones may leave the range of their type.

// CHECK: [Passed] bn-conv #0 {{.*}}Function=constants {{.*}}Weights=constant
// CHECK: [Passed] bn-conv #0 {{.*}}Function=depthwise {{.*}}Weights=constant
// CHECK: [Passed] bn-conv #0 {{.*}}Function=bias_of_the_call {{.*}}Weights=constant
// CHECK: [Passed] bn-conv #0 {{.*}}Function=f16_fits
// CHECK: [Failure] bn-conv #0 {{.*}}Function=f16_overflows {{.*}}Reason="numerics: folded weights are not finite"
// CHECK: [Failure] bn-conv #0 {{.*}}Function=f16_sum_overflows {{.*}}Reason="numerics: folded weights are not finite"
// CHECK: [Failure] bn-conv #0 {{.*}}Function=f16_underflows {{.*}}Reason="numerics: folded weights underflow"
// CHECK: [Passed] bn-conv #0 {{.*}}Function=bf16_has_the_range
// CHECK: [Failure] bn-conv #0 {{.*}}Function=f16_parameters {{.*}}Reason="numerics: range of folded 16-bit weights is not known"
// CHECK-NOT: Decision=
// ALWAYS: [Failure] {{.*}}Function=f16_overflows
// ALWAYS: [Failure] {{.*}}Function=f16_sum_overflows
// ALWAYS: [Passed] {{.*}}Function=f16_parameters

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#c = affine_map<(d0, d1, d2) -> (d1)>

// w * s, and bias + w * b.
// IR-LABEL: @constants(
// IR-DAG: %[[W:.*]] = arith.constant dense<{{\[\[\[}}2.000000e+00], [1.000000e+00]], {{\[\[}}6.000000e+00], [-2.000000e+00]]]> : tensor<2x2x1xf32>
// IR-DAG: %[[B:.*]] = arith.constant dense<[1.700000e+01, 1.100000e+01]> : tensor<2xf32>
// IR-DAG: %[[INIT:.*]] = linalg.broadcast ins(%[[B]] :
// IR-NOT: linalg.generic
// IR: linalg.conv_1d_ncw_fcw {fuse.folded_input = "bn-conv"} ins(%arg0, %[[W]] : {{.*}}outs(%[[INIT]] :
func.func @constants(%x: tensor<1x2x3xf32>) -> tensor<1x2x3xf32> {
  %w = arith.constant dense<[[[1.0], [2.0]], [[3.0], [-4.0]]]> : tensor<2x2x1xf32>
  %s = arith.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %b = arith.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x2x3xf32>
  %n = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s, %b : tensor<1x2x3xf32>, tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<1x2x3xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<1x2x3xf32>
  %bias = arith.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %f = linalg.broadcast ins(%bias : tensor<2xf32>) outs(%e : tensor<1x2x3xf32>) dimensions = [0, 2]
  %y = linalg.conv_1d_ncw_fcw ins(%n, %w : tensor<1x2x3xf32>, tensor<2x2x1xf32>) outs(%f : tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  return %y : tensor<1x2x3xf32>
}

// IR-LABEL: @depthwise(
// IR-DAG: arith.constant dense<{{\[\[}}2.000000e+00, 4.000000e+00], [1.500000e+00, 2.000000e+00]]> : tensor<2x2xf32>
// IR-DAG: arith.constant dense<[3.000000e+00, 2.100000e+01]> : tensor<2xf32>
// IR-NOT: linalg.generic
// IR: return
func.func @depthwise(%x: tensor<1x2x3xf32>) -> tensor<1x2x2xf32> {
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %s = arith.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %b = arith.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %zero = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<1x2x3xf32>
  %n = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s, %b : tensor<1x2x3xf32>, tensor<2xf32>, tensor<2xf32>) outs(%ex : tensor<1x2x3xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<1x2x3xf32>
  %e = tensor.empty() : tensor<1x2x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x2xf32>) -> tensor<1x2x2xf32>
  %y = linalg.depthwise_conv_1d_ncw_cw ins(%n, %w : tensor<1x2x3xf32>, tensor<2x2xf32>) outs(%f : tensor<1x2x2xf32>) -> tensor<1x2x2xf32>
  return %y : tensor<1x2x2xf32>
}

// A bias that comes with the call is added on the call.
// IR-LABEL: @bias_of_the_call(
// IR: linalg.generic {{.*}}outs(%arg1 :
func.func @bias_of_the_call(%x: tensor<1x2x3xf32>, %bias: tensor<2xf32>) -> tensor<1x2x3xf32> {
  %w = arith.constant dense<[[[1.0], [2.0]], [[3.0], [-4.0]]]> : tensor<2x2x1xf32>
  %s = arith.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %b = arith.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x2x3xf32>
  %n = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s, %b : tensor<1x2x3xf32>, tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<1x2x3xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<1x2x3xf32>
  %f = linalg.broadcast ins(%bias : tensor<2xf32>) outs(%e : tensor<1x2x3xf32>) dimensions = [0, 2]
  %y = linalg.conv_1d_ncw_fcw ins(%n, %w : tensor<1x2x3xf32>, tensor<2x2x1xf32>) outs(%f : tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
  return %y : tensor<1x2x3xf32>
}

func.func @f16_fits(%x: tensor<1x2x3xf16>) -> tensor<1x2x3xf16> {
  %w = arith.constant dense<[[[1.0], [2.0]], [[3.0], [-4.0]]]> : tensor<2x2x1xf16>
  %s = arith.constant dense<[200.0, 100.0]> : tensor<2xf16>
  %b = arith.constant dense<[1.0, 3.0]> : tensor<2xf16>
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<1x2x3xf16>
  %n = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s, %b : tensor<1x2x3xf16>, tensor<2xf16>, tensor<2xf16>) outs(%e : tensor<1x2x3xf16>) {
  ^bb0(%i: f16, %si: f16, %bi: f16, %o: f16):
    %m = arith.mulf %i, %si : f16
    %a = arith.addf %m, %bi : f16
    linalg.yield %a : f16
  } -> tensor<1x2x3xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<1x2x3xf16>) -> tensor<1x2x3xf16>
  %y = linalg.conv_1d_ncw_fcw ins(%n, %w : tensor<1x2x3xf16>, tensor<2x2x1xf16>) outs(%f : tensor<1x2x3xf16>) -> tensor<1x2x3xf16>
  return %y : tensor<1x2x3xf16>
}
func.func @f16_overflows(%x: tensor<1x2x3xf16>) -> tensor<1x2x3xf16> {
  %w = arith.constant dense<[[[1.0], [2.0]], [[3.0], [-4.0]]]> : tensor<2x2x1xf16>
  %s = arith.constant dense<[200.0, 2.0e+4]> : tensor<2xf16>
  %b = arith.constant dense<[1.0, 3.0]> : tensor<2xf16>
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<1x2x3xf16>
  %n = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s, %b : tensor<1x2x3xf16>, tensor<2xf16>, tensor<2xf16>) outs(%e : tensor<1x2x3xf16>) {
  ^bb0(%i: f16, %si: f16, %bi: f16, %o: f16):
    %m = arith.mulf %i, %si : f16
    %a = arith.addf %m, %bi : f16
    linalg.yield %a : f16
  } -> tensor<1x2x3xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<1x2x3xf16>) -> tensor<1x2x3xf16>
  %y = linalg.conv_1d_ncw_fcw ins(%n, %w : tensor<1x2x3xf16>, tensor<2x2x1xf16>) outs(%f : tensor<1x2x3xf16>) -> tensor<1x2x3xf16>
  return %y : tensor<1x2x3xf16>
}
func.func @f16_sum_overflows(%x: tensor<1x2x3xf16>) -> tensor<1x2x3xf16> {
  %w = arith.constant dense<[[[1.0], [2.0]], [[3.0], [-4.0]]]> : tensor<2x2x1xf16>
  %s = arith.constant dense<[200.0, 100.0]> : tensor<2xf16>
  %b = arith.constant dense<[3.0e+4, 2.0e+4]> : tensor<2xf16>
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<1x2x3xf16>
  %n = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s, %b : tensor<1x2x3xf16>, tensor<2xf16>, tensor<2xf16>) outs(%e : tensor<1x2x3xf16>) {
  ^bb0(%i: f16, %si: f16, %bi: f16, %o: f16):
    %m = arith.mulf %i, %si : f16
    %a = arith.addf %m, %bi : f16
    linalg.yield %a : f16
  } -> tensor<1x2x3xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<1x2x3xf16>) -> tensor<1x2x3xf16>
  %y = linalg.conv_1d_ncw_fcw ins(%n, %w : tensor<1x2x3xf16>, tensor<2x2x1xf16>) outs(%f : tensor<1x2x3xf16>) -> tensor<1x2x3xf16>
  return %y : tensor<1x2x3xf16>
}
func.func @f16_underflows(%x: tensor<1x2x3xf16>) -> tensor<1x2x3xf16> {
  %w = arith.constant dense<[[[0.3], [0.7]], [[0.1], [-0.9]]]> : tensor<2x2x1xf16>
  %s = arith.constant dense<[3.0e-7, 3.0e-7]> : tensor<2xf16>
  %b = arith.constant dense<[1.0, 3.0]> : tensor<2xf16>
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<1x2x3xf16>
  %n = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s, %b : tensor<1x2x3xf16>, tensor<2xf16>, tensor<2xf16>) outs(%e : tensor<1x2x3xf16>) {
  ^bb0(%i: f16, %si: f16, %bi: f16, %o: f16):
    %m = arith.mulf %i, %si : f16
    %a = arith.addf %m, %bi : f16
    linalg.yield %a : f16
  } -> tensor<1x2x3xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<1x2x3xf16>) -> tensor<1x2x3xf16>
  %y = linalg.conv_1d_ncw_fcw ins(%n, %w : tensor<1x2x3xf16>, tensor<2x2x1xf16>) outs(%f : tensor<1x2x3xf16>) -> tensor<1x2x3xf16>
  return %y : tensor<1x2x3xf16>
}
func.func @bf16_has_the_range(%x: tensor<1x2x3xbf16>) -> tensor<1x2x3xbf16> {
  %w = arith.constant dense<[[[1.0], [2.0]], [[3.0], [-4.0]]]> : tensor<2x2x1xbf16>
  %s = arith.constant dense<[200.0, 2.0e+4]> : tensor<2xbf16>
  %b = arith.constant dense<[1.0, 3.0]> : tensor<2xbf16>
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<1x2x3xbf16>
  %n = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s, %b : tensor<1x2x3xbf16>, tensor<2xbf16>, tensor<2xbf16>) outs(%e : tensor<1x2x3xbf16>) {
  ^bb0(%i: bf16, %si: bf16, %bi: bf16, %o: bf16):
    %m = arith.mulf %i, %si : bf16
    %a = arith.addf %m, %bi : bf16
    linalg.yield %a : bf16
  } -> tensor<1x2x3xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<1x2x3xbf16>) -> tensor<1x2x3xbf16>
  %y = linalg.conv_1d_ncw_fcw ins(%n, %w : tensor<1x2x3xbf16>, tensor<2x2x1xbf16>) outs(%f : tensor<1x2x3xbf16>) -> tensor<1x2x3xbf16>
  return %y : tensor<1x2x3xbf16>
}
func.func @f16_parameters(%x: tensor<1x2x3xf16>, %w: tensor<2x2x1xf16> {fuse.param}, %s: tensor<2xf16> {fuse.param}, %b: tensor<2xf16> {fuse.param}) -> tensor<1x2x3xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<1x2x3xf16>
  %n = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s, %b : tensor<1x2x3xf16>, tensor<2xf16>, tensor<2xf16>) outs(%e : tensor<1x2x3xf16>) {
  ^bb0(%i: f16, %si: f16, %bi: f16, %o: f16):
    %m = arith.mulf %i, %si : f16
    %a = arith.addf %m, %bi : f16
    linalg.yield %a : f16
  } -> tensor<1x2x3xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<1x2x3xf16>) -> tensor<1x2x3xf16>
  %y = linalg.conv_1d_ncw_fcw ins(%n, %w : tensor<1x2x3xf16>, tensor<2x2x1xf16>) outs(%f : tensor<1x2x3xf16>) -> tensor<1x2x3xf16>
  return %y : tensor<1x2x3xf16>
}
