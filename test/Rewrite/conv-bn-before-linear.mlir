// RUN: fuse-opt %s --fuse-conv-bn --remarks-filter=fuse-fold --remark-format=emitRemark -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=IR --input-file=%t
// RUN: fuse-opt %t --fuse-conv-bn -o %t.twice
// RUN: diff %t %t.twice
// RUN: fuse-opt %s --fuse-conv-bn=weights=always --remarks-filter=fuse-fold --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=per_feature %s
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=constants %s
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=weights_first %s
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=both %s

// A scale and shift per input feature moves into the linear layer behind it.

// CHECK: [Passed] bn-conv #0 {{.*}}Function=per_feature {{.*}}Decision=folded{{.*}}Weights=parameter
// CHECK: [Passed] bn-conv #0 {{.*}}Function=constants {{.*}}Decision=folded{{.*}}Weights=constant
// CHECK: [Passed] bn-conv #0 {{.*}}Function=weights_first {{.*}}Decision=folded
// CHECK: [Passed] conv-bn #0 {{.*}}Function=both {{.*}}Decision=folded
// CHECK: [Passed] bn-conv #0 {{.*}}Function=both {{.*}}Decision=folded
// CHECK-NOT: Decision=

#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
#row = affine_map<(d0, d1) -> (d0)>
#none = affine_map<(d0, d1) -> ()>

// IR-LABEL: @per_feature(
// IR: %[[SUM:.*]] = linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]} ins(%arg1, %arg3 :
// IR: %[[INIT:.*]] = linalg.broadcast ins(%[[SUM]] :
// IR: %[[SCALED:.*]] = linalg.generic {{.*}} ins(%arg1, %arg2 :
// IR: linalg.matmul {fuse.folded_input = "bn-conv"} ins(%arg0, %[[SCALED]] : {{.*}}) outs(%[[INIT]] :
func.func @per_feature(%x: tensor<5x3xf32>, %w: tensor<3x4xf32> {fuse.param}, %s: tensor<3xf32> {fuse.param}, %b: tensor<3xf32> {fuse.param}) -> tensor<5x4xf32> {
  %ex = tensor.empty() : tensor<5x3xf32>
  %n = linalg.generic {indexing_maps = [#id, #col, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s, %b : tensor<5x3xf32>, tensor<3xf32>, tensor<3xf32>) outs(%ex : tensor<5x3xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<5x3xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x4xf32>) -> tensor<5x4xf32>
  %y = linalg.matmul ins(%n, %w : tensor<5x3xf32>, tensor<3x4xf32>) outs(%f : tensor<5x4xf32>) -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}
// IR-LABEL: @constants(
// IR-DAG: arith.constant dense<{{\[\[}}2.000000e+00, 4.000000e+00], [1.500000e+00, 2.000000e+00]]> : tensor<2x2xf32>
// IR-DAG: arith.constant dense<[1.000000e+01, 1.400000e+01]> : tensor<2xf32>
// IR-NOT: linalg.generic
// IR: return
func.func @constants(%x: tensor<5x2xf32>) -> tensor<5x2xf32> {
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %s = arith.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %b = arith.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %ex = tensor.empty() : tensor<5x2xf32>
  %n = linalg.generic {indexing_maps = [#id, #col, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s, %b : tensor<5x2xf32>, tensor<2xf32>, tensor<2xf32>) outs(%ex : tensor<5x2xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<5x2xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x2xf32>) -> tensor<5x2xf32>
  %y = linalg.matmul ins(%n, %w : tensor<5x2xf32>, tensor<2x2xf32>) outs(%f : tensor<5x2xf32>) -> tensor<5x2xf32>
  return %y : tensor<5x2xf32>
}
func.func @weights_first(%x: tensor<3x5xf32>, %w: tensor<4x3xf32> {fuse.param}, %s: tensor<3xf32> {fuse.param}, %b: tensor<3xf32> {fuse.param}) -> tensor<4x5xf32> {
  %ex = tensor.empty() : tensor<3x5xf32>
  %n = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s, %b : tensor<3x5xf32>, tensor<3xf32>, tensor<3xf32>) outs(%ex : tensor<3x5xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<3x5xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %y = linalg.matmul ins(%w, %n : tensor<4x3xf32>, tensor<3x5xf32>) outs(%f : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}
func.func @both(%x: tensor<5x3xf32>, %w: tensor<3x4xf32> {fuse.param}, %s: tensor<3xf32> {fuse.param}, %b: tensor<3xf32> {fuse.param}, %s2: tensor<4xf32> {fuse.param}, %b2: tensor<4xf32> {fuse.param}) -> tensor<5x4xf32> {
  %ex = tensor.empty() : tensor<5x3xf32>
  %n = linalg.generic {indexing_maps = [#id, #col, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s, %b : tensor<5x3xf32>, tensor<3xf32>, tensor<3xf32>) outs(%ex : tensor<5x3xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<5x3xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x4xf32>) -> tensor<5x4xf32>
  %y = linalg.matmul ins(%n, %w : tensor<5x3xf32>, tensor<3x4xf32>) outs(%f : tensor<5x4xf32>) -> tensor<5x4xf32>
  %ez = tensor.empty() : tensor<5x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #col, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %s2, %b2 : tensor<5x4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%ez : tensor<5x4xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<5x4xf32>
  return %z : tensor<5x4xf32>
}

// Along the rows, by one number, or in front of a product of two values of the call: no chain.
// IR-LABEL: @per_row(
// IR-NOT: fuse.folded
func.func @per_row(%x: tensor<3x3xf32>, %w: tensor<3x4xf32> {fuse.param}, %s: tensor<3xf32> {fuse.param}, %b: tensor<3xf32> {fuse.param}) -> tensor<3x4xf32> {
  %ex = tensor.empty() : tensor<3x3xf32>
  %n = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s, %b : tensor<3x3xf32>, tensor<3xf32>, tensor<3xf32>) outs(%ex : tensor<3x3xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<3x3xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = linalg.matmul ins(%n, %w : tensor<3x3xf32>, tensor<3x4xf32>) outs(%f : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}
func.func @one_number(%x: tensor<5x3xf32>, %w: tensor<3x4xf32> {fuse.param}, %s: tensor<f32> {fuse.param}) -> tensor<5x4xf32> {
  %ex = tensor.empty() : tensor<5x3xf32>
  %n = linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<5x3xf32>, tensor<f32>) outs(%ex : tensor<5x3xf32>) {
  ^bb0(%i: f32, %si: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    linalg.yield %m : f32
  } -> tensor<5x3xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x4xf32>) -> tensor<5x4xf32>
  %y = linalg.matmul ins(%n, %w : tensor<5x3xf32>, tensor<3x4xf32>) outs(%f : tensor<5x4xf32>) -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}
func.func @two_values(%x: tensor<5x3xf32>, %w: tensor<3x4xf32>, %s: tensor<3xf32> {fuse.param}, %b: tensor<3xf32> {fuse.param}) -> tensor<5x4xf32> {
  %ex = tensor.empty() : tensor<5x3xf32>
  %n = linalg.generic {indexing_maps = [#id, #col, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s, %b : tensor<5x3xf32>, tensor<3xf32>, tensor<3xf32>) outs(%ex : tensor<5x3xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<5x3xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x4xf32>) -> tensor<5x4xf32>
  %y = linalg.matmul ins(%n, %w : tensor<5x3xf32>, tensor<3x4xf32>) outs(%f : tensor<5x4xf32>) -> tensor<5x4xf32>
  return %y : tensor<5x4xf32>
}
