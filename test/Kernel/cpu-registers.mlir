// RUN: fuse-opt %s --fuse-boundary=target=x86-avx2 --fuse-plan --fuse-explain -o /dev/null 2>&1 | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: fuse-opt %s --fuse-boundary=target=x86-avx512 --fuse-plan --fuse-explain -o /dev/null 2>&1 | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: fuse-opt %s "--fuse-boundary=target=x86-avx2 register-limit=14" --fuse-plan --fuse-explain -o /dev/null 2>&1 | FileCheck %s --check-prefix=FEW

// The inner kernel of a contraction takes what vector registers there are: 12 accumulators of 16, 24 of 32, and 3 for operands.
// CHECK: matmul -> #1 negf:0 {{ *}}fuse
// AVX2: registers=15
// AVX512: registers=27
// CHECK: kernel 0 contraction (planned): matmul, negf
// FEW: matmul -> #1 negf:0 {{ *}}keep {{ *}}resource: no tile of the fused kernel fits
// FEW: registers=15, register_limit=14
func.func @f(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %n = linalg.negf ins(%m : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %n : tensor<64x64xf32>
}
