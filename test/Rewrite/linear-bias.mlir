// RUN: fuse-opt %s --fuse-conv-bn --remarks-filter=fuse-fold --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t
// RUN: fuse-opt %t --fuse-conv-bn -o %t.twice
// RUN: diff %t %t.twice
// RUN: fuse-opt %s --fuse-conv-bn=weights=always --remarks-filter=fuse-fold --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALWAYS
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=bias %s
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=constant %s

// The bias of a linear layer becomes the accumulator's initial value where it is known before the call.

// REMARK: [Passed] conv-bias #0 {{.*}}Function=bias {{.*}}Weights=parameter
// REMARK: [Passed] conv-bias #0 {{.*}}Function=constant {{.*}}Weights=constant
// REMARK-NOT: Decision=
// ALWAYS: [Passed] conv-bias #0 {{.*}}Function=bias {{.*}}Decision=folded
// ALWAYS: [Passed] conv-bias #0 {{.*}}Function=constant {{.*}}Decision=folded
// ALWAYS: [Passed] conv-bias #0 {{.*}}Function=run_time {{.*}}Decision=folded
// ALWAYS-NOT: Decision=

#id = affine_map<(d0, d1) -> (d0, d1)>
#feature = affine_map<(d0, d1) -> (d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: @bias(
// CHECK: %[[INIT:.*]] = linalg.broadcast ins(%arg2
// CHECK: %[[Y:.*]] = linalg.matmul {fuse.folded = "bias"} ins(%arg0, %arg1 : {{.*}}) outs(%[[INIT]] :
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[Y]] :
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.maximumf
// CHECK: return %[[R]]
func.func @bias(%x: tensor<5x3xf32>, %w: tensor<3x5xf32> {fuse.param}, %b: tensor<5xf32> {fuse.param}) -> tensor<5x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x5xf32>) -> tensor<5x5xf32>
  %y = linalg.matmul ins(%x, %w : tensor<5x3xf32>, tensor<3x5xf32>) outs(%f : tensor<5x5xf32>) -> tensor<5x5xf32>
  %z = linalg.generic {indexing_maps = [#id, #feature, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %b : tensor<5x5xf32>, tensor<5xf32>) outs(%e : tensor<5x5xf32>) {
  ^bb0(%i: f32, %c: f32, %o: f32):
    %a = arith.addf %i, %c : f32
    %r = arith.maximumf %a, %zero : f32
    linalg.yield %r : f32
  } -> tensor<5x5xf32>
  return %z : tensor<5x5xf32>
}
// CHECK-LABEL: @constant(
// CHECK: linalg.matmul {fuse.folded = "bias"}
func.func @constant(%x: tensor<5x2xf32>) -> tensor<5x2xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = arith.constant dense<[1.0, -2.0]> : tensor<2xf32>
  %e = tensor.empty() : tensor<5x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x2xf32>) -> tensor<5x2xf32>
  %y = linalg.matmul ins(%x, %w : tensor<5x2xf32>, tensor<2x2xf32>) outs(%f : tensor<5x2xf32>) -> tensor<5x2xf32>
  %z = linalg.generic {indexing_maps = [#id, #feature, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %b : tensor<5x2xf32>, tensor<2xf32>) outs(%e : tensor<5x2xf32>) {
  ^bb0(%i: f32, %c: f32, %o: f32):
    %a = arith.addf %i, %c : f32
    linalg.yield %a : f32
  } -> tensor<5x2xf32>
  return %z : tensor<5x2xf32>
}

// One value for each row is none, nor is a mask behind a product of two values of the call. What comes with the call is an
// epilogue.
// CHECK-LABEL: @row(
// CHECK-NOT: fuse.folded
// CHECK-LABEL: @mask(
// CHECK-NOT: fuse.folded
// CHECK-LABEL: @run_time(
// CHECK-NOT: fuse.folded
func.func @row(%x: tensor<5x3xf32>, %w: tensor<3x5xf32> {fuse.param}, %b: tensor<5xf32> {fuse.param}) -> tensor<5x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x5xf32>) -> tensor<5x5xf32>
  %y = linalg.matmul ins(%x, %w : tensor<5x3xf32>, tensor<3x5xf32>) outs(%f : tensor<5x5xf32>) -> tensor<5x5xf32>
  %z = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %b : tensor<5x5xf32>, tensor<5xf32>) outs(%e : tensor<5x5xf32>) {
  ^bb0(%i: f32, %c: f32, %o: f32):
    %a = arith.addf %i, %c : f32
    linalg.yield %a : f32
  } -> tensor<5x5xf32>
  return %z : tensor<5x5xf32>
}
func.func @mask(%x: tensor<5x3xf32>, %w: tensor<3x5xf32>, %b: tensor<5xf32> {fuse.param}) -> tensor<5x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x5xf32>) -> tensor<5x5xf32>
  %y = linalg.matmul ins(%x, %w : tensor<5x3xf32>, tensor<3x5xf32>) outs(%f : tensor<5x5xf32>) -> tensor<5x5xf32>
  %z = linalg.generic {indexing_maps = [#id, #feature, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %b : tensor<5x5xf32>, tensor<5xf32>) outs(%e : tensor<5x5xf32>) {
  ^bb0(%i: f32, %c: f32, %o: f32):
    %a = arith.addf %i, %c : f32
    linalg.yield %a : f32
  } -> tensor<5x5xf32>
  return %z : tensor<5x5xf32>
}
func.func @run_time(%x: tensor<5x3xf32>, %w: tensor<3x5xf32> {fuse.param}, %b: tensor<5xf32>) -> tensor<5x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x5xf32>) -> tensor<5x5xf32>
  %y = linalg.matmul ins(%x, %w : tensor<5x3xf32>, tensor<3x5xf32>) outs(%f : tensor<5x5xf32>) -> tensor<5x5xf32>
  %z = linalg.generic {indexing_maps = [#id, #feature, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %b : tensor<5x5xf32>, tensor<5xf32>) outs(%e : tensor<5x5xf32>) {
  ^bb0(%i: f32, %c: f32, %o: f32):
    %a = arith.addf %i, %c : f32
    linalg.yield %a : f32
  } -> tensor<5x5xf32>
  return %z : tensor<5x5xf32>
}
