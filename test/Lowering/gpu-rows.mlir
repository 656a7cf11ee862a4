// Structure of kernels of which teams of threads take a row each.
// RUN: fuse-opt %s --pass-pipeline='builtin.module(fuse-greedy,fuse-wrap{slices},fuse-outline{launch},fuse-gpu-kernels,canonicalize,cse)' --split-input-file | FileCheck %s

// A warp for each row, which it keeps in registers: a read and a write of each
// element, and butterflies for the largest and for the sum. 8 rows a block.
// CHECK: affine_map<() -> (8, 1, 1)>
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-NOT:     scf.for
// CHECK-COUNT-2: llvm.load %{{.*}} -> vector<4xf32>
// CHECK-NOT:     llvm.load
// CHECK-COUNT-5: gpu.shuffle {{ *}}xor {{.*}} : i32
// CHECK:         math.exp
// CHECK-COUNT-5: gpu.shuffle {{ *}}xor {{.*}} : i32
// CHECK-NOT:     gpu.shuffle
// CHECK-COUNT-2: llvm.store %{{.*}} : vector<4xf32>
// CHECK-NOT:     llvm.store
// CHECK-NOT:     gpu.barrier
// CHECK:         gpu.return
func.func @softmax(%x: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %e = tensor.empty() : tensor<64x256xf32>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<64x256xf32>) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
  return %0 : tensor<64x256xf32>
}

// -----

// Rows of 1000 in lanes of 4 are 250 groups: the last of 8 rounds is
// predicated. 100 rows are no multiple of 8: whole teams are predicated.
// CHECK: affine_map<() -> (13, 1, 1)>
// CHECK-LABEL: gpu.func @kernel_0
// CHECK:         %[[ROW:.*]] = arith.cmpi {{.*}}, %c100 : index
// CHECK-COUNT-8: llvm.load %{{.*}} -> vector<4xf32>
// CHECK:         arith.select
// CHECK:         gpu.shuffle
// CHECK-COUNT-7: scf.if %[[ROW]] {
// CHECK:         scf.if %{{.*}} {
// CHECK:           llvm.store
// CHECK:         gpu.return
func.func @tail(%x: tensor<100x1000xf32>) -> tensor<100x1000xf32> {
  %e = tensor.empty() : tensor<100x1000xf32>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<100x1000xf32>) outs(%e : tensor<100x1000xf32>) -> tensor<100x1000xf32>
  return %0 : tensor<100x1000xf32>
}

// -----

// 33 elements: two rounds of single elements.
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-COUNT-2: llvm.load %{{.*}} -> f32
// CHECK-NOT:     llvm.load
// CHECK:         gpu.return
func.func @t33(%x: tensor<101x33xf32>) -> tensor<101x33xf32> {
  %e = tensor.empty() : tensor<101x33xf32>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<101x33xf32>) outs(%e : tensor<101x33xf32>) -> tensor<101x33xf32>
  return %0 : tensor<101x33xf32>
}

// -----

// 7 elements: one round, most lanes have none, and their values are the
// neutral ones.
// CHECK: affine_map<() -> (2, 1, 1)>
// CHECK-LABEL: gpu.func @kernel_0
// CHECK:         llvm.load %{{.*}} -> f32
// CHECK-NOT:     llvm.load
// CHECK:         arith.select
// CHECK:         gpu.shuffle
// CHECK:         scf.if
// CHECK-NEXT:      %{{.*}} = llvm.getelementptr
// CHECK:         gpu.return
func.func @t7(%x: tensor<13x7xf32>) -> tensor<13x7xf32> {
  %e = tensor.empty() : tensor<13x7xf32>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<13x7xf32>) outs(%e : tensor<13x7xf32>) -> tensor<13x7xf32>
  return %0 : tensor<13x7xf32>
}

// -----

// A row too long for registers streams through the block three times; warps
// meet in shared memory, one barrier for each reduction.
// CHECK-LABEL: gpu.func @kernel_0
// CHECK-SAME:    workgroup(%{{.*}} : memref<8xf32, {{.*}}>, %{{.*}} : memref<8xf32, {{.*}}>)
// CHECK:         scf.for
// CHECK:           llvm.load
// CHECK:         gpu.shuffle
// CHECK:         gpu.barrier
// CHECK-NOT:     gpu.barrier
// CHECK:         scf.for
// CHECK:           llvm.load
// CHECK:         gpu.barrier
// CHECK-NOT:     gpu.barrier
// CHECK:         scf.for
// CHECK:           llvm.load
// CHECK:           llvm.store
// CHECK-NOT:     scf.for
// CHECK:         gpu.return
func.func @long(%x: tensor<4x200000xf32>) -> tensor<4x200000xf32> {
  %e = tensor.empty() : tensor<4x200000xf32>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<4x200000xf32>) outs(%e : tensor<4x200000xf32>) -> tensor<4x200000xf32>
  return %0 : tensor<4x200000xf32>
}
