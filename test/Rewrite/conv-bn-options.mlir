// RUN: fuse-opt %s --fuse-conv-bn --split-input-file --remarks-filter=fuse-fold --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s
// RUN: fuse-opt %s --fuse-boundary="mode=off" --fuse-conv-bn --split-input-file --remarks-filter=fuse-fold --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=OFF
// RUN: fuse-opt %s --fuse-boundary="mode=fold-only" --fuse-conv-bn --split-input-file --remarks-filter=fuse-fold --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s
// RUN: fuse-opt %s --fuse-boundary --fuse-conv-bn --split-input-file | FileCheck %s --check-prefix=FRESH
// RUN: fuse-opt %s --fuse-annotate --fuse-conv-bn --split-input-file | FileCheck %s --check-prefix=BARE
// RUN: not fuse-opt %s --fuse-conv-bn="weights=some" --split-input-file 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// The user's word, and what is left on the program.
// UNKNOWN: error: fuse-conv-bn: unknown weights 'some', known are auto, constants, always

// OFF-COUNT-3: Reason="override: mode fuses nothing"
// CHECK: [Passed] {{.*}} Function=no_hint
// CHECK: [Missed] {{.*}} Function=never {{.*}}Reason="override: kept by hint"
// CHECK: [Missed] {{.*}} Function=edge {{.*}}Reason="override: kept by hint"
// The convolution is the one operator that is left, and it reads what it reads now.
// FRESH-LABEL: @no_hint
// FRESH: linalg.conv_2d_nhwc_hwcf {fuse.cost = #fuse.cost<{{.*}}>, fuse.dep = [{{.*}}], fuse.folded = "conv-bn", fuse.id = 0 : i64}
// FRESH-LABEL: @never
// Facts of the old convolution do not hold for the new one.
// BARE-LABEL: @no_hint
// BARE: linalg.conv_2d_nhwc_hwcf {fuse.folded = "conv-bn"}
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
func.func @no_hint(%x: tensor<1x3x3x2xf32>) -> tensor<1x3x3x4xf32> {
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
func.func @never(%x: tensor<1x3x3x2xf32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<[[[[1.0, 2.0, 3.0, 4.0], [0.5, 0.25, -1.0, -2.0]]]]> : tensor<1x1x2x4xf32>
  %s = arith.constant dense<[2.0, 3.0, -1.0, 0.5]> : tensor<4xf32>
  %b = arith.constant dense<[1.0, 0.0, 2.0, 3.0]> : tensor<4xf32>
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf {fuse.hint = "never"} ins(%x, %w : tensor<1x3x3x2xf32>, tensor<1x1x2x4xf32>) outs(%f : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %s, %b : tensor<1x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
  ^bb0(%i: f32, %sc: f32, %sh: f32, %o: f32):
    %m = arith.mulf %i, %sc : f32
    %a = arith.addf %m, %sh : f32
    linalg.yield %a : f32
  } -> tensor<1x3x3x4xf32>
  return %z : tensor<1x3x3x4xf32>
}
func.func @edge(%x: tensor<1x3x3x2xf32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<[[[[1.0, 2.0, 3.0, 4.0], [0.5, 0.25, -1.0, -2.0]]]]> : tensor<1x1x2x4xf32>
  %s = arith.constant dense<[2.0, 3.0, -1.0, 0.5]> : tensor<4xf32>
  %b = arith.constant dense<[1.0, 0.0, 2.0, 3.0]> : tensor<4xf32>
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x3x3x2xf32>, tensor<1x1x2x4xf32>) outs(%f : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %s, %b : tensor<1x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) attrs = {fuse.edge_hints = {"0" = "never"}} {
  ^bb0(%i: f32, %sc: f32, %sh: f32, %o: f32):
    %m = arith.mulf %i, %sc : f32
    %a = arith.addf %m, %sh : f32
    linalg.yield %a : f32
  } -> tensor<1x3x3x4xf32>
  return %z : tensor<1x3x3x4xf32>
}

// -----

// "always" overrides profit, never what is not right.
// CHECK: [Missed] {{.*}} Function=run_time
// CHECK: [Passed] {{.*}} Function=always {{.*}}Flip="without the override: profit: run-time weights {{.*}}Reason="override: fused by hint"
// CHECK: [Failure] {{.*}} Function=always_wrong {{.*}}Reason="shape: scale is not along the output channel"
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>
func.func @run_time(%x: tensor<1x3x3x2xf32>, %w: tensor<1x1x2x4xf32>, %s: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<1x3x3x4xf32> {
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
func.func @always(%x: tensor<1x3x3x2xf32>, %w: tensor<1x1x2x4xf32>, %s: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf {fuse.hint = "always"} ins(%x, %w : tensor<1x3x3x2xf32>, tensor<1x1x2x4xf32>) outs(%f : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %s, %b : tensor<1x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
  ^bb0(%i: f32, %sc: f32, %sh: f32, %o: f32):
    %m = arith.mulf %i, %sc : f32
    %a = arith.addf %m, %sh : f32
    linalg.yield %a : f32
  } -> tensor<1x3x3x4xf32>
  return %z : tensor<1x3x3x4xf32>
}
func.func @always_wrong(%x: tensor<1x3x3x2xf32>, %w: tensor<1x1x2x4xf32>, %s: tensor<3xf32>, %b: tensor<4xf32>) -> tensor<1x3x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf {fuse.hint = "always"} ins(%x, %w : tensor<1x3x3x2xf32>, tensor<1x1x2x4xf32>) outs(%f : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %z = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1, d2, d3) -> (d2)>, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %s, %b : tensor<1x3x3x4xf32>, tensor<3xf32>, tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) {
  ^bb0(%i: f32, %sc: f32, %sh: f32, %o: f32):
    %m = arith.mulf %i, %sc : f32
    %a = arith.addf %m, %sh : f32
    linalg.yield %a : f32
  } -> tensor<1x3x3x4xf32>
  return %z : tensor<1x3x3x4xf32>
}
