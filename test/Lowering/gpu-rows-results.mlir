// What the row schedule does not hold gets a plain kernel, with the reason, and rows with several results.
// RUN: fuse-opt %s --pass-pipeline='builtin.module(fuse-greedy,fuse-wrap{slices},fuse-outline{launch},fuse-gpu-kernels,canonicalize,cse)' --split-input-file | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// The place of the largest element: two values are reduced together.
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-SAME:    fuse.plain = "{{.+}}"
// CHECK-NOT:     gpu.shuffle
// CHECK:         scf.for
// CHECK:         llvm.store %{{.*}} : i64
func.func @argmax(%x: tensor<64x256xf32>) -> tensor<64xi64> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<64xf32>
  %i = tensor.empty() : tensor<64xi64>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %g = linalg.fill ins(%zero : i64) outs(%i : tensor<64xi64>) -> tensor<64xi64>
  %0:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x256xf32>) outs(%f, %g : tensor<64xf32>, tensor<64xi64>) {
  ^bb0(%a: f32, %most: f32, %at: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %c = arith.cmpf ogt, %a, %most : f32
    %m = arith.select %c, %a, %most : f32
    %n = arith.select %c, %k, %at : i64
    linalg.yield %m, %n : f32, i64
  } -> (tensor<64xf32>, tensor<64xi64>)
  return %0#1 : tensor<64xi64>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// The place is not used: what is left is a reduction of one value.
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-NOT:     fuse.plain
// CHECK-NOT:     i64, %
// CHECK:         gpu.shuffle
// CHECK-NOT:     arith.cmpf
// CHECK:         llvm.store
func.func @largest(%x: tensor<64x256xf32>) -> tensor<64xf32> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<64xf32>
  %i = tensor.empty() : tensor<64xi64>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %g = linalg.fill ins(%zero : i64) outs(%i : tensor<64xi64>) -> tensor<64xi64>
  %0:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x256xf32>) outs(%f, %g : tensor<64xf32>, tensor<64xi64>) {
  ^bb0(%a: f32, %most: f32, %at: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %c = arith.cmpf ogt, %a, %most : f32
    %m = arith.maximumf %a, %most : f32
    %n = arith.select %c, %k, %at : i64
    linalg.yield %m, %n : f32, i64
  } -> (tensor<64xf32>, tensor<64xi64>)
  return %0#0 : tensor<64xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// The sum of a row and the row over it: the row is read once.
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-NOT:     fuse.plain
// CHECK-COUNT-2: llvm.load %{{.*}} -> vector<4xf32>
// CHECK-NOT:     llvm.load
// CHECK-COUNT-5: gpu.shuffle
// CHECK-NOT:     gpu.shuffle
// CHECK-DAG:     llvm.store %{{.*}} : f32
// CHECK-DAG:     llvm.store %{{.*}} : vector<4xf32>
// CHECK:         gpu.return
func.func @both(%x: tensor<64x256xf32>) -> (tensor<64xf32>, tensor<64x256xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %o = tensor.empty() : tensor<64x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x256xf32>) outs(%f : tensor<64xf32>) {
  ^bb0(%a: f32, %t: f32):
    %1 = arith.addf %a, %t : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  %0 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<64x256xf32>, tensor<64xf32>) outs(%o : tensor<64x256xf32>) {
  ^bb0(%a: f32, %t: f32, %u: f32):
    %1 = arith.divf %a, %t : f32
    linalg.yield %1 : f32
  } -> tensor<64x256xf32>
  return %s, %0 : tensor<64xf32>, tensor<64x256xf32>
}
