// RUN: fuse-opt %s --split-input-file --fuse-boundary=target=cpu --fuse-greedy --fuse-split-kernels=whole-lanes=16 --fuse-outline -o %t.mlir
// RUN: fuse-opt %t.mlir --split-input-file --pass-pipeline='builtin.module(func.func(fuse-cpu-im2col,fuse-cpu-normalize),canonicalize,cse,func.func(fuse-cpu-destinations,fuse-cpu-tile{cache-bytes=131072}),canonicalize,cse)' | FileCheck %s --implicit-check-not='tensor<48x32x32x' --implicit-check-not='tensor<48x34x34x' --implicit-check-not='tensor<64x32x32x' --implicit-check-not='tensor<64x66x66x' --implicit-check-not='tensor<4096x256x'
// RUN: split-file %s %t.parts
// RUN: fuse-run %t.parts/expand.mlir --compare --repeat=1 | FileCheck %s --check-prefix=WHOLE
// RUN: fuse-run %t.parts/expand.mlir --compare --repeat=1 --threads=2 | FileCheck %s --check-prefix=WHOLE
// RUN: fuse-run %t.parts/stride.mlir --compare --repeat=1 | FileCheck %s --check-prefix=WHOLE
// RUN: fuse-run %t.parts/layers.mlir --compare --repeat=1 | FileCheck %s --check-prefix=WHOLE
// RUN: fuse-run %t.parts/narrow.mlir --compare --repeat=1 | FileCheck %s --check-prefix=PARTS
// RUN: fuse-run %t.parts/heavy.mlir --compare --repeat=1 | FileCheck %s --check-prefix=LAYERS

// One kernel; no tensor of it is as large as what is between its operators.
// WHOLE-LABEL: fused
// WHOLE: kernel_{{[0-9]+}}_chain
// WHOLE: 1 kernels
// WHOLE: result 0: equal

// Rows of 3 pixels do not fill vectors.
// PARTS-LABEL: fused
// PARTS-NOT: chain
// PARTS: 3 kernels
// PARTS: result 0: equal

// The weights take more bytes than what is between.
// LAYERS-LABEL: fused
// LAYERS-NOT: chain
// LAYERS: 2 kernels
// LAYERS: result 0: equal

// Expand, depthwise, project: tiles of rows, some channels at a time, of which the first convolution is computed row by row into
// the padded tile.
//--- expand.mlir
// CHECK-LABEL: func.func private @kernel_0_chain
// CHECK: scf.forall (%{{.*}}) = (0) to (32) step (8)
// CHECK: scf.for %{{.*}} to %c48 step %c24 iter_args({{.*}}) -> (tensor<16x8x32xf32>)
// CHECK-COUNT-3: scf.for {{.*}} -> (tensor<24x10x34xf32>)
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: tensor<24x1x32xf32>
// CHECK: scf.for {{.*}} -> (tensor<24x8x32xf32>)
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK-NOT: scf.for
// CHECK: scf.forall.in_parallel
func.func @main(%x: tensor<1x16x32x32xf32>, %a: tensor<48x16x1x1xf32>, %f: tensor<48x3x3xf32>, %w: tensor<16x48x1x1xf32>) -> tensor<1x16x32x32xf32> {
  %z = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<1x48x32x32xf32>
  %e1 = linalg.fill ins(%z : f32) outs(%e0 : tensor<1x48x32x32xf32>) -> tensor<1x48x32x32xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %a : tensor<1x16x32x32xf32>, tensor<48x16x1x1xf32>) outs(%e1 : tensor<1x48x32x32xf32>) -> tensor<1x48x32x32xf32>
  %h = linalg.exp ins(%c : tensor<1x48x32x32xf32>) outs(%e0 : tensor<1x48x32x32xf32>) -> tensor<1x48x32x32xf32>
  %e = tensor.pad %h low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %z : f32
  } : tensor<1x48x32x32xf32> to tensor<1x48x34x34xf32>
  %d = linalg.depthwise_conv_2d_nchw_chw ins(%e, %f : tensor<1x48x34x34xf32>, tensor<48x3x3xf32>) outs(%e1 : tensor<1x48x32x32xf32>) -> tensor<1x48x32x32xf32>
  %r = linalg.abs ins(%d : tensor<1x48x32x32xf32>) outs(%e0 : tensor<1x48x32x32xf32>) -> tensor<1x48x32x32xf32>
  %y0 = tensor.empty() : tensor<1x16x32x32xf32>
  %y1 = linalg.fill ins(%z : f32) outs(%y0 : tensor<1x16x32x32xf32>) -> tensor<1x16x32x32xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%r, %w : tensor<1x48x32x32xf32>, tensor<16x48x1x1xf32>) outs(%y1 : tensor<1x16x32x32xf32>) -> tensor<1x16x32x32xf32>
  return %y : tensor<1x16x32x32xf32>
}

