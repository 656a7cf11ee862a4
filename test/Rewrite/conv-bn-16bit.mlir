// RUN: fuse-opt %s --fuse-conv-bn --split-input-file --remarks-filter=fuse-fold --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s
// RUN: fuse-opt %s --fuse-conv-bn="weights=always" --split-input-file --remarks-filter=fuse-fold --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALWAYS

// 16-bit weights may leave the range of their type. Constants are looked at; what is not known is kept unless asked for.

// CHECK: [Passed] {{.*}} Function=f16_fits
// CHECK: [Failure] {{.*}} Function=f16_overflows {{.*}}Reason="numerics: folded weights are not finite"
// CHECK: [Failure] {{.*}} Function=f16_underflows {{.*}}Reason="numerics: folded weights underflow"
// CHECK: [Passed] {{.*}} Function=bf16_has_the_range
// CHECK: [Passed] {{.*}} Function=f32_has_the_range
// CHECK: [Passed] {{.*}} Function=one_small_channel
// ALWAYS: [Failure] {{.*}} Function=f16_overflows
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
func.func @f16_fits(%x: tensor<1x3x3x2xf16>) -> tensor<1x3x3x4xf16> {
  %zero = arith.constant 0.0 : f16
  %w = arith.constant dense<[[[[1.0, 2.0, 3.0, 4.0], [0.5, 0.25, -1.0, -2.0]]]]> : tensor<1x1x2x4xf16>
  %s = arith.constant dense<[100.0, 200.0, 300.0, 400.0]> : tensor<4xf16>
  %b = arith.constant dense<0.0> : tensor<4xf16>
  %e = tensor.empty() : tensor<1x3x3x4xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<1x3x3x4xf16>) -> tensor<1x3x3x4xf16>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x3x3x2xf16>, tensor<1x1x2x4xf16>) outs(%f : tensor<1x3x3x4xf16>) -> tensor<1x3x3x4xf16>
  %z = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %s, %b : tensor<1x3x3x4xf16>, tensor<4xf16>, tensor<4xf16>) outs(%e : tensor<1x3x3x4xf16>) {
  ^bb0(%i: f16, %sc: f16, %sh: f16, %o: f16):
    %m = arith.mulf %i, %sc : f16
    %a = arith.addf %m, %sh : f16
    linalg.yield %a : f16
  } -> tensor<1x3x3x4xf16>
  return %z : tensor<1x3x3x4xf16>
}
func.func @f16_overflows(%x: tensor<1x3x3x2xf16>) -> tensor<1x3x3x4xf16> {
  %zero = arith.constant 0.0 : f16
  %w = arith.constant dense<[[[[1.0, 2.0, 3.0, 4.0], [0.5, 0.25, -1.0, -2.0]]]]> : tensor<1x1x2x4xf16>
  %s = arith.constant dense<[100.0, 200.0, 300.0, 3.0e+4]> : tensor<4xf16>
  %b = arith.constant dense<0.0> : tensor<4xf16>
  %e = tensor.empty() : tensor<1x3x3x4xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<1x3x3x4xf16>) -> tensor<1x3x3x4xf16>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x3x3x2xf16>, tensor<1x1x2x4xf16>) outs(%f : tensor<1x3x3x4xf16>) -> tensor<1x3x3x4xf16>
  %z = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %s, %b : tensor<1x3x3x4xf16>, tensor<4xf16>, tensor<4xf16>) outs(%e : tensor<1x3x3x4xf16>) {
  ^bb0(%i: f16, %sc: f16, %sh: f16, %o: f16):
    %m = arith.mulf %i, %sc : f16
    %a = arith.addf %m, %sh : f16
    linalg.yield %a : f16
  } -> tensor<1x3x3x4xf16>
  return %z : tensor<1x3x3x4xf16>
}
func.func @f16_underflows(%x: tensor<1x3x3x2xf16>) -> tensor<1x3x3x4xf16> {
  %zero = arith.constant 0.0 : f16
  %w = arith.constant dense<[[[[1.0, 2.0, 3.0, 4.0], [0.5, 0.25, -1.0, -2.0]]]]> : tensor<1x1x2x4xf16>
  %s = arith.constant dense<3.0e-7> : tensor<4xf16>
  %b = arith.constant dense<0.0> : tensor<4xf16>
  %e = tensor.empty() : tensor<1x3x3x4xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<1x3x3x4xf16>) -> tensor<1x3x3x4xf16>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x3x3x2xf16>, tensor<1x1x2x4xf16>) outs(%f : tensor<1x3x3x4xf16>) -> tensor<1x3x3x4xf16>
  %z = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %s, %b : tensor<1x3x3x4xf16>, tensor<4xf16>, tensor<4xf16>) outs(%e : tensor<1x3x3x4xf16>) {
  ^bb0(%i: f16, %sc: f16, %sh: f16, %o: f16):
    %m = arith.mulf %i, %sc : f16
    %a = arith.addf %m, %sh : f16
    linalg.yield %a : f16
  } -> tensor<1x3x3x4xf16>
  return %z : tensor<1x3x3x4xf16>
}
func.func @bf16_has_the_range(%x: tensor<1x3x3x2xbf16>) -> tensor<1x3x3x4xbf16> {
  %zero = arith.constant 0.0 : bf16
  %w = arith.constant dense<[[[[1.0, 2.0, 3.0, 4.0], [0.5, 0.25, -1.0, -2.0]]]]> : tensor<1x1x2x4xbf16>
  %s = arith.constant dense<[100.0, 200.0, 300.0, 3.0e+4]> : tensor<4xbf16>
  %b = arith.constant dense<0.0> : tensor<4xbf16>
  %e = tensor.empty() : tensor<1x3x3x4xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<1x3x3x4xbf16>) -> tensor<1x3x3x4xbf16>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x3x3x2xbf16>, tensor<1x1x2x4xbf16>) outs(%f : tensor<1x3x3x4xbf16>) -> tensor<1x3x3x4xbf16>
  %z = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %s, %b : tensor<1x3x3x4xbf16>, tensor<4xbf16>, tensor<4xbf16>) outs(%e : tensor<1x3x3x4xbf16>) {
  ^bb0(%i: bf16, %sc: bf16, %sh: bf16, %o: bf16):
    %m = arith.mulf %i, %sc : bf16
    %a = arith.addf %m, %sh : bf16
    linalg.yield %a : bf16
  } -> tensor<1x3x3x4xbf16>
  return %z : tensor<1x3x3x4xbf16>
}
func.func @f32_has_the_range(%x: tensor<1x3x3x2xf32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<[[[[1.0, 2.0, 3.0, 4.0], [0.5, 0.25, -1.0, -2.0]]]]> : tensor<1x1x2x4xf32>
  %s = arith.constant dense<3.0e-7> : tensor<4xf32>
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
// What a channel loses is compared with the largest channel.
func.func @one_small_channel(%x: tensor<1x3x3x2xf16>) -> tensor<1x3x3x4xf16> {
  %zero = arith.constant 0.0 : f16
  %w = arith.constant dense<[[[[1.0, 2.0, 3.0, 4.0], [0.5, 0.25, -1.0, -2.0]]]]> : tensor<1x1x2x4xf16>
  %s = arith.constant dense<[1.0, 2.0, 3.0e-7, 1.0]> : tensor<4xf16>
  %b = arith.constant dense<0.0> : tensor<4xf16>
  %e = tensor.empty() : tensor<1x3x3x4xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<1x3x3x4xf16>) -> tensor<1x3x3x4xf16>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x3x3x2xf16>, tensor<1x1x2x4xf16>) outs(%f : tensor<1x3x3x4xf16>) -> tensor<1x3x3x4xf16>
  %z = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %s, %b : tensor<1x3x3x4xf16>, tensor<4xf16>, tensor<4xf16>) outs(%e : tensor<1x3x3x4xf16>) {
  ^bb0(%i: f16, %sc: f16, %sh: f16, %o: f16):
    %m = arith.mulf %i, %sc : f16
    %a = arith.addf %m, %sh : f16
    linalg.yield %a : f16
  } -> tensor<1x3x3x4xf16>
  return %z : tensor<1x3x3x4xf16>
}

