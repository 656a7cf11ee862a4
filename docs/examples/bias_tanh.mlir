// A bias and a tanh over 64 rows, as an exporter writes them.
func.func @main(%x: tensor<64x256xf32>, %bias: tensor<256xf32>) -> tensor<64x256xf32> {
  %e = tensor.empty() : tensor<64x256xf32>
  %b = linalg.broadcast ins(%bias : tensor<256xf32>) outs(%e : tensor<64x256xf32>) dimensions = [0]
  %s = linalg.add ins(%x, %b : tensor<64x256xf32>, tensor<64x256xf32>) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
  %y = linalg.tanh ins(%s : tensor<64x256xf32>) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
