// RUN: fuse-opt %s -split-input-file --fuse-boundary --fuse-plan=objective=bytes --fuse-verify-plan --fuse-explain -o /dev/null 2>&1 | FileCheck %s
// RUN: fuse-opt %s -split-input-file --fuse-boundary --fuse-greedy=objective=bytes --fuse-split-kernels | FileCheck %s --check-prefix=SPLIT

// A depthwise convolution, its activation and the 1x1 convolution that reads it: one kernel. Split again, the activation goes
// with the depthwise convolution.
// CHECK: function @depthwise
// CHECK: kernel 0 chain (planned): depthwise_conv_2d_nchw_chw, exp, conv_2d_nchw_fchw
// SPLIT-LABEL: @depthwise
// SPLIT: fuse.kernel "window"{{.*}}(%arg0, %arg1)
// SPLIT: depthwise_conv_2d_nchw_chw
// SPLIT: linalg.exp
// SPLIT: fuse.kernel "contraction"{{.*}}(%{{[0-9]+}}, %arg2)
// SPLIT: conv_2d_nchw_fchw
func.func @depthwise(%x: tensor<1x96x34x34xf32>, %f: tensor<96x3x3xf32>, %w: tensor<24x96x1x1xf32>) -> tensor<1x24x32x32xf32> {
  %z = arith.constant 0.0 : f32
  %d0 = tensor.empty() : tensor<1x96x32x32xf32>
  %d1 = linalg.fill ins(%z : f32) outs(%d0 : tensor<1x96x32x32xf32>) -> tensor<1x96x32x32xf32>
  %d = linalg.depthwise_conv_2d_nchw_chw ins(%x, %f : tensor<1x96x34x34xf32>, tensor<96x3x3xf32>) outs(%d1 : tensor<1x96x32x32xf32>) -> tensor<1x96x32x32xf32>
  %e = linalg.exp ins(%d : tensor<1x96x32x32xf32>) outs(%d0 : tensor<1x96x32x32xf32>) -> tensor<1x96x32x32xf32>
  %y0 = tensor.empty() : tensor<1x24x32x32xf32>
  %y1 = linalg.fill ins(%z : f32) outs(%y0 : tensor<1x24x32x32xf32>) -> tensor<1x24x32x32xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%e, %w : tensor<1x96x32x32xf32>, tensor<24x96x1x1xf32>) outs(%y1 : tensor<1x24x32x32xf32>) -> tensor<1x24x32x32xf32>
  return %y : tensor<1x24x32x32xf32>
}

// -----

// With 65536 channels not even one pixel of all of them fits: refused, with the numbers.
// CHECK: function @channels
// CHECK: #0 depthwise_conv_2d_nchw_chw -> #1 conv_2d_nchw_fchw:0 {{ *}}keep {{ *}}resource: no tile of the fused kernel fits
// CHECK-NEXT: registers={{[0-9.]+}}, register_limit=255, shared_bytes=263936, shared_limit=166912
// CHECK-NOT: chain
func.func @channels(%x: tensor<1x65536x10x10xf32>, %f: tensor<65536x3x3xf32>, %w: tensor<24x65536x1x1xf32>) -> tensor<1x24x8x8xf32> {
  %z = arith.constant 0.0 : f32
  %d0 = tensor.empty() : tensor<1x65536x8x8xf32>
  %d1 = linalg.fill ins(%z : f32) outs(%d0 : tensor<1x65536x8x8xf32>) -> tensor<1x65536x8x8xf32>
  %d = linalg.depthwise_conv_2d_nchw_chw ins(%x, %f : tensor<1x65536x10x10xf32>, tensor<65536x3x3xf32>) outs(%d1 : tensor<1x65536x8x8xf32>) -> tensor<1x65536x8x8xf32>
  %y0 = tensor.empty() : tensor<1x24x8x8xf32>
  %y1 = linalg.fill ins(%z : f32) outs(%y0 : tensor<1x24x8x8xf32>) -> tensor<1x24x8x8xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%d, %w : tensor<1x65536x8x8xf32>, tensor<24x65536x1x1xf32>) outs(%y1 : tensor<1x24x8x8xf32>) -> tensor<1x24x8x8xf32>
  return %y : tensor<1x24x8x8xf32>
}

