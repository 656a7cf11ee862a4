// RUN: fuse-opt %s --fuse-boundary --fuse-greedy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: fuse-opt %t.mlir --fuse-greedy | diff %t.mlir -
// RUN: fuse-opt %s --fuse-boundary --fuse-plan --fuse-apply | diff %t.mlir -
// RUN: fuse-opt %s --fuse-greedy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: fuse-opt %t.mlir --fuse-greedy | diff %t.mlir -

// What no kernel takes (it works on memrefs) keeps the facts of the program as it now is: it holds the first operators, not the
// third and fourth.
// CHECK: fuse.kernel "pointwise"
// CHECK: linalg.exp
// CHECK: linalg.negf
// CHECK: fuse.yield
// CHECK: linalg.exp {{.*}}fuse.id = 0
// CHECK: linalg.negf {{.*}}#fuse.boundary<{{[a-z]*}}, producer = 0,{{.*}}fuse.id = 1
func.func @f(%x: tensor<64xf32>, %m: memref<64xf32> {llvm.noalias}, %n: memref<64xf32> {llvm.noalias}, %o: memref<64xf32> {llvm.noalias}) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %a = linalg.exp ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %b = linalg.negf ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  linalg.exp ins(%m : memref<64xf32>) outs(%n : memref<64xf32>)
  linalg.negf ins(%n : memref<64xf32>) outs(%o : memref<64xf32>)
  return %b : tensor<64xf32>
}
