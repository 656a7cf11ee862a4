// RUN: fuse-opt %s --fuse-boundary=emit=remarks --remarks-filter="fuse-boundary" --remark-format=emitRemark -o /dev/null 2>&1 | grep "remark:" | FileCheck %s
// RUN: fuse-opt %s --fuse-boundary="emit=remarks register-limit=60" --remarks-filter="fuse-boundary" --remark-format=emitRemark -o /dev/null 2>&1 | grep "remark:" | FileCheck %s --check-prefix=SMALL
// RUN: fuse-opt %s --fuse-boundary="emit=remarks register-limit=20" --remarks-filter="fuse-boundary" --remark-format=emitRemark -o /dev/null 2>&1 | grep "remark:" | FileCheck %s --check-prefix=TINY

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// An elementwise consumer rides along on a contraction's tile, whatever its intensity. A large problem takes a large tile; a small
// register file a smaller one; a limit that holds no tile refuses.
// CHECK: Function=epilogue | {{.*}}Reason="can fuse", Verdict=fuse, {{.*}}registers=128, shared_bytes=24576, tile_k=8, tile_m=128, tile_n=128
// SMALL: Function=epilogue | {{.*}}Verdict=fuse, {{.*}}registers=58, shared_bytes={{[0-9]+}}, tile_k=8
// TINY: Function=epilogue | {{.*}}Reason="resource: no tile of the fused kernel fits", Verdict=keep, register_limit=20, registers=34
func.func @epilogue(%a: tensor<4096x4096xf32>, %bias: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %m = linalg.matmul ins(%a, %a : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %q = linalg.add ins(%m, %bias : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %q : tensor<4096x4096xf32>
}

// Two contractions in a row: a block would own 16 rows and all columns of both.
// CHECK: Function=two_heavy | {{.*}}Reason="profit: fusing costs more than it saves", Verdict=keep, bytes_removed=524288, gain_us=-{{.*}}tile_m=16, tile_n=256
func.func @two_heavy(%a: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %m = linalg.matmul ins(%a, %a : tensor<256x256xf32>, tensor<256x256xf32>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  %q = linalg.matmul ins(%m, %a : tensor<256x256xf32>, tensor<256x256xf32>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %q : tensor<256x256xf32>
}

// A row spans the tiles of a contraction; an elementwise consumer of the same value does not (epilogue, above).
// CHECK: Function=row_256 | {{.*}}Reason="profile: reduction crosses the producer's tiles", Verdict=keep, row=256, tile=128
func.func @row_256(%a: tensor<256x256xf32>) -> tensor<256xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %m = linalg.matmul ins(%a, %a : tensor<256x256xf32>, tensor<256x256xf32>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
  %e2 = tensor.empty() : tensor<256xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<256xf32>) -> tensor<256xf32>
  %q = linalg.reduce { arith.addf } ins(%m : tensor<256x256xf32>) outs(%f2 : tensor<256xf32>) dimensions = [1]
  return %q : tensor<256xf32>
}
// A transcendental prologue of a compute-bound matmul is evaluated again for each of 32 tiles ...
// CHECK: Function=costly_prologue | {{.*}}Reason="profit: fusing costs more than it saves", Verdict=keep, {{.*}}gain_us=-
func.func @costly_prologue(%x: tensor<512x512xf32>, %b: tensor<512x4096xf32>) -> tensor<512x4096xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %p = linalg.exp ins(%x : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %e2 = tensor.empty() : tensor<512x4096xf32>
  %f = linalg.fill ins(%z : f32) outs(%e2 : tensor<512x4096xf32>) -> tensor<512x4096xf32>
  %m = linalg.matmul ins(%p, %b : tensor<512x512xf32>, tensor<512x4096xf32>) outs(%f : tensor<512x4096xf32>) -> tensor<512x4096xf32>
  return %m : tensor<512x4096xf32>
}

// ... a negation costs nothing to evaluate again.
// CHECK: Function=cheap_prologue | {{.*}}Reason="can fuse", Verdict=fuse, {{.*}}gain_us=
func.func @cheap_prologue(%x: tensor<512x512xf32>, %b: tensor<512x4096xf32>) -> tensor<512x4096xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %p = linalg.negf ins(%x : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %e2 = tensor.empty() : tensor<512x4096xf32>
  %f = linalg.fill ins(%z : f32) outs(%e2 : tensor<512x4096xf32>) -> tensor<512x4096xf32>
  %m = linalg.matmul ins(%p, %b : tensor<512x512xf32>, tensor<512x4096xf32>) outs(%f : tensor<512x4096xf32>) -> tensor<512x4096xf32>
  return %m : tensor<512x4096xf32>
}

// Broadcast over 48 columns: three transcendentals are better loaded than evaluated, one negation is not.
// CHECK: Function=costly_broadcast | {{.*}}Reason="profit: producer would be recomputed", Verdict=keep, evaluations=48, flops_per_cached_load=10.9
// CHECK: Function=cheap_broadcast | {{.*}}Reason="can fuse", Verdict=fuse, {{.*}}evaluations=48
func.func @costly_broadcast(%x: tensor<5xf32>, %w: tensor<5x48xf32>) -> tensor<5x48xf32> {
  %e = tensor.empty() : tensor<5xf32>
  %p = linalg.tanh ins(%x : tensor<5xf32>) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  %e2 = tensor.empty() : tensor<5x48xf32>
  %q = linalg.generic {indexing_maps = [#row, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %w : tensor<5xf32>, tensor<5x48xf32>) outs(%e2 : tensor<5x48xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.mulf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<5x48xf32>
  return %q : tensor<5x48xf32>
}
func.func @cheap_broadcast(%x: tensor<5xf32>, %w: tensor<5x48xf32>) -> tensor<5x48xf32> {
  %e = tensor.empty() : tensor<5xf32>
  %p = linalg.negf ins(%x : tensor<5xf32>) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  %e2 = tensor.empty() : tensor<5x48xf32>
  %q = linalg.generic {indexing_maps = [#row, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %w : tensor<5xf32>, tensor<5x48xf32>) outs(%e2 : tensor<5x48xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.mulf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<5x48xf32>
  return %q : tensor<5x48xf32>
}
