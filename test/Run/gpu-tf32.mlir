// With allow-tf32 products of f32 are made by tensor cores, of factors with 10 bits of mantissa: values are f16's rtol apart, and
// more than f32's. Without it, and on a chip that has no such instruction, nothing changes.
// RUN: fuse-opt %s --fuse-to-nvvm="chip=sm_80 allow-tf32" | %python %tools/ptx_of.py | FileCheck %s
// RUN: fuse-opt %s --fuse-to-nvvm=chip=sm_80 | %python %tools/ptx_of.py | FileCheck %s --check-prefix=OFF
// RUN: fuse-opt %s --fuse-to-nvvm=chip=sm_75 > %t.off && fuse-opt %s --fuse-to-nvvm="chip=sm_75 allow-tf32" > %t.old && cmp %t.off %t.old
// RUN: fuse-run %s --target=emulator:sm_80 --allow-tf32 --compare --warmup=0 --repeat=1 --save-outputs=%t.tf32 | FileCheck %s --check-prefix=EQUAL
// RUN: fuse-run %s --target=emulator:sm_80 --compare --warmup=0 --repeat=1 --save-outputs=%t.f32 | FileCheck %s --check-prefix=EQUAL
// RUN: %python -c "import sys, numpy as np; pairs = [[np.load(f'%t.{kind}/result{i}.npy') for kind in ('tf32', 'f32')] for i in range(5)]; errors = [abs(a - b).max() / abs(b).max() for a, b in pairs]; sys.exit(0 if all(2**-16 < e < 2**-10 for e in errors[:4]) and errors[4] == 0 else 1)"

// OFF-NOT: tf32
// OFF:     fma.rn.f32
// OFF-NOT: tf32
// EQUAL-NOT:     DIFFERENT
// EQUAL-COUNT-5: : equal

func.func @main(%a: tensor<96x40xf32>, %b: tensor<40x64xf32>, %t: tensor<64x40xf32>, %image: tensor<1x5x9x7xf32>, %filter: tensor<32x5x3x3xf32>)
    -> (tensor<96x64xf32>, tensor<96x64xf32>, tensor<96x64xf32>, tensor<1x32x9x7xf32>, tensor<64x64xf32>) {
  // Rows of the second input are along the result: its elements are loaded one by one.
  // CHECK-LABEL: .entry kernel_0_contraction
  // CHECK:         cp.async.cg.shared.global {{.*}}, 16
  // CHECK:         cp.async.wait_group 1;
  // CHECK:         ldmatrix.sync.aligned.m8n8.x4.shared.b16
  // CHECK:         ld.shared.b32
  // CHECK:         cvt.rna.tf32.f32
  // CHECK:         mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
  %0 = fuse.kernel "contraction" tile(<sizes = [64, 64, 8], threads = 64>) (%a, %b) : (tensor<96x40xf32>, tensor<40x64xf32>) -> tensor<96x64xf32> {
  ^bb0(%x: tensor<96x40xf32>, %y: tensor<40x64xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<96x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x64xf32>) -> tensor<96x64xf32>
    %m = linalg.matmul ins(%x, %y : tensor<96x40xf32>, tensor<40x64xf32>) outs(%f : tensor<96x64xf32>) -> tensor<96x64xf32>
    fuse.yield %m : tensor<96x64xf32>
  }
  // Both along k, and beyond the last k in a tile of 16.
  // CHECK-LABEL: .entry kernel_1_contraction
  // CHECK-NOT:     ld.shared
  // CHECK:         ldmatrix.sync.aligned.m8n8.x4.shared.b16
  // CHECK-NOT:     ld.shared
  // CHECK:         mma.sync.aligned.m16n8k8
  // CHECK-NOT:     ld.shared
  %1 = fuse.kernel "contraction" tile(<sizes = [64, 32, 16], threads = 64>) (%a, %t) : (tensor<96x40xf32>, tensor<64x40xf32>) -> tensor<96x64xf32> {
  ^bb0(%x: tensor<96x40xf32>, %y: tensor<64x40xf32>):
    %zero = arith.constant 0.0 : f32
    %w = tensor.empty() : tensor<40x64xf32>
    %turned = linalg.transpose ins(%y : tensor<64x40xf32>) outs(%w : tensor<40x64xf32>) permutation = [1, 0]
    %e = tensor.empty() : tensor<96x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x64xf32>) -> tensor<96x64xf32>
    %m = linalg.matmul ins(%x, %turned : tensor<96x40xf32>, tensor<40x64xf32>) outs(%f : tensor<96x64xf32>) -> tensor<96x64xf32>
    fuse.yield %m : tensor<96x64xf32>
  }
  // One input is computed on the way.
  // CHECK-LABEL: .entry kernel_2_contraction
  // CHECK:         st.shared
  // CHECK:         mma.sync.aligned.m16n8k8
  %2 = fuse.kernel "contraction" tile(<sizes = [32, 64, 32], threads = 64>) (%a, %b) : (tensor<96x40xf32>, tensor<40x64xf32>) -> tensor<96x64xf32> {
  ^bb0(%x: tensor<96x40xf32>, %y: tensor<40x64xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<96x64xf32>
    %r = tensor.empty() : tensor<96x40xf32>
    %n = linalg.negf ins(%x : tensor<96x40xf32>) outs(%r : tensor<96x40xf32>) -> tensor<96x40xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x64xf32>) -> tensor<96x64xf32>
    %m = linalg.matmul ins(%n, %y : tensor<96x40xf32>, tensor<40x64xf32>) outs(%f : tensor<96x64xf32>) -> tensor<96x64xf32>
    fuse.yield %m : tensor<96x64xf32>
  }
  // A padded convolution.
  // CHECK-LABEL: .entry kernel_3_contraction
  // CHECK:         cp.async.ca.shared.global {{.*}}, 4, %r
  // CHECK:         mma.sync.aligned.m16n8k8
  %3 = fuse.kernel "contraction" tile(<sizes = [32, 32, 8], threads = 32>) (%image, %filter) : (tensor<1x5x9x7xf32>, tensor<32x5x3x3xf32>) -> tensor<1x32x9x7xf32> {
  ^bb0(%x: tensor<1x5x9x7xf32>, %y: tensor<32x5x3x3xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x32x9x7xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32x9x7xf32>) -> tensor<1x32x9x7xf32>
    %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %zero : f32
    } : tensor<1x5x9x7xf32> to tensor<1x5x11x9xf32>
    %m = linalg.conv_2d_nchw_fchw ins(%p, %y : tensor<1x5x11x9xf32>, tensor<32x5x3x3xf32>) outs(%f : tensor<1x32x9x7xf32>) -> tensor<1x32x9x7xf32>
    fuse.yield %m : tensor<1x32x9x7xf32>
  }
  // Warps cannot share this tile: f32 as without the option.
  // CHECK-LABEL: .entry kernel_4_contraction
  // CHECK-NOT:     tf32
  // CHECK:         fma.rn.f32
  // CHECK-NOT:     tf32
  %4 = fuse.kernel "contraction" tile(<sizes = [16, 16, 8], threads = 64>) (%t, %b) : (tensor<64x40xf32>, tensor<40x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%x: tensor<64x40xf32>, %y: tensor<40x64xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %m = linalg.matmul ins(%x, %y : tensor<64x40xf32>, tensor<40x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
    fuse.yield %m : tensor<64x64xf32>
  }
  return %0, %1, %2, %3, %4 : tensor<96x64xf32>, tensor<96x64xf32>, tensor<96x64xf32>, tensor<1x32x9x7xf32>, tensor<64x64xf32>
}
