// RUN: fuse-opt %s --fuse-outline=launch --fuse-gpu-kernels | FileCheck %s

// A block holds what its 14 x 14 results of 9 channels read, 16 x 16 elements of each; a thread has a column of 7 and reads each
// element of the three columns that it needs once. The padding is a predicate of the loads.
// CHECK-LABEL: gpu.func @kernel_0_window
// CHECK-SAME:    workgroup(%[[HELD:.*]] : memref<2304xf32, #gpu.address_space<workgroup>>)
// CHECK-NOT:     fuse.plain
// CHECK-SAME:    known_block_size = array<i32: 256, 1, 1>
// CHECK-COUNT-9: memref.store {{.*}}, %[[HELD]]
// CHECK:         gpu.barrier
// CHECK-COUNT-27: memref.load %[[HELD]]
// CHECK-NOT:     memref.load
// CHECK:         gpu.return
func.func @depthwise(%x: tensor<1x96x28x28xf32>, %w: tensor<96x3x3xf32>) -> tensor<1x96x28x28xf32> {
  %y = fuse.kernel "window" tile(#fuse.tile<sizes = [16, 16], threads = 256>) (%x, %w) : (tensor<1x96x28x28xf32>, tensor<96x3x3xf32>) -> tensor<1x96x28x28xf32> {
  ^bb0(%a: tensor<1x96x28x28xf32>, %b: tensor<96x3x3xf32>):
    %z = arith.constant 0.0 : f32
    %p = tensor.pad %a low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %z : f32
    } : tensor<1x96x28x28xf32> to tensor<1x96x30x30xf32>
    %e = tensor.empty() : tensor<1x96x28x28xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x96x28x28xf32>) -> tensor<1x96x28x28xf32>
    %d = linalg.depthwise_conv_2d_nchw_chw ins(%p, %b : tensor<1x96x30x30xf32>, tensor<96x3x3xf32>) outs(%f : tensor<1x96x28x28xf32>) -> tensor<1x96x28x28xf32>
    fuse.yield %d : tensor<1x96x28x28xf32>
  }
  return %y : tensor<1x96x28x28xf32>
}

// Windows that share no element gain nothing: each thread reads for itself, and that is no worse schedule.
// CHECK-LABEL: gpu.func @kernel_1_window
// CHECK-NOT:     workgroup
// CHECK-NOT:     fuse.plain
// CHECK:         gpu.return
func.func @apart(%x: tensor<1x96x28x28xf32>, %w: tensor<2x2xf32>) -> tensor<1x96x14x14xf32> {
  %y = fuse.kernel "window" tile(#fuse.tile<sizes = [16, 16], threads = 256>) (%x, %w) : (tensor<1x96x28x28xf32>, tensor<2x2xf32>) -> tensor<1x96x14x14xf32> {
  ^bb0(%a: tensor<1x96x28x28xf32>, %b: tensor<2x2xf32>):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x96x14x14xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x96x14x14xf32>) -> tensor<1x96x14x14xf32>
    %d = linalg.pooling_nchw_max {strides = dense<2> : vector<2xi64>} ins(%a, %b : tensor<1x96x28x28xf32>, tensor<2x2xf32>) outs(%f : tensor<1x96x14x14xf32>) -> tensor<1x96x14x14xf32>
    fuse.yield %d : tensor<1x96x14x14xf32>
  }
  return %y : tensor<1x96x14x14xf32>
}

// A tile that is stated and does not fit is refused with numbers: 154 x 154 elements of f32 for one channel.
// CHECK-LABEL: gpu.func @kernel_2_window
// CHECK-SAME:    fuse.plain = "a tile of 150 x 150 results takes 94864 bytes of shared memory, 49152 are there"
func.func @large(%x: tensor<1x2x304x304xf32>, %w: tensor<5x5xf32>) -> tensor<1x2x300x300xf32> {
  %y = fuse.kernel "window" tile(#fuse.tile<sizes = [150, 150], threads = 256>) (%x, %w) : (tensor<1x2x304x304xf32>, tensor<5x5xf32>) -> tensor<1x2x300x300xf32> {
  ^bb0(%a: tensor<1x2x304x304xf32>, %b: tensor<5x5xf32>):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x2x300x300xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x2x300x300xf32>) -> tensor<1x2x300x300xf32>
    %d = linalg.pooling_nchw_max ins(%a, %b : tensor<1x2x304x304xf32>, tensor<5x5xf32>) outs(%f : tensor<1x2x300x300xf32>) -> tensor<1x2x300x300xf32>
    fuse.yield %d : tensor<1x2x300x300xf32>
  }
  return %y : tensor<1x2x300x300xf32>
}

// A prologue that is a result too has elements that no window's result leads to.
// CHECK-LABEL: gpu.func @kernel_3_window
// CHECK-NOT:     workgroup
// CHECK-SAME:    fuse.plain = "no code for its epilogue"
func.func @prologue(%x: tensor<1x2x30x30xf32>, %w: tensor<3x3xf32>) -> (tensor<1x2x30x30xf32>, tensor<1x2x28x28xf32>) {
  %y:2 = fuse.kernel "window" tile(#fuse.tile<sizes = [16, 16], threads = 256>) (%x, %w) : (tensor<1x2x30x30xf32>, tensor<3x3xf32>) -> (tensor<1x2x30x30xf32>, tensor<1x2x28x28xf32>) {
  ^bb0(%a: tensor<1x2x30x30xf32>, %b: tensor<3x3xf32>):
    %z = arith.constant 0.0 : f32
    %i = tensor.empty() : tensor<1x2x30x30xf32>
    %p = linalg.exp ins(%a : tensor<1x2x30x30xf32>) outs(%i : tensor<1x2x30x30xf32>) -> tensor<1x2x30x30xf32>
    %e = tensor.empty() : tensor<1x2x28x28xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x2x28x28xf32>) -> tensor<1x2x28x28xf32>
    %d = linalg.pooling_nchw_max ins(%p, %b : tensor<1x2x30x30xf32>, tensor<3x3xf32>) outs(%f : tensor<1x2x28x28xf32>) -> tensor<1x2x28x28xf32>
    fuse.yield %p, %d : tensor<1x2x30x30xf32>, tensor<1x2x28x28xf32>
  }
  return %y#0, %y#1 : tensor<1x2x30x30xf32>, tensor<1x2x28x28xf32>
}
