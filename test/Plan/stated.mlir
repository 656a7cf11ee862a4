// RUN: fuse-opt %s --fuse-annotate | FileCheck %s

// The stated number is printed and named; the others are counted.
// CHECK-LABEL: @stated
// CHECK: #fuse.cost<flops = 4096, read = 32, written = 32, {{.*}}intensity = 8.000000e+00 : f64, overridden = ["flops", "bytes"]>
func.func @stated(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.exp {fuse.cost_override = {flops = 4096, bytes = 512}} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %p : tensor<8xf32>
}

// Symbols stay, and are evaluated under the hint.
// CHECK-LABEL: @hinted
// CHECK: #fuse.cost<flops = "8*arg0.0", {{.*}}intensity = 1.250000e-01 : f64, hint = {flops = 1024 : i64, points = 1024 : i64, read = 4096 : i64, written = 4096 : i64}>
func.func @hinted(%x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {fuse.dim_hint = {"arg0.0" = 128}} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %r = linalg.exp ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}
