// RUN: fuse-opt %s -o %t.mlir
// RUN: fuse-opt %t.mlir | diff %t.mlir -
// RUN: fuse-opt %s --mlir-print-op-generic | fuse-opt | diff %t.mlir -
// RUN: fuse-opt %s --emit-bytecode | fuse-opt | diff %t.mlir -
// RUN: FileCheck %s --input-file=%t.mlir

// Kernels with a tile and without, with several results and none, with a scalar; the plan's attributes.
// CHECK: fuse.group = #fuse.group<id = 3, kernel = "row", root>
// CHECK-SAME: fuse.tile = #fuse.tile<sizes = [8, 1024, 0], threads = 256>
func.func @attributes() attributes {fuse.group = #fuse.group<id = 3, kernel = "row", root>, fuse.tile = #fuse.tile<sizes = [8, 1024, 0], threads = 256>} {
  return
}
// CHECK: fuse.group = #fuse.group<id = 0, kernel = "my.own">
func.func @member() attributes {fuse.group = #fuse.group<id = 0, kernel = "my.own">} {
  return
}
// CHECK: %0:2 = fuse.kernel "pointwise" tile(<sizes = [1024], threads = 256>) (%arg0, %arg1) : (tensor<8xf32>, f32) -> (tensor<8xf32>, tensor<8xf32>) {
// CHECK: fuse.yield %{{.*}}, %{{.*}} : tensor<8xf32>, tensor<8xf32>
// CHECK: fuse.kernel "row" (%0#0) attributes {note = "no results"} : (tensor<8xf32>) -> () {
// CHECK: fuse.yield{{$}}
func.func @kernels(%x: tensor<8xf32>, %s: f32) -> tensor<8xf32> {
  %0:2 = fuse.kernel "pointwise" tile(<sizes = [1024], threads = 256>) (%x, %s) : (tensor<8xf32>, f32) -> (tensor<8xf32>, tensor<8xf32>) {
  ^bb0(%a: tensor<8xf32>, %b: f32):
    %e = tensor.empty() : tensor<8xf32>
    %r = linalg.fill ins(%b : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    fuse.yield %r, %a : tensor<8xf32>, tensor<8xf32>
  }
  fuse.kernel "row" (%0#0) attributes {note = "no results"} : (tensor<8xf32>) -> () {
  ^bb0(%a: tensor<8xf32>):
    fuse.yield
  }
  return %0#1 : tensor<8xf32>
}
