// RUN: fuse-opt %s --fuse-conv-bn --remarks-filter=fuse-fold --remark-format=emitRemark -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=IR --input-file=%t
// RUN: fuse-opt %t --fuse-conv-bn -o %t.twice
// RUN: diff %t %t.twice
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=parameters %s
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=constants %s
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=gathered %s
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=scattered %s

// A transposed convolution is spelled as zeros inserted between the pixels, a filter with input and output channels swapped
// and its window reversed, and an ordinary convolution; or as one generic operation.

// CHECK: [Passed] conv-bn #0 {{.*}}Function=parameters {{.*}}Decision=folded{{.*}}Weights=parameter
// CHECK: [Failure] conv-bn #0 {{.*}}Function=wrong_axis {{.*}}Decision=kept{{.*}}Reason="shape: scale is not along the output channel"
// CHECK: [Passed] conv-bn #0 {{.*}}Function=constants {{.*}}Decision=folded{{.*}}Weights=constant
// CHECK: [Passed] conv-bn #0 {{.*}}Function=gathered {{.*}}Decision=folded
// CHECK: [Passed] conv-bn #0 {{.*}}Function=scattered {{.*}}Decision=folded
// CHECK: [Failure] conv-bn #0 {{.*}}Function=scattered_channels {{.*}}Decision=kept{{.*}}Reason="shape: scale is not along the output channel"
// CHECK-NOT: Decision=

#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d1)>
#w = affine_map<(d0, d1, d2, d3) -> (d3)>

// The reversed filter is scaled.
// IR-LABEL: @parameters(
// IR: %[[REVERSED:.*]] = linalg.generic
// IR: tensor.extract %arg1
// IR: tensor.insert_slice %arg0 into %{{.*}} [1, 2, 3, 3] [1, 1, 2, 2]
// IR: %[[SCALED:.*]] = linalg.generic {{.*}} ins(%[[REVERSED]],
// IR: %[[Y:.*]] = linalg.conv_2d_nchw_fchw {fuse.folded = "conv-bn"} ins(%{{.*}}, %[[SCALED]] :
// IR: return %[[Y]]
func.func @parameters(%x: tensor<1x2x3x3xf32>, %w: tensor<2x5x3x3xf32> {fuse.param}, %s: tensor<5xf32> {fuse.param}, %b: tensor<5xf32> {fuse.param}) -> tensor<1x5x5x5xf32> {
  %zero = arith.constant 0.0 : f32
  %c2 = arith.constant 2 : index
  %ew = tensor.empty() : tensor<5x2x3x3xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%ew : tensor<5x2x3x3xf32>) {
  ^bb0(%o: f32):
    %i0 = linalg.index 0 : index
    %i1 = linalg.index 1 : index
    %i2 = linalg.index 2 : index
    %i3 = linalg.index 3 : index
    %j2 = arith.subi %c2, %i2 : index
    %j3 = arith.subi %c2, %i3 : index
    %v = tensor.extract %w[%i1, %i0, %j2, %j3] : tensor<2x5x3x3xf32>
    linalg.yield %v : f32
  } -> tensor<5x2x3x3xf32>
  %ex = tensor.empty() : tensor<1x2x7x7xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%ex : tensor<1x2x7x7xf32>) -> tensor<1x2x7x7xf32>
  %spread = tensor.insert_slice %x into %zeros[0, 0, 1, 1] [1, 2, 3, 3] [1, 1, 2, 2] : tensor<1x2x3x3xf32> into tensor<1x2x7x7xf32>
  %e = tensor.empty() : tensor<1x5x5x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x5x5x5xf32>) -> tensor<1x5x5x5xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%spread, %r : tensor<1x2x7x7xf32>, tensor<5x2x3x3xf32>) outs(%f : tensor<1x5x5x5xf32>) -> tensor<1x5x5x5xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %s, %b : tensor<1x5x5x5xf32>, tensor<5xf32>, tensor<5xf32>) outs(%e : tensor<1x5x5x5xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<1x5x5x5xf32>
  return %z : tensor<1x5x5x5xf32>
}

