// RUN: fuse-opt %s --fuse-boundary --fuse-conv-bn --fuse-greedy --fuse-explain -o /dev/null 2>&1 | FileCheck %s
// RUN: fuse-opt %s --fuse-boundary --fuse-conv-bn --fuse-greedy --fuse-explain=json -o /dev/null 2>&1 | FileCheck %s --check-prefix=JSON

// After the kernels are formed the report lists them and what was folded into their convolutions.
// CHECK: function @f: 0 operators, 0 edges
// CHECK: kernel 0 contraction: conv_1d_ncw_fcw, exp
// CHECK: batch norm behind conv_1d_ncw_fcw of kernel 0: folded
// CHECK: batch norms folded 1 of 1 found; kernels 1
// JSON: "at": "conv_1d_ncw_fcw of kernel 0"
// JSON-NEXT: "decision": "folded"
// JSON: "bn_folded": 1
func.func @f(%x: tensor<1x2x8xf32>) -> tensor<1x3x8xf32> {
  %w = arith.constant dense<0.5> : tensor<3x2x1xf32>
  %s = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x3x8xf32>) -> tensor<1x3x8xf32>
  %c = linalg.conv_1d_ncw_fcw ins(%x, %w : tensor<1x2x8xf32>, tensor<3x2x1xf32>) outs(%f : tensor<1x3x8xf32>) -> tensor<1x3x8xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(n, c, i) -> (n, c, i)>, affine_map<(n, c, i) -> (c)>, affine_map<(n, c, i) -> (n, c, i)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%c, %s : tensor<1x3x8xf32>, tensor<3xf32>) outs(%e : tensor<1x3x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.mulf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<1x3x8xf32>
  %y = linalg.exp ins(%b : tensor<1x3x8xf32>) outs(%e : tensor<1x3x8xf32>) -> tensor<1x3x8xf32>
  return %y : tensor<1x3x8xf32>
}
