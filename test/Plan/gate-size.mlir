// RUN: fuse-opt %s --fuse-boundary --fuse-explain -o /dev/null 2>&1 | FileCheck %s

// Checked arithmetic: a product over int64 refuses, and no wrapped number is printed. The largest that fits is judged.
// CHECK: warning: sizes of this operator exceed 64-bit arithmetic: its edges are kept
// CHECK-LABEL: function @too_large
// CHECK: keep {{ *}}resource: sizes exceed 64-bit arithmetic
// CHECK-NEXT: flips with: use extents whose product fits int64
func.func @too_large(%x: tensor<2305843009213693952xf32>) -> tensor<2305843009213693952xf32> {
  %e = tensor.empty() : tensor<2305843009213693952xf32>
  %p = linalg.exp ins(%x : tensor<2305843009213693952xf32>) outs(%e : tensor<2305843009213693952xf32>) -> tensor<2305843009213693952xf32>
  %q = linalg.negf ins(%p : tensor<2305843009213693952xf32>) outs(%e : tensor<2305843009213693952xf32>) -> tensor<2305843009213693952xf32>
  return %q : tensor<2305843009213693952xf32>
}

// CHECK-LABEL: function @large
// CHECK: fuse {{ *}}can fuse
func.func @large(%x: tensor<1152921504606846974xf32>) -> tensor<1152921504606846974xf32> {
  %e = tensor.empty() : tensor<1152921504606846974xf32>
  %p = linalg.exp ins(%x : tensor<1152921504606846974xf32>) outs(%e : tensor<1152921504606846974xf32>) -> tensor<1152921504606846974xf32>
  %q = linalg.negf ins(%p : tensor<1152921504606846974xf32>) outs(%e : tensor<1152921504606846974xf32>) -> tensor<1152921504606846974xf32>
  return %q : tensor<1152921504606846974xf32>
}
