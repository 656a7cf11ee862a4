// A kernel per class, for kernel_classes.cpp; arguments from the second on are frozen.

#id = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (i)>
#columns = affine_map<(i, j) -> (j)>
#all = affine_map<(n, c, h, w) -> (n, c, h, w)>
#channel = affine_map<(n, c, h, w) -> (c)>

func.func @pointwise(%x: tensor<4096x1024xf32>, %b: tensor<1024xf32>) -> tensor<4096x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x1024xf32>
  %r = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<4096x1024xf32>, tensor<1024xf32>) outs(%e : tensor<4096x1024xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %s = arith.addf %in, %bias : f32
    %m = arith.maximumf %s, %zero : f32
    linalg.yield %m : f32
  } -> tensor<4096x1024xf32>
  return %r : tensor<4096x1024xf32>
}

// x / sqrt(mean(x^2))
func.func @row(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %inverse = arith.constant 0.0009765625 : f32
  %es = tensor.empty() : tensor<4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%es : tensor<4096xf32>) -> tensor<4096xf32>
  %s = linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4096x1024xf32>) outs(%f : tensor<4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    %q = arith.mulf %in, %in : f32
    %a = arith.addf %q, %out : f32
    linalg.yield %a : f32
  } -> tensor<4096xf32>
  %e = tensor.empty() : tensor<4096x1024xf32>
  %r = linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<4096x1024xf32>, tensor<4096xf32>) outs(%e : tensor<4096x1024xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %mean = arith.mulf %sum, %inverse : f32
    %scale = math.rsqrt %mean : f32
    %y = arith.mulf %in, %scale : f32
    linalg.yield %y : f32
  } -> tensor<4096x1024xf32>
  return %r : tensor<4096x1024xf32>
}

func.func @contraction(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>, %b: tensor<512xf32>) -> tensor<512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %m = linalg.matmul ins(%x, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%f : tensor<512x512xf32>) -> tensor<512x512xf32>
  %r = linalg.generic {indexing_maps = [#id, #columns, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m, %b : tensor<512x512xf32>, tensor<512xf32>) outs(%e : tensor<512x512xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %s = arith.addf %in, %bias : f32
    linalg.yield %s : f32
  } -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}

// One row: the weights are read once.
func.func @matvec(%x: tensor<1x2048xf32>, %w: tensor<2048x2048xf32>) -> tensor<1x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %et = tensor.empty() : tensor<2048x2048xf32>
  %t = linalg.transpose ins(%w : tensor<2048x2048xf32>) outs(%et : tensor<2048x2048xf32>) permutation = [1, 0]
  %e = tensor.empty() : tensor<1x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2048xf32>) -> tensor<1x2048xf32>
  %r = linalg.matmul ins(%x, %t : tensor<1x2048xf32>, tensor<2048x2048xf32>) outs(%f : tensor<1x2048xf32>) -> tensor<1x2048xf32>
  return %r : tensor<1x2048xf32>
}

func.func @convolution(%x: tensor<1x64x56x56xf32>, %w: tensor<64x64x3x3xf32>, %b: tensor<64xf32>) -> tensor<1x64x56x56xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x64x56x56xf32> to tensor<1x64x58x58xf32>
  %e = tensor.empty() : tensor<1x64x56x56xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %c = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%p, %w : tensor<1x64x58x58xf32>, tensor<64x64x3x3xf32>) outs(%f : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %r = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c, %b : tensor<1x64x56x56xf32>, tensor<64xf32>) outs(%e : tensor<1x64x56x56xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %s = arith.addf %in, %bias : f32
    %m = arith.maximumf %s, %zero : f32
    linalg.yield %m : f32
  } -> tensor<1x64x56x56xf32>
  return %r : tensor<1x64x56x56xf32>
}

func.func @window(%x: tensor<1x64x112x112xf32>) -> tensor<1x64x56x56xf32> {
  %low = arith.constant 0xFF800000 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %low : f32
  } : tensor<1x64x112x112xf32> to tensor<1x64x114x114xf32>
  %k = tensor.empty() : tensor<3x3xf32>
  %e = tensor.empty() : tensor<1x64x56x56xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %r = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%p, %k : tensor<1x64x114x114xf32>, tensor<3x3xf32>) outs(%f : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  return %r : tensor<1x64x56x56xf32>
}