// -----

// A 5x5 convolution behind reads a halo: a pixel needs 25 of all 4096 channels, which do not fit either.
// CHECK: function @halo
// CHECK: keep {{ *}}resource: no tile of the fused kernel fits
// CHECK-NEXT: registers={{[0-9.]+}}, register_limit=255, shared_bytes=411392, shared_limit=166912
// CHECK-NOT: chain
func.func @halo(%x: tensor<1x4096x14x14xf32>, %f: tensor<4096x3x3xf32>, %w: tensor<24x4096x5x5xf32>) -> tensor<1x24x8x8xf32> {
  %z = arith.constant 0.0 : f32
  %d0 = tensor.empty() : tensor<1x4096x12x12xf32>
  %d1 = linalg.fill ins(%z : f32) outs(%d0 : tensor<1x4096x12x12xf32>) -> tensor<1x4096x12x12xf32>
  %d = linalg.depthwise_conv_2d_nchw_chw ins(%x, %f : tensor<1x4096x14x14xf32>, tensor<4096x3x3xf32>) outs(%d1 : tensor<1x4096x12x12xf32>) -> tensor<1x4096x12x12xf32>
  %y0 = tensor.empty() : tensor<1x24x8x8xf32>
  %y1 = linalg.fill ins(%z : f32) outs(%y0 : tensor<1x24x8x8xf32>) -> tensor<1x24x8x8xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%d, %w : tensor<1x4096x12x12xf32>, tensor<24x4096x5x5xf32>) outs(%y1 : tensor<1x24x8x8xf32>) -> tensor<1x24x8x8xf32>
  return %y : tensor<1x24x8x8xf32>
}

// -----

// The depthwise result is returned too: a block does not store what it computes for its tile.
// CHECK: function @returned
// CHECK: keep {{ *}}profile: prologue has readers outside the kernel
// CHECK-NOT: chain
func.func @returned(%x: tensor<1x96x34x34xf32>, %f: tensor<96x3x3xf32>, %w: tensor<24x96x1x1xf32>) -> (tensor<1x24x32x32xf32>, tensor<1x96x32x32xf32>) {
  %z = arith.constant 0.0 : f32
  %d0 = tensor.empty() : tensor<1x96x32x32xf32>
  %d1 = linalg.fill ins(%z : f32) outs(%d0 : tensor<1x96x32x32xf32>) -> tensor<1x96x32x32xf32>
  %d = linalg.depthwise_conv_2d_nchw_chw ins(%x, %f : tensor<1x96x34x34xf32>, tensor<96x3x3xf32>) outs(%d1 : tensor<1x96x32x32xf32>) -> tensor<1x96x32x32xf32>
  %y0 = tensor.empty() : tensor<1x24x32x32xf32>
  %y1 = linalg.fill ins(%z : f32) outs(%y0 : tensor<1x24x32x32xf32>) -> tensor<1x24x32x32xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%d, %w : tensor<1x96x32x32xf32>, tensor<24x96x1x1xf32>) outs(%y1 : tensor<1x24x32x32xf32>) -> tensor<1x24x32x32xf32>
  return %y, %d : tensor<1x24x32x32xf32>, tensor<1x96x32x32xf32>
}

// -----

