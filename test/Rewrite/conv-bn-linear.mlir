// RUN: fuse-opt %s --fuse-conv-bn --remarks-filter=fuse-fold --remark-format=emitRemark -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=IR --input-file=%t
// RUN: fuse-opt %s --fuse-conv-bn="weights=always" --remarks-filter=fuse-fold --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALWAYS
// RUN: fuse-opt %s --fuse-conv-bn --fuse-conv-bn --remarks-filter=fuse-fold --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=ONCE
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=exported %s
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=constants %s
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=weights_first %s
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn=weights=always --require-change --entry=run_time %s

// A linear layer with batch norm behind it: a contraction with one operand that is known before the call. A product of two
// values of the call (attention) is none.

// CHECK: [Passed] conv-bn #0 {{.*}}Function=exported {{.*}}Decision=folded{{.*}}Weights=parameter
// CHECK: [Passed] conv-bn #0 {{.*}}Function=constants {{.*}}Decision=folded{{.*}}Weights=constant
// CHECK: [Passed] conv-bn #0 {{.*}}Function=weights_first {{.*}}Decision=folded{{.*}}Weights=parameter
// CHECK: [Failure] conv-bn #0 {{.*}}Function=rows {{.*}}Decision=kept{{.*}}Reason="shape: scale is not along the output channel"
// CHECK-NOT: Decision=
// ALWAYS-COUNT-3: Decision=folded
// ALWAYS: Function=rows {{.*}}Decision=kept
// ALWAYS: [Passed] conv-bn #0 {{.*}}Function=run_time {{.*}}Decision=folded{{.*}}Weights=run-time
// ALWAYS-NOT: Decision=
// ONCE-COUNT-3: Decision=folded
// ONCE-NOT: Decision=folded

// As a torch export spells it: weights transposed, then the bias, then the batch norm with a square root of its variance.
// IR-LABEL: @exported
// IR: %[[WT:.*]] = linalg.transpose
// IR: %[[W:.*]] = linalg.generic {{.*}} ins(%[[WT]],
// IR: %[[B:.*]] = linalg.broadcast
// IR: %[[Y:.*]] = linalg.matmul {fuse.folded = "conv-bn"} ins(%{{.*}}, %[[W]] : {{.*}}) outs(%[[B]] :
// IR: return %[[Y]]
#id = affine_map<(d0, d1) -> (d0, d1)>
#feature = affine_map<(d0, d1) -> (d1)>
func.func @exported(%x: tensor<5x3xf32>, %w: tensor<4x3xf32> {fuse.param}, %bias: tensor<4xf32> {fuse.param}, %mean: tensor<4xf32> {fuse.param}, %var: tensor<4xf32> {fuse.param}, %g: tensor<4xf32> {fuse.param}, %b: tensor<4xf32> {fuse.param}) -> tensor<5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-05 : f32
  %ew = tensor.empty() : tensor<3x4xf32>
  %wt = linalg.transpose ins(%w : tensor<4x3xf32>) outs(%ew : tensor<3x4xf32>) permutation = [1, 0]
  %e = tensor.empty() : tensor<5x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x4xf32>) -> tensor<5x4xf32>
  %y = linalg.matmul ins(%x, %wt : tensor<5x3xf32>, tensor<3x4xf32>) outs(%f : tensor<5x4xf32>) -> tensor<5x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #feature, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %bias : tensor<5x4xf32>, tensor<4xf32>) outs(%e : tensor<5x4xf32>) {
  ^bb0(%i: f32, %c: f32, %o: f32):
    %a = arith.addf %i, %c : f32
    linalg.yield %a : f32
  } -> tensor<5x4xf32>
  %n = linalg.generic {indexing_maps = [#id, #feature, #feature, #feature, #feature, #id], iterator_types = ["parallel", "parallel"]} ins(%z, %g, %b, %mean, %var : tensor<5x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<5x4xf32>) {
  ^bb0(%i: f32, %gi: f32, %bi: f32, %mi: f32, %vi: f32, %o: f32):
    %pos = math.absf %vi : f32
    %v = arith.addf %pos, %eps : f32
    %r = math.rsqrt %v : f32
    %d = arith.subf %i, %mi : f32
    %m = arith.mulf %d, %r : f32
    %s = arith.mulf %m, %gi : f32
    %a = arith.addf %s, %bi : f32
    linalg.yield %a : f32
  } -> tensor<5x4xf32>
  return %n : tensor<5x4xf32>
}

