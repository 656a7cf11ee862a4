// RUN: fuse-opt %s --fuse-conv-bn --fuse-explain -o %t.auto 2>&1 | FileCheck %s --check-prefix=AUTO
// RUN: fuse-opt %s --fuse-conv-bn=weights=constants --fuse-explain -o %t.constants 2>&1 | FileCheck %s --check-prefix=CONSTANTS
// RUN: fuse-opt %s --fuse-conv-bn=weights=always --fuse-explain -o %t.always 2>&1 | FileCheck %s --check-prefix=ALWAYS
// RUN: fuse-opt %s --fuse-conv-bn=weights=constants --fuse-explain=json -o /dev/null 2>&1 | FileCheck %s --check-prefix=JSON

// RUN: fuse-opt %s --fuse-boundary --fuse-conv-bn=weights=constants --fuse-greedy --fuse-explain -o /dev/null 2>&1 | FileCheck %s --check-prefix=KERNELS

// In a kernel an operator has no number any more.
// KERNELS: kernel 0 contraction: conv_1d_ncw_fcw
// KERNELS-NEXT: batch norm behind conv_1d_ncw_fcw of a formed kernel: keep profit: weights are not constant
// KERNELS: batch norms folded 0 of

// What is kept is explained by the weights that were asked for, in front of a convolution as behind it.

// AUTO: batch norm behind #1 conv_1d_ncw_fcw: folded
// AUTO: batch norm behind #{{[0-9]}} conv_1d_ncw_fcw: keep profit: run-time weights cost more to fold than an epilogue
// AUTO: batch norm in front of #{{[0-9]}} conv_1d_ncw_fcw: folded
// AUTO: batch norms folded 2 of 3 found
// CONSTANTS: batch norm behind #0 conv_1d_ncw_fcw: keep profit: weights are not constant
// CONSTANTS: batch norm behind #{{[0-9]}} conv_1d_ncw_fcw: keep profit: weights are not constant
// CONSTANTS: batch norm in front of #{{[0-9]}} conv_1d_ncw_fcw: keep profit: weights are not constant
// CONSTANTS: batch norms folded 0 of 3 found
// ALWAYS: batch norm behind #1 conv_1d_ncw_fcw: folded
// ALWAYS: batch norm behind #0 conv_1d_ncw_fcw: keep override: kept by hint
// ALWAYS: batch norm in front of #{{[0-9]}} conv_1d_ncw_fcw: folded
// ALWAYS: batch norms folded 2 of 3 found
// JSON: "place": "behind"
// JSON: "decision": "kept"
// JSON: "place": "in front"
// JSON: "bn_found": 3

// The pass leaves its option, and takes away that of an earlier run; on its own output it changes nothing.
// RUN: FileCheck %s --check-prefix=LEFT --input-file=%t.constants
// RUN: fuse-opt %t.constants --fuse-conv-bn=weights=constants -o %t.twice
// RUN: diff %t.constants %t.twice
// RUN: fuse-opt %t.constants --fuse-conv-bn | FileCheck %s --check-prefix=NONE --implicit-check-not=fuse.weights
// RUN: fuse-opt %t.always --fuse-conv-bn=weights=always -o %t.twice
// RUN: diff %t.always %t.twice
// RUN: fuse-opt %t.auto --fuse-conv-bn -o %t.twice
// RUN: diff %t.auto %t.twice
// LEFT: module attributes {fuse.weights = "constants"}
// NONE: linalg.conv_1d_ncw_fcw {fuse.folded = "conv-bn"}
// NONE: linalg.conv_1d_ncw_fcw {fuse.folded_input = "bn-conv"}

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#c = affine_map<(d0, d1, d2) -> (d1)>
func.func @behind(%x: tensor<1x3x6xf32>, %w: tensor<3x3x1xf32> {fuse.param}, %s: tensor<3xf32> {fuse.param}) -> tensor<1x3x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x6xf32>) -> tensor<1x3x6xf32>
  %y = linalg.conv_1d_ncw_fcw ins(%x, %w : tensor<1x3x6xf32>, tensor<3x3x1xf32>) outs(%f : tensor<1x3x6xf32>) -> tensor<1x3x6xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %s : tensor<1x3x6xf32>, tensor<3xf32>) outs(%e : tensor<1x3x6xf32>) {
  ^bb0(%i: f32, %si: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    linalg.yield %m : f32
  } -> tensor<1x3x6xf32>
  return %z : tensor<1x3x6xf32>
}
func.func @run_time(%x: tensor<1x3x6xf32>, %w: tensor<3x3x1xf32>, %s: tensor<3xf32>) -> tensor<1x3x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x6xf32>) -> tensor<1x3x6xf32>
  %y = linalg.conv_1d_ncw_fcw {fuse.hint = "never"} ins(%x, %w : tensor<1x3x6xf32>, tensor<3x3x1xf32>) outs(%f : tensor<1x3x6xf32>) -> tensor<1x3x6xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %s : tensor<1x3x6xf32>, tensor<3xf32>) outs(%e : tensor<1x3x6xf32>) {
  ^bb0(%i: f32, %si: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    linalg.yield %m : f32
  } -> tensor<1x3x6xf32>
  return %z : tensor<1x3x6xf32>
}
func.func @in_front(%x: tensor<1x3x6xf32>, %w: tensor<3x3x1xf32> {fuse.param}, %s: tensor<3xf32> {fuse.param}) -> tensor<1x3x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x6xf32>
  %n = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s : tensor<1x3x6xf32>, tensor<3xf32>) outs(%e : tensor<1x3x6xf32>) {
  ^bb0(%i: f32, %si: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    linalg.yield %m : f32
  } -> tensor<1x3x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x6xf32>) -> tensor<1x3x6xf32>
  %y = linalg.conv_1d_ncw_fcw ins(%n, %w : tensor<1x3x6xf32>, tensor<3x3x1xf32>) outs(%f : tensor<1x3x6xf32>) -> tensor<1x3x6xf32>
  return %y : tensor<1x3x6xf32>
}
