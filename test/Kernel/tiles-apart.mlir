// RUN: fuse-opt %s --fuse-boundary --fuse-plan --fuse-explain -o /dev/null 2>&1 | FileCheck %s

// A block holds one tile of the anchor's output, and whole rows of a row kernel. What reads the result in one order stays in the
// kernel, whatever the order; what reads it in two, or moved, would need the tiles of other blocks.

#id = affine_map<(i, j) -> (i, j)>
#tr = affine_map<(i, j) -> (j, i)>

// CHECK-LABEL: function @transposed:
// CHECK: kernel 0 contraction (planned): matmul, generic(addf)
// CHECK-NOT: kernel 1
func.func @transposed(%x: tensor<256x256xf32>, %w: tensor<256x256xf32>, %y: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %m = linalg.matmul ins(%x, %w : tensor<256x256xf32>, tensor<256x256xf32>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  %s = linalg.generic {indexing_maps = [#tr, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %y : tensor<256x256xf32>, tensor<256x256xf32>) outs(%e : tensor<256x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<256x256xf32>
  return %s : tensor<256x256xf32>
}

// CHECK-LABEL: function @symmetric:
// CHECK: matmul -> #1 generic(addf):0 keep profile: epilogue reads other tiles
// CHECK: kernel 0 contraction (planned): matmul{{$}}
func.func @symmetric(%x: tensor<256x256xf32>, %w: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %m = linalg.matmul ins(%x, %w : tensor<256x256xf32>, tensor<256x256xf32>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  %s = linalg.generic {indexing_maps = [#id, #tr, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %m : tensor<256x256xf32>, tensor<256x256xf32>) outs(%e : tensor<256x256xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.addf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<256x256xf32>
  return %s : tensor<256x256xf32>
}

// The same through reshapes that come back to the same element, and through ones that do not.
// CHECK-LABEL: function @reshaped:
// CHECK: kernel 0 contraction (planned): matmul, add
func.func @reshaped(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<4x16x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %e3 = tensor.empty() : tensor<4x16x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = tensor.expand_shape %m [[0, 1], [2]] output_shape [4, 16, 64] : tensor<64x64xf32> into tensor<4x16x64xf32>
  %b = tensor.collapse_shape %m [[0, 1]] : tensor<64x64xf32> into tensor<4096xf32>
  %c = tensor.expand_shape %b [[0, 1, 2]] output_shape [4, 16, 64] : tensor<4096xf32> into tensor<4x16x64xf32>
  %s = linalg.add ins(%a, %c : tensor<4x16x64xf32>, tensor<4x16x64xf32>) outs(%e3 : tensor<4x16x64xf32>) -> tensor<4x16x64xf32>
  return %s : tensor<4x16x64xf32>
}

// CHECK-LABEL: function @reshaped_apart:
// CHECK: matmul -> #1 add:0 via expand_shape keep profile: epilogue reads other tiles
func.func @reshaped_apart(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<16x4x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %e3 = tensor.empty() : tensor<16x4x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = tensor.expand_shape %m [[0, 1], [2]] output_shape [16, 4, 64] : tensor<64x64xf32> into tensor<16x4x64xf32>
  %b = tensor.expand_shape %m [[0, 1], [2]] output_shape [4, 16, 64] : tensor<64x64xf32> into tensor<4x16x64xf32>
  %et = tensor.empty() : tensor<16x4x64xf32>
  %c = linalg.transpose ins(%b : tensor<4x16x64xf32>) outs(%et : tensor<16x4x64xf32>) permutation = [1, 0, 2]
  %s = linalg.add ins(%a, %c : tensor<16x4x64xf32>, tensor<16x4x64xf32>) outs(%e3 : tensor<16x4x64xf32>) -> tensor<16x4x64xf32>
  return %s : tensor<16x4x64xf32>
}

// A rotated half: the second operand is the result, moved.
// CHECK-LABEL: function @rotated:
// CHECK: matmul -> #1 add:1 via extract_slice, concat keep profile: epilogue reads other tiles
func.func @rotated(%x: tensor<256x256xf32>, %w: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %m = linalg.matmul ins(%x, %w : tensor<256x256xf32>, tensor<256x256xf32>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  %a = tensor.extract_slice %m[0, 0] [256, 128] [1, 1] : tensor<256x256xf32> to tensor<256x128xf32>
  %b = tensor.extract_slice %m[0, 128] [256, 128] [1, 1] : tensor<256x256xf32> to tensor<256x128xf32>
  %c = tensor.concat dim(1) %b, %a : (tensor<256x128xf32>, tensor<256x128xf32>) -> tensor<256x256xf32>
  %s = linalg.add ins(%m, %c : tensor<256x256xf32>, tensor<256x256xf32>) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %s : tensor<256x256xf32>
}

// Rows of a row kernel: of the same row, or of another one.
// CHECK-LABEL: function @same_rows:
// CHECK: kernel 0 row (planned): reduce(addf), generic(subf)
func.func @same_rows(%x: tensor<16x16x64xf32>) -> tensor<16x16x64xf32> {
  %z = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<16x16xf32>
  %e = tensor.empty() : tensor<16x16x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e2 : tensor<16x16xf32>) -> tensor<16x16xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<16x16x64xf32>) outs(%f : tensor<16x16xf32>) dimensions = [2]
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s : tensor<16x16x64xf32>, tensor<16x16xf32>) outs(%e : tensor<16x16x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %q = arith.subf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<16x16x64xf32>
  return %r : tensor<16x16x64xf32>
}

// CHECK-LABEL: function @other_rows:
// CHECK: reduce(addf) -> #1 generic(subf):0 keep profile: operators do not share their rows
func.func @other_rows(%x: tensor<16x16x64xf32>) -> tensor<16x16xf32> {
  %z = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e2 : tensor<16x16xf32>) -> tensor<16x16xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<16x16x64xf32>) outs(%f : tensor<16x16xf32>) dimensions = [2]
  %r = linalg.generic {indexing_maps = [#id, #tr, #id], iterator_types = ["parallel", "parallel"]} ins(%s, %s : tensor<16x16xf32>, tensor<16x16xf32>) outs(%e2 : tensor<16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %q = arith.subf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}

// Each row times each other: as many results as pairs of rows.
// CHECK-LABEL: function @pairs_of_rows:
// CHECK: reduce(addf) -> #1 generic(mulf):0 keep profile: operators do not share their rows
func.func @pairs_of_rows(%x: tensor<16x64xf32>) -> tensor<16x16xf32> {
  %z = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<16xf32>
  %e2 = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e1 : tensor<16xf32>) -> tensor<16xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<16x64xf32>) outs(%f : tensor<16xf32>) dimensions = [1]
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, #id], iterator_types = ["parallel", "parallel"]} ins(%s, %s : tensor<16xf32>, tensor<16xf32>) outs(%e2 : tensor<16x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %q = arith.mulf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}
