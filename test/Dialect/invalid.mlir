// RUN: fuse-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{'fuse.id' is "three", expected an i64 of at least 0}}
func.func @f() attributes {fuse.id = "three"} { return }

// -----

// expected-error @below {{'fuse.boundary' is 3 : i32, expected an array of #fuse.boundary}}
func.func @f() attributes {fuse.boundary = 3 : i32} { return }

// -----

// expected-error @below {{'fuse.dep' is ["x"], expected an array of #fuse.dep}}
func.func @f() attributes {fuse.dep = ["x"]} { return }

// -----

// expected-error @below {{'flops' is -1, expected a count of at least 0}}
func.func @f() attributes {fuse.cost = #fuse.cost<flops = -1, read = 1, written = 2, points = 3, parallel = 3, reduction = 1, transcendentals = 0>} { return }

// -----

// expected-error @below {{expected a count: an integer or a string}}
// expected-error @below {{failed to parse Fuse_CostAttr parameter 'flops'}}
func.func @f() attributes {fuse.cost = #fuse.cost<flops = many>} { return }

// -----

// expected-error @below {{struct is missing required parameter: read}}
func.func @f() attributes {fuse.cost = #fuse.cost<flops = 1>} { return }

// -----

// expected-error @below {{'raw' needs 'op', the earlier operator's fuse.id}}
func.func @f() attributes {fuse.dep = [#fuse.dep<raw, operand = 0>]} { return }

// -----

// expected-error @below {{unknown reason "because"; docs/Reasons.md lists the known ones}}
// expected-error @below {{failed to parse Fuse_BoundaryAttr parameter 'reason'}}
func.func @f() attributes {fuse.boundary = [#fuse.boundary<keep, producer = 0, operand = 0, gate = shape, reason = "because">]} { return }

// -----

// expected-error @below {{gate 'shape' does not match the reason "dependency: side effect"}}
func.func @f() attributes {fuse.boundary = [#fuse.boundary<keep, producer = 0, operand = 0, gate = shape, reason = "dependency: side effect">]} { return }

// -----

// expected-error @below {{verdict 'fuse' does not match the reason "dependency: side effect"}}
func.func @f() attributes {fuse.boundary = [#fuse.boundary<fuse, producer = 0, operand = 0, gate = dependency, reason = "dependency: side effect">]} { return }

// -----

// expected-error @below {{'bandwidth' is -1.000000e+00 : f64, expected a positive f64}}
module attributes {fuse.options = {target = #fuse.target<"t", {bandwidth = -1.0}>}} {}

// -----

// expected-error @below {{'fuse.param' on argument 0 is 1 : i64, expected a unit attribute}}
func.func @f(%x: tensor<4xf32> {fuse.param = 1 : i64}) { return }

// -----

// expected-error @below {{'fuse.weights' is 1 : i64, expected a string}}
module attributes {fuse.weights = 1 : i64} {}

// -----

// expected-error @below {{'fuse.folded_input' is unit, expected a string}}
func.func @f() attributes {fuse.folded_input} { return }

// -----

// An attribute of a name that is not ours to judge passes; so does a stale entry that names no operator.
func.func @f() attributes {fuse.version = "not a number", fuse.dep = [#fuse.dep<raw, op = 99, operand = 7>]} { return }

// -----

func.func private @kernel(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
func.func @launch_types(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{has the types 'tensor<8xf32>', 'tensor<8xf32>' -> 'tensor<8xf32>', @kernel has 'tensor<4xf32>', 'tensor<4xf32>' -> 'tensor<4xf32>'}}
  %y = fuse.launch @kernel ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

func.func @launch_nothing(%x: memref<8xf32>) {
  // expected-error @+1 {{launches @kernel, which does not exist}}
  fuse.launch @kernel ins() outs(%x : memref<8xf32>)
  return
}

// -----

func.func @launch_mixed(%x: memref<8xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{without results has an operand of type 'tensor<8xf32>', expected memrefs and scalars}}
  fuse.launch @launch_mixed ins(%y : tensor<8xf32>) outs(%x : memref<8xf32>)
  return
}
