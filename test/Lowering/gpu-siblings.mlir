// RUN: fuse-opt %s -split-input-file --fuse-gpu-siblings | FileCheck %s

// The blocks of one, then those of the other, each from 0 in its own code; shared memory is that of the one that takes more.
// CHECK:       #[[$GRID:.*]] = affine_map<()[s0, s1, s2] -> (s0 ceildiv 64 + s1 ceildiv 32, 1, 1)>
// CHECK-LABEL: func.func @launches
// CHECK:         %[[R:.*]]:2 = fuse.launch @kernels::@kernel_0_siblings ins(%arg0, %arg1 : tensor<?xf32>, tensor<?xf32>) outs(%arg2, %arg3 : tensor<?xf32>, tensor<4xf16>)
// CHECK-NEXT:    return %[[R]]#0, %[[R]]#1
// CHECK:         llvm.mlir.global internal @kernel_0_siblings_shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<256 x i8>
// CHECK-NOT:     @kernel_0_pointwise
// CHECK:         gpu.func @kernel_0_siblings(%{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: i64, %{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: !llvm.ptr) kernel
// CHECK-SAME:      fuse.grid = #[[$GRID]]
// CHECK-SAME:      known_block_size = array<i32: 64, 1, 1>
// CHECK:           %[[SHARED:.*]] = llvm.mlir.addressof @kernel_0_siblings_shared
// CHECK:           %[[BLOCK:.*]] = gpu.block_id x
// CHECK:           %[[FIRST:.*]] = arith.cmpi ult, %[[BLOCK]]
// CHECK:           scf.if %[[FIRST]] {
// CHECK:             llvm.getelementptr %[[SHARED]][0]
// CHECK:             llvm.store {{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<3>
// CHECK:             gpu.barrier
// CHECK-NOT:         gpu.block_id
// CHECK:           } else {
// CHECK:             arith.subi %[[BLOCK]]
// CHECK:             llvm.getelementptr %[[SHARED]][0]
// CHECK:             llvm.load {{.*}} {alignment = 2 : i64} : !llvm.ptr<3> -> f16
func.func @launches(%x: tensor<?xf32>, %w: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<4xf16>) -> (tensor<?xf32>, tensor<4xf16>) {
  %0 = fuse.launch @kernels::@kernel_0_pointwise ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) {fuse.together = 7 : i64} -> tensor<?xf32>
  %1 = fuse.launch @kernels::@kernel_1_pointwise ins(%x, %w : tensor<?xf32>, tensor<?xf32>) outs(%z : tensor<4xf16>) {fuse.together = 7 : i64} -> tensor<4xf16>
  return %0, %1 : tensor<?xf32>, tensor<4xf16>
}
gpu.module @kernels {
  gpu.func @kernel_0_pointwise(%x: !llvm.ptr {llvm.noalias}, %n: i64, %y: !llvm.ptr, %m: i64) workgroup(%s: memref<64xf32, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>, fuse.grid = affine_map<()[s0, s1] -> (s0 ceildiv 64, 1, 1)>, fuse.kernel = "pointwise"} {
    %b = gpu.block_id x
    %g = gpu.grid_dim x
    %f = arith.constant 1.0 : f32
    memref.store %f, %s[%b] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %l = memref.load %s[%g] : memref<64xf32, #gpu.address_space<workgroup>>
    llvm.store %l, %y : f32, !llvm.ptr
    gpu.return
  }
  gpu.func @kernel_1_pointwise(%x: !llvm.ptr {llvm.noalias}, %n: i64, %y: !llvm.ptr, %m: i64, %z: !llvm.ptr) workgroup(%s: memref<32xf16, #gpu.address_space<workgroup>>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>, fuse.grid = affine_map<()[s0, s1] -> (s1 ceildiv 32, 1, 1)>, fuse.kernel = "pointwise"} {
    %b = gpu.block_id x
    %l = memref.load %s[%b] : memref<32xf16, #gpu.address_space<workgroup>>
    llvm.store %l, %z : f16, !llvm.ptr
    gpu.return
  }
}

// -----

