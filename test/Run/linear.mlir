// Linear layers with weights in panels, and of one row, whose weights are read as they are.
// RUN: fuse-opt %s --pass-pipeline='builtin.module(fuse-boundary{target=cpu},fuse-greedy,fuse-wrap,fuse-outline,func.func(fuse-cpu-normalize))' | FileCheck %s --check-prefix=ROW
// RUN: fuse-run %s --entry=rows --params=1- --compare --repeat=0 | FileCheck %s
// RUN: fuse-run %s --entry=rows --params=1- --compare --repeat=0 --threads=2 | FileCheck %s
// RUN: fuse-run %s --entry=one_row --params=1- --compare --repeat=0 | FileCheck %s
// RUN: fuse-run %s --entry=one_row --compare --repeat=0 --threads=2 | FileCheck %s
// CHECK: result 0: equal

func.func @rows(%x: tensor<13x70xf32>, %w: tensor<96x70xf32>, %b: tensor<96xf32>) -> tensor<13x96xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<70x96xf32>
  %t = linalg.transpose ins(%w : tensor<96x70xf32>) outs(%e : tensor<70x96xf32>) permutation = [1, 0]
  %o = tensor.empty() : tensor<13x96xf32>
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<13x96xf32>) -> tensor<13x96xf32>
  %m = linalg.matmul ins(%x, %t : tensor<13x70xf32>, tensor<70x96xf32>) outs(%z : tensor<13x96xf32>) -> tensor<13x96xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%m, %b : tensor<13x96xf32>, tensor<96xf32>) outs(%o : tensor<13x96xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %s = arith.addf %in, %bias : f32
    %g = math.tanh %s : f32
    linalg.yield %g : f32
  } -> tensor<13x96xf32>
  return %r : tensor<13x96xf32>
}

// ROW-LABEL: func.func private @kernel_1_contraction
// ROW-NOT: tensor<70x100xf32>
// ROW: linalg.generic
// ROW-SAME: ins(%{{.*}}, %{{.*}} : tensor<{{.*}}70xf32>, tensor<100x70xf32>)
func.func @one_row(%x: tensor<1x70xf32>, %w: tensor<100x70xf32>) -> tensor<1x100xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<70x100xf32>
  %t = linalg.transpose ins(%w : tensor<100x70xf32>) outs(%e : tensor<70x100xf32>) permutation = [1, 0]
  %o = tensor.empty() : tensor<1x100xf32>
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<1x100xf32>) -> tensor<1x100xf32>
  %r = linalg.matmul ins(%x, %t : tensor<1x70xf32>, tensor<70x100xf32>) outs(%z : tensor<1x100xf32>) -> tensor<1x100xf32>
  return %r : tensor<1x100xf32>
}
