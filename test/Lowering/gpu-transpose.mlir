// An input that is read across the result goes through a tile in shared memory, with lines of 33 elements; one that is not does not.
// RUN: fuse-opt %s --fuse-wrap --fuse-outline=launch --fuse-gpu-kernels | FileCheck %s
// RUN: fuse-run %s --entry=across --target=emulator --compare --warmup=0 --repeat=1 | FileCheck %s --check-prefix=VALUES

// CHECK-LABEL: gpu.func @kernel_0
// CHECK-SAME:    workgroup(%[[TILE:.*]] : memref<1056xf32, #gpu.address_space<workgroup>>)
// CHECK:         memref.store %{{.*}}, %[[TILE]]
// CHECK:         gpu.barrier
// CHECK:         memref.load %[[TILE]]
// CHECK:         llvm.store
// VALUES: result 0: equal
func.func @across(%a: tensor<3x100x72xf32>, %c: tensor<72x100xf32>) -> tensor<3x72x100xf32> {
  %e = tensor.empty() : tensor<3x72x100xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (b, j, i)>, affine_map<(b, i, j) -> (i, j)>, affine_map<(b, i, j) -> (b, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a, %c : tensor<3x100x72xf32>, tensor<72x100xf32>) outs(%e : tensor<3x72x100xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.subf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<3x72x100xf32>
  return %r : tensor<3x72x100xf32>
}

// A permutation that keeps the innermost dimension needs no tile.
// CHECK-LABEL: gpu.func @kernel_1
// CHECK-NOT:     workgroup
// CHECK:         vector<4xf32>
// CHECK:         gpu.return
func.func @within(%a: tensor<100x3x72xf32>) -> tensor<3x100x72xf32> {
  %e = tensor.empty() : tensor<3x100x72xf32>
  %r = linalg.transpose ins(%a : tensor<100x3x72xf32>) outs(%e : tensor<3x100x72xf32>) permutation = [1, 0, 2]
  return %r : tensor<3x100x72xf32>
}
