// RUN: fuse-opt %s --fuse-conv-bn --remarks-filter=fuse-fold --remark-format=emitRemark -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=IR --input-file=%t
// RUN: fuse-opt %t --fuse-conv-bn -o %t.twice
// RUN: diff %t %t.twice
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=filter_first %s
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=filter_first_in_front %s

// A generic convolution may have its filter first.

// CHECK: [Passed] conv-bn #0 {{.*}}Function=filter_first {{.*}}Decision=folded
// CHECK: [Failure] conv-bn #0 {{.*}}Function=image_first {{.*}}Decision=kept{{.*}}Reason="shape: scale is not along the output channel"
// CHECK: [Passed] bn-conv #0 {{.*}}Function=filter_first_in_front {{.*}}Decision=folded
// CHECK: [Failure] bn-conv #0 {{.*}}Function=summed_in_front {{.*}}Decision=kept{{.*}}Reason="shape: convolution form is not supported"
// CHECK-NOT: Decision=

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#c = affine_map<(d0, d1, d2) -> (d1)>
#w = affine_map<(d0, d1, d2) -> (d2)>
#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#c4 = affine_map<(d0, d1, d2, d3) -> (d1)>
#filter = affine_map<(n, f, w, c, p) -> (f, c, p)>
#image = affine_map<(n, f, w, c, p) -> (n, c, w + p)>
#result = affine_map<(n, f, w, c, p) -> (n, f, w)>

// IR-LABEL: @filter_first(
// IR: %[[SCALED:.*]] = linalg.generic {{.*}} ins(%arg1,
// IR: linalg.generic {{.*}} ins(%[[SCALED]], %arg0 : {{.*}}attrs = {fuse.folded = "conv-bn"}
func.func @filter_first(%x: tensor<2x3x6xf32>, %w: tensor<4x3x3xf32> {fuse.param}, %s: tensor<4xf32> {fuse.param}, %b: tensor<4xf32> {fuse.param}) -> tensor<2x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %y = linalg.generic {indexing_maps = [#filter, #image, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%w, %x : tensor<4x3x3xf32>, tensor<2x3x6xf32>) outs(%f : tensor<2x4x4xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %p = arith.mulf %i, %j : f32
    %a = arith.addf %o, %p : f32
    linalg.yield %a : f32
  } -> tensor<2x4x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %s, %b : tensor<2x4x4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<2x4x4xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<2x4x4xf32>
  return %z : tensor<2x4x4xf32>
}

// Along the pixels, of which there are as many.
func.func @image_first(%x: tensor<2x3x6xf32>, %w: tensor<4x3x3xf32> {fuse.param}, %s: tensor<4xf32> {fuse.param}) -> tensor<2x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %y = linalg.generic {indexing_maps = [#filter, #image, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%w, %x : tensor<4x3x3xf32>, tensor<2x3x6xf32>) outs(%f : tensor<2x4x4xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %p = arith.mulf %i, %j : f32
    %a = arith.addf %o, %p : f32
    linalg.yield %a : f32
  } -> tensor<2x4x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #w, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %s : tensor<2x4x4xf32>, tensor<4xf32>) outs(%e : tensor<2x4x4xf32>) {
  ^bb0(%i: f32, %si: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    linalg.yield %m : f32
  } -> tensor<2x4x4xf32>
  return %z : tensor<2x4x4xf32>
}

// IR-LABEL: @filter_first_in_front(
// IR: linalg.generic {{.*}} ins(%{{.*}}, %arg0 : tensor<4x3x3xf32>, tensor<2x3x6xf32>)
func.func @filter_first_in_front(%x: tensor<2x3x6xf32>, %w: tensor<4x3x3xf32> {fuse.param}, %s: tensor<3xf32> {fuse.param}, %b: tensor<3xf32> {fuse.param}) -> tensor<2x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<2x3x6xf32>
  %n = linalg.generic {indexing_maps = [#id, #c, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s, %b : tensor<2x3x6xf32>, tensor<3xf32>, tensor<3xf32>) outs(%ex : tensor<2x3x6xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<2x3x6xf32>
  %e = tensor.empty() : tensor<2x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %y = linalg.generic {indexing_maps = [#filter, #image, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%w, %n : tensor<4x3x3xf32>, tensor<2x3x6xf32>) outs(%f : tensor<2x4x4xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %p = arith.mulf %i, %j : f32
    %a = arith.addf %o, %p : f32
    linalg.yield %a : f32
  } -> tensor<2x4x4xf32>
  return %y : tensor<2x4x4xf32>
}

// The filter is read once for each row.
func.func @summed_in_front(%x: tensor<2x3x2x6xf32>, %w: tensor<4x3x3xf32> {fuse.param}, %s: tensor<3xf32> {fuse.param}, %b: tensor<3xf32> {fuse.param}) -> tensor<2x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<2x3x2x6xf32>
  %n = linalg.generic {indexing_maps = [#id4, #c4, #c4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %s, %b : tensor<2x3x2x6xf32>, tensor<3xf32>, tensor<3xf32>) outs(%ex : tensor<2x3x2x6xf32>) {
  ^bb0(%i: f32, %si: f32, %bi: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    %a = arith.addf %m, %bi : f32
    linalg.yield %a : f32
  } -> tensor<2x3x2x6xf32>
  %e = tensor.empty() : tensor<2x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n, f, w, c, h, p) -> (n, c, h, w + p)>, affine_map<(n, f, w, c, h, p) -> (f, c, p)>, affine_map<(n, f, w, c, h, p) -> (n, f, w)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%n, %w : tensor<2x3x2x6xf32>, tensor<4x3x3xf32>) outs(%f : tensor<2x4x4xf32>) {
  ^bb0(%i: f32, %j: f32, %o: f32):
    %p = arith.mulf %i, %j : f32
    %a = arith.addf %o, %p : f32
    linalg.yield %a : f32
  } -> tensor<2x4x4xf32>
  return %y : tensor<2x4x4xf32>
}
