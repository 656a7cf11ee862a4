// How tiles come to shared memory: by cp.async where an input is not computed, through registers otherwise. Values are right either way.
// Tiles are so small that ptxas may choose how many blocks an SM holds.
// RUN: fuse-opt %s --fuse-boundary=target=sm_80 --fuse-greedy --fuse-to-nvvm=chip=sm_80 | %python %tools/ptx_of.py | FileCheck %s --implicit-check-not=.minnctapersm
// RUN: fuse-opt %s --fuse-boundary=target=sm_75 --fuse-greedy --fuse-to-nvvm=chip=sm_75 | %python %tools/ptx_of.py | FileCheck %s --check-prefix=OLD
// RUN: fuse-run %s --target=emulator:sm_80 --compare --warmup=0 --repeat=1 | FileCheck %s --check-prefix=EQUAL
// RUN: fuse-run %s --target=emulator:sm_75 --compare --warmup=0 --repeat=1 | FileCheck %s --check-prefix=EQUAL

// OLD-NOT: cp.async
// OLD:     st.shared.v4.b32
// OLD-NOT: cp.async
// EQUAL-NOT:     DIFFERENT
// EQUAL-COUNT-8: : equal

#id = affine_map<(i, j) -> (i, j)>

func.func @main(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %image: tensor<1x3x9x7xf32>, %filter: tensor<8x3x3x3xf32>, %h: tensor<32x33xf16>, %g: tensor<33x31xf16>, %long: tensor<33x34xf32>, %wide: tensor<34x64xf32>, %last: tensor<1x6x5x8xf32>, %taps: tensor<3x3x8x16xf32>, %a1: tensor<64x64xf32>, %b1: tensor<64x64xf32>, %image1: tensor<1x3x9x7xf32>, %filter1: tensor<8x3x3x3xf32>, %heads: tensor<4x64x16xf32>, %b2: tensor<64x64xf32>)
    -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<1x8x9x7xf32>, tensor<1x8x9x7xf32>, tensor<32x31xf16>, tensor<33x64xf32>, tensor<1x6x5x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>

  // Both as they are: 16 bytes at a time, past the first cache.
  // CHECK-LABEL: .entry kernel_0_contraction
  // CHECK-NOT:     st.shared
  // CHECK:         cp.async.cg.shared.global {{.*}}, 16;
  // CHECK:         cp.async.commit_group;
  // CHECK-NOT:     st.shared
  // CHECK:         fma.rn.f32
  // CHECK-NOT:     st.shared
  // CHECK:         cp.async.wait_group 0;
  // CHECK-NEXT:    bar.sync
  // CHECK-NOT:     st.shared
  // CHECK:         cp.async.cg.shared.global {{.*}}, 16;
  // CHECK-NOT:     st.shared
  // CHECK:         cp.async.wait_group 0;
  %plain = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>

  // One is computed on the way.
  // CHECK-LABEL: .entry kernel_1_contraction
  // CHECK-DAG:     cp.async.cg.shared.global {{.*}}, 16;
  // CHECK-DAG:     st.shared.v4.b32
  %negated = linalg.negf ins(%a1 : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %computed = linalg.matmul ins(%negated, %b1 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>

  // Padding with zeros: the copy fills them in.
  // CHECK-LABEL: .entry kernel_2_contraction
  // CHECK-NOT:     st.shared
  // CHECK:         cp.async.ca.shared.global {{.*}}, 4, %r
  // CHECK-NOT:     st.shared
  %r = tensor.empty() : tensor<1x8x9x7xf32>
  %s = linalg.fill ins(%zero : f32) outs(%r : tensor<1x8x9x7xf32>) -> tensor<1x8x9x7xf32>
  %zeros = tensor.pad %image low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x3x9x7xf32> to tensor<1x3x11x9xf32>
  %padded = linalg.conv_2d_nchw_fchw ins(%zeros, %filter : tensor<1x3x11x9xf32>, tensor<8x3x3x3xf32>) outs(%s : tensor<1x8x9x7xf32>) -> tensor<1x8x9x7xf32>

  // With something else: through registers.
  // CHECK-LABEL: .entry kernel_3_contraction
  // CHECK:         st.shared.b32
  %ones = tensor.pad %image1 low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %one : f32
  } : tensor<1x3x9x7xf32> to tensor<1x3x11x9xf32>
  %other = linalg.conv_2d_nchw_fchw ins(%ones, %filter1 : tensor<1x3x11x9xf32>, tensor<8x3x3x3xf32>) outs(%s : tensor<1x8x9x7xf32>) -> tensor<1x8x9x7xf32>

  // Elements of 2 bytes that are not neighbours.
  // CHECK-LABEL: .entry kernel_4_contraction
  // CHECK-NOT:     cp.async
  // CHECK:         st.shared.b16
  // CHECK-NOT:     cp.async
  %halfZero = arith.constant 0.0 : f16
  %p = tensor.empty() : tensor<32x31xf16>
  %q = linalg.fill ins(%halfZero : f16) outs(%p : tensor<32x31xf16>) -> tensor<32x31xf16>
  %half = linalg.matmul ins(%h, %g : tensor<32x33xf16>, tensor<33x31xf16>) outs(%q : tensor<32x31xf16>) -> tensor<32x31xf16>

  // Beyond the last k, zeros; lines of 34 elements are 8 bytes at a time.
  // CHECK-LABEL: .entry kernel_5_contraction
  // CHECK:         cp.async.ca.shared.global {{.*}}, 8, %r
  %u = tensor.empty() : tensor<33x64xf32>
  %v = linalg.fill ins(%zero : f32) outs(%u : tensor<33x64xf32>) -> tensor<33x64xf32>
  %odd = linalg.matmul ins(%long, %wide : tensor<33x34xf32>, tensor<34x64xf32>) outs(%v : tensor<33x64xf32>) -> tensor<33x64xf32>

  // Channels last: the sum goes along them first, 16 bytes at a time, zeros where padded.
  // CHECK-LABEL: .entry kernel_6_contraction
  // CHECK-NOT:     cp.async.ca
  // CHECK:         cp.async.cg.shared.global {{.*}}, 16, %r
  // CHECK-NOT:     cp.async.ca
  %border = tensor.pad %last low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x6x5x8xf32> to tensor<1x8x7x8xf32>
  %w = tensor.empty() : tensor<1x6x5x16xf32>
  %y = linalg.fill ins(%zero : f32) outs(%w : tensor<1x6x5x16xf32>) -> tensor<1x6x5x16xf32>
  %channels = linalg.conv_2d_nhwc_hwcf ins(%border, %taps : tensor<1x8x7x8xf32>, tensor<3x3x8x16xf32>) outs(%y : tensor<1x6x5x16xf32>) -> tensor<1x6x5x16xf32>
  // The sum goes from head to head: not all of its elements are as far apart as the first ones.
  %he = tensor.empty() : tensor<64x4x16xf32>
  %turned = linalg.transpose ins(%heads : tensor<4x64x16xf32>) outs(%he : tensor<64x4x16xf32>) permutation = [1, 0, 2]
  %joined = tensor.collapse_shape %turned [[0], [1, 2]] : tensor<64x4x16xf32> into tensor<64x64xf32>
  %projected = linalg.matmul ins(%joined, %b2 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %plain, %projected, %computed, %padded, %other, %half, %odd, %channels : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<1x8x9x7xf32>, tensor<1x8x9x7xf32>, tensor<32x31xf16>, tensor<33x64xf32>, tensor<1x6x5x16xf32>
}