// Expand, depthwise, project: the block computes some of the hidden channels at a time. Split again they are three kernels.
// CHECK: function @expand
// CHECK: kernel 0 chain (planned): conv_2d_nchw_fchw, depthwise_conv_2d_nchw_chw, exp, conv_2d_nchw_fchw
// SPLIT-LABEL: @expand
// SPLIT: %[[E:.*]] = fuse.kernel "contraction"{{.*}}(%arg0, %arg1)
// SPLIT: %[[D:.*]] = fuse.kernel "window"{{.*}}(%[[E]], %arg2)
// SPLIT: tensor.pad
// SPLIT: depthwise_conv_2d_nchw_chw
// SPLIT: %[[R:.*]] = linalg.exp
// SPLIT: fuse.yield %[[R]] : tensor<1x144x56x56xf32>
// SPLIT: fuse.kernel "contraction"{{.*}}(%[[D]], %arg3)
func.func @expand(%x: tensor<1x24x56x56xf32>, %a: tensor<144x24x1x1xf32>, %f: tensor<144x3x3xf32>, %w: tensor<24x144x1x1xf32>) -> tensor<1x24x56x56xf32> {
  %z = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<1x144x56x56xf32>
  %e1 = linalg.fill ins(%z : f32) outs(%e0 : tensor<1x144x56x56xf32>) -> tensor<1x144x56x56xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %a : tensor<1x24x56x56xf32>, tensor<144x24x1x1xf32>) outs(%e1 : tensor<1x144x56x56xf32>) -> tensor<1x144x56x56xf32>
  %e = tensor.pad %c low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %z : f32
  } : tensor<1x144x56x56xf32> to tensor<1x144x58x58xf32>
  %d0 = tensor.empty() : tensor<1x144x56x56xf32>
  %d1 = linalg.fill ins(%z : f32) outs(%d0 : tensor<1x144x56x56xf32>) -> tensor<1x144x56x56xf32>
  %d = linalg.depthwise_conv_2d_nchw_chw ins(%e, %f : tensor<1x144x58x58xf32>, tensor<144x3x3xf32>) outs(%d1 : tensor<1x144x56x56xf32>) -> tensor<1x144x56x56xf32>
  %r = linalg.exp ins(%d : tensor<1x144x56x56xf32>) outs(%d0 : tensor<1x144x56x56xf32>) -> tensor<1x144x56x56xf32>
  %y0 = tensor.empty() : tensor<1x24x56x56xf32>
  %y1 = linalg.fill ins(%z : f32) outs(%y0 : tensor<1x24x56x56xf32>) -> tensor<1x24x56x56xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%r, %w : tensor<1x144x56x56xf32>, tensor<24x144x1x1xf32>) outs(%y1 : tensor<1x24x56x56xf32>) -> tensor<1x24x56x56xf32>
  return %y : tensor<1x24x56x56xf32>
}

// -----

// Two contractions without a window between hold no tile of each other.
// CHECK: function @contractions
// CHECK: keep {{ *}}profile: two heavy loop nests in one kernel
// CHECK-NOT: chain (planned)
// CHECK: summary
func.func @contractions(%x: tensor<1x24x56x56xf32>, %a: tensor<144x24x1x1xf32>, %w: tensor<24x144x1x1xf32>) -> tensor<1x24x56x56xf32> {
  %z = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<1x144x56x56xf32>
  %e1 = linalg.fill ins(%z : f32) outs(%e0 : tensor<1x144x56x56xf32>) -> tensor<1x144x56x56xf32>
  %e = linalg.conv_2d_nchw_fchw ins(%x, %a : tensor<1x24x56x56xf32>, tensor<144x24x1x1xf32>) outs(%e1 : tensor<1x144x56x56xf32>) -> tensor<1x144x56x56xf32>
  %y0 = tensor.empty() : tensor<1x24x56x56xf32>
  %y1 = linalg.fill ins(%z : f32) outs(%y0 : tensor<1x24x56x56xf32>) -> tensor<1x24x56x56xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%e, %w : tensor<1x144x56x56xf32>, tensor<24x144x1x1xf32>) outs(%y1 : tensor<1x24x56x56xf32>) -> tensor<1x24x56x56xf32>
  return %y : tensor<1x24x56x56xf32>
}
