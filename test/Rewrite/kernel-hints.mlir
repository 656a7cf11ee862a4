// RUN: fuse-opt %s --fuse-boundary --fuse-greedy -o %t.mlir 2> %t.err
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: FileCheck %s --input-file=%t.err --check-prefix=LOST
// RUN: fuse-opt %t.mlir --fuse-boundary -o /dev/null 2>&1 | count 0

// Attributes of arguments and results, and hints on extents, go with the arguments to the functions that compute.
// LOST: warning: 'fuse.dim_hint' entry 'v0.0' is lost
// LOST-NOT: is lost
// CHECK-LABEL: func.func private @f.prepare(
// CHECK-SAME: tensor<?xf32> {fuse.param, my.weight}) -> tensor<?xf32> attributes {fuse.dim_hint = {arg0.0 = 8 : i64}}
// CHECK-LABEL: func.func private @f.body(
// CHECK-SAME: tensor<?xf32> {my.input}, %{{.*}}: tensor<?xf32> {fuse.param}) -> (tensor<?xf32> {my.result}, tensor<?xf32>) attributes {fuse.dim_hint = {arg0.0 = 16 : i64}}
// CHECK-LABEL: func.func @f(
// CHECK-NOT: fuse.dim_hint
func.func @f(%w: tensor<?xf32> {fuse.param, my.weight}, %x: tensor<?xf32> {my.input}) -> (tensor<?xf32> {my.result}, tensor<?xf32>) attributes {fuse.dim_hint = {"arg0.0" = 8, "arg1.0" = 16, "v0.0" = 4}} {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %w, %c0 : tensor<?xf32>
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%d) : tensor<?xf32>
  %g = tensor.empty(%n) : tensor<?xf32>
  %v = linalg.negf ins(%w : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %y = linalg.exp ins(%x : tensor<?xf32>) outs(%g : tensor<?xf32>) -> tensor<?xf32>
  return %y, %v : tensor<?xf32>, tensor<?xf32>
}
