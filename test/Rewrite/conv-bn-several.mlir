// RUN: fuse-opt %s --fuse-conv-bn="weights=always" | FileCheck %s
// RUN: fuse-opt %s --fuse-conv-bn --remarks-filter=fuse-fold --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=AUTO

// Chains that touch each other, and where a chain ends.

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d3)>

// A scale that another folded chain computes is that chain's new value (a gate, with a batch of 1).
// CHECK-LABEL: @gate_from_another
// CHECK: %[[S:.*]] = linalg.conv_2d_nhwc_hwcf {fuse.folded = "conv-bn"}
// CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%[[S]] : tensor<1x1x1x4xf32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: math.tanh
// CHECK: linalg.generic {{.*}} ins(%[[T]] : tensor<1x1x1x4xf32>) outs(%{{.*}} : tensor<4xf32>)
// CHECK: %[[Y:.*]] = linalg.conv_2d_nhwc_hwcf {fuse.folded = "conv-bn"}
// CHECK-NEXT: return %[[Y]], %[[T]]
func.func @gate_from_another(%x: tensor<1x4x4x3xf32>, %p: tensor<1x1x1x3xf32>, %w1: tensor<1x1x3x4xf32>, %w2: tensor<1x1x3x4xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<1x4x4x4xf32>, tensor<1x1x1x4xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x4x4xf32>
  %e1 = tensor.empty() : tensor<1x1x1x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<1x1x1x4xf32>) -> tensor<1x1x1x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w1 : tensor<1x4x4x3xf32>, tensor<1x1x3x4xf32>) outs(%f : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %s = linalg.conv_2d_nhwc_hwcf ins(%p, %w2 : tensor<1x1x1x3xf32>, tensor<1x1x3x4xf32>) outs(%f1 : tensor<1x1x1x4xf32>) -> tensor<1x1x1x4xf32>
  %sb = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel","parallel","parallel","parallel"]} ins(%s, %g, %b : tensor<1x1x1x4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e1 : tensor<1x1x1x4xf32>) {
  ^bb0(%i: f32, %sc: f32, %t: f32, %o: f32):
    %m = arith.mulf %i, %sc : f32
    %q = arith.addf %m, %t : f32
    linalg.yield %q : f32
  } -> tensor<1x1x1x4xf32>
  %sg = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel","parallel","parallel","parallel"]} ins(%sb : tensor<1x1x1x4xf32>) outs(%e1 : tensor<1x1x1x4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %q = math.tanh %i : f32
    linalg.yield %q : f32
  } -> tensor<1x1x1x4xf32>
  %r = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1, d2, d3) -> (d0, 0, 0, d3)>, #id], iterator_types = ["parallel","parallel","parallel","parallel"]} ins(%y, %sg : tensor<1x4x4x4xf32>, tensor<1x1x1x4xf32>) outs(%e : tensor<1x4x4x4xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %q = arith.mulf %i, %j : f32
    linalg.yield %q : f32
  } -> tensor<1x4x4x4xf32>
  return %r, %sg : tensor<1x4x4x4xf32>, tensor<1x1x1x4xf32>
}

// An operation is part of one chain only: the sum belongs to the first convolution, whose accumulator starts from the
// second one's value.
// CHECK-LABEL: @sum_of_two
// CHECK: %[[S:.*]] = linalg.conv_2d_nhwc_hwcf {fuse.folded = "conv-bn"}
// CHECK: linalg.generic {{.*}} ins(%[[S]] : tensor<1x1x1x4xf32>) outs(%{{.*}} : tensor<4xf32>)
// CHECK: %[[Y:.*]] = linalg.conv_2d_nhwc_hwcf {fuse.folded = "conv-bn"}
// CHECK-NEXT: return %[[Y]]
func.func @sum_of_two(%p: tensor<1x1x1x3xf32>, %w1: tensor<1x1x3x4xf32>, %w2: tensor<1x1x3x4xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<1x1x1x4xf32> {
  %z = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<1x1x1x4xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<1x1x1x4xf32>) -> tensor<1x1x1x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%p, %w1 : tensor<1x1x1x3xf32>, tensor<1x1x3x4xf32>) outs(%f1 : tensor<1x1x1x4xf32>) -> tensor<1x1x1x4xf32>
  %s = linalg.conv_2d_nhwc_hwcf ins(%p, %w2 : tensor<1x1x1x3xf32>, tensor<1x1x3x4xf32>) outs(%f1 : tensor<1x1x1x4xf32>) -> tensor<1x1x1x4xf32>
  %yb = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel","parallel","parallel","parallel"]} ins(%y, %g : tensor<1x1x1x4xf32>, tensor<4xf32>) outs(%e1 : tensor<1x1x1x4xf32>) {
  ^bb0(%i: f32, %sc: f32, %o: f32):
    %m = arith.mulf %i, %sc : f32
    linalg.yield %m : f32
  } -> tensor<1x1x1x4xf32>
  %sb = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel","parallel","parallel","parallel"]} ins(%s, %b : tensor<1x1x1x4xf32>, tensor<4xf32>) outs(%e1 : tensor<1x1x1x4xf32>) {
  ^bb0(%i: f32, %sc: f32, %o: f32):
    %m = arith.mulf %i, %sc : f32
    linalg.yield %m : f32
  } -> tensor<1x1x1x4xf32>
  %a = linalg.add ins(%yb, %sb : tensor<1x1x1x4xf32>, tensor<1x1x1x4xf32>) outs(%e1 : tensor<1x1x1x4xf32>) -> tensor<1x1x1x4xf32>
  return %a : tensor<1x1x1x4xf32>
}

// The chain ends where going on would make its weights change on every call.
// AUTO: [Missed] {{.*}} Function=sum_of_two
// AUTO: [Passed] {{.*}} Function=ends_early {{.*}}Last="generic(mulf, addf)"{{.*}}Weights=parameter
func.func @ends_early(%x: tensor<1x4x4x3xf32>, %w: tensor<1x1x3x4xf32> {fuse.param}, %g: tensor<4xf32> {fuse.param}, %b: tensor<4xf32> {fuse.param}, %r: tensor<4xf32>) -> tensor<1x4x4x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x4x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x4x4x3xf32>, tensor<1x1x3x4xf32>) outs(%f : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %n = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel","parallel","parallel","parallel"]} ins(%y, %g, %b : tensor<1x4x4x4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<1x4x4x4xf32>) {
  ^bb0(%i: f32, %sc: f32, %t: f32, %o: f32):
    %m = arith.mulf %i, %sc : f32
    %q = arith.addf %m, %t : f32
    linalg.yield %q : f32
  } -> tensor<1x4x4x4xf32>
  %a = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel","parallel","parallel","parallel"]} ins(%n, %r : tensor<1x4x4x4xf32>, tensor<4xf32>) outs(%e : tensor<1x4x4x4xf32>) {
  ^bb0(%i: f32, %sc: f32, %o: f32):
    %q = arith.mulf %i, %sc : f32
    linalg.yield %q : f32
  } -> tensor<1x4x4x4xf32>
  return %a : tensor<1x4x4x4xf32>
}
