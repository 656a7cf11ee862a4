// What depends on parameters only is computed once, before the first call: its edge into the rest is kept.
// RUN: fuse-opt %s --fuse-boundary --fuse-explain -o /dev/null 2>&1 | FileCheck %s

// CHECK-LABEL: function @parameter
// CHECK: #0 exp -> #1 negf:0 {{ *}}fuse
// CHECK: #1 negf -> #2 add:1 {{ *}}keep {{ *}}profit: producer is computed once from parameters
func.func @parameter(%x: tensor<8xf32>, %w: tensor<8xf32> {fuse.param}) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.exp ins(%w : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %q = linalg.negf ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.add ins(%x, %q : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// CHECK-LABEL: function @run_time
// CHECK: #1 negf -> #2 add:1 {{ *}}fuse
func.func @run_time(%x: tensor<8xf32>, %w: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.exp ins(%w : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %q = linalg.negf ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.add ins(%x, %q : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
