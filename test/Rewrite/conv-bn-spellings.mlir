// RUN: fuse-opt %s --fuse-conv-bn="weights=always" | FileCheck %s
// RUN: fuse-opt %s --fuse-conv-bn="weights=always" --remarks-filter=fuse-fold --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// However a chain is spelled, `w * s` and `b` come out; each near miss differs in one fact.

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d1)>
#v = affine_map<(d0) -> (d0)>

// One operation each, statistics on the side, operands broadcast beforehand, an eps in f64, a division by a square root,
// a bias of the convolution, and the scale on the left.
// REMARK: Function=apart{{.*}}Decision=folded
// CHECK-LABEL: @apart
// CHECK-SAME: %[[X:[a-z0-9]*]]: {{[^,]*}}, %[[W:[a-z0-9]*]]: {{[^,]*}}, %[[CB:[a-z0-9]*]]: {{[^,]*}}, %[[G:[a-z0-9]*]]: {{[^,]*}}, %[[B:[a-z0-9]*]]: {{[^,]*}}, %[[M:[a-z0-9]*]]: {{[^,]*}}, %[[V:[a-z0-9]*]]: {{[^,]*}})
// CHECK: linalg.generic {{.*}} ins(%[[G]], %[[V]] : tensor<4xf32>, tensor<4xf32>)
// CHECK: truncf
// CHECK: addf
// CHECK: %[[SD:.*]] = math.sqrt
// CHECK: divf %{{.*}}, %[[SD]]
// CHECK: linalg.generic {{.*}} ins(%[[W]], %{{.*}} : tensor<4x3x3x3xf32>, tensor<4xf32>)
// CHECK: %[[SH:.*]] = linalg.generic {{.*}} ins(%[[CB]], %[[M]], %[[G]], %[[V]], %[[B]] :
// CHECK: linalg.broadcast ins(%[[SH]] : tensor<4xf32>)
// CHECK: %[[Y:.*]] = linalg.conv_2d_nchw_fchw
// CHECK-NEXT: return %[[Y]]
func.func @apart(%x: tensor<1x3x5x5xf32>, %w: tensor<4x3x3x3xf32>, %cb: tensor<4xf32>, %g: tensor<4xf32>, %b: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>) -> tensor<1x4x3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-5 : f64
  %e = tensor.empty() : tensor<1x4x3x3xf32>
  %e1 = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x3x5x5xf32>, tensor<4x3x3x3xf32>) outs(%f : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %cbb = linalg.broadcast ins(%cb : tensor<4xf32>) outs(%e : tensor<1x4x3x3xf32>) dimensions = [0, 2, 3]
  %y1 = linalg.add ins(%y, %cbb : tensor<1x4x3x3xf32>, tensor<1x4x3x3xf32>) outs(%e : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %mu = tensor.expand_shape %m [[0, 1, 2]] output_shape [4, 1, 1] : tensor<4xf32> into tensor<4x1x1xf32>
  %y2 = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1, d2, d3) -> (d1, 0, 0)>, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y1, %mu : tensor<1x4x3x3xf32>, tensor<4x1x1xf32>) outs(%e : tensor<1x4x3x3xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %r = arith.subf %i, %j : f32
    linalg.yield %r : f32
  } -> tensor<1x4x3x3xf32>
  %gu = tensor.expand_shape %g [[0, 1, 2, 3]] output_shape [1, 4, 1, 1] : tensor<4xf32> into tensor<1x4x1x1xf32>
  %y3 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (0, d1, 0, 0)>, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%gu, %y2 : tensor<1x4x1x1xf32>, tensor<1x4x3x3xf32>) outs(%e : tensor<1x4x3x3xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %r = arith.mulf %i, %j : f32
    linalg.yield %r : f32
  } -> tensor<1x4x3x3xf32>
  %ve = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%v : tensor<4xf32>) outs(%e1 : tensor<4xf32>) {
  ^bb0(%i: f32, %o: f32):
    %t = arith.truncf %eps : f64 to f32
    %r = arith.addf %i, %t : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %sd = linalg.sqrt ins(%ve : tensor<4xf32>) outs(%e1 : tensor<4xf32>) -> tensor<4xf32>
  %sdb = linalg.broadcast ins(%sd : tensor<4xf32>) outs(%e : tensor<1x4x3x3xf32>) dimensions = [0, 2, 3]
  %y4 = linalg.div ins(%y3, %sdb : tensor<1x4x3x3xf32>, tensor<1x4x3x3xf32>) outs(%e : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %bb = linalg.broadcast ins(%b : tensor<4xf32>) outs(%e : tensor<1x4x3x3xf32>) dimensions = [0, 2, 3]
  %y5 = linalg.map {arith.addf} ins(%y4, %bb : tensor<1x4x3x3xf32>, tensor<1x4x3x3xf32>) outs(%e : tensor<1x4x3x3xf32>)
  return %y5 : tensor<1x4x3x3xf32>
}

// A bias that the accumulator starts from is scaled too; a bias alone is no batch normalisation, but folds as a bias.
// REMARK: Function=bias_as_init{{.*}}Decision=folded
// REMARK: conv-bias #{{.*}}Function=bias_alone
// CHECK-LABEL: @bias_as_init
// CHECK-SAME: %[[X:[a-z0-9]*]]: {{[^,]*}}, %[[W:[a-z0-9]*]]: {{[^,]*}}, %[[CB:[a-z0-9]*]]: {{[^,]*}}, %[[G:[a-z0-9]*]]: {{[^,]*}}) ->
// CHECK: linalg.generic {{.*}} ins(%[[W]], %[[G]]
// CHECK: %[[SH:.*]] = linalg.generic {{.*}} ins(%[[G]], %[[CB]] : tensor<4xf32>, tensor<4xf32>)
// CHECK: mulf
// CHECK: %[[I:.*]] = linalg.broadcast ins(%[[SH]]
// CHECK: %[[Y:.*]] = linalg.conv_2d_nchw_fchw {fuse.folded = "conv-bn"} ins({{.*}}) outs(%[[I]] :
// CHECK-NEXT: return %[[Y]]
// CHECK-LABEL: @bias_alone
// CHECK-NOT: linalg.generic
// CHECK: linalg.conv_2d_nchw_fchw {fuse.folded = "bias"}
// CHECK-NOT: linalg.generic
func.func @bias_as_init(%x: tensor<1x3x5x5xf32>, %w: tensor<4x3x3x3xf32>, %cb: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<1x4x3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x3x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %init = linalg.broadcast ins(%cb : tensor<4xf32>) outs(%e : tensor<1x4x3x3xf32>) dimensions = [0, 2, 3]
  %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x3x5x5xf32>, tensor<4x3x3x3xf32>) outs(%init : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %g : tensor<1x4x3x3xf32>, tensor<4xf32>) outs(%e : tensor<1x4x3x3xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<1x4x3x3xf32>
  return %z : tensor<1x4x3x3xf32>
}
func.func @bias_alone(%x: tensor<1x3x5x5xf32>, %w: tensor<4x3x3x3xf32>, %cb: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<1x4x3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x3x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x3x5x5xf32>, tensor<4x3x3x3xf32>) outs(%f : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %cb : tensor<1x4x3x3xf32>, tensor<4xf32>) outs(%e : tensor<1x4x3x3xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.addf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<1x4x3x3xf32>
  return %z : tensor<1x4x3x3xf32>
}

// The chain ends before a residual, and before an activation in the same body, which stays with what it alone needs.
// REMARK: Function=residual{{.*}}Decision=folded
// REMARK: Function=relu_in_body{{.*}}Decision=folded
// REMARK-NOT: Function=gate
// CHECK-LABEL: @residual
// CHECK-SAME: %[[R:[a-z0-9]*]]: tensor<1x4x3x3xf32>)
// CHECK: %[[Y:.*]] = linalg.conv_2d_nchw_fchw {fuse.folded = "conv-bn"}
// CHECK: %[[Z:.*]] = linalg.add ins(%[[Y]], %[[R]]
// CHECK-NEXT: return %[[Z]]
// CHECK-LABEL: @relu_in_body
// CHECK: %[[Y:.*]] = linalg.conv_2d_nchw_fchw {fuse.folded = "conv-bn"}
// CHECK: %[[Z:.*]] = linalg.generic {indexing_maps = [#{{[a-z0-9]*}}, #{{[a-z0-9]*}}], {{.*}} ins(%[[Y]] : tensor<1x4x3x3xf32>)
// CHECK-NOT: mulf
// CHECK: maximumf
// CHECK: return %[[Z]]
// A gate multiplies by a value for every element: no batch normalisation.
// CHECK-LABEL: @gate
// CHECK-NOT: fuse.folded
func.func @residual(%x: tensor<1x3x5x5xf32>, %w: tensor<4x3x3x3xf32>, %g: tensor<4xf32>, %res: tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x3x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x3x5x5xf32>, tensor<4x3x3x3xf32>) outs(%f : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %z0 = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %g : tensor<1x4x3x3xf32>, tensor<4xf32>) outs(%e : tensor<1x4x3x3xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %r = arith.mulf %i0, %i1 : f32
    linalg.yield %r : f32
  } -> tensor<1x4x3x3xf32>
  %z = linalg.add ins(%z0, %res : tensor<1x4x3x3xf32>, tensor<1x4x3x3xf32>) outs(%e : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  return %z : tensor<1x4x3x3xf32>
}
func.func @relu_in_body(%x: tensor<1x3x5x5xf32>, %w: tensor<4x3x3x3xf32>, %g: tensor<4xf32>) -> tensor<1x4x3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x3x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x3x5x5xf32>, tensor<4x3x3x3xf32>) outs(%f : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %g : tensor<1x4x3x3xf32>, tensor<4xf32>) outs(%e : tensor<1x4x3x3xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %m = arith.mulf %i0, %i1 : f32
    %r = arith.maximumf %m, %zero : f32
    linalg.yield %r : f32
  } -> tensor<1x4x3x3xf32>
  return %z : tensor<1x4x3x3xf32>
}
func.func @gate(%x: tensor<1x3x5x5xf32>, %w: tensor<4x3x3x3xf32>, %res: tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x3x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x3x5x5xf32>, tensor<4x3x3x3xf32>) outs(%f : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %z = linalg.mul ins(%y, %res : tensor<1x4x3x3xf32>, tensor<1x4x3x3xf32>) outs(%e : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  return %z : tensor<1x4x3x3xf32>
}
