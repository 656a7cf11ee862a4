// relaxed: an f64 sum between f32 values becomes a compensated f32 sum. strict, f64 results and sums along strides stay.
// RUN: fuse-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(fuse-cpu-numerics{numerics=relaxed}))' | FileCheck %s
// RUN: fuse-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(fuse-cpu-numerics))' | FileCheck %s --check-prefix=STRICT
// RUN: not fuse-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(fuse-cpu-numerics{numerics=fast}))' 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: fuse-run %S/Inputs/mean.mlir --compare --repeat=0 --numerics=relaxed | FileCheck %s --check-prefix=SAME
// RUN: fuse-run %S/Inputs/mean.mlir --compare --repeat=0 --numerics=relaxed --threads=2 | FileCheck %s --check-prefix=SAME
// BAD: unknown numerics 'fast', known are strict, relaxed
// STRICT-COUNT-3: arith.addf {{.*}} : f64
// SAME: result 0: equal

#id = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: @island
// CHECK-NOT: f64
// CHECK: linalg.generic {{.*}} attrs = {fuse.compensated}
// CHECK-NOT: f64
func.func @island(%x: tensor<5x37xf32>) -> tensor<5xf32> attributes {fuse.kernel = "row"} {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<5xf64>
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<5xf64>) -> tensor<5xf64>
  %s = linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<5x37xf32>) outs(%z : tensor<5xf64>) {
  ^bb0(%in: f32, %out: f64):
    %0 = arith.extf %in : f32 to f64
    %1 = arith.addf %0, %out : f64
    linalg.yield %1 : f64
  } -> tensor<5xf64>
  %f = tensor.empty() : tensor<5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%s : tensor<5xf64>) outs(%f : tensor<5xf32>) {
  ^bb0(%in: f64, %out: f32):
    %0 = arith.truncf %in : f64 to f32
    linalg.yield %0 : f32
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>

// The sum leaves the kernel in f64.
// CHECK-LABEL: @leaves
// CHECK: arith.addf {{.*}} : f64
func.func @leaves(%x: tensor<5x37xf32>) -> tensor<5xf64> attributes {fuse.kernel = "row"} {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<5xf64>
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<5xf64>) -> tensor<5xf64>
  %s = linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<5x37xf32>) outs(%z : tensor<5xf64>) {
  ^bb0(%in: f32, %out: f64):
    %0 = arith.extf %in : f32 to f64
    %1 = arith.addf %0, %out : f64
    linalg.yield %1 : f64
  } -> tensor<5xf64>
  return %s : tensor<5xf64>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// The sum is along the first dimension: nothing would compensate it.
// CHECK-LABEL: @along_strides
// CHECK: arith.addf {{.*}} : f64
func.func @along_strides(%x: tensor<5x37xf32>) -> tensor<37xf32> attributes {fuse.kernel = "row"} {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<37xf64>
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<37xf64>) -> tensor<37xf64>
  %s = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<5x37xf32>) outs(%z : tensor<37xf64>) {
  ^bb0(%in: f32, %out: f64):
    %0 = arith.extf %in : f32 to f64
    %1 = arith.addf %0, %out : f64
    linalg.yield %1 : f64
  } -> tensor<37xf64>
  %f = tensor.empty() : tensor<37xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%s : tensor<37xf64>) outs(%f : tensor<37xf32>) {
  ^bb0(%in: f64, %out: f32):
    %0 = arith.truncf %in : f64 to f32
    linalg.yield %0 : f32
  } -> tensor<37xf32>
  return %r : tensor<37xf32>
}
