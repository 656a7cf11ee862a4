// RUN: fuse-opt %s -split-input-file --fuse-boundary --fuse-plan=objective=bytes --fuse-verify-plan --fuse-explain -o /dev/null 2>&1 | FileCheck %s
// RUN: fuse-opt %s -split-input-file --fuse-boundary --fuse-greedy=objective=bytes --fuse-split-kernels | FileCheck %s --check-prefix=SPLIT

// A layer of rank 16: a block keeps some rows of the middle and adds them to all columns of the result. Split again, the activation
// goes with the first matmul.
// CHECK: function @adapter
// CHECK: kernel 0 chain (planned): matmul, exp, matmul
// SPLIT-LABEL: @adapter
// SPLIT: %[[E:.*]] = fuse.kernel "contraction"{{.*}}(%arg0, %arg1)
// SPLIT: linalg.matmul
// SPLIT: linalg.exp
// SPLIT: fuse.kernel "contraction"{{.*}}(%[[E]], %arg2)
func.func @adapter(%x: tensor<4096x1024xf32>, %a: tensor<1024x16xf32>, %b: tensor<16x512xf32>) -> tensor<4096x512xf32> {
  %z = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<4096x16xf32>
  %e1 = linalg.fill ins(%z : f32) outs(%e0 : tensor<4096x16xf32>) -> tensor<4096x16xf32>
  %e = linalg.matmul ins(%x, %a : tensor<4096x1024xf32>, tensor<1024x16xf32>) outs(%e1 : tensor<4096x16xf32>) -> tensor<4096x16xf32>
  %r = linalg.exp ins(%e : tensor<4096x16xf32>) outs(%e0 : tensor<4096x16xf32>) -> tensor<4096x16xf32>
  %y0 = tensor.empty() : tensor<4096x512xf32>
  %y1 = linalg.fill ins(%z : f32) outs(%y0 : tensor<4096x512xf32>) -> tensor<4096x512xf32>
  %y = linalg.matmul ins(%r, %b : tensor<4096x16xf32>, tensor<16x512xf32>) outs(%y1 : tensor<4096x512xf32>) -> tensor<4096x512xf32>
  return %y : tensor<4096x512xf32>
}

// -----

// The middle is returned too.
// CHECK: function @read
// CHECK: keep {{ *}}profile: prologue has readers outside the kernel
// CHECK-NOT: chain
func.func @read(%x: tensor<4096x1024xf32>, %a: tensor<1024x16xf32>, %b: tensor<16x1024xf32>) -> (tensor<4096x1024xf32>, tensor<4096x16xf32>) {
  %z = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<4096x16xf32>
  %e1 = linalg.fill ins(%z : f32) outs(%e0 : tensor<4096x16xf32>) -> tensor<4096x16xf32>
  %e = linalg.matmul ins(%x, %a : tensor<4096x1024xf32>, tensor<1024x16xf32>) outs(%e1 : tensor<4096x16xf32>) -> tensor<4096x16xf32>
  %y0 = tensor.empty() : tensor<4096x1024xf32>
  %y1 = linalg.fill ins(%z : f32) outs(%y0 : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %y = linalg.matmul ins(%e, %b : tensor<4096x16xf32>, tensor<16x1024xf32>) outs(%y1 : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  return %y, %e : tensor<4096x1024xf32>, tensor<4096x16xf32>
}

// -----

// The first result is the second's weights: a block would need all of them.
// CHECK: function @weights
// CHECK: keep {{ *}}profile: two heavy loop nests in one kernel
// CHECK-NEXT: flips with: whole rows of the first contraction as the rows that the second sums along
// CHECK-NOT: chain (planned)
func.func @weights(%x: tensor<16x1024xf32>, %a: tensor<1024x1024xf32>, %b: tensor<4096x16xf32>) -> tensor<4096x1024xf32> {
  %z = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<16x1024xf32>
  %e1 = linalg.fill ins(%z : f32) outs(%e0 : tensor<16x1024xf32>) -> tensor<16x1024xf32>
  %e = linalg.matmul ins(%x, %a : tensor<16x1024xf32>, tensor<1024x1024xf32>) outs(%e1 : tensor<16x1024xf32>) -> tensor<16x1024xf32>
  %y0 = tensor.empty() : tensor<4096x1024xf32>
  %y1 = linalg.fill ins(%z : f32) outs(%y0 : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  %y = linalg.matmul ins(%b, %e : tensor<4096x16xf32>, tensor<16x1024xf32>) outs(%y1 : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  return %y : tensor<4096x1024xf32>
}

// -----

// Columns of the first as rows of the second: each of those needs all rows of the first.
#row = affine_map<(m, n, k) -> (k, m)>
#col = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
// CHECK: function @columns
// CHECK: keep {{ *}}profile: two heavy loop nests in one kernel
// CHECK-NEXT: flips with: whole rows of the first contraction as the rows that the second sums along
// CHECK-NOT: chain (planned)
func.func @columns(%x: tensor<64x64xf32>, %a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %z = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<64x64xf32>
  %e1 = linalg.fill ins(%z : f32) outs(%e0 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %e = linalg.matmul ins(%x, %a : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e1 : tensor<64x64xf32>) -> tensor<64x64xf32>
  %y = linalg.generic {indexing_maps = [#row, #col, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e1 : tensor<64x64xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.mulf %p, %q : f32
    %t = arith.addf %o, %s : f32
    linalg.yield %t : f32
  } -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// -----

// 16 rows of 4096 columns are more sums than registers.
// CHECK: function @wide
// CHECK: keep {{ *}}resource: no tile of the fused kernel fits
// CHECK-NEXT: registers={{[0-9.]+}}, register_limit=255, shared_bytes={{[0-9]+}}, shared_limit=166912
// CHECK-NOT: chain (planned)
func.func @wide(%x: tensor<4096x1024xf32>, %a: tensor<1024x16xf32>, %b: tensor<16x4096xf32>) -> tensor<4096x4096xf32> {
  %z = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<4096x16xf32>
  %e1 = linalg.fill ins(%z : f32) outs(%e0 : tensor<4096x16xf32>) -> tensor<4096x16xf32>
  %e = linalg.matmul ins(%x, %a : tensor<4096x1024xf32>, tensor<1024x16xf32>) outs(%e1 : tensor<4096x16xf32>) -> tensor<4096x16xf32>
  %y0 = tensor.empty() : tensor<4096x4096xf32>
  %y1 = linalg.fill ins(%z : f32) outs(%y0 : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %y = linalg.matmul ins(%e, %b : tensor<4096x16xf32>, tensor<16x4096xf32>) outs(%y1 : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %y : tensor<4096x4096xf32>
}
