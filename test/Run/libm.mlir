// Functions that are calls of libm, in loops that are vectors, on the CPU; the emulator's are arithmetic.
// RUN: fuse-run %s --compare --repeat=0 | FileCheck %s
// RUN: fuse-run %s --target=emulator --compare --repeat=0 | FileCheck %s
// CHECK-COUNT-4: equal
// CHECK-NOT: DIFFERENT

#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<64xf32>, %y: tensor<64xf64>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf64>, tensor<64xf64>) {
  %e = tensor.empty() : tensor<64xf32>
  %f = tensor.empty() : tensor<64xf64>
  %0:4 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id], iterator_types = ["parallel"]} ins(%x, %y : tensor<64xf32>, tensor<64xf64>) outs(%e, %e, %f, %f : tensor<64xf32>, tensor<64xf32>, tensor<64xf64>, tensor<64xf64>) {
  ^bb0(%a: f32, %b: f64, %o0: f32, %o1: f32, %o2: f64, %o3: f64):
    %1 = math.asinh %a : f32
    %2 = math.cbrt %a : f32
    %3 = math.erf %b : f64
    %4 = math.sin %b : f64
    linalg.yield %1, %2, %3, %4 : f32, f32, f64, f64
  } -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf64>, tensor<64xf64>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<64xf32>, tensor<64xf32>, tensor<64xf64>, tensor<64xf64>
}
