// RUN: fuse-opt %s --fuse-conv-bn --remarks-filter=fuse-fold --remark-format=emitRemark -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=IR --input-file=%t
// RUN: fuse-opt %s --fuse-conv-bn=weights=always --remarks-filter=fuse-fold --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s
// RUN: fuse-opt %s --fuse-boundary --fuse-conv-bn --fuse-explain=json -o /dev/null 2>&1 | FileCheck %s --check-prefix=JSON
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=f16_two %s
// RUN: %python %tools/compare_models.py --fuse-opt=%fuse_bin/fuse-opt --passes=--fuse-conv-bn --require-change --entry=bf16_two %s

// A sum in 16 bits rounds with each term. From three terms on, a fold may leave the tolerance of the type; nobody can ask for it.

// CHECK: [Passed] conv-bn #0 {{.*}}Function=f16_two {{.*}}Decision=folded
// CHECK: [Failure] conv-bn #0 {{.*}}Function=f16_three {{.*}}Decision=kept{{.*}}Flip="compute in f32 or f64"{{.*}}Reason="numerics: sums in 16 bits round more than the tolerance"
// CHECK: [Failure] conv-bn #0 {{.*}}Function=f16_three_always {{.*}}Reason="numerics: sums in 16 bits round more than the tolerance"
// CHECK: [Failure] bn-conv #0 {{.*}}Function=f16_three_in_front {{.*}}Reason="numerics: sums in 16 bits round more than the tolerance"
// CHECK: [Failure] conv-bn #0 {{.*}}Function=f16_unknown {{.*}}Reason="numerics: sums in 16 bits round more than the tolerance"
// CHECK: [Passed] conv-bn #0 {{.*}}Function=bf16_two {{.*}}Decision=folded
// CHECK: [Failure] conv-bn #0 {{.*}}Function=bf16_three {{.*}}Reason="numerics: sums in 16 bits round more than the tolerance"
// CHECK: [Passed] conv-bn #0 {{.*}}Function=f32_many {{.*}}Decision=folded
// CHECK-NOT: Decision=
// IR-COUNT-3: fuse.folded
// IR-NOT: fuse.folded
// JSON: "bound": 0.00146484375,
// JSON-NEXT: "terms": 3,
// JSON-NEXT: "tolerance": 0.001

