#id = affine_map<(d0,d1)->(d0,d1)>
func.func @main(%a: tensor<256x128xf16>, %b: tensor<128x128xf16>, %c: tensor<128xf32>) -> tensor<256x128xf16> {
  %z = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %r2 = arith.constant 0.70710678 : f32
  %e = tensor.empty() : tensor<256x128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<256x128xf32>) -> tensor<256x128xf32>
  %m = linalg.matmul ins(%a, %b : tensor<256x128xf16>, tensor<128x128xf16>) outs(%f : tensor<256x128xf32>) -> tensor<256x128xf32>
  %o = tensor.empty() : tensor<256x128xf16>
  %r = linalg.generic {indexing_maps = [#id, affine_map<(d0,d1)->(d1)>, #id], iterator_types = ["parallel","parallel"]} ins(%m, %c : tensor<256x128xf32>, tensor<128xf32>) outs(%o : tensor<256x128xf16>) {
  ^bb0(%x: f32, %y: f32, %q: f16):
    %s = arith.addf %x, %y : f32
    %u = arith.mulf %s, %r2 : f32
    %v = math.erf %u : f32
    %w = arith.addf %v, %one : f32
    %h = arith.mulf %s, %half : f32
    %g = arith.mulf %h, %w : f32
    %p = arith.truncf %g : f32 to f16
    linalg.yield %p : f16
  } -> tensor<256x128xf16>
  return %r : tensor<256x128xf16>
}
