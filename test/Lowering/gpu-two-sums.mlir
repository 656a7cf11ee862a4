// A sum over two loops, the outer one of dynamic extent: four lanes of it may part, which no row schedule holds. There is code all the same.
// RUN: fuse-opt %s --fuse-boundary=target=sm_80 --fuse-greedy --fuse-to-nvvm=chip=sm_80 | FileCheck %s
// CHECK: gpu.binary @kernels
#a = affine_map<(i, k, j, l) -> (i, k, l)>
#b = affine_map<(i, k, j, l) -> (k, j, l)>
#c = affine_map<(i, k, j, l) -> (i, j)>
func.func @main(%a: tensor<192x?x16xf32>, %b: tensor<?x16x16xf32>) -> tensor<192x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<192x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<192x16xf32>) -> tensor<192x16xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "parallel", "reduction"]}
      ins(%a, %b : tensor<192x?x16xf32>, tensor<?x16x16xf32>) outs(%f : tensor<192x16xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<192x16xf32>
  return %r : tensor<192x16xf32>
}
