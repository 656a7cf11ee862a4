// RUN: fuse-opt %s --fuse-annotate --split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// The same value twice is read once: 4 * 8 * 4 bytes.
// CHECK-LABEL: @square
// CHECK: #fuse.cost<flops = 32, read = 128, written = 128, points = 32, parallel = 32, reduction = 1, transcendentals = 0, intensity = 1.250000e-01 : f64>
func.func @square(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %r = linalg.mul ins(%x, %x : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// Two values are read twice as much.
// CHECK-LABEL: @product
// CHECK: flops = 32, read = 256, written = 128
func.func @product(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %r = linalg.mul ins(%x, %y : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// 2 * M * N * K; the fill costs nothing to read.
// CHECK-LABEL: @matmul
// CHECK: linalg.matmul
// CHECK-SAME: flops = 1024, read = 768, written = 128, points = 512, parallel = 32, reduction = 16
func.func @matmul(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>) -> tensor<4x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4x16xf32>, tensor<16x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// The accumulator carries data: 128 bytes more.
// CHECK-LABEL: @matmul_accumulate
// CHECK: flops = 1024, read = 896, written = 128
func.func @matmul_accumulate(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<4x16xf32>, tensor<16x8xf32>) outs(%c : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// A 1x1 convolution with stride 2 touches a quarter of its input: 2 * 4 * 4 * 4 of 512 bytes.
// CHECK-LABEL: @strided
// CHECK: linalg.conv_2d_nchw_fchw
// CHECK-SAME: flops = 192, read = 152, written = 192
func.func @strided(%x: tensor<1x2x8x8xf32>, %w: tensor<3x2x1x1xf32>) -> tensor<1x3x4x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x4x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %r = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x2x8x8xf32>, tensor<3x2x1x1xf32>) outs(%f : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  return %r : tensor<1x3x4x4xf32>
}

// With a 2x2 filter and stride 2 all of it.
// CHECK-LABEL: @strided_2x2
// CHECK: linalg.conv_2d_nchw_fchw
// CHECK-SAME: flops = 768, read = 608, written = 192
func.func @strided_2x2(%x: tensor<1x2x8x8xf32>, %w: tensor<3x2x2x2xf32>) -> tensor<1x3x4x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x4x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %r = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x2x8x8xf32>, tensor<3x2x2x2xf32>) outs(%f : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  return %r : tensor<1x3x4x4xf32>
}

// -----

// The window of a pooling is never read.
// CHECK-LABEL: @pooling
// CHECK: linalg.pooling_nchw_max
// CHECK-SAME: flops = 36, read = 64, written = 16
func.func @pooling(%x: tensor<1x1x4x4xf32>, %w: tensor<3x3xf32>) -> tensor<1x1x2x2xf32> {
  %z = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<1x1x2x2xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  %r = linalg.pooling_nchw_max ins(%x, %w : tensor<1x1x4x4xf32>, tensor<3x3xf32>) outs(%f : tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  return %r : tensor<1x1x2x2xf32>
}

// -----

#map = affine_map<(d0) -> (d0)>

// fma weighs 2, casts and constants nothing, exp is a transcendental, abs is not: 2 + 1 + 1 + 1 a point.
// CHECK-LABEL: @weights
// CHECK: flops = 40, read = 16, written = 32, points = 8, parallel = 8, reduction = 1, transcendentals = 8
func.func @weights(%x: tensor<8xf16>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<8xf16>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f16, %o: f32):
    %c = arith.constant 2.0 : f32
    %w = arith.extf %a : f16 to f32
    %f = math.fma %w, %c, %w : f32
    %x1 = math.exp %f : f32
    %x2 = math.absf %x1 : f32
    %x3 = arith.addf %x2, %c : f32
    linalg.yield %x3 : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// Facts of operations that only move data have a cost as well.
// CHECK-LABEL: @movers
// CHECK: linalg.transpose
// CHECK-SAME: #fuse.cost<flops = 0, read = 128, written = 128
// CHECK: linalg.broadcast
// CHECK-SAME: #fuse.cost<flops = 0, read = 128, written = 384
func.func @movers(%x: tensor<4x8xf32>) -> tensor<8x4x3xf32> {
  %e = tensor.empty() : tensor<8x4xf32>
  %t = linalg.transpose ins(%x : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>) permutation = [1, 0]
  %e2 = tensor.empty() : tensor<8x4x3xf32>
  %b = linalg.broadcast ins(%t : tensor<8x4xf32>) outs(%e2 : tensor<8x4x3xf32>) dimensions = [2]
  return %b : tensor<8x4x3xf32>
}

// -----

// No element, no cost.
// CHECK-LABEL: @zero
// CHECK: #fuse.cost<flops = 0, read = 0, written = 0, points = 0
func.func @zero(%x: tensor<0x8xf32>) -> tensor<0x8xf32> {
  %e = tensor.empty() : tensor<0x8xf32>
  %r = linalg.exp ins(%x : tensor<0x8xf32>) outs(%e : tensor<0x8xf32>) -> tensor<0x8xf32>
  return %r : tensor<0x8xf32>
}
