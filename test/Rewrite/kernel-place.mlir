// RUN: fuse-opt %s --fuse-boundary --fuse-greedy -o %t.mlir 2> %t.err
// RUN: count 0 < %t.err
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: fuse-opt %t.mlir --fuse-greedy | diff %t.mlir -
// RUN: fuse-opt %s --fuse-boundary --fuse-plan --fuse-apply | diff %t.mlir -

// Glue that is read inside and outside is copied and kept: what is outside reads the kernel's result.
// CHECK-LABEL: func.func @glue_leaves(
// CHECK: %[[K:.*]]:2 = fuse.kernel "pointwise"
// CHECK: linalg.exp
// CHECK: linalg.transpose
// CHECK: linalg.negf
// CHECK: fuse.yield
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[K]]#0 : tensor<64x32xf32>)
// CHECK: return %[[T]], %[[K]]#1
func.func @glue_leaves(%x: tensor<64x32xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>) {
  %e = tensor.empty() : tensor<64x32xf32>
  %a = linalg.exp ins(%x : tensor<64x32xf32>) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
  %et = tensor.empty() : tensor<32x64xf32>
  %t = linalg.transpose ins(%a : tensor<64x32xf32>) outs(%et : tensor<32x64xf32>) permutation = [1, 0]
  %b = linalg.negf ins(%t : tensor<32x64xf32>) outs(%et : tensor<32x64xf32>) -> tensor<32x64xf32>
  return %t, %b : tensor<32x64xf32>, tensor<32x64xf32>
}

// A store of the intermediate stays where it is, before or behind the kernel; there is no warning about the planner's own plan.
// CHECK-LABEL: func.func @stored(
// CHECK: fuse.kernel "pointwise"
// CHECK: linalg.exp
// CHECK: memref.store
func.func @stored(%x: tensor<64xf32>, %m: memref<f32>) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<64xf32>
  %a = linalg.exp ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %v = tensor.extract %a[%c0] : tensor<64xf32>
  memref.store %v, %m[] : memref<f32>
  %b = linalg.negf ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %b : tensor<64xf32>
}

// In a loop's body the kernel stays in the body; what comes from outside of it is an input, but for empty tensors.
// CHECK-LABEL: func.func @loop(
// CHECK: scf.for
// CHECK: fuse.kernel "pointwise" tile(<sizes = [{{.*}}], threads = {{[0-9]+}}>) (%{{.*}}, %{{.*}}) :
// CHECK: linalg.add
// CHECK: linalg.negf
// CHECK: scf.yield
func.func @loop(%x: tensor<64xf32>, %n: index) -> tensor<64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<64xf32>
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (tensor<64xf32>) {
    %a = linalg.add ins(%x, %acc : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %b = linalg.negf ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    scf.yield %b : tensor<64xf32>
  }
  return %l : tensor<64xf32>
}
