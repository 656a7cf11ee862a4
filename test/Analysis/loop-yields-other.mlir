// RUN: fuse-opt %s --fuse-annotate -o %t.mlir 2> %t.err
// RUN: count 0 < %t.err
// RUN: FileCheck %s --input-file=%t.mlir

// One-Shot analysis refuses a loop that yields another tensor than it was given. That is no error of the program: the overwritten
// operand counts as a copy, and nothing is printed.
// CHECK: linalg.add {{.*}}#fuse.dep<copy, operand = 2
func.func @f(%a: tensor<8xf32>, %b: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> (tensor<8xf32>) {
    %s = linalg.add ins(%t, %b : tensor<8xf32>, tensor<8xf32>) outs(%t : tensor<8xf32>) -> tensor<8xf32>
    %e = tensor.empty() : tensor<8xf32>
    %q = linalg.exp ins(%s : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %q : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