// A stride leaves out the last padded row and column; what is padded is an argument, so that a channel is padded at a time.
//--- stride.mlir
// -----
// CHECK-LABEL: func.func private @kernel_0_chain
// CHECK: scf.forall
// CHECK: scf.for %{{.*}} to %c64 step %c32 iter_args
// CHECK: scf.for %{{.*}} to %c32 step %c1 iter_args
// CHECK-COUNT-3: scf.for {{.*}} -> (tensor<1x17x65xf32>)
// CHECK: scf.forall.in_parallel
func.func @main(%x: tensor<1x64x64x64xf32>, %f: tensor<64x3x3xf32>, %w: tensor<16x64x1x1xf32>) -> tensor<1x16x32x32xf32> {
  %z = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %one : f32
  } : tensor<1x64x64x64xf32> to tensor<1x64x66x66xf32>
  %d0 = tensor.empty() : tensor<1x64x32x32xf32>
  %d1 = linalg.fill ins(%z : f32) outs(%d0 : tensor<1x64x32x32xf32>) -> tensor<1x64x32x32xf32>
  %d = linalg.depthwise_conv_2d_nchw_chw {strides = dense<2> : tensor<2xi64>} ins(%e, %f : tensor<1x64x66x66xf32>, tensor<64x3x3xf32>) outs(%d1 : tensor<1x64x32x32xf32>) -> tensor<1x64x32x32xf32>
  %y0 = tensor.empty() : tensor<1x16x32x32xf32>
  %y1 = linalg.fill ins(%z : f32) outs(%y0 : tensor<1x16x32x32xf32>) -> tensor<1x16x32x32xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%d, %w : tensor<1x64x32x32xf32>, tensor<16x64x1x1xf32>) outs(%y1 : tensor<1x16x32x32xf32>) -> tensor<1x16x32x32xf32>
  return %y : tensor<1x16x32x32xf32>
}

// Two matmuls: 64 columns of the middle at a time.
//--- layers.mlir
// -----
// CHECK-LABEL: func.func private @kernel_0_chain
// CHECK: scf.forall (%{{.*}}) = (0) to (4096) step (128)
// CHECK: scf.for {{.*}} to %c256 step %c64
// CHECK: scf.forall.in_parallel
func.func @main(%x: tensor<4096x32xf32>, %a: tensor<32x256xf32>, %b: tensor<256x32xf32>) -> tensor<4096x32xf32> {
  %z = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<4096x256xf32>
  %e1 = linalg.fill ins(%z : f32) outs(%e0 : tensor<4096x256xf32>) -> tensor<4096x256xf32>
  %e = linalg.matmul ins(%x, %a : tensor<4096x32xf32>, tensor<32x256xf32>) outs(%e1 : tensor<4096x256xf32>) -> tensor<4096x256xf32>
  %r = linalg.abs ins(%e : tensor<4096x256xf32>) outs(%e0 : tensor<4096x256xf32>) -> tensor<4096x256xf32>
  %y0 = tensor.empty() : tensor<4096x32xf32>
  %y1 = linalg.fill ins(%z : f32) outs(%y0 : tensor<4096x32xf32>) -> tensor<4096x32xf32>
  %y = linalg.matmul ins(%r, %b : tensor<4096x256xf32>, tensor<256x32xf32>) outs(%y1 : tensor<4096x32xf32>) -> tensor<4096x32xf32>
  return %y : tensor<4096x32xf32>
}

//--- narrow.mlir
// -----
func.func @main(%x: tensor<1x16x14x3xf32>, %a: tensor<48x16x1x1xf32>, %f: tensor<48x3x3xf32>, %w: tensor<16x48x1x1xf32>) -> tensor<1x16x12x1xf32> {
  %z = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<1x48x14x3xf32>
  %e1 = linalg.fill ins(%z : f32) outs(%e0 : tensor<1x48x14x3xf32>) -> tensor<1x48x14x3xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %a : tensor<1x16x14x3xf32>, tensor<48x16x1x1xf32>) outs(%e1 : tensor<1x48x14x3xf32>) -> tensor<1x48x14x3xf32>
  %d0 = tensor.empty() : tensor<1x48x12x1xf32>
  %d1 = linalg.fill ins(%z : f32) outs(%d0 : tensor<1x48x12x1xf32>) -> tensor<1x48x12x1xf32>
  %d = linalg.depthwise_conv_2d_nchw_chw ins(%c, %f : tensor<1x48x14x3xf32>, tensor<48x3x3xf32>) outs(%d1 : tensor<1x48x12x1xf32>) -> tensor<1x48x12x1xf32>
  %y0 = tensor.empty() : tensor<1x16x12x1xf32>
  %y1 = linalg.fill ins(%z : f32) outs(%y0 : tensor<1x16x12x1xf32>) -> tensor<1x16x12x1xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%d, %w : tensor<1x48x12x1xf32>, tensor<16x48x1x1xf32>) outs(%y1 : tensor<1x16x12x1xf32>) -> tensor<1x16x12x1xf32>
  return %y : tensor<1x16x12x1xf32>
}

//--- heavy.mlir
// -----
func.func @main(%x: tensor<64x256xf32>, %a: tensor<256x16xf32>, %b: tensor<16x256xf32>) -> tensor<64x256xf32> {
  %z = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<64x16xf32>
  %e1 = linalg.fill ins(%z : f32) outs(%e0 : tensor<64x16xf32>) -> tensor<64x16xf32>
  %e = linalg.matmul ins(%x, %a : tensor<64x256xf32>, tensor<256x16xf32>) outs(%e1 : tensor<64x16xf32>) -> tensor<64x16xf32>
  %y0 = tensor.empty() : tensor<64x256xf32>
  %y1 = linalg.fill ins(%z : f32) outs(%y0 : tensor<64x256xf32>) -> tensor<64x256xf32>
  %y = linalg.matmul ins(%e, %b : tensor<64x16xf32>, tensor<16x256xf32>) outs(%y1 : tensor<64x256xf32>) -> tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
