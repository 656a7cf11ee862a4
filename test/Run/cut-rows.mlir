// Slices and concatenations between operators are computed row by row, with no tensor of the whole size.
// RUN: fuse-opt %s --pass-pipeline='builtin.module(func.func(fuse-cpu-tile))' | FileCheck %s
// RUN: sed 's/ attributes {fuse.kernel = "row"}//' %s > %t.mlir
// RUN: fuse-run %t.mlir --entry=rotate --compare --repeat=0 | FileCheck %s --check-prefix=SAME
// RUN: fuse-run %t.mlir --entry=rotate --compare --repeat=0 --threads=2 | FileCheck %s --check-prefix=SAME
// RUN: fuse-run %t.mlir --entry=rows_move --compare --repeat=0 | FileCheck %s --check-prefix=SAME
// RUN: fuse-run %t.mlir --entry=heads --compare --repeat=0 | FileCheck %s --check-prefix=SAME
// RUN: fuse-run %t.mlir --entry=positions --compare --repeat=0 | FileCheck %s --check-prefix=SAME
// RUN: fuse-run %t.mlir --entry=padded --compare --repeat=0 | FileCheck %s --check-prefix=SAME
// SAME: result 0: equal

#id = affine_map<(d0, d1) -> (d0, d1)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// CHECK-LABEL: func.func @rotate
// CHECK-NOT: linalg.generic
// CHECK: scf.forall (%{{.*}}) in (8)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x512xf32>)
// CHECK: tensor.insert_slice %{{.*}}[0, 256] [1, 256] [1, 1] : tensor<1x256xf32> into tensor<1x512xf32>
// CHECK: linalg.generic
// CHECK: tensor.parallel_insert_slice %{{.*}} [1, 512] [1, 1]
func.func @rotate(%x: tensor<8x512xf32>) -> tensor<8x512xf32> attributes {fuse.kernel = "row"} {
  %e = tensor.empty() : tensor<8x512xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x512xf32>) outs(%e : tensor<8x512xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.tanh %in : f32
    linalg.yield %0 : f32
  } -> tensor<8x512xf32>
  %a = tensor.extract_slice %t[0, 0] [8, 256] [1, 1] : tensor<8x512xf32> to tensor<8x256xf32>
  %b = tensor.extract_slice %t[0, 256] [8, 256] [1, 1] : tensor<8x512xf32> to tensor<8x256xf32>
  %f = tensor.empty() : tensor<8x512xf32>
  %1 = tensor.insert_slice %b into %f[0, 0] [8, 256] [1, 1] : tensor<8x256xf32> into tensor<8x512xf32>
  %2 = tensor.insert_slice %a into %1[0, 256] [8, 256] [1, 1] : tensor<8x256xf32> into tensor<8x512xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t, %2 : tensor<8x512xf32>, tensor<8x512xf32>) outs(%e : tensor<8x512xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %0 = arith.addf %in, %other : f32
    linalg.yield %0 : f32
  } -> tensor<8x512xf32>
  return %r : tensor<8x512xf32>
}

// The slices move along the rows: a row of the result needs others of the operand. Columns are cut instead.
// CHECK-LABEL: func.func @rows_move
// CHECK: scf.forall (%{{.*}}) in (512)
// CHECK: tensor.parallel_insert_slice %{{.*}} [512, 1] [1, 1]
func.func @rows_move(%x: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {fuse.kernel = "row"} {
  %e = tensor.empty() : tensor<512x512xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.tanh %in : f32
    linalg.yield %0 : f32
  } -> tensor<512x512xf32>
  %a = tensor.extract_slice %t[0, 0] [256, 512] [1, 1] : tensor<512x512xf32> to tensor<256x512xf32>
  %1 = tensor.insert_slice %a into %t[256, 0] [256, 512] [1, 1] : tensor<256x512xf32> into tensor<512x512xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t, %1 : tensor<512x512xf32>, tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %0 = arith.addf %in, %other : f32
    linalg.yield %0 : f32
  } -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}

// Two dimensions of a row's result are one of the operand: it is cut along the first alone.
// CHECK-LABEL: func.func @heads
// CHECK: scf.forall (%{{.*}}) in (4)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x1024xf32>)
// CHECK: tensor.expand_shape %{{.*}} : tensor<1x1024xf32> into tensor<1x2x512xf32>
func.func @heads(%x: tensor<4x1024xf32>) -> tensor<4x2x512xf32> attributes {fuse.kernel = "row"} {
  %e = tensor.empty() : tensor<4x1024xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x1024xf32>) outs(%e : tensor<4x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.tanh %in : f32
    linalg.yield %0 : f32
  } -> tensor<4x1024xf32>
  %y = tensor.expand_shape %t [[0], [1, 2]] output_shape [4, 2, 512] : tensor<4x1024xf32> into tensor<4x2x512xf32>
  %f = tensor.empty() : tensor<4x2x512xf32>
  %r = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y : tensor<4x2x512xf32>) outs(%f : tensor<4x2x512xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  } -> tensor<4x2x512xf32>
  return %r : tensor<4x2x512xf32>
}

// An operator that reads its position reads that of the whole tensor.
// CHECK-LABEL: func.func @positions
// CHECK: scf.forall (%[[ROW:.*]]) in (6)
// CHECK: %[[MINE:.*]] = linalg.index 0
// CHECK: affine.apply {{.*}}(%[[ROW]])[%[[MINE]]]
func.func @positions(%x: tensor<6x1024xf32>) -> tensor<6x512xf32> attributes {fuse.kernel = "row"} {
  %e = tensor.empty() : tensor<6x1024xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<6x1024xf32>) outs(%e : tensor<6x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %row = linalg.index 0 : index
    %i = arith.index_cast %row : index to i32
    %0 = arith.sitofp %i : i32 to f32
    %1 = arith.mulf %in, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<6x1024xf32>
  %a = tensor.extract_slice %t[0, 512] [6, 512] [1, 1] : tensor<6x1024xf32> to tensor<6x512xf32>
  %f = tensor.empty() : tensor<6x512xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<6x512xf32>) outs(%f : tensor<6x512xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  } -> tensor<6x512xf32>
  return %r : tensor<6x512xf32>
}

// Padding along another dimension is part of a row. A reshape of an argument stays in front.
// CHECK-LABEL: func.func @padded
// CHECK: scf.forall (%{{.*}}) in (6)
// CHECK: tensor.pad %{{.*}} low[0, 1] high[0, 1]
// CHECK: tensor<1x1022xf32> to tensor<1x1024xf32>
func.func @padded(%x: tensor<2x3x1022xf32>) -> tensor<6x1024xf32> attributes {fuse.kernel = "row"} {
  %zero = arith.constant 0.0 : f32
  %y = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x3x1022xf32> into tensor<6x1022xf32>
  %f = tensor.empty() : tensor<6x1022xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<6x1022xf32>) outs(%f : tensor<6x1022xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.tanh %in : f32
    linalg.yield %0 : f32
  } -> tensor<6x1022xf32>
  %p = tensor.pad %t low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<6x1022xf32> to tensor<6x1024xf32>
  %a = tensor.extract_slice %p[0, 0] [6, 1024] [1, 1] : tensor<6x1024xf32> to tensor<6x1024xf32>
  %g = tensor.empty() : tensor<6x1024xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<6x1024xf32>) outs(%g : tensor<6x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  } -> tensor<6x1024xf32>
  return %r : tensor<6x1024xf32>
}
