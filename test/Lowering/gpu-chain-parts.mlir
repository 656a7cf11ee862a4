// RUN: fuse-opt %s --fuse-split-kernels=chip=sm_80 | FileCheck %s
// RUN: fuse-opt %s --fuse-split-kernels=chip=sm_80 --fuse-outline=launch --fuse-gpu-kernels=chip=sm_80 | FileCheck %s --check-prefix=CODE
// RUN: fuse-opt %s --fuse-resources=chip=sm_80 -o /dev/null 2>&1 | FileCheck %s --check-prefix=TABLE
// RUN: fuse-run %s --entry=twice --target=emulator:sm_80 --compare --repeat=0 | FileCheck %s --check-prefix=TOOL
// RUN: not fuse-opt %s --fuse-split-kernels=chip=sm_81 2>&1 | FileCheck %s --check-prefix=CHIP

// CHIP: error: {{.*}}sm_81

// The tables say why a chain was cut; what the class predicts is what the code takes.
// TABLE: kernel_1_chain {{ *}}chain {{ *}}128 {{ *}}[[#]] {{ *}}{{[-0-9]+}} {{ *}}3072
// TABLE: contraction {{.*}} part of a chain: what is held on chip is read a second time
// TOOL: kernel_{{[0-9]+}}_contraction {{.*}} part of a chain: what is held on chip is read a second time
// TOOL: result 0: equal

#all = affine_map<(m, n) -> (m, n)>

// A chain stays whole where there is code for it: 16 x 32 hidden columns and twice 8 lines of 64 weights, each of 4 more.
// CHECK-LABEL: @whole
// CHECK: fuse.kernel "chain"
// CHECK-NOT: fuse.kernel
// CODE: gpu.func @kernel_0_chain{{.*}}fuse.dynamic_shared = 6400 : i64
// CODE-SAME: known_block_size = array<i32: 128, 1, 1>
func.func @whole(%x: tensor<50x24xf32>, %a: tensor<24x40xf32>, %w: tensor<40x64xf32>) -> tensor<50x64xf32> {
  %r = fuse.kernel "chain" tile(<sizes = [16, 64, 8], threads = 128>) (%x, %a, %w) : (tensor<50x24xf32>, tensor<24x40xf32>, tensor<40x64xf32>) -> tensor<50x64xf32> {
  ^bb0(%i: tensor<50x24xf32>, %j: tensor<24x40xf32>, %k: tensor<40x64xf32>):
    %z = arith.constant 0.0 : f32
    %h0 = tensor.empty() : tensor<50x40xf32>
    %h1 = linalg.fill ins(%z : f32) outs(%h0 : tensor<50x40xf32>) -> tensor<50x40xf32>
    %h = linalg.matmul ins(%i, %j : tensor<50x24xf32>, tensor<24x40xf32>) outs(%h1 : tensor<50x40xf32>) -> tensor<50x40xf32>
    %e = linalg.exp ins(%h : tensor<50x40xf32>) outs(%h0 : tensor<50x40xf32>) -> tensor<50x40xf32>
    %y0 = tensor.empty() : tensor<50x64xf32>
    %y1 = linalg.fill ins(%z : f32) outs(%y0 : tensor<50x64xf32>) -> tensor<50x64xf32>
    %y = linalg.matmul ins(%e, %k : tensor<50x40xf32>, tensor<40x64xf32>) outs(%y1 : tensor<50x64xf32>) -> tensor<50x64xf32>
    fuse.yield %y : tensor<50x64xf32>
  }
  return %r : tensor<50x64xf32>
}

