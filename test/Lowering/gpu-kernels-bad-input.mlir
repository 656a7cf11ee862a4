// Element types without GPU code, and functions without one.
// RUN: fuse-opt %s --pass-pipeline='builtin.module(fuse-greedy,fuse-wrap{slices},fuse-outline{launch},fuse-gpu-kernels,gpu.module(fuse-gpu-math))' --split-input-file --verify-diagnostics

#id = affine_map<(i) -> (i)>

func.func @narrow(%x: tensor<16xf8E4M3FN>) -> tensor<16xf32> {
  %e = tensor.empty() : tensor<16xf32>
  // expected-error @+1 {{no GPU code for elements of type 'f8E4M3FN', expected f16, bf16, f32, f64, i1, i8, i16, i32, i64 or index}}
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xf8E4M3FN>) outs(%e : tensor<16xf32>) {
  ^bb0(%a: f8E4M3FN, %o: f32):
    %1 = arith.extf %a : f8E4M3FN to f32
    linalg.yield %1 : f32
  } -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

#id = affine_map<(i) -> (i)>

func.func @complex(%x: tensor<16xcomplex<f32>>) -> tensor<16xcomplex<f32>> {
  %e = tensor.empty() : tensor<16xcomplex<f32>>
  // expected-error @+1 {{no GPU code for elements of type 'complex<f32>'}}
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<16xcomplex<f32>>) outs(%e : tensor<16xcomplex<f32>>) {
  ^bb0(%a: complex<f32>, %o: complex<f32>):
    %1 = complex.add %a, %a : complex<f32>
    linalg.yield %1 : complex<f32>
  } -> tensor<16xcomplex<f32>>
  return %0 : tensor<16xcomplex<f32>>
}

// -----

gpu.module @kernels {
  func.func @wide(%x: f128) -> f128 {
    // expected-error @+1 {{no GPU code for 'math.exp' of 'f128'}}
    %0 = math.exp %x : f128
    return %0 : f128
  }
}