#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#c = affine_map<(d0, d1, d2) -> (d1)>
func.func @f16_two(%x: tensor<1x2x4xf16>) -> tensor<1x2x4xf16> {
  %zero = arith.constant 0.0 : f16
  %w = arith.constant dense<0.3> : tensor<2x2x1xf16>
  %s = arith.constant dense<0.7> : tensor<2xf16>
  %e = tensor.empty() : tensor<1x2x4xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<1x2x4xf16>) -> tensor<1x2x4xf16>
  %y = linalg.conv_1d_ncw_fcw ins(%x, %w : tensor<1x2x4xf16>, tensor<2x2x1xf16>) outs(%f : tensor<1x2x4xf16>) -> tensor<1x2x4xf16>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %s : tensor<1x2x4xf16>, tensor<2xf16>) outs(%e : tensor<1x2x4xf16>) {
  ^bb0(%i: f16, %si: f16, %o: f16):
    %m = arith.mulf %i, %si : f16
    linalg.yield %m : f16
  } -> tensor<1x2x4xf16>
  return %z : tensor<1x2x4xf16>
}
func.func @f16_three(%x: tensor<1x3x4xf16>) -> tensor<1x2x4xf16> {
  %zero = arith.constant 0.0 : f16
  %w = arith.constant dense<0.3> : tensor<2x3x1xf16>
  %s = arith.constant dense<0.7> : tensor<2xf16>
  %e = tensor.empty() : tensor<1x2x4xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<1x2x4xf16>) -> tensor<1x2x4xf16>
  %y = linalg.conv_1d_ncw_fcw ins(%x, %w : tensor<1x3x4xf16>, tensor<2x3x1xf16>) outs(%f : tensor<1x2x4xf16>) -> tensor<1x2x4xf16>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %s : tensor<1x2x4xf16>, tensor<2xf16>) outs(%e : tensor<1x2x4xf16>) {
  ^bb0(%i: f16, %si: f16, %o: f16):
    %m = arith.mulf %i, %si : f16
    linalg.yield %m : f16
  } -> tensor<1x2x4xf16>
  return %z : tensor<1x2x4xf16>
}
func.func @f16_three_always(%x: tensor<1x3x4xf16>) -> tensor<1x2x4xf16> {
  %zero = arith.constant 0.0 : f16
  %w = arith.constant dense<0.3> : tensor<2x3x1xf16>
  %s = arith.constant dense<0.7> : tensor<2xf16>
  %e = tensor.empty() : tensor<1x2x4xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<1x2x4xf16>) -> tensor<1x2x4xf16>
  %y = linalg.conv_1d_ncw_fcw {fuse.hint = "always"} ins(%x, %w : tensor<1x3x4xf16>, tensor<2x3x1xf16>) outs(%f : tensor<1x2x4xf16>) -> tensor<1x2x4xf16>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %s : tensor<1x2x4xf16>, tensor<2xf16>) outs(%e : tensor<1x2x4xf16>) {
  ^bb0(%i: f16, %si: f16, %o: f16):
    %m = arith.mulf %i, %si : f16
    linalg.yield %m : f16
  } -> tensor<1x2x4xf16>
  return %z : tensor<1x2x4xf16>
}
func.func @f16_three_in_front(%x: tensor<1x3x4xf16>) -> tensor<1x2x4xf16> {
  %zero = arith.constant 0.0 : f16
  %w = arith.constant dense<0.3> : tensor<2x3x1xf16>
  %s = arith.constant dense<0.7> : tensor<3xf16>
  %e = tensor.empty() : tensor<1x2x4xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<1x2x4xf16>) -> tensor<1x2x4xf16>
  %ex = tensor.empty() : tensor<1x3x4xf16>
  %n = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s : tensor<1x3x4xf16>, tensor<3xf16>) outs(%ex : tensor<1x3x4xf16>) {
  ^bb0(%i: f16, %si: f16, %o: f16):
    %m = arith.mulf %i, %si : f16
    linalg.yield %m : f16
  } -> tensor<1x3x4xf16>
  %y = linalg.conv_1d_ncw_fcw ins(%n, %w : tensor<1x3x4xf16>, tensor<2x3x1xf16>) outs(%f : tensor<1x2x4xf16>) -> tensor<1x2x4xf16>
  return %y : tensor<1x2x4xf16>
}
// The channels of the call are not known, nor are those of the weights: not even weights=always helps.
func.func @f16_unknown(%x: tensor<1x?x4xf16>, %w: tensor<2x?x1xf16> {fuse.param}) -> tensor<1x2x4xf16> {
  %zero = arith.constant 0.0 : f16
  %s = arith.constant dense<0.7> : tensor<2xf16>
  %e = tensor.empty() : tensor<1x2x4xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<1x2x4xf16>) -> tensor<1x2x4xf16>
  %y = linalg.conv_1d_ncw_fcw {fuse.hint = "always"} ins(%x, %w : tensor<1x?x4xf16>, tensor<2x?x1xf16>) outs(%f : tensor<1x2x4xf16>) -> tensor<1x2x4xf16>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %s : tensor<1x2x4xf16>, tensor<2xf16>) outs(%e : tensor<1x2x4xf16>) {
  ^bb0(%i: f16, %si: f16, %o: f16):
    %m = arith.mulf %i, %si : f16
    linalg.yield %m : f16
  } -> tensor<1x2x4xf16>
  return %z : tensor<1x2x4xf16>
}
func.func @bf16_two(%x: tensor<1x2x4xbf16>) -> tensor<1x2x4xbf16> {
  %zero = arith.constant 0.0 : bf16
  %w = arith.constant dense<0.3> : tensor<2x2x1xbf16>
  %s = arith.constant dense<0.7> : tensor<2xbf16>
  %e = tensor.empty() : tensor<1x2x4xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<1x2x4xbf16>) -> tensor<1x2x4xbf16>
  %y = linalg.conv_1d_ncw_fcw ins(%x, %w : tensor<1x2x4xbf16>, tensor<2x2x1xbf16>) outs(%f : tensor<1x2x4xbf16>) -> tensor<1x2x4xbf16>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %s : tensor<1x2x4xbf16>, tensor<2xbf16>) outs(%e : tensor<1x2x4xbf16>) {
  ^bb0(%i: bf16, %si: bf16, %o: bf16):
    %m = arith.mulf %i, %si : bf16
    linalg.yield %m : bf16
  } -> tensor<1x2x4xbf16>
  return %z : tensor<1x2x4xbf16>
}
func.func @bf16_three(%x: tensor<1x3x4xbf16>) -> tensor<1x2x4xbf16> {
  %zero = arith.constant 0.0 : bf16
  %w = arith.constant dense<0.3> : tensor<2x3x1xbf16>
  %s = arith.constant dense<0.7> : tensor<2xbf16>
  %e = tensor.empty() : tensor<1x2x4xbf16>
  %f = linalg.fill ins(%zero : bf16) outs(%e : tensor<1x2x4xbf16>) -> tensor<1x2x4xbf16>
  %y = linalg.conv_1d_ncw_fcw ins(%x, %w : tensor<1x3x4xbf16>, tensor<2x3x1xbf16>) outs(%f : tensor<1x2x4xbf16>) -> tensor<1x2x4xbf16>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %s : tensor<1x2x4xbf16>, tensor<2xbf16>) outs(%e : tensor<1x2x4xbf16>) {
  ^bb0(%i: bf16, %si: bf16, %o: bf16):
    %m = arith.mulf %i, %si : bf16
    linalg.yield %m : bf16
  } -> tensor<1x2x4xbf16>
  return %z : tensor<1x2x4xbf16>
}
func.func @f32_many(%x: tensor<1x1024x4xf32>) -> tensor<1x2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense<0.3> : tensor<2x1024x1xf32>
  %s = arith.constant dense<0.7> : tensor<2xf32>
  %e = tensor.empty() : tensor<1x2x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %y = linalg.conv_1d_ncw_fcw ins(%x, %w : tensor<1x1024x4xf32>, tensor<2x1024x1xf32>) outs(%f : tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %z = linalg.generic {indexing_maps = [#id, #c, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %s : tensor<1x2x4xf32>, tensor<2xf32>) outs(%e : tensor<1x2x4xf32>) {
  ^bb0(%i: f32, %si: f32, %o: f32):
    %m = arith.mulf %i, %si : f32
    linalg.yield %m : f32
  } -> tensor<1x2x4xf32>
  return %z : tensor<1x2x4xf32>
}