// 20 channels of 16 pixels, and twice 8 lines of 28 weights.
// CHECK-LABEL: @depthwise
// CHECK: fuse.kernel "chain"
// CHECK-NOT: fuse.kernel
// CODE: gpu.func @kernel_1_chain{{.*}}fuse.dynamic_shared = 3072 : i64
func.func @depthwise(%x: tensor<1x20x10x10xf32>, %f: tensor<20x3x3xf32>, %w: tensor<24x20x1x1xf32>) -> tensor<1x24x8x8xf32> {
  %r = fuse.kernel "chain" tile(<sizes = [16, 24, 8], threads = 128>) (%x, %f, %w) : (tensor<1x20x10x10xf32>, tensor<20x3x3xf32>, tensor<24x20x1x1xf32>) -> tensor<1x24x8x8xf32> {
  ^bb0(%i: tensor<1x20x10x10xf32>, %j: tensor<20x3x3xf32>, %k: tensor<24x20x1x1xf32>):
    %z = arith.constant 0.0 : f32
    %d0 = tensor.empty() : tensor<1x20x8x8xf32>
    %d1 = linalg.fill ins(%z : f32) outs(%d0 : tensor<1x20x8x8xf32>) -> tensor<1x20x8x8xf32>
    %d = linalg.depthwise_conv_2d_nchw_chw ins(%i, %j : tensor<1x20x10x10xf32>, tensor<20x3x3xf32>) outs(%d1 : tensor<1x20x8x8xf32>) -> tensor<1x20x8x8xf32>
    %y0 = tensor.empty() : tensor<1x24x8x8xf32>
    %y1 = linalg.fill ins(%z : f32) outs(%y0 : tensor<1x24x8x8xf32>) -> tensor<1x24x8x8xf32>
    %y = linalg.conv_2d_nchw_fchw ins(%d, %k : tensor<1x20x8x8xf32>, tensor<24x20x1x1xf32>) outs(%y1 : tensor<1x24x8x8xf32>) -> tensor<1x24x8x8xf32>
    fuse.yield %y : tensor<1x24x8x8xf32>
  }
  return %r : tensor<1x24x8x8xf32>
}

// The hidden value is added to the result: it would have to be kept whole.
// CHECK-LABEL: @twice
// CHECK: fuse.kernel "contraction"{{.*}}fuse.split = "what is held on chip is read a second time"
// CHECK: fuse.kernel "contraction"{{.*}}fuse.split = "what is held on chip is read a second time"
// CODE: gpu.func @kernel_2_contraction{{.*}}fuse.split = "what is held on chip is read a second time"
func.func @twice(%x: tensor<48x24xf32>, %a: tensor<24x64xf32>, %w: tensor<64x64xf32>) -> tensor<48x64xf32> {
  %r = fuse.kernel "chain" tile(<sizes = [16, 64, 8], threads = 128>) (%x, %a, %w) : (tensor<48x24xf32>, tensor<24x64xf32>, tensor<64x64xf32>) -> tensor<48x64xf32> {
  ^bb0(%i: tensor<48x24xf32>, %j: tensor<24x64xf32>, %k: tensor<64x64xf32>):
    %z = arith.constant 0.0 : f32
    %h0 = tensor.empty() : tensor<48x64xf32>
    %h1 = linalg.fill ins(%z : f32) outs(%h0 : tensor<48x64xf32>) -> tensor<48x64xf32>
    %h = linalg.matmul ins(%i, %j : tensor<48x24xf32>, tensor<24x64xf32>) outs(%h1 : tensor<48x64xf32>) -> tensor<48x64xf32>
    %y = linalg.matmul ins(%h, %k : tensor<48x64xf32>, tensor<64x64xf32>) outs(%h1 : tensor<48x64xf32>) -> tensor<48x64xf32>
    %s = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]} ins(%y, %h : tensor<48x64xf32>, tensor<48x64xf32>) outs(%h0 : tensor<48x64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %t = arith.addf %p, %q : f32
      linalg.yield %t : f32
    } -> tensor<48x64xf32>
    fuse.yield %s : tensor<48x64xf32>
  }
  return %r : tensor<48x64xf32>
}

