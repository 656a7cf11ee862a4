// RUN: fuse-run %s --target=emulator:sm_80 --compare --repeat=0 | FileCheck %s

// Windows of other forms: along one and three dimensions, of bytes, with several results a channel; and two of one image, which are
// siblings: each of them has blocks that hold the image for it.
// CHECK:     kernel_5_siblings
// CHECK-NOT: plain
// CHECK-COUNT-7: {{^}}result {{[0-9]+}}: equal
// CHECK-NOT: result
func.func @main(%line: tensor<2x3x29xf32>, %rows: tensor<2x29x5xf32>, %cube: tensor<1x5x7x6x3xf32>, %bytes: tensor<1x9x7x3xi8>, %x: tensor<1x9x7x3xf32>,
                %w: tensor<3x3x3x2xf32>, %y: tensor<1x16x33x33xf32>)
    -> (tensor<2x3x27xf32>, tensor<2x14x5xf32>, tensor<1x3x5x4x3xf32>, tensor<1x7x5x3xi8>, tensor<1x7x5x3x2xf32>, tensor<1x16x31x31xf32>,
        tensor<1x16x31x31xf32>) {
  %z = arith.constant 0.0 : f32
  %i = arith.constant -128 : i8
  %w3 = tensor.empty() : tensor<3xf32>
  %w33 = tensor.empty() : tensor<3x3xf32>
  %w333 = tensor.empty() : tensor<3x3x3xf32>
  %b33 = tensor.empty() : tensor<3x3xi8>
  %0 = tensor.empty() : tensor<2x3x27xf32>
  %1 = linalg.fill ins(%z : f32) outs(%0 : tensor<2x3x27xf32>) -> tensor<2x3x27xf32>
  %2 = linalg.pooling_ncw_max ins(%line, %w3 : tensor<2x3x29xf32>, tensor<3xf32>) outs(%1 : tensor<2x3x27xf32>) -> tensor<2x3x27xf32>
  %3 = tensor.empty() : tensor<2x14x5xf32>
  %4 = linalg.fill ins(%z : f32) outs(%3 : tensor<2x14x5xf32>) -> tensor<2x14x5xf32>
  %5 = linalg.pooling_nwc_sum {strides = dense<2> : vector<1xi64>} ins(%rows, %w3 : tensor<2x29x5xf32>, tensor<3xf32>) outs(%4 : tensor<2x14x5xf32>) -> tensor<2x14x5xf32>
  %6 = tensor.empty() : tensor<1x3x5x4x3xf32>
  %7 = linalg.fill ins(%z : f32) outs(%6 : tensor<1x3x5x4x3xf32>) -> tensor<1x3x5x4x3xf32>
  %8 = linalg.pooling_ndhwc_sum ins(%cube, %w333 : tensor<1x5x7x6x3xf32>, tensor<3x3x3xf32>) outs(%7 : tensor<1x3x5x4x3xf32>) -> tensor<1x3x5x4x3xf32>
  %9 = tensor.empty() : tensor<1x7x5x3xi8>
  %10 = linalg.fill ins(%i : i8) outs(%9 : tensor<1x7x5x3xi8>) -> tensor<1x7x5x3xi8>
  %11 = linalg.pooling_nhwc_max ins(%bytes, %b33 : tensor<1x9x7x3xi8>, tensor<3x3xi8>) outs(%10 : tensor<1x7x5x3xi8>) -> tensor<1x7x5x3xi8>
  %12 = tensor.empty() : tensor<1x7x5x3x2xf32>
  %13 = linalg.fill ins(%z : f32) outs(%12 : tensor<1x7x5x3x2xf32>) -> tensor<1x7x5x3x2xf32>
  %14 = linalg.depthwise_conv_2d_nhwc_hwcm ins(%x, %w : tensor<1x9x7x3xf32>, tensor<3x3x3x2xf32>) outs(%13 : tensor<1x7x5x3x2xf32>) -> tensor<1x7x5x3x2xf32>
  %15 = tensor.empty() : tensor<1x16x31x31xf32>
  %16 = linalg.fill ins(%z : f32) outs(%15 : tensor<1x16x31x31xf32>) -> tensor<1x16x31x31xf32>
  %17 = linalg.pooling_nchw_sum ins(%y, %w33 : tensor<1x16x33x33xf32>, tensor<3x3xf32>) outs(%16 : tensor<1x16x31x31xf32>) -> tensor<1x16x31x31xf32>
  %18 = linalg.pooling_nchw_max ins(%y, %w33 : tensor<1x16x33x33xf32>, tensor<3x3xf32>) outs(%16 : tensor<1x16x31x31xf32>) -> tensor<1x16x31x31xf32>
  return %2, %5, %8, %11, %14, %17, %18
    : tensor<2x3x27xf32>, tensor<2x14x5xf32>, tensor<1x3x5x4x3xf32>, tensor<1x7x5x3xi8>, tensor<1x7x5x3x2xf32>, tensor<1x16x31x31xf32>, tensor<1x16x31x31xf32>
}
