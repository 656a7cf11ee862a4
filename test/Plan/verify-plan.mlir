// RUN: fuse-opt %s --split-input-file --verify-diagnostics --fuse-verify-plan
// A group that cannot become a kernel is left as it is, with a warning, and the program still compiles.
// RUN: fuse-opt %s --split-input-file --fuse-apply -o %t.mlir 2> %t.err
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: FileCheck %s --input-file=%t.err --check-prefix=WARN

// A plan that someone wrote by hand: three operators, the tile on the matmul.
// CHECK-LABEL: func.func @accepted
// CHECK: fuse.kernel "contraction" tile(<sizes = [64, 64, 8], threads = 64>)
// CHECK: linalg.matmul
// CHECK: linalg.negf
// CHECK: linalg.exp
// CHECK: fuse.yield
func.func @accepted(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %m = linalg.matmul {fuse.group = #fuse.group<id = 9, kernel = "contraction", root>, fuse.tile = #fuse.tile<sizes = [64, 64, 8], threads = 64>} ins(%x, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%f : tensor<512x512xf32>) -> tensor<512x512xf32>
  %n = linalg.negf {fuse.group = #fuse.group<id = 9, kernel = "contraction">} ins(%m : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %o = linalg.exp {fuse.group = #fuse.group<id = 9, kernel = "contraction">} ins(%n : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %o : tensor<512x512xf32>
}

// -----

// Without a tile the best one is taken.
// CHECK-LABEL: func.func @no_tile
// CHECK: fuse.kernel "pointwise" tile(<sizes = [{{[0-9]+}}], threads = 256>)
func.func @no_tile(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %e = tensor.empty() : tensor<512x512xf32>
  %n = linalg.negf {fuse.group = #fuse.group<id = 0, kernel = "pointwise">} ins(%x : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %o = linalg.exp {fuse.group = #fuse.group<id = 0, kernel = "pointwise">} ins(%n : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %o : tensor<512x512xf32>
}

// -----

// WARN: warning: group 3 is left unfused: it is not convex
// CHECK-LABEL: func.func @not_convex
// CHECK-NOT: fuse.kernel
func.func @not_convex(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %a = linalg.negf {fuse.group = #fuse.group<id = 3, kernel = "pointwise">} ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = linalg.exp ins(%a : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  // expected-error @below {{group 3 cannot become a kernel: it is not convex: an operator outside needs one of its results and is needed by another}}
  %c = linalg.add {fuse.group = #fuse.group<id = 3, kernel = "pointwise">} ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c : tensor<64x64xf32>
}

// -----

// WARN: warning: group 0 is left unfused: the edge from operator #0 to #1 must be kept: dependency: a copy is needed
// CHECK-LABEL: func.func @hazard
// CHECK-NOT: fuse.kernel
func.func @hazard(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %a = linalg.negf {fuse.group = #fuse.group<id = 0, kernel = "pointwise">} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  // expected-error @below {{group 0 cannot become a kernel: the edge from operator #0 to #1 must be kept: dependency: a copy is needed}}
  %b = linalg.generic {fuse.group = #fuse.group<id = 0, kernel = "pointwise">, indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<64xf32>) outs(%y : tensor<64xf32>) {
  ^bb0(%p: f32, %o: f32):
    %r = arith.addf %p, %o : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  return %b : tensor<64xf32>
}

// -----

// WARN: warning: group 0 is left unfused: unknown kernel class 'rowwise', known are pointwise, row, contraction, window
// CHECK-LABEL: func.func @unknown
func.func @unknown(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  // expected-error @below {{group 0 cannot become a kernel: unknown kernel class 'rowwise', known are pointwise, row, contraction, window}}
  %a = linalg.negf {fuse.group = #fuse.group<id = 0, kernel = "rowwise">} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %a : tensor<64xf32>
}

// -----

// WARN: warning: group 0 is left unfused: kernel class 'row' does not hold it, 'pointwise' does
// CHECK-LABEL: func.func @other_class
func.func @other_class(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  // expected-error @below {{group 0 cannot become a kernel: kernel class 'row' does not hold it, 'pointwise' does}}
  %a = linalg.negf {fuse.group = #fuse.group<id = 0, kernel = "row">} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %a : tensor<64xf32>
}

// -----

// WARN: warning: group 0 is left unfused: its operators name the kernel classes 'pointwise' and 'row'
// CHECK-LABEL: func.func @two_classes
func.func @two_classes(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %a = linalg.negf {fuse.group = #fuse.group<id = 0, kernel = "pointwise">} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  // expected-error @below {{group 0 cannot become a kernel: its operators name the kernel classes 'pointwise' and 'row'}}
  %b = linalg.exp {fuse.group = #fuse.group<id = 0, kernel = "row">} ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %b : tensor<64xf32>
}

// -----

// WARN: warning: group 0 is left unfused: no kernel class holds it: profile: two heavy loop nests in one kernel
// CHECK-LABEL: func.func @no_class
func.func @no_class(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  // expected-error @below {{group 0 cannot become a kernel: no kernel class holds it: profile: two heavy loop nests in one kernel}}
  %a = linalg.matmul {fuse.group = #fuse.group<id = 0, kernel = "contraction">} ins(%x, %x : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = linalg.matmul {fuse.group = #fuse.group<id = 0, kernel = "contraction">} ins(%x, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %b : tensor<64x64xf32>
}