// Equal kernels share code: what differs is chosen by the block, where it is needed.
// CHECK:       #[[$SUM:.*]] = affine_map<() -> (10, 1, 1)>
// CHECK-LABEL: func.func @equal
// CHECK:         fuse.launch @kernels::@kernel_0_siblings ins(%arg0 : tensor<4xf32>) outs(%arg1, %arg2 : tensor<4xf32>, tensor<4xf32>)
// CHECK:         gpu.func @kernel_0_siblings(%{{.*}}: !llvm.ptr, %[[Y:.*]]: !llvm.ptr, %[[Z:.*]]: !llvm.ptr)
// CHECK-SAME:      fuse.grid = #[[$SUM]]
// CHECK:           gpu.barrier
// CHECK:           %[[FIRST:.*]] = arith.cmpi ult
// CHECK:           %[[TO:.*]] = arith.select %[[FIRST]], %[[Y]], %[[Z]]
// CHECK-NEXT:      llvm.store %{{.*}}, %[[TO]]
// CHECK-NOT:       scf.if
// CHECK:           gpu.return
func.func @equal(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = fuse.launch @kernels::@kernel_0_pointwise ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) {fuse.together = 0 : i64} -> tensor<4xf32>
  %1 = fuse.launch @kernels::@kernel_0_pointwise ins(%x : tensor<4xf32>) outs(%z : tensor<4xf32>) {fuse.together = 0 : i64} -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
gpu.module @kernels {
  gpu.func @kernel_0_pointwise(%x: !llvm.ptr, %y: !llvm.ptr) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>, fuse.grid = affine_map<() -> (5, 1, 1)>, fuse.kernel = "pointwise"} {
    %l = llvm.load %x : !llvm.ptr -> f32
    gpu.barrier
    llvm.store %l, %y : f32, !llvm.ptr
    gpu.return
  }
}

// -----

// Blocks of different threads, a result that is read in between and one that another reads the place of are no launch; the kernels say
// why.
// CHECK-LABEL: func.func @apart
// CHECK:         fuse.launch @kernels::@a
// CHECK-NOT:       fuse.together
// CHECK:         fuse.launch @kernels::@b
// CHECK:         fuse.launch @kernels::@c
// CHECK:         fuse.launch @kernels::@d
// CHECK:         gpu.func @a{{.*}}fuse.apart = "blocks of 64 threads beside blocks of 32"
// CHECK:         gpu.func @b{{.*}}fuse.apart = "blocks of 64 threads beside blocks of 32"
// CHECK:         gpu.func @c{{.*}}fuse.apart = "one sibling's result is read before another one runs"
// CHECK:         gpu.func @e{{.*}}fuse.apart = "one sibling reads what another one overwrites"
func.func @apart(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = fuse.launch @kernels::@a ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) {fuse.together = 0 : i64} -> tensor<4xf32>
  %1 = fuse.launch @kernels::@b ins(%x : tensor<4xf32>) outs(%z : tensor<4xf32>) {fuse.together = 0 : i64} -> tensor<4xf32>
  %2 = fuse.launch @kernels::@c ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) {fuse.together = 1 : i64} -> tensor<4xf32>
  %3 = fuse.launch @kernels::@d ins(%2 : tensor<4xf32>) outs(%z : tensor<4xf32>) {fuse.together = 1 : i64} -> tensor<4xf32>
  %4 = fuse.launch @kernels::@e ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) {fuse.together = 2 : i64} -> tensor<4xf32>
  %5 = fuse.launch @kernels::@e ins(%y : tensor<4xf32>) outs(%z : tensor<4xf32>) {fuse.together = 2 : i64} -> tensor<4xf32>
  return %0, %1, %3, %4, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
gpu.module @kernels {
  gpu.func @a(%x: !llvm.ptr, %y: !llvm.ptr) kernel attributes {known_block_size = array<i32: 32, 1, 1>, fuse.grid = affine_map<() -> (5, 1, 1)>} {
    gpu.return
  }
  gpu.func @b(%x: !llvm.ptr, %y: !llvm.ptr) kernel attributes {known_block_size = array<i32: 64, 1, 1>, fuse.grid = affine_map<() -> (5, 1, 1)>} {
    gpu.return
  }
  gpu.func @c(%x: !llvm.ptr, %y: !llvm.ptr) kernel attributes {known_block_size = array<i32: 64, 1, 1>, fuse.grid = affine_map<() -> (5, 1, 1)>} {
    gpu.return
  }
  gpu.func @e(%x: !llvm.ptr, %y: !llvm.ptr) kernel attributes {known_block_size = array<i32: 64, 1, 1>, fuse.grid = affine_map<() -> (5, 1, 1)>} {
    gpu.return
  }
  gpu.func @d(%x: !llvm.ptr, %y: !llvm.ptr) kernel attributes {known_block_size = array<i32: 64, 1, 1>, fuse.grid = affine_map<() -> (5, 1, 1)>} {
    gpu.return
  }
}
