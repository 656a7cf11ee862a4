// RUN: fuse-opt %s --fuse-boundary --fuse-explain -o /dev/null 2>&1 | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>

// What each kernel class holds, as pairs.

// Two reductions along the same rows share a kernel; along rows and then columns they do not.
// CHECK-LABEL: function @same_rows
// CHECK: #1 reduce(maximumf) -> #2 generic(subf):1 {{ *}}fuse
// CHECK-LABEL: function @other_rows
// CHECK: #0 generic(addf) -> #1 generic(addf):0 {{ *}}keep {{ *}}profile: operators do not share their rows
func.func @same_rows(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %e1 = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e1 : tensor<64xf32>) -> tensor<64xf32>
  %a = linalg.abs ins(%x : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %m = linalg.reduce { arith.maximumf } ins(%a : tensor<64x128xf32>) outs(%f : tensor<64xf32>) dimensions = [1]
  %s = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<64x128xf32>, tensor<64xf32>) outs(%e : tensor<64x128xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.subf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<64x128xf32>
  return %s : tensor<64x128xf32>
}
func.func @other_rows(%x: tensor<64x128x32xf32>) -> tensor<128xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %e1 = tensor.empty() : tensor<128xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<128xf32>) -> tensor<128xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<64x128x32xf32>) outs(%f : tensor<64x128xf32>) {
  ^bb0(%p: f32, %o: f32):
    %r = arith.addf %p, %o : f32
    linalg.yield %r : f32
  } -> tensor<64x128xf32>
  %b = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]} ins(%a : tensor<64x128xf32>) outs(%f1 : tensor<128xf32>) {
  ^bb0(%p: f32, %o: f32):
    %r = arith.addf %p, %o : f32
    linalg.yield %r : f32
  } -> tensor<128xf32>
  return %b : tensor<128xf32>
}

// A pooling takes an elementwise neighbour, and is held by the contraction behind it.
// CHECK-LABEL: function @pool
// CHECK: #0 abs -> #1 pooling_nchw_max:0 {{ *}}fuse
// CHECK: #1 pooling_nchw_max -> #2 conv_2d_nchw_fchw:0 {{ *}}fuse
// CHECK-NEXT: tile_m=4, tile_n=8, tile_k=8
func.func @pool(%x: tensor<1x8x32x32xf32>, %win: tensor<2x2xf32>, %w: tensor<8x8x1x1xf32>) -> tensor<1x8x31x31xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x8x32x32xf32>
  %a = linalg.abs ins(%x : tensor<1x8x32x32xf32>) outs(%e : tensor<1x8x32x32xf32>) -> tensor<1x8x32x32xf32>
  %e1 = tensor.empty() : tensor<1x8x31x31xf32>
  %f = linalg.fill ins(%z : f32) outs(%e1 : tensor<1x8x31x31xf32>) -> tensor<1x8x31x31xf32>
  %p = linalg.pooling_nchw_max ins(%a, %win : tensor<1x8x32x32xf32>, tensor<2x2xf32>) outs(%f : tensor<1x8x31x31xf32>) -> tensor<1x8x31x31xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<1x8x31x31xf32>, tensor<8x8x1x1xf32>) outs(%f : tensor<1x8x31x31xf32>) -> tensor<1x8x31x31xf32>
  return %c : tensor<1x8x31x31xf32>
}

// A prologue whose result is also returned cannot be evaluated once per tile; an epilogue that broadcasts the tile is none.
// CHECK-LABEL: function @around
// CHECK: #0 abs -> #1 matmul:0 {{ *}}keep {{ *}}profile: prologue has readers outside the kernel
// CHECK: #1 matmul -> #2 generic(addf):0 {{ *}}keep {{ *}}profile: epilogue does not run over the output tile
func.func @around(%x: tensor<64x64xf32>, %y: tensor<16x64x64xf32>) -> (tensor<16x64x64xf32>, tensor<64x64xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %a = linalg.abs ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = linalg.matmul ins(%a, %x : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %e3 = tensor.empty() : tensor<16x64x64xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%m, %y : tensor<64x64xf32>, tensor<16x64x64xf32>) outs(%e3 : tensor<16x64x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.addf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<16x64x64xf32>
  return %b, %a : tensor<16x64x64xf32>, tensor<64x64xf32>
}
