// With numerics=relaxed, f64 between f32 values of a row that is held becomes f32; a long sum would need compensation and stays.
// RUN: fuse-opt %s --fuse-boundary=target=sm_80 --fuse-greedy --fuse-to-nvvm=numerics=relaxed | FileCheck %s --check-prefix=BOTH
// RUN: fuse-opt %s --pass-pipeline='builtin.module(fuse-greedy,fuse-wrap{slices},fuse-outline{launch},fuse-gpu-kernels{numerics=relaxed})' | FileCheck %s
// RUN: fuse-opt %s --pass-pipeline='builtin.module(fuse-greedy,fuse-wrap{slices},fuse-outline{launch},fuse-gpu-kernels)' | FileCheck %s --check-prefix=STRICT
// RUN: %python %tools/run_models.py --target=emulator:sm_80 --numerics=relaxed --models=layernorm | FileCheck %s --check-prefix=VALUE

// BOTH: gpu.binary
// VALUE: 1 of 1 models right

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK-LABEL: gpu.func @kernel_0_row
// CHECK-NOT:     f64
// CHECK:         gpu.shuffle
// CHECK-NOT:     f64
// CHECK:         gpu.return
// STRICT-LABEL: gpu.func @kernel_0_row
// STRICT:         arith.addf %{{.*}} : {{.*}}f64
// STRICT:         gpu.return
func.func @short(%x: tensor<64x256xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<64xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<64xf64>) -> tensor<64xf64>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x256xf32>) outs(%f : tensor<64xf64>) {
  ^bb0(%a: f32, %o: f64):
    %w = arith.extf %a : f32 to f64
    %r = arith.addf %o, %w : f64
    linalg.yield %r : f64
  } -> tensor<64xf64>
  %g = tensor.empty() : tensor<64xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%s : tensor<64xf64>) outs(%g : tensor<64xf32>) {
  ^bb0(%a: f64, %o: f32):
    %r = arith.truncf %a : f64 to f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  return %t : tensor<64xf32>
}

// CHECK-LABEL: gpu.func @kernel_1_row
// CHECK:         arith.addf %{{.*}} : {{.*}}f64
// CHECK:         gpu.return
func.func @long(%x: tensor<64x1000000xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<64xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<64xf64>) -> tensor<64xf64>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x1000000xf32>) outs(%f : tensor<64xf64>) {
  ^bb0(%a: f32, %o: f64):
    %w = arith.extf %a : f32 to f64
    %r = arith.addf %o, %w : f64
    linalg.yield %r : f64
  } -> tensor<64xf64>
  %g = tensor.empty() : tensor<64xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%s : tensor<64xf64>) outs(%g : tensor<64xf32>) {
  ^bb0(%a: f64, %o: f32):
    %r = arith.truncf %a : f64 to f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  return %t : tensor<64xf32>
}
