// RUN: fuse-run %s --target=emulator:sm_80 --compare --repeat=0 | FileCheck %s

// A tile in shared memory is reached on two ways that meet: where it lies is the emulator's own to read, no access of the kernel.
// CHECK: result 0: equal
func.func @main(%x: tensor<64x16xf32>, %w: tensor<16x5xf32>) -> tensor<64x5xf32> {
  %z = arith.constant 0.0 : f32
  %y0 = tensor.empty() : tensor<64x5xf32>
  %y1 = linalg.fill ins(%z : f32) outs(%y0 : tensor<64x5xf32>) -> tensor<64x5xf32>
  %y = linalg.matmul ins(%x, %w : tensor<64x16xf32>, tensor<16x5xf32>) outs(%y1 : tensor<64x5xf32>) -> tensor<64x5xf32>
  return %y : tensor<64x5xf32>
}