// Along the columns, of which there are as many.
func.func @wrong_axis(%x: tensor<1x2x3x3xf32>, %r: tensor<5x2x3x3xf32> {fuse.param}, %s: tensor<5xf32> {fuse.param}) -> tensor<1x5x5x5xf32> {
  %zero = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<1x2x7x7xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%ex : tensor<1x2x7x7xf32>) -> tensor<1x2x7x7xf32>
  %spread = tensor.insert_slice %x into %zeros[0, 0, 1, 1] [1, 2, 3, 3] [1, 1, 2, 2] : tensor<1x2x3x3xf32> into tensor<1x2x7x7xf32>
  %e = tensor.empty() : tensor<1x5x5x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x5x5x5xf32>) -> tensor<1x5x5x5xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%spread, %r : tensor<1x2x7x7xf32>, tensor<5x2x3x3xf32>) outs(%f : tensor<1x5x5x5xf32>) -> tensor<1x5x5x5xf32>
  %z = linalg.generic {indexing_maps = [#id, #w, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %s : tensor<1x5x5x5xf32>, tensor<5xf32>) outs(%e : tensor<1x5x5x5xf32>) {
  ^bb0(%i: f32, %si: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    linalg.yield %m : f32
  } -> tensor<1x5x5x5xf32>
  return %z : tensor<1x5x5x5xf32>
}

// IR-LABEL: @constants(
// IR-DAG: arith.constant dense<{{\[\[\[\[}}2.000000e+00, 4.000000e+00], [6.000000e+00, 8.000000e+00]]], {{\[\[\[}}-5.000000e-01, 2.500000e-01], [1.000000e+00, -1.500000e+00]]]]>
// IR-DAG: arith.constant dense<[1.000000e+00, 3.000000e+00]>
// IR-NOT: linalg.generic
// IR: linalg.conv_2d_nchw_fchw {fuse.folded = "conv-bn"}
// IR-NOT: linalg.generic
// IR: return
func.func @constants(%x: tensor<1x1x3x3xf32>) -> tensor<1x2x6x6xf32> {
  %zero = arith.constant 0.0 : f32
  %r = arith.constant dense<[[[[1.0, 2.0], [3.0, 4.0]]], [[[-1.0, 0.5], [2.0, -3.0]]]]> : tensor<2x1x2x2xf32>
  %s = arith.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %b = arith.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %ex = tensor.empty() : tensor<1x1x7x7xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%ex : tensor<1x1x7x7xf32>) -> tensor<1x1x7x7xf32>
  %spread = tensor.insert_slice %x into %zeros[0, 0, 1, 1] [1, 1, 3, 3] [1, 1, 2, 2] : tensor<1x1x3x3xf32> into tensor<1x1x7x7xf32>
  %e = tensor.empty() : tensor<1x2x6x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x6x6xf32>) -> tensor<1x2x6x6xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%spread, %r : tensor<1x1x7x7xf32>, tensor<2x1x2x2xf32>) outs(%f : tensor<1x2x6x6xf32>) -> tensor<1x2x6x6xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %s, %b : tensor<1x2x6x6xf32>, tensor<2xf32>, tensor<2xf32>) outs(%e : tensor<1x2x6x6xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<1x2x6x6xf32>
  return %z : tensor<1x2x6x6xf32>
}

// Stride 1: each output gathers from the pixels before it, `oh - kh`.
func.func @gathered(%x: tensor<1x2x7x7xf32>, %w: tensor<2x5x3x3xf32> {fuse.param}, %s: tensor<5xf32> {fuse.param}) -> tensor<1x5x5x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x5x5x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x5x5x5xf32>) -> tensor<1x5x5x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n, f, h, w, c, p, q) -> (n, c, h - p + 2, w - q + 2)>, affine_map<(n, f, h, w, c, p, q) -> (c, f, p, q)>, affine_map<(n, f, h, w, c, p, q) -> (n, f, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<1x2x7x7xf32>, tensor<2x5x3x3xf32>) outs(%f : tensor<1x5x5x5xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %p = arith.mulf %i, %j : f32
    %a = arith.addf %o, %p : f32
    linalg.yield %a : f32
  } -> tensor<1x5x5x5xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %s : tensor<1x5x5x5xf32>, tensor<5xf32>) outs(%e : tensor<1x5x5x5xf32>) {
  ^bb0(%i: f32, %si: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    linalg.yield %m : f32
  } -> tensor<1x5x5x5xf32>
  return %z : tensor<1x5x5x5xf32>
}

// Each pixel is scattered over a window of the output.
func.func @scattered(%x: tensor<1x2x3x3xf32>, %w: tensor<2x7x3x3xf32> {fuse.param}, %s: tensor<7xf32> {fuse.param}, %b: tensor<7xf32> {fuse.param}) -> tensor<1x7x7x7xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x7x7x7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x7x7x7xf32>) -> tensor<1x7x7x7xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n, f, h, w, c, p, q) -> (n, c, h, w)>, affine_map<(n, f, h, w, c, p, q) -> (c, f, p, q)>, affine_map<(n, f, h, w, c, p, q) -> (n, f, h * 2 + p, w * 2 + q)>], iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<1x2x3x3xf32>, tensor<2x7x3x3xf32>) outs(%f : tensor<1x7x7x7xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %p = arith.mulf %i, %j : f32
    %a = arith.addf %o, %p : f32
    linalg.yield %a : f32
  } -> tensor<1x7x7x7xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %s, %b : tensor<1x7x7x7xf32>, tensor<7xf32>, tensor<7xf32>) outs(%e : tensor<1x7x7x7xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<1x7x7x7xf32>
  return %z : tensor<1x7x7x7xf32>
}
func.func @scattered_channels(%x: tensor<1x2x3x3xf32>, %w: tensor<2x7x3x3xf32> {fuse.param}, %s: tensor<7xf32> {fuse.param}) -> tensor<1x7x7x7xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x7x7x7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x7x7x7xf32>) -> tensor<1x7x7x7xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n, f, h, w, c, p, q) -> (n, c, h, w)>, affine_map<(n, f, h, w, c, p, q) -> (c, f, p, q)>, affine_map<(n, f, h, w, c, p, q) -> (n, f, h * 2 + p, w * 2 + q)>], iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<1x2x3x3xf32>, tensor<2x7x3x3xf32>) outs(%f : tensor<1x7x7x7xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %p = arith.mulf %i, %j : f32
    %a = arith.addf %o, %p : f32
    linalg.yield %a : f32
  } -> tensor<1x7x7x7xf32>
  %z = linalg.generic {indexing_maps = [#id, #w, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%y, %s : tensor<1x7x7x7xf32>, tensor<7xf32>) outs(%e : tensor<1x7x7x7xf32>) {
  ^bb0(%i: f32, %si: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    linalg.yield %m : f32
  } -> tensor<1x7x7x7xf32>
  return %z : tensor<1x7x7x7xf32>
}
