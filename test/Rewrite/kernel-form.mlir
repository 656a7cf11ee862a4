// RUN: fuse-opt %s --fuse-boundary --fuse-greedy -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: fuse-opt %t.mlir --fuse-greedy | diff %t.mlir -
// RUN: fuse-opt %s --fuse-boundary --fuse-plan --fuse-apply | diff %t.mlir -
// RUN: fuse-opt %t.mlir --fuse-unfuse | FileCheck %s --check-prefix=BACK --implicit-check-not=fuse.kernel

// Inputs are what the operators read behind their glue; the glue is copied into the kernel, and goes where nothing else needs it.
// CHECK-LABEL: func.func @glue(
// CHECK-SAME: %[[X:.*]]: tensor<64x32xf32>, %[[W:.*]]: tensor<128x64xf32>
// CHECK-NEXT: %[[K:.*]] = fuse.kernel "contraction" tile(<sizes = [{{.*}}], threads = {{[0-9]+}}>) (%[[W]], %[[X]]) : (tensor<128x64xf32>, tensor<64x32xf32>) -> tensor<128x32xf32> {
// CHECK: arith.constant 0.000000e+00 : f32
// CHECK: linalg.transpose
// CHECK: linalg.fill
// CHECK: linalg.matmul
// CHECK: linalg.negf
// CHECK: fuse.yield
// CHECK-NEXT: }
// CHECK-NEXT: return %[[K]]
// BACK-LABEL: func.func @glue(
// BACK: %[[F:.*]] = linalg.fill
// BACK: %[[M:.*]] = linalg.matmul {{.*}} outs(%[[F]] :
// BACK: %[[N:.*]] = linalg.negf {{.*}} ins(%[[M]] :
// BACK: return %[[N]]
func.func @glue(%x: tensor<64x32xf32>, %w: tensor<128x64xf32>) -> tensor<128x32xf32> {
  %z = arith.constant 0.0 : f32
  %et = tensor.empty() : tensor<64x128xf32>
  %t = linalg.transpose ins(%w : tensor<128x64xf32>) outs(%et : tensor<64x128xf32>) permutation = [1, 0]
  %eu = tensor.empty() : tensor<128x64xf32>
  %u = linalg.transpose ins(%t : tensor<64x128xf32>) outs(%eu : tensor<128x64xf32>) permutation = [1, 0]
  %e = tensor.empty() : tensor<128x32xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<128x32xf32>) -> tensor<128x32xf32>
  %m = linalg.matmul ins(%u, %x : tensor<128x64xf32>, tensor<64x32xf32>) outs(%f : tensor<128x32xf32>) -> tensor<128x32xf32>
  %n = linalg.negf ins(%m : tensor<128x32xf32>) outs(%e : tensor<128x32xf32>) -> tensor<128x32xf32>
  return %n : tensor<128x32xf32>
}

// A splat is made inside; data is an input, and so is a scalar.
// CHECK-LABEL: func.func @constants(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[S:.*]]: f32
// CHECK: %[[D:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]>
// CHECK: fuse.kernel "pointwise" tile(<sizes = [{{.*}}], threads = {{[0-9]+}}>) (%[[X]], %[[D]], %[[S]]) : (
// CHECK: arith.constant dense<5.000000e-01> : tensor<4xf32>
// CHECK: fuse.yield
func.func @constants(%x: tensor<4xf32>, %s: f32) -> tensor<4xf32> {
  %d = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %h = arith.constant dense<0.5> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.add ins(%x, %d : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %b = linalg.mul ins(%a, %h : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%b, %s : tensor<4xf32>, f32) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.addf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  return %c : tensor<4xf32>
}

// A reader between the operators moves behind the kernel, with what needs it.
// CHECK-LABEL: func.func @between(
// CHECK: %[[K:.*]]:2 = fuse.kernel "pointwise"
// CHECK: linalg.exp
// CHECK-NEXT: linalg.negf
// CHECK: %[[V:.*]] = tensor.extract %[[K]]#0[
// CHECK: %[[W:.*]] = arith.addf %[[V]], %[[V]] : f32
// CHECK: return %[[K]]#1, %[[W]]
func.func @between(%x: tensor<64xf32>) -> (tensor<64xf32>, f32) {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<64xf32>
  %a = linalg.exp ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %v = tensor.extract %a[%c0] : tensor<64xf32>
  %w = arith.addf %v, %v : f32
  %b = linalg.negf ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %b, %w : tensor<64xf32>, f32
}