// IR-LABEL: @constants
// IR-DAG: %[[W:.*]] = arith.constant dense<{{\[}}[2.000000e+00, 3.000000e+00], [8.000000e+00, -5.000000e-01]]>
// IR-DAG: %[[B:.*]] = arith.constant dense<[1.000000e+00, 7.000000e+00]>
// IR: linalg.broadcast ins(%[[B]]
// IR: linalg.matmul {fuse.folded = "conv-bn"} ins(%{{.*}}, %[[W]] :
func.func @constants(%x: tensor<5x2xf32>) -> tensor<5x2xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<[[1.0, 4.0], [6.0, -1.0]]> : tensor<2x2xf32>
  %s = arith.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %b = arith.constant dense<[1.0, 7.0]> : tensor<2xf32>
  %ew = tensor.empty() : tensor<2x2xf32>
  %wt = linalg.transpose ins(%w : tensor<2x2xf32>) outs(%ew : tensor<2x2xf32>) permutation = [1, 0]
  %e = tensor.empty() : tensor<5x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x2xf32>) -> tensor<5x2xf32>
  %y = linalg.matmul ins(%x, %wt : tensor<5x2xf32>, tensor<2x2xf32>) outs(%f : tensor<5x2xf32>) -> tensor<5x2xf32>
  %z = linalg.generic {indexing_maps = [#id, #feature, #feature, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %s, %b : tensor<5x2xf32>, tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<5x2xf32>) {
  ^bb0(%i: f32, %sc: f32, %sh: f32, %o: f32):
    %m = arith.mulf %i, %sc : f32
    %a = arith.addf %m, %sh : f32
    linalg.yield %a : f32
  } -> tensor<5x2xf32>
  return %z : tensor<5x2xf32>
}

// `w * x`: the weights are the left operand, and the features the rows.
// IR-LABEL: @weights_first
// IR: linalg.matmul {fuse.folded = "conv-bn"}
#row = affine_map<(d0, d1) -> (d0)>
func.func @weights_first(%x: tensor<3x5xf32>, %w: tensor<4x3xf32> {fuse.param}, %s: tensor<4xf32> {fuse.param}, %b: tensor<4xf32> {fuse.param}) -> tensor<4x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %y = linalg.matmul ins(%w, %x : tensor<4x3xf32>, tensor<3x5xf32>) outs(%f : tensor<4x5xf32>) -> tensor<4x5xf32>
  %z = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %s, %b : tensor<4x5xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4x5xf32>) {
  ^bb0(%i: f32, %sc: f32, %sh: f32, %o: f32):
    %m = arith.mulf %i, %sc : f32
    %a = arith.addf %m, %sh : f32
    linalg.yield %a : f32
  } -> tensor<4x5xf32>
  return %z : tensor<4x5xf32>
}

// A scale per row is none of the output features, even where the extents agree.
// IR-LABEL: @rows
// IR-NOT: fuse.folded
func.func @rows(%x: tensor<4x3xf32>, %w: tensor<3x4xf32> {fuse.param}, %s: tensor<4xf32> {fuse.param}, %b: tensor<4xf32> {fuse.param}) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4x3xf32>, tensor<3x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %s, %b : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%i: f32, %sc: f32, %sh: f32, %o: f32):
    %m = arith.mulf %i, %sc : f32
    %a = arith.addf %m, %sh : f32
    linalg.yield %a : f32
  } -> tensor<4x4xf32>
  return %z : tensor<4x4xf32>
}

// Weights that come with the call: only on request.
// IR-LABEL: @run_time
func.func @run_time(%x: tensor<5x3xf32>, %w: tensor<3x4xf32>, %s: tensor<4xf32>) -> tensor<5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x4xf32>) -> tensor<5x4xf32>
  %y = linalg.matmul ins(%x, %w : tensor<5x3xf32>, tensor<3x4xf32>) outs(%f : tensor<5x4xf32>) -> tensor<5x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #feature, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %s : tensor<5x4xf32>, tensor<4xf32>) outs(%e : tensor<5x4xf32>) {
  ^bb0(%i: f32, %sc: f32, %o: f32):
    %m = arith.mulf %i, %sc : f32
    linalg.yield %m : f32
  } -> tensor<5x4xf32>
  return %z : tensor<5x4xf32>
}

// Attention's scores: queries times keys, divided by the root of the head's extent, plus a mask per key.
// IR-LABEL: @attention
// IR-NOT: fuse.folded
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#key = affine_map<(d0, d1, d2) -> (d2)>
func.func @attention(%q: tensor<2x5x4xf32>, %k: tensor<2x4x5xf32>, %mask: tensor<5xf32>) -> tensor<2x5x5xf32> {
  %zero = arith.constant 0.0 : f32
  %root = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<2x5x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %y = linalg.batch_matmul ins(%q, %k : tensor<2x5x4xf32>, tensor<2x4x5xf32>) outs(%f : tensor<2x5x5xf32>) -> tensor<2x5x5xf32>
  %z = linalg.generic {indexing_maps = [#id3, #key, #id3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %mask : tensor<2x5x5xf32>, tensor<5xf32>) outs(%e : tensor<2x5x5xf32>) {
  ^bb0(%i: f32, %c: f32, %o: f32):
    %m = arith.divf %i, %root : f32
    %a = arith.addf %m, %c : f32
    linalg.yield %a : f32
  } -> tensor<2x5x5xf32>
  return %z : tensor<2x5x5xf32>
}
