// Row kernels along other dimensions, of other types.
// RUN: fuse-opt %s --pass-pipeline='builtin.module(fuse-greedy,fuse-wrap{slices},fuse-outline{launch},fuse-gpu-kernels,canonicalize,cse)' --split-input-file | FileCheck %s

// Down the columns: neighbouring threads have neighbouring columns.
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-NOT:     gpu.shuffle
// CHECK:         scf.for
// CHECK:           llvm.load
// CHECK:         gpu.barrier
// CHECK-NOT:     gpu.barrier
// CHECK:         llvm.store
// CHECK:         gpu.return
func.func @col(%x: tensor<512x96xf32>) -> tensor<96xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<96xf32>) -> tensor<96xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<512x96xf32>) outs(%f : tensor<96xf32>) {
  ^bb0(%a: f32, %s: f32):
    %1 = arith.addf %a, %s : f32
    linalg.yield %1 : f32
  } -> tensor<96xf32>
  return %0 : tensor<96xf32>
}

// -----

// The middle dimension: 32 columns of 8 threads each, 8 elements a thread.
// CHECK: affine_map<() -> (8, 1, 1)>
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-COUNT-8: llvm.load
// CHECK-NOT:     llvm.load
// CHECK:         gpu.barrier
// CHECK:         gpu.barrier
// CHECK-NOT:     gpu.barrier
// CHECK-COUNT-8: llvm.store
// CHECK-NOT:     llvm.store
// CHECK:         gpu.return
func.func @middle(%x: tensor<8x64x32xf32>) -> tensor<8x64x32xf32> {
  %e = tensor.empty() : tensor<8x64x32xf32>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<8x64x32xf32>) outs(%e : tensor<8x64x32xf32>) -> tensor<8x64x32xf32>
  return %0 : tensor<8x64x32xf32>
}

// -----

// f64 goes through a butterfly in two halves.
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-COUNT-4: llvm.load %{{.*}} -> vector<2xf64>
// CHECK-COUNT-10: gpu.shuffle {{ *}}xor {{.*}} : i32
// CHECK-NOT:     gpu.shuffle
// CHECK:         llvm.store %{{.*}} : f64
func.func @f64(%x: tensor<64x256xf64>) -> tensor<64xf64> {
  %z = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<64xf64>
  %f = linalg.fill ins(%z : f64) outs(%e : tensor<64xf64>) -> tensor<64xf64>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x256xf64>) outs(%f : tensor<64xf64>) {
  ^bb0(%a: f64, %s: f64):
    %1 = arith.addf %a, %s : f64
    linalg.yield %1 : f64
  } -> tensor<64xf64>
  return %0 : tensor<64xf64>
}

// -----

// All of a tensor is one row of one block; one thread writes the sum.
// CHECK: affine_map<() -> (1, 1, 1)>
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-COUNT-16: llvm.load %{{.*}} -> vector<4xf32>
// CHECK:         gpu.barrier
// CHECK:         scf.if
// CHECK:           llvm.store %{{.*}} : f32
// CHECK:         gpu.return
func.func @all(%x: tensor<64x256xf32>) -> tensor<f32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<64x256xf32>) outs(%f : tensor<f32>) {
  ^bb0(%a: f32, %s: f32):
    %1 = arith.addf %a, %s : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

// The sum of row j goes to all of column j: a team reads a row and writes a column, whose lanes are apart.
// CHECK-LABEL: gpu.func @kernel_0_row
// CHECK-NOT:     fuse.plain
// CHECK:         llvm.load %{{.*}} -> vector<4xf32>
// CHECK:         gpu.shuffle
// CHECK:         scf.if
// CHECK-COUNT-4:   llvm.store %{{.*}} {alignment = 4 : i64} : f32
// CHECK-NOT:     llvm.store
// CHECK:         gpu.return
func.func @across(%x: tensor<12x12xf32>, %y: tensor<12x12xf32>) -> tensor<12x12xf32> {
  %0 = fuse.kernel "row" (%x, %y) : (tensor<12x12xf32>, tensor<12x12xf32>) -> tensor<12x12xf32> {
  ^bb0(%a: tensor<12x12xf32>, %b: tensor<12x12xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<12x12xf32>
    %v = tensor.empty() : tensor<12xf32>
    %f = linalg.fill ins(%zero : f32) outs(%v : tensor<12xf32>) -> tensor<12xf32>
    %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<12x12xf32>) outs(%f : tensor<12xf32>) {
    ^bb0(%p: f32, %o: f32):
      %1 = arith.addf %p, %o : f32
      linalg.yield %1 : f32
    } -> tensor<12xf32>
    %d = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%b, %s : tensor<12x12xf32>, tensor<12xf32>) outs(%e : tensor<12x12xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %1 = arith.subf %p, %q : f32
      linalg.yield %1 : f32
    } -> tensor<12x12xf32>
    fuse.yield %d : tensor<12x12xf32>
  }
  return %0 : tensor<12x12xf32>
}
