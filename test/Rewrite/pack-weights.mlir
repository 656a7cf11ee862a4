// Weights of a linear layer that are a parameter come packed from the preparation; others stay.
// RUN: fuse-opt %s --split-input-file --fuse-boundary=target=cpu --fuse-greedy=pack | FileCheck %s
// RUN: fuse-opt %s --split-input-file --fuse-boundary=target=cpu --fuse-greedy | FileCheck %s --check-prefix=PLAIN
// PLAIN-NOT: linalg.generic
// PLAIN-NOT: permutation = [0, 2, 1]

// CHECK-LABEL: func.func private @main.prepare
// CHECK: tensor.expand_shape %{{.*}} : tensor<96x32xf32> into tensor<2x48x32xf32>
// CHECK: linalg.transpose {{.*}} permutation = [0, 2, 1]
// CHECK-LABEL: func.func private @main.body
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<8x32xf32>, tensor<2x32x48xf32>)
// CHECK: tensor.collapse_shape %{{.*}} : tensor<8x2x48xf32> into tensor<8x96xf32>
func.func @main(%x: tensor<8x32xf32>, %w: tensor<96x32xf32> {fuse.param}) -> tensor<8x96xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x96xf32>
  %t = linalg.transpose ins(%w : tensor<96x32xf32>) outs(%e : tensor<32x96xf32>) permutation = [1, 0]
  %o = tensor.empty() : tensor<8x96xf32>
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<8x96xf32>) -> tensor<8x96xf32>
  %r = linalg.matmul ins(%x, %t : tensor<8x32xf32>, tensor<32x96xf32>) outs(%z : tensor<8x96xf32>) -> tensor<8x96xf32>
  return %r : tensor<8x96xf32>
}

// -----

// The weights change from call to call.
// CHECK-LABEL: func.func @at_run_time
// CHECK: linalg.matmul
func.func @at_run_time(%x: tensor<8x32xf32>, %w: tensor<96x32xf32>) -> tensor<8x96xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x96xf32>
  %t = linalg.transpose ins(%w : tensor<96x32xf32>) outs(%e : tensor<32x96xf32>) permutation = [1, 0]
  %o = tensor.empty() : tensor<8x96xf32>
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<8x96xf32>) -> tensor<8x96xf32>
  %r = linalg.matmul ins(%x, %t : tensor<8x32xf32>, tensor<32x96xf32>) outs(%z : tensor<8x96xf32>) -> tensor<8x96xf32>
  return %r : tensor<8x96xf32>
}

// -----

// One row reads each weight once.
// CHECK-LABEL: func.func @one_row
// CHECK: linalg.matmul
func.func @one_row(%x: tensor<1x32xf32>, %w: tensor<96x32xf32> {fuse.param}) -> tensor<1x96xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x96xf32>
  %t = linalg.transpose ins(%w : tensor<96x32xf32>) outs(%e : tensor<32x96xf32>) permutation = [1, 0]
  %o = tensor.empty() : tensor<1x96xf32>
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<1x96xf32>) -> tensor<1x96xf32>
  %r = linalg.matmul ins(%x, %t : tensor<1x32xf32>, tensor<32x96xf32>) outs(%z : tensor<1x96xf32>) -> tensor<1x96xf32>
  return %r : tensor<1x96xf32>
}

// -----

// 100 columns are no whole panels.
// CHECK-LABEL: func.func @odd
// CHECK: linalg.matmul
func.func @odd(%x: tensor<8x32xf32>, %w: tensor<100x32xf32> {fuse.param}) -> tensor<8x100xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x100xf32>
  %t = linalg.transpose ins(%w : tensor<100x32xf32>) outs(%e : tensor<32x100xf32>) permutation = [1, 0]
  %o = tensor.empty() : tensor<8x100xf32>
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<8x100xf32>) -> tensor<8x100xf32>
  %r = linalg.matmul ins(%x, %t : tensor<8x32xf32>, tensor<32x100xf32>) outs(%z : tensor<8x100xf32>) -> tensor<8x100xf32>
  return %r : tensor<8x100xf32>
}