// All 4096 channels of 16 pixels do not fit on chip.
// CHECK-LABEL: @large
// CHECK: fuse.kernel "window"{{.*}}fuse.split = "263936 bytes of shared memory, a block has 166912"
// CHECK: fuse.kernel "contraction"{{.*}}fuse.split = "263936 bytes of shared memory, a block has 166912"
func.func @large(%x: tensor<1x4096x10x10xf32>, %f: tensor<4096x3x3xf32>, %w: tensor<24x4096x1x1xf32>) -> tensor<1x24x8x8xf32> {
  %r = fuse.kernel "chain" tile(<sizes = [16, 24, 8], threads = 128>) (%x, %f, %w) : (tensor<1x4096x10x10xf32>, tensor<4096x3x3xf32>, tensor<24x4096x1x1xf32>) -> tensor<1x24x8x8xf32> {
  ^bb0(%i: tensor<1x4096x10x10xf32>, %j: tensor<4096x3x3xf32>, %k: tensor<24x4096x1x1xf32>):
    %z = arith.constant 0.0 : f32
    %d0 = tensor.empty() : tensor<1x4096x8x8xf32>
    %d1 = linalg.fill ins(%z : f32) outs(%d0 : tensor<1x4096x8x8xf32>) -> tensor<1x4096x8x8xf32>
    %d = linalg.depthwise_conv_2d_nchw_chw ins(%i, %j : tensor<1x4096x10x10xf32>, tensor<4096x3x3xf32>) outs(%d1 : tensor<1x4096x8x8xf32>) -> tensor<1x4096x8x8xf32>
    %y0 = tensor.empty() : tensor<1x24x8x8xf32>
    %y1 = linalg.fill ins(%z : f32) outs(%y0 : tensor<1x24x8x8xf32>) -> tensor<1x24x8x8xf32>
    %y = linalg.conv_2d_nchw_fchw ins(%d, %k : tensor<1x4096x8x8xf32>, tensor<24x4096x1x1xf32>) outs(%y1 : tensor<1x24x8x8xf32>) -> tensor<1x24x8x8xf32>
    fuse.yield %y : tensor<1x24x8x8xf32>
  }
  return %r : tensor<1x24x8x8xf32>
}

// A tile of a thread with 512 sums.
// CHECK-LABEL: @sums
// CHECK: fuse.kernel "contraction"{{.*}}fuse.split = "more sums than a thread has registers for"
func.func @sums(%x: tensor<256x24xf32>, %a: tensor<24x40xf32>, %w: tensor<40x64xf32>) -> tensor<256x64xf32> {
  %r = fuse.kernel "chain" tile(<sizes = [256, 64, 8], threads = 32>) (%x, %a, %w) : (tensor<256x24xf32>, tensor<24x40xf32>, tensor<40x64xf32>) -> tensor<256x64xf32> {
  ^bb0(%i: tensor<256x24xf32>, %j: tensor<24x40xf32>, %k: tensor<40x64xf32>):
    %z = arith.constant 0.0 : f32
    %h0 = tensor.empty() : tensor<256x40xf32>
    %h1 = linalg.fill ins(%z : f32) outs(%h0 : tensor<256x40xf32>) -> tensor<256x40xf32>
    %h = linalg.matmul ins(%i, %j : tensor<256x24xf32>, tensor<24x40xf32>) outs(%h1 : tensor<256x40xf32>) -> tensor<256x40xf32>
    %y0 = tensor.empty() : tensor<256x64xf32>
    %y1 = linalg.fill ins(%z : f32) outs(%y0 : tensor<256x64xf32>) -> tensor<256x64xf32>
    %y = linalg.matmul ins(%h, %k : tensor<256x40xf32>, tensor<40x64xf32>) outs(%y1 : tensor<256x64xf32>) -> tensor<256x64xf32>
    fuse.yield %y : tensor<256x64xf32>
  }
  return %r : tensor<256x64xf32>
}
