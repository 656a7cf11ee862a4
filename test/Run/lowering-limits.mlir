// RUN: split-file %s %t
// RUN: not fuse-opt %t/reshape.mlir --fuse-to-cpu -o /dev/null 2>&1 | FileCheck %s
// RUN: fuse-run %t/tensor.mlir --compare --repeat=1 | FileCheck %s --check-prefix=TENSOR

// A reshape whose extents do not follow from the source is an error at its place.
// CHECK: reshape.mlir:3:8: error: expands one dimension into 2 dynamic extents, expected at most one
// Arithmetic on whole tensors is lowered like operators.
// TENSOR: result 0: equal

//--- reshape.mlir
func.func @f(%x: tensor<?xf32>, %n: index) -> tensor<?x?xf32> {
  // A comment.
  %y = tensor.expand_shape %x [[0, 1]] output_shape [%n, %n] : tensor<?xf32> into tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
//--- tensor.mlir
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = math.exp %x : tensor<64xf32>
  %s = arith.addf %e, %x : tensor<64xf32>
  return %s : tensor<64xf32>
}
