// Every second element comes from two runs of neighbours; the vector is not the window of 3.
// RUN: fuse-opt %s --fuse-cpu-vectorize="vector-bytes=32 vector-registers=16" | FileCheck %s

// CHECK-LABEL: @pool
// CHECK-COUNT-3: scf.for
// CHECK: %[[FIRST:.*]] = vector.load %{{.*}} : memref<{{.*}}>, vector<8xf32>
// CHECK: %[[SECOND:.*]] = vector.load %{{.*}} : memref<{{.*}}>, vector<8xf32>
// CHECK: vector.shuffle %[[FIRST]], %[[SECOND]] [0, 2, 4, 6, 9, 11, 13, 15] : vector<8xf32>, vector<8xf32>
// CHECK-NOT: vector.from_elements
func.func @pool(%x: memref<1x1x33x33xf32>, %k: memref<3x3xf32>, %y: memref<1x1x16x16xf32>) {
  linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%x, %k : memref<1x1x33x33xf32>, memref<3x3xf32>) outs(%y : memref<1x1x16x16xf32>)
  return
}

// 3 of 8 lanes: 5 elements of the first run, none of the second.
// CHECK-LABEL: @rest
// CHECK: %[[MASK:.*]] = vector.constant_mask [5] : vector<8xi1>
// CHECK: %[[PART:.*]] = vector.maskedload %{{.*}}, %[[MASK]], %
// CHECK: vector.shuffle %[[PART]], %{{.*}} [0, 2, 4, 6, 9, 11, 13, 15]
func.func @rest(%x: memref<5xf32>, %y: memref<3xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (2 * i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<5xf32>) outs(%y : memref<3xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}
