// RUN: fuse-run %s --target=emulator:sm_80 --compare --repeat=0 | FileCheck %s

#map = affine_map<(n, f, h, w) -> (n, f, h, w)>

// The branches of a block that halves its image: a padded 3 x 3 convolution with ReLU and a 1 x 1 one, both of stride 2; and two
// products of 16-bit floats on tensor cores, one with a conversion.
// CHECK:      kernel_0_siblings
// CHECK-NEXT: kernel_2_siblings
// CHECK-NOT:  kernel_
// CHECK:      result 0: equal
// CHECK:      result 1: equal
// CHECK:      result 2: equal
// CHECK:      result 3: equal
func.func @main(%x: tensor<2x16x13x13xf32>, %a: tensor<32x16x3x3xf32>, %b: tensor<32x16x1x1xf32>, %y: tensor<130x64xf16>,
                %v: tensor<64x48xf16>, %w: tensor<64x96xf16>)
    -> (tensor<2x32x7x7xf32>, tensor<2x32x7x7xf32>, tensor<130x48xf32>, tensor<130x96xf16>) {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %z : f32
  } : tensor<2x16x13x13xf32> to tensor<2x16x15x15xf32>
  %e = tensor.empty() : tensor<2x32x7x7xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x32x7x7xf32>) -> tensor<2x32x7x7xf32>
  %c = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
    ins(%p, %a : tensor<2x16x15x15xf32>, tensor<32x16x3x3xf32>) outs(%f : tensor<2x32x7x7xf32>) -> tensor<2x32x7x7xf32>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c : tensor<2x32x7x7xf32>) outs(%e : tensor<2x32x7x7xf32>) {
  ^bb0(%s: f32, %o: f32):
    %t = arith.maximumf %s, %z : f32
    linalg.yield %t : f32
  } -> tensor<2x32x7x7xf32>
  %d = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
    ins(%x, %b : tensor<2x16x13x13xf32>, tensor<32x16x1x1xf32>) outs(%f : tensor<2x32x7x7xf32>) -> tensor<2x32x7x7xf32>
  %ge = tensor.empty() : tensor<130x48xf32>
  %gf = linalg.fill ins(%z : f32) outs(%ge : tensor<130x48xf32>) -> tensor<130x48xf32>
  %g = linalg.matmul ins(%y, %v : tensor<130x64xf16>, tensor<64x48xf16>) outs(%gf : tensor<130x48xf32>) -> tensor<130x48xf32>
  %he = tensor.empty() : tensor<130x96xf32>
  %hf = linalg.fill ins(%z : f32) outs(%he : tensor<130x96xf32>) -> tensor<130x96xf32>
  %h = linalg.matmul ins(%y, %w : tensor<130x64xf16>, tensor<64x96xf16>) outs(%hf : tensor<130x96xf32>) -> tensor<130x96xf32>
  %te = tensor.empty() : tensor<130x96xf16>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%h : tensor<130x96xf32>) outs(%te : tensor<130x96xf16>) {
  ^bb0(%s: f32, %o: f16):
    %u = arith.truncf %s : f32 to f16
    linalg.yield %u : f16
  } -> tensor<130x96xf16>
  return %r, %d, %g, %t : tensor<2x32x7x7xf32>, tensor<2x32x7x7xf32>, tensor<130x48xf32>, tensor<130x96xf16>
}
