// Kernels that the row schedule does not hold: a thread for each element of each result, reductions are its loops.
// RUN: fuse-opt %s --pass-pipeline='builtin.module(fuse-outline{launch},fuse-gpu-kernels,canonicalize,cse)' --split-input-file | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#back = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (i)>

// Rows along i and along j in one kernel; each shape of a result has its loop.
// CHECK-LABEL: gpu.func @kernel_0_row
// CHECK-SAME:    fuse.plain = "results have different rows"
// CHECK:         scf.for
// CHECK-COUNT-2: llvm.store %{{.*}} : vector<4xf32>
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:           llvm.store %{{.*}} : vector<4xf32>
// CHECK-NOT:     llvm.store
// CHECK:         gpu.return
func.func @both(%x: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16xf32>) {
  %0:3 = fuse.kernel "row" (%x) : (tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16xf32>) {
  ^bb0(%a: tensor<16x16xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<16x16xf32>
    %v = tensor.empty() : tensor<16xf32>
    %f = linalg.fill ins(%zero : f32) outs(%v : tensor<16xf32>) -> tensor<16xf32>
    %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) {
    ^bb0(%p: f32, %o: f32):
      %1 = math.tanh %p : f32
      linalg.yield %1 : f32
    } -> tensor<16x16xf32>
    %d = linalg.generic {indexing_maps = [#id, #back, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %t : tensor<16x16xf32>, tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %1 = arith.subf %p, %q : f32
      linalg.yield %1 : f32
    } -> tensor<16x16xf32>
    %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%d : tensor<16x16xf32>) outs(%f : tensor<16xf32>) {
    ^bb0(%p: f32, %o: f32):
      %1 = arith.addf %p, %o : f32
      linalg.yield %1 : f32
    } -> tensor<16xf32>
    fuse.yield %t, %d, %s : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16xf32>
  }
  return %0#0, %0#1, %0#2 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// The largest of the rows' sums: a reduction of reductions.
// CHECK-LABEL: gpu.func @kernel_0_row
// CHECK-SAME:    fuse.plain = "{{.+}}"
// CHECK-NOT:     gpu.shuffle
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK:             scf.for
// CHECK:               arith.addf
// CHECK:             arith.maximumf
// CHECK:           llvm.store
// CHECK:         gpu.return
func.func @nested(%x: tensor<16x32xf32>) -> tensor<f32> {
  %0 = fuse.kernel "row" (%x) : (tensor<16x32xf32>) -> tensor<f32> {
  ^bb0(%a: tensor<16x32xf32>):
    %zero = arith.constant 0.0 : f32
    %v = tensor.empty() : tensor<16xf32>
    %f = linalg.fill ins(%zero : f32) outs(%v : tensor<16xf32>) -> tensor<16xf32>
    %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<16x32xf32>) outs(%f : tensor<16xf32>) {
    ^bb0(%p: f32, %o: f32):
      %1 = arith.addf %p, %o : f32
      linalg.yield %1 : f32
    } -> tensor<16xf32>
    %u = tensor.empty() : tensor<f32>
    %g = linalg.fill ins(%zero : f32) outs(%u : tensor<f32>) -> tensor<f32>
    %m = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%s : tensor<16xf32>) outs(%g : tensor<f32>) {
    ^bb0(%p: f32, %o: f32):
      %1 = arith.maximumf %p, %o : f32
      linalg.yield %1 : f32
    } -> tensor<f32>
    fuse.yield %m : tensor<f32>
  }
  return %0 : tensor<f32>
}
