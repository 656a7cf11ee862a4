// RUN: fuse-opt %s --fuse-boundary=emit=attrs --fuse-explain --split-input-file --verify-diagnostics -o /dev/null 2>&1 | FileCheck %s

// CHECK-LABEL: function @edge_never
// CHECK: #0 exp -> #1 negf:0 {{ *}}keep {{ *}}override: kept by hint
// CHECK: #1 negf -> #2 abs:0 {{ *}}fuse {{ *}}can fuse
func.func @edge_never(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %q = linalg.negf {fuse.edge_hints = {"0" = "never"}} ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.abs ins(%q : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// On an operator a hint is for all its edges.
// CHECK-LABEL: function @op_never
// CHECK: #0 exp -> #1 negf:0 {{ *}}keep {{ *}}override: kept by hint
// CHECK: #1 negf -> #2 abs:0 {{ *}}keep {{ *}}override: kept by hint
func.func @op_never(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %q = linalg.negf {fuse.hint = "never"} ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.abs ins(%q : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// One part of a concat.
// CHECK-LABEL: function @part
// CHECK: #0 exp -> #2 abs:0 via concat {{ *}}fuse
// CHECK: #1 negf -> #2 abs:0 via concat {{ *}}keep {{ *}}override: kept by hint
func.func @part(%x: tensor<8xf32>) -> tensor<16xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %q = linalg.negf ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %c = tensor.concat dim(0) %p, %q : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  %e2 = tensor.empty() : tensor<16xf32>
  %r = linalg.abs {fuse.edge_hints = {"0.1" = "never"}} ins(%c : tensor<16xf32>) outs(%e2 : tensor<16xf32>) -> tensor<16xf32>
  return %r : tensor<16xf32>
}

// -----

// "always" overrides profile, resource and profit, and the table says what it overrode ...
// CHECK-LABEL: function @always
// CHECK: #0 matmul -> #1 matmul:1 {{ *}}fuse {{ *}}override: fused by hint
// CHECK-NEXT: flips with: without the override: profile: two heavy loop nests in one kernel
func.func @always(%a: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %m = linalg.matmul ins(%a, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %q = linalg.matmul {fuse.hint = "always"} ins(%a, %m : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %q : tensor<16x16xf32>
}

// -----

// ... but never a correctness gate.
// CHECK-LABEL: function @always_ignored
// CHECK: keep {{ *}}dependency: side effect
func.func @always_ignored(%x: tensor<8xf32>, %m: memref<f32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.map ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>)
    (%a : f32, %o : f32) {
      memref.store %a, %m[] : memref<f32>
      linalg.yield %a : f32
    }
  // expected-warning @below {{"always" for the edge from operator #0 is ignored, gate 'dependency' is for correctness: dependency: side effect}}
  %q = linalg.negf {fuse.edge_hints = {"0" = "always"}} ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %q : tensor<8xf32>
}

// -----

// Contradictory hints: named, and "never" wins.
// CHECK-LABEL: function @contradiction
// CHECK: keep {{ *}}override: kept by hint
func.func @contradiction(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.exp {fuse.hint = "always"} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  // expected-warning @below {{operators #0 and #1 say "never" and "always" for the edge between them: "never" wins}}
  %q = linalg.negf {fuse.hint = "never"} ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %q : tensor<8xf32>
}

// -----

// Words, operands and numbers that mean nothing are named and ignored.
// CHECK-LABEL: function @bad
// CHECK: fuse {{ *}}can fuse
// expected-warning @below {{'fuse.dim_hint' names 'arg7.0', which is no dynamic extent of an operator of this function}}
func.func @bad(%x: tensor<8xf32>) -> tensor<8xf32> attributes {fuse.dim_hint = {"arg7.0" = 4}} {
  %e = tensor.empty() : tensor<8xf32>
  // expected-warning @below {{'fuse.hint' is "maybe", expected "never" or "always"; it is ignored}}
  // expected-warning @below {{'fuse.cost_override' states flops = -1 : i64, expected a finite number of at least 0; it is ignored}}
  // expected-warning @below {{'fuse.cost_override' states registers = 0x7FF8000000000000 : f64, expected a finite number of at least 0; it is ignored}}
  // expected-warning @below {{'fuse.cost_override' has the unknown key 'time', known are flops, bytes, read, written, registers; it is ignored}}
  %p = linalg.exp {fuse.hint = "maybe", fuse.cost_override = {flops = -1, registers = 0x7FF8000000000000 : f64, time = 3}} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  // expected-warning @below {{'fuse.edge_hints' names operand '9', the operator has 2 operands; it is ignored}}
  // expected-warning @below {{'fuse.edge_hints' says 3 : i64 for operand 0, expected "never" or "always"; it is ignored}}
  %q = linalg.negf {fuse.edge_hints = {"0" = 3, "9" = "never"}} ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %q : tensor<8xf32>
}
