// RUN: fuse-opt %s --fuse-boundary --fuse-plan --fuse-explain -o /dev/null 2>&1 | FileCheck %s
// RUN: fuse-opt %s --fuse-boundary=register-limit=22 --fuse-plan --fuse-explain -o /dev/null 2>&1 | FileCheck %s --check-prefix=FEW

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A chain is one kernel; so is one whose intermediate is returned too (two results).
// CHECK-LABEL: function @chain:
// CHECK: kernel 0 pointwise (planned): exp, negf
// CHECK-LABEL: function @two_results:
// CHECK: conditional dependency: multiple consumers
// CHECK: plan: in kernel 0
// CHECK: kernel 0 pointwise (planned): exp, negf
func.func @chain(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %e = tensor.empty() : tensor<64x128xf32>
  %a = linalg.exp ins(%x : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %b = linalg.negf ins(%a : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %b : tensor<64x128xf32>
}
func.func @two_results(%x: tensor<64x128xf32>) -> (tensor<64x128xf32>, tensor<64x128xf32>) {
  %e = tensor.empty() : tensor<64x128xf32>
  %a = linalg.exp ins(%x : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %b = linalg.negf ins(%a : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %a, %b : tensor<64x128xf32>, tensor<64x128xf32>
}

// A vector is evaluated where it is broadcast; one that is returned too would be stored once per use.
// CHECK-LABEL: function @broadcast:
// CHECK: kernel 0 pointwise (planned): negf, generic(addf)
// CHECK-LABEL: function @broadcast_stored:
// CHECK: plan: profile: prologue has readers outside the kernel
// CHECK: kernel 0 pointwise (planned): negf
// CHECK: kernel 1 pointwise (planned): generic(addf)
func.func @broadcast(%x: tensor<64x128xf32>, %v: tensor<64xf32>) -> tensor<64x128xf32> {
  %ev = tensor.empty() : tensor<64xf32>
  %n = linalg.negf ins(%v : tensor<64xf32>) outs(%ev : tensor<64xf32>) -> tensor<64xf32>
  %e = tensor.empty() : tensor<64x128xf32>
  %b = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %n : tensor<64x128xf32>, tensor<64xf32>) outs(%e : tensor<64x128xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.addf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<64x128xf32>
  return %b : tensor<64x128xf32>
}
func.func @broadcast_stored(%x: tensor<64x128xf32>, %v: tensor<64xf32>) -> (tensor<64x128xf32>, tensor<64xf32>) {
  %ev = tensor.empty() : tensor<64xf32>
  %n = linalg.negf ins(%v : tensor<64xf32>) outs(%ev : tensor<64xf32>) -> tensor<64xf32>
  %e = tensor.empty() : tensor<64x128xf32>
  %b = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %n : tensor<64x128xf32>, tensor<64xf32>) outs(%e : tensor<64x128xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.addf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<64x128xf32>
  return %b, %n : tensor<64x128xf32>, tensor<64xf32>
}

// Glue between two operators is part of the kernel, whatever it does to the indices.
// CHECK-LABEL: function @glue:
// CHECK: #0 exp -> #1 negf:0 via transpose, collapse_shape
// CHECK: kernel 0 pointwise (planned): exp, negf
func.func @glue(%x: tensor<64x128xf32>) -> tensor<8192xf32> {
  %e = tensor.empty() : tensor<64x128xf32>
  %a = linalg.exp ins(%x : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %et = tensor.empty() : tensor<128x64xf32>
  %t = linalg.transpose ins(%a : tensor<64x128xf32>) outs(%et : tensor<128x64xf32>) permutation = [1, 0]
  %c = tensor.collapse_shape %t [[0, 1]] : tensor<128x64xf32> into tensor<8192xf32>
  %ec = tensor.empty() : tensor<8192xf32>
  %b = linalg.negf ins(%c : tensor<8192xf32>) outs(%ec : tensor<8192xf32>) -> tensor<8192xf32>
  return %b : tensor<8192xf32>
}

// Values that stay live until the end need registers: the operator that ends them all may not fit.
// CHECK-LABEL: function @live:
// CHECK: kernel 0 pointwise (planned): exp, abs, negf, generic(addf, addf, addf)
// FEW-LABEL: function @live:
// FEW: plan: resource: no tile of the fused kernel fits: registers=25 of 22, shared_bytes=0 of 166912
// FEW: kernel 0 pointwise (planned): exp
// FEW: kernel 1 pointwise (planned): abs, negf, generic(addf, addf, addf)
func.func @live(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %e = tensor.empty() : tensor<64x128xf32>
  %a = linalg.exp ins(%x : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %b = linalg.abs ins(%x : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %c = linalg.negf ins(%x : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %d = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %b, %c, %x : tensor<64x128xf32>, tensor<64x128xf32>, tensor<64x128xf32>, tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32, %s: f32, %o: f32):
    %t = arith.addf %p, %q : f32
    %u = arith.addf %t, %r : f32
    %v = arith.addf %u, %s : f32
    linalg.yield %v : f32
  } -> tensor<64x128xf32>
  return %d : tensor<64x128xf32>
}
