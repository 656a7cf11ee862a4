// Structure of kernels that a thread makes for each few elements of the results.
// RUN: fuse-opt %s --pass-pipeline='builtin.module(fuse-wrap{slices},fuse-outline{launch},fuse-gpu-kernels,canonicalize,cse)' --split-input-file | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
#one = affine_map<(i, j) -> (0, j)>

// 16 bytes a thread; the operand that is broadcast too, along the innermost dimension.
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-SAME:    %{{.*}}: !llvm.ptr {llvm.align = 16 : i64, llvm.noalias}
// CHECK:         scf.for
// CHECK-COUNT-2:   llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK:           arith.addf %{{.*}} : vector<4xf32>
// CHECK:           llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>
// CHECK-NOT:       llvm.{{load|store}}
// CHECK:         gpu.return
func.func @broadcast(%a: tensor<32x64xf32>, %b: tensor<64xf32>) -> tensor<32x64xf32> {
  %e = tensor.empty() : tensor<32x64xf32>
  %0 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<32x64xf32>, tensor<64xf32>) outs(%e : tensor<32x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %1 = arith.addf %x, %y : f32
    linalg.yield %1 : f32
  } -> tensor<32x64xf32>
  return %0 : tensor<32x64xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// 8 lanes of f16 are 16 bytes.
// CHECK-LABEL: gpu.func @kernel_0
// CHECK:         llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xf16>
// CHECK:         arith.mulf %{{.*}} : vector<8xf16>
// CHECK:         llvm.store %{{.*}} {alignment = 16 : i64} : vector<8xf16>
func.func @half(%a: tensor<32x64xf16>) -> tensor<32x64xf16> {
  %e = tensor.empty() : tensor<32x64xf16>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<32x64xf16>) outs(%e : tensor<32x64xf16>) {
  ^bb0(%x: f16, %o: f16):
    %1 = arith.mulf %x, %x : f16
    linalg.yield %1 : f16
  } -> tensor<32x64xf16>
  return %0 : tensor<32x64xf16>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// An odd innermost extent: an element a thread, 32 * 7 of them.
// CHECK-LABEL: gpu.func @kernel_0
// CHECK:         %[[ALL:.*]] = arith.constant 224 : index
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[ALL]]
// CHECK:           llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK:           llvm.store %{{.*}} {alignment = 4 : i64} : f32
func.func @odd(%a: tensor<32x7xf32>) -> tensor<32x7xf32> {
  %e = tensor.empty() : tensor<32x7xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<32x7xf32>) outs(%e : tensor<32x7xf32>) {
  ^bb0(%x: f32, %o: f32):
    %1 = arith.mulf %x, %x : f32
    linalg.yield %1 : f32
  } -> tensor<32x7xf32>
  return %0 : tensor<32x7xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#one = affine_map<(i, j) -> (0, j)>
#column = affine_map<(i, j) -> (i, 0)>

// A constant-0 index: the row of the first operand is that of the thread's
// columns; of the second one a single element serves all lanes.
// CHECK-LABEL: gpu.func @kernel_0
// CHECK:         %[[COLUMN:.*]] = arith.remui
// CHECK:         %[[AT:.*]] = arith.index_cast %[[COLUMN]] : index to i64
// CHECK:         %[[P:.*]] = llvm.getelementptr inbounds %{{.*}}[%[[AT]]]
// CHECK:         llvm.load %[[P]] {{.*}} -> vector<4xf32>
// CHECK:         %[[S:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK:         vector.broadcast %[[S]] : f32 to vector<4xf32>
func.func @zero(%a: tensor<1x64xf32>, %b: tensor<32x1xf32>) -> tensor<32x64xf32> {
  %e = tensor.empty() : tensor<32x64xf32>
  %0 = linalg.generic {indexing_maps = [#one, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<1x64xf32>, tensor<32x1xf32>) outs(%e : tensor<32x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %1 = arith.addf %x, %y : f32
    linalg.yield %1 : f32
  } -> tensor<32x64xf32>
  return %0 : tensor<32x64xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// Two results of one shape share their loop and what they read; that of f16
// has as many lanes as that of f32.
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-COUNT-1: scf.for
// CHECK:           llvm.load %{{.*}} -> vector<4xf32>
// CHECK-NOT:       llvm.load
// CHECK:           llvm.store %{{.*}} : vector<4xf32>
// CHECK:           llvm.store %{{.*}} {alignment = 8 : i64} : vector<4xf16>
// CHECK-NOT:     scf.for
// CHECK:         gpu.return
func.func @two(%a: tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<32x64xf16>) {
  %e = tensor.empty() : tensor<32x64xf32>
  %h = tensor.empty() : tensor<32x64xf16>
  %0:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<32x64xf32>) outs(%e, %h : tensor<32x64xf32>, tensor<32x64xf16>) {
  ^bb0(%x: f32, %o: f32, %p: f16):
    %1 = arith.mulf %x, %x : f32
    %2 = arith.truncf %1 : f32 to f16
    linalg.yield %1, %2 : f32, f16
  } -> (tensor<32x64xf32>, tensor<32x64xf16>)
  return %0#0, %0#1 : tensor<32x64xf32>, tensor<32x64xf16>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// Dynamic extents are i64 arguments after their pointer, and symbols of the grid.
// CHECK: #[[$GRID:.*]] = affine_map<()[s0, s1, s2, s3] -> ((s2 * s3) ceildiv {{[0-9]+}}, 1, 1)>
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-SAME:    (%{{.*}}: !llvm.ptr {{{[^}]*}}}, %[[ROWS:.*]]: i64, %[[COLUMNS:.*]]: i64, %{{.*}}: !llvm.ptr {{{[^}]*}}}, %{{.*}}: i64, %{{.*}}: i64)
// CHECK-SAME:    fuse.grid = #[[$GRID]]
// CHECK:         scf.for
// CHECK:           llvm.load %{{.*}} -> f32
func.func @dynamic(%a: tensor<?x?xf32>, %m: index, %n: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d0 = tensor.dim %a, %c0 : tensor<?x?xf32>
  %d1 = tensor.dim %a, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%d0, %d1) : tensor<?x?xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%x: f32, %o: f32):
    %1 = arith.mulf %x, %x : f32
    linalg.yield %1 : f32
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#back = affine_map<(i, j) -> (j, i)>

// A transposed read of less than a tile has its lanes apart; the write has 16 bytes. (gpu-transpose.mlir: larger ones.)
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK:         vector.from_elements %{{.*}} : vector<4xf32>
// CHECK:         llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>
func.func @transposed(%a: tensor<16x8xf32>) -> tensor<8x16xf32> {
  %e = tensor.empty() : tensor<8x16xf32>
  %0 = linalg.generic {indexing_maps = [#back, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<16x8xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%x: f32, %o: f32):
    %1 = arith.mulf %x, %x : f32
    linalg.yield %1 : f32
  } -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
