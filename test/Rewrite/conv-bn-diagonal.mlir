// RUN: fuse-opt %s --fuse-boundary --fuse-conv-bn | FileCheck %s

// A constant parameter read on its diagonal: 1 * 1 and 2 * 1000.
// CHECK-LABEL: @diagonal
// CHECK: arith.constant dense<{{\[\[\[}}1.000000e+00, 2.000000e+03]]]>
func.func @diagonal(%x: tensor<1x3x1xf32>) -> tensor<1x3x2xf32> {
  %w = arith.constant dense<[[[1.0, 2.0]]]> : tensor<1x1x2xf32>
  %g = arith.constant dense<[[1.0, 10.0], [100.0, 1000.0]]> : tensor<2x2xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x2xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x3x2xf32>) -> tensor<1x3x2xf32>
  %c = linalg.conv_1d_nwc_wcf ins(%x, %w : tensor<1x3x1xf32>, tensor<1x1x2xf32>) outs(%f : tensor<1x3x2xf32>) -> tensor<1x3x2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n,i,c)->(n,i,c)>, affine_map<(n,i,c)->(c,c)>, affine_map<(n,i,c)->(n,i,c)>], iterator_types = ["parallel","parallel","parallel"]} ins(%c, %g : tensor<1x3x2xf32>, tensor<2x2xf32>) outs(%e : tensor<1x3x2xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<1x3x2xf32>
  return %y : tensor<1x3x2xf32>
}

// The result is read with a constant 0 along an extent of 1.
// CHECK-LABEL: @unit
// CHECK: linalg.conv_1d_nwc_wcf {{.*}}fuse.folded = "conv-bn"
func.func @unit(%x: tensor<1x3x1xf32>) -> tensor<1x3x2xf32> {
  %w = arith.constant dense<[[[1.0, 2.0]]]> : tensor<1x1x2xf32>
  %g = arith.constant dense<[1.0, 10.0]> : tensor<2xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x2xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x3x2xf32>) -> tensor<1x3x2xf32>
  %c = linalg.conv_1d_nwc_wcf ins(%x, %w : tensor<1x3x1xf32>, tensor<1x1x2xf32>) outs(%f : tensor<1x3x2xf32>) -> tensor<1x3x2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n,i,c)->(0,i,c)>, affine_map<(n,i,c)->(c)>, affine_map<(n,i,c)->(n,i,c)>], iterator_types = ["parallel","parallel","parallel"]} ins(%c, %g : tensor<1x3x2xf32>, tensor<2xf32>) outs(%e : tensor<1x3x2xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<1x3x2xf32>
  return %y : tensor<1x3x2xf32>
}
