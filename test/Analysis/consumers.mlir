// RUN: fuse-opt %s --fuse-boundary --split-input-file | FileCheck %s

// One reader, through a reshape: fuse, and the edge names the glue.
// CHECK-LABEL: @one
// CHECK: linalg.exp {{.*}}#fuse.dep<consumers, operand = 0, count = 1>
// CHECK: linalg.negf {fuse.boundary = [#fuse.boundary<fuse, producer = 0, operand = 0, gate = none, reason = "can fuse", via = ["collapse_shape"]
func.func @one(%x: tensor<4x8xf32>) -> tensor<32xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %p = linalg.exp ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = tensor.collapse_shape %p [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
  %e2 = tensor.empty() : tensor<32xf32>
  %q = linalg.negf ins(%c : tensor<32xf32>) outs(%e2 : tensor<32xf32>) -> tensor<32xf32>
  return %q : tensor<32xf32>
}

// -----

// A value that also leaves the function has two readers.
// CHECK-LABEL: @returned
// CHECK: linalg.exp {{.*}}#fuse.dep<consumers, operand = 0, count = 2>
// CHECK: #fuse.boundary<conditional, producer = 0, operand = 0, gate = dependency, reason = "dependency: multiple consumers", when = "the kernel has several results"
func.func @returned(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %q = linalg.negf ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %p, %q : tensor<8xf32>, tensor<8xf32>
}

// -----

// A costly producer of two operators joins with both; a cheap one may be recomputed.
// CHECK-LABEL: @costly
// CHECK-COUNT-2: when = "all consumers join the kernel"
// CHECK-LABEL: @cheap
// CHECK-COUNT-2: when = "the producer is recomputed"
func.func @costly(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %q = linalg.negf ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.abs ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %q, %r : tensor<8xf32>, tensor<8xf32>
}
func.func @cheap(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.abs ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %q = linalg.negf ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.exp ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %q, %r : tensor<8xf32>, tensor<8xf32>
}

// -----

// A concat gives one edge per part.
// CHECK-LABEL: @concat
// CHECK: linalg.abs {fuse.boundary = [#fuse.boundary<fuse, producer = 0, operand = 0, {{.*}}via = ["concat"]{{.*}}, #fuse.boundary<fuse, producer = 1, operand = 0, {{.*}}via = ["concat"]
func.func @concat(%x: tensor<8xf32>) -> tensor<16xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %q = linalg.negf ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %c = tensor.concat dim(0) %p, %q : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  %e2 = tensor.empty() : tensor<16xf32>
  %r = linalg.abs ins(%c : tensor<16xf32>) outs(%e2 : tensor<16xf32>) -> tensor<16xf32>
  return %r : tensor<16xf32>
}

// -----

// Operators share one fill: no dependence, no copy.
// CHECK-LABEL: @shared_fill
// CHECK-NOT: #fuse.dep<{{copy|war|waw}}
// CHECK: return
func.func @shared_fill(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %q = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %q, %r : tensor<4x4xf32>, tensor<4x4xf32>
}