// -----

// CHECK: [Failure] {{.*}} Function=f16_parameters {{.*}}Flip="constant weights, a wider type, or weights=always"{{.*}}Reason="numerics: range of folded 16-bit weights is not known"
// CHECK: [Passed] {{.*}} Function=f32_parameters
// ALWAYS: [Passed] {{.*}} Function=f16_parameters
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
func.func @f16_parameters(%x: tensor<1x3x3x2xf16>, %w: tensor<1x1x2x4xf16> {fuse.param}, %s: tensor<4xf16> {fuse.param}, %b: tensor<4xf16> {fuse.param}) -> tensor<1x3x3x4xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<1x3x3x4xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<1x3x3x4xf16>) -> tensor<1x3x3x4xf16>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x3x3x2xf16>, tensor<1x1x2x4xf16>) outs(%f : tensor<1x3x3x4xf16>) -> tensor<1x3x3x4xf16>
  %z = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %s, %b : tensor<1x3x3x4xf16>, tensor<4xf16>, tensor<4xf16>) outs(%e : tensor<1x3x3x4xf16>) {
  ^bb0(%i: f16, %sc: f16, %sh: f16, %o: f16):
    %m = arith.mulf %i, %sc : f16
    %a = arith.addf %m, %sh : f16
    linalg.yield %a : f16
  } -> tensor<1x3x3x4xf16>
  return %z : tensor<1x3x3x4xf16>
}
func.func @f32_parameters(%x: tensor<1x3x3x2xf32>, %w: tensor<1x1x2x4xf32> {fuse.param}, %s: tensor<4xf32> {fuse.param}, %b: tensor<4xf32> {fuse.param}) -> tensor<1x3x3x4xf32> {
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
