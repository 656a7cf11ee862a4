// RUN: fuse-opt %s --fuse-boundary --fuse-plan --remarks-filter=fuse-plan --remark-format=emitRemark -o /dev/null 2>&1 | grep "remark:" | FileCheck %s
// RUN: fuse-opt %s --fuse-boundary --fuse-greedy --remarks-filter=fuse-plan --remark-format=emitRemark -o /dev/null 2>&1 | grep "remark:" | FileCheck %s

// Every edge, joined or not, with gate, numbers, what became of it, the answers to the four questions and the numeric class.
// CHECK: [Passed] edge {{[0-9a-f]+}}#0 | Category:fuse-plan | Function=f | Consumer="negf #1", Fits=true, Gate=none, MemoryBound={{.*}}, Numeric=reassociates, Operand=0, ParallelismLost={{.*}}, Plan="in kernel 0", Producer="matmul #0", Reason="can fuse", SoleReader=true, Verdict=fuse, bytes_removed=32768, gain_us=
// CHECK: [Missed] edge {{[0-9a-f]+}}#0 | Category:fuse-plan | Function=f | Consumer="matmul #2", Fits=true, Gate=none, {{.*}}, Plan="joined kernel would take {{[0-9.]+}} us longer", Producer="negf #1"
// CHECK: [Passed] kernel 0 | Category:fuse-plan | {{.*}}Class=contraction
func.func @f(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %n = linalg.negf ins(%m : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = linalg.matmul ins(%n, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
