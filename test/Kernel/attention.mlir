// RUN: fuse-opt %s -split-input-file --fuse-boundary --fuse-plan --fuse-explain -o /dev/null 2>&1 | FileCheck %s
// RUN: fuse-opt %s -split-input-file --pass-pipeline='builtin.module(fuse-boundary{target=cpu},fuse-greedy,fuse-outline,func.func(fuse-cpu-normalize,fuse-cpu-destinations,fuse-cpu-tile))' | FileCheck %s --check-prefix=TILE

#all = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (b, m)>

// Scores, exponentials, sums, and a contraction of the quotients: one kernel. On the CPU a head at a time, with all of its
// scores, which fit the cache.
// CHECK: function @rows
// CHECK: kernel 0 attention (planned): batch_matmul, generic(exp), generic(addf), generic(divf), batch_matmul
// TILE-LABEL: @kernel_0_attention
// TILE: scf.forall {{.*}} in (8)
// TILE: -> tensor<1x64x128xf32>
// TILE: math.exp
// TILE: linalg.generic {{.*}}tensor<1x64x128xf32>, tensor<1x128x32xf32>) outs({{.*}} : tensor<1x64x32xf32>)
func.func @rows(%q: tensor<8x64x32xf32>, %k: tensor<8x32x128xf32>, %v: tensor<8x128x32xf32>) -> tensor<8x64x32xf32> {
  %z = arith.constant 0.0 : f32
  %s0 = tensor.empty() : tensor<8x64x128xf32>
  %s1 = linalg.fill ins(%z : f32) outs(%s0 : tensor<8x64x128xf32>) -> tensor<8x64x128xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<8x64x32xf32>, tensor<8x32x128xf32>) outs(%s1 : tensor<8x64x128xf32>) -> tensor<8x64x128xf32>
  %e = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<8x64x128xf32>) outs(%s0 : tensor<8x64x128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<8x64x128xf32>
  %t0 = tensor.empty() : tensor<8x64xf32>
  %t1 = linalg.fill ins(%z : f32) outs(%t0 : tensor<8x64xf32>) -> tensor<8x64xf32>
  %t = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : tensor<8x64x128xf32>) outs(%t1 : tensor<8x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<8x64xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e, %t : tensor<8x64x128xf32>, tensor<8x64xf32>) outs(%s0 : tensor<8x64x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<8x64x128xf32>
  %o0 = tensor.empty() : tensor<8x64x32xf32>
  %o1 = linalg.fill ins(%z : f32) outs(%o0 : tensor<8x64x32xf32>) -> tensor<8x64x32xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<8x64x128xf32>, tensor<8x128x32xf32>) outs(%o1 : tensor<8x64x32xf32>) -> tensor<8x64x32xf32>
  return %o : tensor<8x64x32xf32>
}

// -----

#all = affine_map<(b, m, n) -> (b, m, n)>
#column = affine_map<(b, m, n) -> (b, n)>
#over = affine_map<(b, n, m) -> (b, m, n)>
#sums = affine_map<(b, n, m) -> (b, n)>

// The sums are along the other axis: no block has all that a quotient needs.
// CHECK: function @columns
// CHECK: plan: as a chain: profile: operators do not share their rows
// CHECK-NOT: attention
func.func @columns(%q: tensor<8x64x32xf32>, %k: tensor<8x32x128xf32>, %v: tensor<8x128x32xf32>) -> tensor<8x64x32xf32> {
  %z = arith.constant 0.0 : f32
  %s0 = tensor.empty() : tensor<8x64x128xf32>
  %s1 = linalg.fill ins(%z : f32) outs(%s0 : tensor<8x64x128xf32>) -> tensor<8x64x128xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<8x64x32xf32>, tensor<8x32x128xf32>) outs(%s1 : tensor<8x64x128xf32>) -> tensor<8x64x128xf32>
  %e = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<8x64x128xf32>) outs(%s0 : tensor<8x64x128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<8x64x128xf32>
  %t0 = tensor.empty() : tensor<8x128xf32>
  %t1 = linalg.fill ins(%z : f32) outs(%t0 : tensor<8x128xf32>) -> tensor<8x128xf32>
  %t = linalg.generic {indexing_maps = [#over, #sums], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : tensor<8x64x128xf32>) outs(%t1 : tensor<8x128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<8x128xf32>
  %p = linalg.generic {indexing_maps = [#all, #column, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e, %t : tensor<8x64x128xf32>, tensor<8x128xf32>) outs(%s0 : tensor<8x64x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<8x64x128xf32>
  %o0 = tensor.empty() : tensor<8x64x32xf32>
  %o1 = linalg.fill ins(%z : f32) outs(%o0 : tensor<8x64x32xf32>) -> tensor<8x64x32xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<8x64x128xf32>, tensor<8x128x32xf32>) outs(%o1 : tensor<8x64x32xf32>) -> tensor<8x64x32xf32>
  return %o : tensor<8x64x32xf32>
}

// -----

#all = affine_map<(b, m, n) -> (b, m, n)>
#row = affine_map<(b, m, n) -> (b, m)>

// The probabilities are a result too: a kernel does not store what it evaluates for the second contraction.
// CHECK: function @probabilities
// CHECK: plan: as a chain: profile: prologue has readers outside the kernel
// CHECK-NOT: attention
func.func @probabilities(%q: tensor<8x64x32xf32>, %k: tensor<8x32x128xf32>, %v: tensor<8x128x32xf32>) -> (tensor<8x64x32xf32>, tensor<8x64x128xf32>) {
  %z = arith.constant 0.0 : f32
  %s0 = tensor.empty() : tensor<8x64x128xf32>
  %s1 = linalg.fill ins(%z : f32) outs(%s0 : tensor<8x64x128xf32>) -> tensor<8x64x128xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<8x64x32xf32>, tensor<8x32x128xf32>) outs(%s1 : tensor<8x64x128xf32>) -> tensor<8x64x128xf32>
  %e = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<8x64x128xf32>) outs(%s0 : tensor<8x64x128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<8x64x128xf32>
  %t0 = tensor.empty() : tensor<8x64xf32>
  %t1 = linalg.fill ins(%z : f32) outs(%t0 : tensor<8x64xf32>) -> tensor<8x64xf32>
  %t = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : tensor<8x64x128xf32>) outs(%t1 : tensor<8x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<8x64xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e, %t : tensor<8x64x128xf32>, tensor<8x64xf32>) outs(%s0 : tensor<8x64x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.divf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<8x64x128xf32>
  %o0 = tensor.empty() : tensor<8x64x32xf32>
  %o1 = linalg.fill ins(%z : f32) outs(%o0 : tensor<8x64x32xf32>) -> tensor<8x64x32xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<8x64x128xf32>, tensor<8x128x32xf32>) outs(%o1 : tensor<8x64x32xf32>) -> tensor<8x64x32xf32>
  return %o, %p : tensor<8x64x32xf32>, tensor<8x64x128xf32>
}
