// Glue inside of kernels is indexing: nothing of it is stored.
// RUN: fuse-opt %s --pass-pipeline='builtin.module(fuse-greedy,fuse-wrap{slices},fuse-outline{launch},fuse-gpu-kernels,canonicalize,cse)' --split-input-file | FileCheck %s

// Indices outside of the source read its nearest element, whose value goes:
// so that lanes need no branches.
// CHECK-LABEL: gpu.func @kernel_0
// CHECK:         %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-COUNT-4: arith.select %{{.*}}, %{{.*}}, %[[ZERO]] : f32
// CHECK:         vector.from_elements
// CHECK:         llvm.store %{{.*}} : vector<4xf32>
func.func @pad(%x: tensor<8x15xf32>) -> tensor<9x16xf32> {
  %zero = arith.constant 0.0 : f32
  %y = tensor.pad %x low[1, 0] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<8x15xf32> to tensor<9x16xf32>
  return %y : tensor<9x16xf32>
}

// -----

// Each element is of one part.
// CHECK-LABEL: gpu.func @kernel_0
// CHECK:         arith.constant 4 : index
// CHECK:         scf.if
// CHECK:           llvm.load {{.*}} vector<4xf32>
// CHECK:         else
// CHECK:           llvm.load {{.*}} vector<4xf32>
// CHECK:         llvm.store {{.*}} vector<4xf32>
func.func @concat(%x: tensor<4x16xf32>, %y: tensor<3x16xf32>) -> tensor<7x16xf32> {
  %z = tensor.concat dim(0) %x, %y : (tensor<4x16xf32>, tensor<3x16xf32>) -> tensor<7x16xf32>
  return %z : tensor<7x16xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// A slice adds its offset; 16 bytes stay aligned.
// CHECK-LABEL: gpu.func @kernel_1_op
// CHECK:         %[[OFFSET:.*]] = arith.constant 32 : index
// CHECK:         scf.for
// CHECK:           arith.addi %{{.*}}, %[[OFFSET]]
// CHECK:           llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK:           llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>
func.func @slice(%a: tensor<8x64xf32>) -> tensor<8x32xf32> {
  %e = tensor.empty() : tensor<8x64xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<8x64xf32>) outs(%e : tensor<8x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %1 = arith.mulf %x, %x : f32
    linalg.yield %1 : f32
  } -> tensor<8x64xf32>
  %2 = tensor.extract_slice %0[0, 32] [8, 32] [1, 1] : tensor<8x64xf32> to tensor<8x32xf32>
  return %2 : tensor<8x32xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// A reshape between two operators costs no division.
// CHECK-LABEL: gpu.func @kernel_0
// CHECK:         scf.for
// CHECK-NOT:       arith.div
// CHECK-NOT:       arith.rem
// CHECK:           llvm.load %{{.*}} vector<4xf32>
// CHECK:           arith.mulf
// CHECK:           arith.addf
// CHECK:           llvm.store %{{.*}} vector<4xf32>
func.func @reshape(%a: tensor<1024x1024xf32>) -> tensor<2048x512xf32> {
  %e = tensor.empty() : tensor<1024x1024xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) {
  ^bb0(%x: f32, %o: f32):
    %1 = arith.mulf %x, %x : f32
    linalg.yield %1 : f32
  } -> tensor<1024x1024xf32>
  %c = tensor.collapse_shape %0 [[0, 1]] : tensor<1024x1024xf32> into tensor<1048576xf32>
  %s = tensor.expand_shape %c [[0, 1]] output_shape [2048, 512] : tensor<1048576xf32> into tensor<2048x512xf32>
  %f = tensor.empty() : tensor<2048x512xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<2048x512xf32>) outs(%f : tensor<2048x512xf32>) {
  ^bb0(%x: f32, %o: f32):
    %1 = arith.addf %x, %x : f32
    linalg.yield %1 : f32
  } -> tensor<2048x512xf32>
  return %2 : tensor<2048x512xf32>
}

// -----

// Into a slice: elements outside of it are those of the destination.
// CHECK-LABEL: gpu.func @kernel_0
// CHECK:         scf.if
// CHECK:           llvm.load
// CHECK:         else
// CHECK:           llvm.load
// CHECK:         llvm.store
func.func @insert(%a: tensor<4x8xf32>, %into: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = tensor.insert_slice %a into %into[2, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
