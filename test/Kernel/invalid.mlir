// RUN: fuse-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'fuse.kernel' op has 0 block arguments for 1 inputs, or their types differ}}
  %y = fuse.kernel "pointwise" (%x) : (tensor<8xf32>) -> tensor<8xf32> {
    %e = tensor.empty() : tensor<8xf32>
    fuse.yield %e : tensor<8xf32>
  }
  return %y : tensor<8xf32>
}

// -----

func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'fuse.kernel' op has 1 block arguments for 1 inputs, or their types differ}}
  %y = fuse.kernel "pointwise" (%x) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<4xf32>):
    %e = tensor.empty() : tensor<8xf32>
    fuse.yield %e : tensor<8xf32>
  }
  return %y : tensor<8xf32>
}

// -----

func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = fuse.kernel "pointwise" (%x) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    // expected-error @below {{'fuse.yield' op yields 2 values for 1 results, or their types differ}}
    fuse.yield %a, %a : tensor<8xf32>, tensor<8xf32>
  }
  return %y : tensor<8xf32>
}

// -----

func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = fuse.kernel "pointwise" (%x) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %e = tensor.empty() : tensor<4xf32>
    // expected-error @below {{'fuse.yield' op yields 1 values for 1 results, or their types differ}}
    fuse.yield %e : tensor<4xf32>
  }
  return %y : tensor<8xf32>
}

// -----

func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{must end with 'fuse.yield'}}
  %y = fuse.kernel "pointwise" (%x) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %e = tensor.empty() : tensor<8xf32>
  }
  return %y : tensor<8xf32>
}

// -----

func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'fuse.kernel' op has no kernel class}}
  %y = fuse.kernel "" (%x) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    fuse.yield %a : tensor<8xf32>
  }
  return %y : tensor<8xf32>
}

// -----

// A kernel sees only its inputs.
func.func @f(%x: tensor<8xf32>, %z: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note @below {{required by region isolation constraints}}
  %y = fuse.kernel "pointwise" (%x) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    // expected-error @below {{op using value defined outside the region}}
    fuse.yield %z : tensor<8xf32>
  }
  return %y : tensor<8xf32>
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{'fuse.yield' op expects parent op 'fuse.kernel'}}
  fuse.yield %x : tensor<8xf32>
}

// -----

// expected-error @below {{expected integer value}}
// expected-error @below {{failed to parse Fuse_TileAttr parameter 'sizes'}}
func.func @f() attributes {fuse.tile = #fuse.tile<sizes = [], threads = 4>} { return }

// -----

// expected-error @below {{a tile needs sizes and at least 1 thread, found 1 sizes and 0 threads}}
func.func @f() attributes {fuse.tile = #fuse.tile<sizes = [4], threads = 0>} { return }

// -----

// expected-error @below {{a tile's size is -4, expected at least 0}}
func.func @f() attributes {fuse.tile = #fuse.tile<sizes = [-4], threads = 1>} { return }

// -----

// expected-error @below {{'id' is -1, expected at least 0}}
func.func @f() attributes {fuse.group = #fuse.group<id = -1, kernel = "row">} { return }

// -----

// expected-error @below {{'kernel' names no kernel class}}
func.func @f() attributes {fuse.group = #fuse.group<id = 1, kernel = "">} { return }

// -----

// expected-error @below {{expected 'root'}}
func.func @f() attributes {fuse.group = #fuse.group<id = 1, kernel = "row", leaf>} { return }

// -----

// expected-error @below {{'fuse.group' is 3 : i32, expected #fuse.group}}
func.func @f() attributes {fuse.group = 3 : i32} { return }

// -----

// expected-error @below {{'fuse.tile' is "big", expected #fuse.tile}}
func.func @f() attributes {fuse.tile = "big"} { return }
