// RUN: fuse-opt %s --fuse-boundary --fuse-greedy | FileCheck %s

// A function of several blocks: what is prepared may be needed in any of them.
// CHECK-LABEL: func.func private @f.prepare(
// CHECK-LABEL: func.func private @f.body(
// CHECK-SAME: %[[P:[a-z0-9]+]]: tensor<64xf32> {fuse.param})
// CHECK: cf.cond_br
// CHECK: fuse.kernel "pointwise" {{.*}}(%{{.*}}, %[[P]]) :
func.func @f(%x: tensor<64xf32>, %c: i1, %w: tensor<64xf32> {fuse.param}) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %v = linalg.negf ins(%w : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %a = linalg.add ins(%x, %v : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %a : tensor<64xf32>
^bb2:
  return %x : tensor<64xf32>
}
