// RUN: fuse-opt %s --fuse-boundary --fuse-plan --fuse-explain -o /dev/null 2>&1 | FileCheck %s

#id = affine_map<(n, c, h, w) -> (n, c, h, w)>

// Pooling with what comes before (through the pad) and after.
// CHECK-LABEL: function @pool:
// CHECK: #0 abs -> #1 pooling_nchw_max:0 via pad
// CHECK: kernel 0 window (planned): abs, pooling_nchw_max, exp
func.func @pool(%x: tensor<1x64x56x56xf32>, %win: tensor<3x3xf32>) -> tensor<1x64x56x56xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x64x56x56xf32>
  %a = linalg.abs ins(%x : tensor<1x64x56x56xf32>) outs(%e : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %p = tensor.pad %a low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %z : f32
  } : tensor<1x64x56x56xf32> to tensor<1x64x58x58xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %m = linalg.pooling_nchw_max ins(%p, %win : tensor<1x64x58x58xf32>, tensor<3x3xf32>) outs(%f : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %d = linalg.exp ins(%m : tensor<1x64x56x56xf32>) outs(%e : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  return %d : tensor<1x64x56x56xf32>
}

// A depthwise convolution with its activation, both clamps of it, and the pointwise convolution behind.
// CHECK-LABEL: function @depthwise:
// CHECK: kernel 0 chain (planned): depthwise_conv_2d_nchw_chw, generic(maximumf, minimumf), conv_2d_nchw_fchw
func.func @depthwise(%x: tensor<1x64x58x58xf32>, %w: tensor<64x3x3xf32>, %v: tensor<32x64x1x1xf32>) -> tensor<1x32x56x56xf32> {
  %z = arith.constant 0.0 : f32
  %six = arith.constant 6.0 : f32
  %e = tensor.empty() : tensor<1x64x56x56xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %m = linalg.depthwise_conv_2d_nchw_chw ins(%x, %w : tensor<1x64x58x58xf32>, tensor<64x3x3xf32>) outs(%f : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%m : tensor<1x64x56x56xf32>) outs(%e : tensor<1x64x56x56xf32>) {
  ^bb0(%p: f32, %o: f32):
    %r = arith.maximumf %p, %z : f32
    %s = arith.minimumf %r, %six : f32
    linalg.yield %s : f32
  } -> tensor<1x64x56x56xf32>
  %e2 = tensor.empty() : tensor<1x32x56x56xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<1x32x56x56xf32>) -> tensor<1x32x56x56xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%d, %v : tensor<1x64x56x56xf32>, tensor<32x64x1x1xf32>) outs(%f2 : tensor<1x32x56x56xf32>) -> tensor<1x32x56x56xf32>
  return %c : tensor<1x32x56x56xf32>
}

// A second window would read the first one's halo; a mean over the image is no window.
// CHECK-LABEL: function @two:
// CHECK: plan: profile: no kernel class chains these loop nests
// CHECK: kernel 0 window (planned): pooling_nchw_max
// CHECK: kernel 1 window (planned): pooling_nchw_max
// CHECK-LABEL: function @mean:
// CHECK: plan: profile: no kernel class chains these loop nests
// CHECK: kernel 0 window (planned): pooling_nchw_max
// CHECK: kernel 1 row (planned): reduce(addf)
func.func @two(%x: tensor<1x64x58x58xf32>, %win: tensor<3x3xf32>) -> tensor<1x64x54x54xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x64x56x56xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %m = linalg.pooling_nchw_max ins(%x, %win : tensor<1x64x58x58xf32>, tensor<3x3xf32>) outs(%f : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %e2 = tensor.empty() : tensor<1x64x54x54xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<1x64x54x54xf32>) -> tensor<1x64x54x54xf32>
  %n = linalg.pooling_nchw_max ins(%m, %win : tensor<1x64x56x56xf32>, tensor<3x3xf32>) outs(%f2 : tensor<1x64x54x54xf32>) -> tensor<1x64x54x54xf32>
  return %n : tensor<1x64x54x54xf32>
}
func.func @mean(%x: tensor<1x64x58x58xf32>, %win: tensor<3x3xf32>) -> tensor<1x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x64x56x56xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %m = linalg.pooling_nchw_max ins(%x, %win : tensor<1x64x58x58xf32>, tensor<3x3xf32>) outs(%f : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %e2 = tensor.empty() : tensor<1x64xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<1x64xf32>) -> tensor<1x64xf32>
  %s = linalg.reduce { arith.addf } ins(%m : tensor<1x64x56x56xf32>) outs(%f2 : tensor<1x64xf32>) dimensions = [2, 3]
  return %s : tensor<1x64xf32>
}
