// RUN: fuse-opt %s --fuse-boundary --fuse-plan --fuse-verify-plan --fuse-explain -o /dev/null 2>&1 | FileCheck %s
// RUN: fuse-opt %s --fuse-boundary --fuse-greedy -o /dev/null 2>&1 | count 0

// Two matmuls, each with an epilogue that reads the other's result: no operator waits for itself, but the two kernels would wait for
// each other. One takes both epilogues.
// CHECK-LABEL: function @each_other:
// CHECK: kernel 0 contraction (planned): matmul, sub, mul
// CHECK-NEXT: kernel 1 contraction (planned): matmul
func.func @each_other(%x: tensor<256x256xf32>, %w: tensor<256x256xf32>, %v: tensor<256x256xf32>) -> (tensor<256x256xf32>, tensor<256x256xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %m = linalg.matmul ins(%x, %w : tensor<256x256xf32>, tensor<256x256xf32>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  %n = linalg.matmul ins(%x, %v : tensor<256x256xf32>, tensor<256x256xf32>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  %a = linalg.sub ins(%m, %n : tensor<256x256xf32>, tensor<256x256xf32>) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %b = linalg.mul ins(%n, %m : tensor<256x256xf32>, tensor<256x256xf32>) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %a, %b : tensor<256x256xf32>, tensor<256x256xf32>
}

// A scalar that is extracted from one result and added in the body of another operator is waited for too.
// CHECK-LABEL: function @scalar:
// CHECK: plan: joined groups would wait for an operator between them
func.func @scalar(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %e1 = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e1 : tensor<64xf32>) -> tensor<64xf32>
  %a = linalg.negf ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = linalg.reduce { arith.addf } ins(%a : tensor<64x64xf32>) outs(%f : tensor<64xf32>) dimensions = [1]
  %v = tensor.extract %s[%c0] : tensor<64xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %r = arith.addf %p, %v : f32
    linalg.yield %r : f32
  } -> tensor<64x64xf32>
  %c = linalg.add ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}
