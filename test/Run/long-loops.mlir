// Polynomials get loops of their own over a tile in the nearest cache; cheap operators go along with one.
// RUN: fuse-opt %s --fuse-boundary=target=cpu --fuse-greedy --fuse-outline --fuse-cpu-normalize | FileCheck %s
// RUN: fuse-opt %s --fuse-boundary=target=cpu --fuse-greedy --fuse-outline --fuse-cpu-normalize --fuse-cpu-destinations --fuse-cpu-tile | FileCheck %s --check-prefix=TILE

#id = affine_map<(i) -> (i)>

// CHECK-LABEL: func.func private @kernel_0_pointwise
// CHECK: linalg.generic
// CHECK: arith.addf
// CHECK-NEXT: math.exp
// CHECK-NEXT: linalg.yield
// CHECK: linalg.generic
// CHECK: arith.mulf
// CHECK-NEXT: math.tanh
// CHECK-NEXT: linalg.yield
// CHECK-NOT: linalg.generic

// One dimension is cut too: 3000 of 9000, for both.
// TILE-LABEL: func.func private @kernel_0_pointwise
// TILE: scf.forall (%{{.*}}) = (0) to (9000) step (3000)
// TILE: math.exp
// TILE: } -> tensor<3000xf32>
// TILE: math.tanh
// TILE: } -> tensor<3000xf32>
func.func @main(%x: tensor<9000xf32>) -> tensor<9000xf32> {
  %e = tensor.empty() : tensor<9000xf32>
  %0 = linalg.add ins(%x, %x : tensor<9000xf32>, tensor<9000xf32>) outs(%e : tensor<9000xf32>) -> tensor<9000xf32>
  %1 = linalg.exp ins(%0 : tensor<9000xf32>) outs(%e : tensor<9000xf32>) -> tensor<9000xf32>
  %2 = linalg.mul ins(%1, %x : tensor<9000xf32>, tensor<9000xf32>) outs(%e : tensor<9000xf32>) -> tensor<9000xf32>
  %3 = linalg.tanh ins(%2 : tensor<9000xf32>) outs(%e : tensor<9000xf32>) -> tensor<9000xf32>
  return %3 : tensor<9000xf32>
}
