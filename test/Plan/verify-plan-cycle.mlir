// RUN: fuse-opt %s --verify-diagnostics --fuse-verify-plan
// RUN: fuse-opt %s --fuse-apply 2>&1 | FileCheck %s
// CHECK: warning: group 0 is left unfused: groups 0, 1 need each other's results
// CHECK-NOT: fuse.kernel

// Each group alone is convex; as kernels they would wait for each other.
func.func @each_other(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %e = tensor.empty() : tensor<64x64xf32>
  %a = linalg.negf {fuse.group = #fuse.group<id = 0, kernel = "pointwise">} ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = linalg.exp {fuse.group = #fuse.group<id = 1, kernel = "pointwise">} ins(%y : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  // expected-error @below {{group 0 cannot become a kernel: groups 0, 1 need each other's results}}
  %c = linalg.sub {fuse.group = #fuse.group<id = 0, kernel = "pointwise">} ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  // expected-error @below {{group 1 cannot become a kernel: groups 0, 1 need each other's results}}
  %d = linalg.mul {fuse.group = #fuse.group<id = 1, kernel = "pointwise">} ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c, %d : tensor<64x64xf32>, tensor<64x64xf32>
}
