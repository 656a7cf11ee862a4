// RUN: fuse-opt %s --fuse-annotate --split-input-file --verify-diagnostics | FileCheck %s

// Extents that are provably equal share a symbol: the destination is sized by the argument.
// CHECK-LABEL: @dynamic
// CHECK: #fuse.cost<flops = "8*arg0.0", read = "32*arg0.0", written = "32*arg0.0", points = "8*arg0.0", parallel = "8*arg0.0", reduction = 1, transcendentals = "8*arg0.0">
func.func @dynamic(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %r = linalg.exp ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// -----

// The loops of a matmul are sized by the destination, where they index it.
// CHECK-LABEL: @matmul
// CHECK: flops = "2*arg0.1*arg2.0*arg2.1", read = "4*arg0.1*arg2.0 + 4*arg0.1*arg2.1 + 4*arg2.0*arg2.1"
func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

// A static extent of one operand wins over `?` of another.
// CHECK-LABEL: @refined
// CHECK: flops = 8, read = 64, written = 32
func.func @refined(%x: tensor<?xf32>, %y: tensor<8xf32>) -> tensor<?xf32> {
  %c8 = arith.constant 8 : index
  %e = tensor.empty(%c8) : tensor<?xf32>
  %r = linalg.add ins(%x, %y : tensor<?xf32>, tensor<8xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// 2^63 bytes do not fit; the next smaller size does.
func.func @overflow(%x: tensor<2305843009213693952xf32>) -> tensor<2305843009213693952xf32> {
  %e = tensor.empty() : tensor<2305843009213693952xf32>
  // expected-warning @below {{sizes of this operator exceed 64-bit arithmetic: its edges are kept}}
  %r = linalg.exp ins(%x : tensor<2305843009213693952xf32>) outs(%e : tensor<2305843009213693952xf32>) -> tensor<2305843009213693952xf32>
  return %r : tensor<2305843009213693952xf32>
}

// -----

// CHECK-LABEL: @large
// CHECK: read = 4611686018427387896, written = 4611686018427387896
func.func @large(%x: tensor<1152921504606846974xf32>) -> tensor<1152921504606846974xf32> {
  %e = tensor.empty() : tensor<1152921504606846974xf32>
  %r = linalg.exp ins(%x : tensor<1152921504606846974xf32>) outs(%e : tensor<1152921504606846974xf32>) -> tensor<1152921504606846974xf32>
  return %r : tensor<1152921504606846974xf32>
}
