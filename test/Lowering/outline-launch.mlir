// RUN: fuse-opt %s --fuse-wrap=slices --fuse-outline=launch --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

// A result of dynamic shape gets a tensor whose extents come from the inputs:
// here those of a pad and of a broadcast.
// CHECK-LABEL: func.func @pad
// CHECK-SAME:    (%[[X:.*]]: tensor<?x4xf32>
// CHECK-DAG:     %[[ROWS:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK:         %[[PADDED:.*]] = affine.apply #{{.*}}()[%[[ROWS]]]
// CHECK:         %[[INTO:.*]] = bufferization.alloc_tensor(%[[PADDED]]) : tensor<?x4xf32>
// CHECK:         %[[Y:.*]] = fuse.launch @kernel_0_op ins(%[[X]] : tensor<?x4xf32>) outs(%[[INTO]] : tensor<?x4xf32>) -> tensor<?x4xf32>
// CHECK:         return %[[Y]]
// CHECK:       func.func private @kernel_0_op(%{{.*}}: tensor<?x4xf32>, %[[DEST:.*]]: tensor<?x4xf32>)
// CHECK:         bufferization.materialize_in_destination %{{.*}} in %[[DEST]]
func.func @pad(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %zero = arith.constant 0.0 : f32
  %y = tensor.pad %x low[1, 0] high[2, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<?x4xf32> to tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// Data of constants is an input: kernels that differ in it alone are one.
// CHECK-LABEL: func.func @constants
// CHECK-DAG:     %[[A:.*]] = arith.constant dense<[1.0{{.*}}, 2.0{{.*}}]>
// CHECK-DAG:     %[[B:.*]] = arith.constant dense<[3.0{{.*}}, 4.0{{.*}}]>
// CHECK:         fuse.launch @kernel_0_pointwise ins(%{{.*}}, %[[A]] :
// CHECK:         fuse.launch @kernel_0_pointwise ins(%{{.*}}, %[[B]] :
// CHECK-NOT:     @kernel_1
func.func @constants(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %y = fuse.kernel "pointwise" (%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%arg: tensor<2xf32>):
    %k = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %e = tensor.empty() : tensor<2xf32>
    %r = linalg.add ins(%arg, %k : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
    fuse.yield %r : tensor<2xf32>
  }
  %z = fuse.kernel "pointwise" (%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%arg: tensor<2xf32>):
    %k = arith.constant dense<[3.0, 4.0]> : tensor<2xf32>
    %e = tensor.empty() : tensor<2xf32>
    %r = linalg.add ins(%arg, %k : tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
    fuse.yield %r : tensor<2xf32>
  }
  return %y, %z : tensor<2xf32>, tensor<2xf32>
}

// -----

// What stands outside of kernels and moves data is one.
// CHECK-LABEL: func.func @slices
// CHECK-NOT:     tensor.extract_slice
// CHECK:         fuse.launch @kernel_0_op
// CHECK:         return
// CHECK:       func.func private @kernel_0_op
// CHECK:         tensor.extract_slice
func.func @slices(%x: tensor<8x4xf32>) -> tensor<8x2xf32> {
  %y = tensor.extract_slice %x[0, 1] [8, 2] [1, 1] : tensor<8x4xf32> to tensor<8x2xf32>
  return %y : tensor<8x2xf32>
}

// -----

// An extent that depends on an element is not known to the host.
func.func @data_dependent(%x: tensor<?xf32>, %n: tensor<i32>) -> tensor<?xf32> {
  // expected-error @+1 {{extent 0 of result 0 depends on elements of a tensor, expected one that follows from the extents of the kernel's inputs}}
  %y = fuse.kernel "op" (%x, %n) : (tensor<?xf32>, tensor<i32>) -> tensor<?xf32> {
  ^bb0(%arg: tensor<?xf32>, %count: tensor<i32>):
    %i = tensor.extract %count[] : tensor<i32>
    %k = arith.index_cast %i : i32 to index
    %s = tensor.extract_slice %arg[0] [%k] [1] : tensor<?xf32> to tensor<?xf32>
    fuse.yield %s : tensor<?xf32>
  }
  return %y : tensor<?xf32>
}

// -----

func.func @scalar(%x: f32) -> f32 {
  // expected-error @+1 {{result 0 of the kernel is 'f32', expected a ranked tensor without an encoding}}
  %y = fuse.kernel "op" (%x) : (f32) -> f32 {
  ^bb0(%arg: f32):
    %s = arith.addf %arg, %arg : f32
    fuse.yield %s : f32
  }
  return %y : f32
}

// -----

// An operator that nothing reads is not launched.
// CHECK-LABEL: func.func @dead
// CHECK-NOT:     fuse.launch
// CHECK:         return
func.func @dead(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}
