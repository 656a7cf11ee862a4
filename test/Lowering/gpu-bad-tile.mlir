// A tile by hand that no block holds.
// RUN: not fuse-opt %s --fuse-to-nvvm=chip=sm_80 -o /dev/null 2>&1 | FileCheck %s
// RUN: not fuse-opt %s --fuse-resources=chip=sm_90 -o /dev/null 2>&1 | FileCheck %s

// CHECK: gpu-bad-tile.mlir:7:8: error: the tile has 2048 threads, expected at most 1024
func.func @wide(%a: tensor<4096xf32>) -> tensor<4096xf32> {
  %0 = fuse.kernel "pointwise" tile(<sizes = [2048], threads = 2048>) (%a) : (tensor<4096xf32>) -> tensor<4096xf32> {
  ^bb0(%x: tensor<4096xf32>):
    %e = tensor.empty() : tensor<4096xf32>
    %1 = linalg.exp ins(%x : tensor<4096xf32>) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
    fuse.yield %1 : tensor<4096xf32>
  }
  return %0 : tensor<4096xf32>
}
