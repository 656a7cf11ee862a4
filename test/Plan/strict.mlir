// RUN: fuse-opt %s --fuse-boundary="policy=strict register-limit=192 emit=remarks" --remarks-filter="fuse-boundary" --remark-format=emitRemark -o /dev/null 2>&1 | grep "remark:" | FileCheck %s
// RUN: fuse-opt %s --fuse-boundary="policy=strict register-limit=200 emit=remarks" --remarks-filter="fuse-boundary" --remark-format=emitRemark -o /dev/null 2>&1 | grep "remark:" | FileCheck %s --check-prefix=LIMIT200
// RUN: fuse-opt %s --fuse-boundary="policy=strict device-mem=4000000 emit=remarks" --remarks-filter="fuse-boundary" --remark-format=emitRemark -o /dev/null 2>&1 | grep "remark:" | FileCheck %s --check-prefix=MEMORY

// The textbook's worked examples. Stated FLOPs and bytes are of one intensity (10 FLOP/byte) above half of sm_80's ridge point
// (12.5), so that only the registers decide.

// Conv 32 -> BN 16 -> ReLU 8 = 56 registers: fits.
// CHECK: Function=fits | {{.*}}Reason="can fuse", Verdict=fuse, limit=192, registers=48
// CHECK: Function=fits | {{.*}}Reason="can fuse", Verdict=fuse, limit=192, registers=56
func.func @fits(%x: tensor<1x2x8x8xf32>, %w: tensor<2x2x3x3xf32>) -> tensor<1x2x6x6xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x2x6x6xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x2x6x6xf32>) -> tensor<1x2x6x6xf32>
  %conv = linalg.conv_2d_nchw_fchw {fuse.cost_override = {flops = 10000, bytes = 1000, registers = 32}} ins(%x, %w : tensor<1x2x8x8xf32>, tensor<2x2x3x3xf32>) outs(%f : tensor<1x2x6x6xf32>) -> tensor<1x2x6x6xf32>
  %bn = linalg.square {fuse.cost_override = {flops = 10000, bytes = 1000, registers = 16}} ins(%conv : tensor<1x2x6x6xf32>) outs(%e : tensor<1x2x6x6xf32>) -> tensor<1x2x6x6xf32>
  %relu = linalg.abs {fuse.cost_override = {flops = 10000, bytes = 1000, registers = 8}} ins(%bn : tensor<1x2x6x6xf32>) outs(%e : tensor<1x2x6x6xf32>) -> tensor<1x2x6x6xf32>
  return %relu : tensor<1x2x6x6xf32>
}

// Conv 32 -> BN 16 -> ReLU 8 -> Add 16 -> MatMul 128: the last edge would make 72 + 128 = 200.
// CHECK: Function=too_many | {{.*}}Verdict=fuse, limit=192, registers=48
// CHECK: Function=too_many | {{.*}}Verdict=fuse, limit=192, registers=56
// The add reads the relu twice: two edges, one group.
// CHECK-COUNT-2: Function=too_many | {{.*}}Verdict=fuse, limit=192, registers=72
// CHECK: Function=too_many | {{.*}}Flip="register-limit of at least 200"{{.*}}Reason="resource: registers exceed limit", Verdict=keep, limit=192, registers=200
// LIMIT200-COUNT-2: Function=too_many | {{.*}}Verdict=fuse, limit=200, registers=72
// LIMIT200: Function=too_many | {{.*}}Verdict=fuse, limit=200, registers=200
func.func @too_many(%x: tensor<1x1x8x8xf32>, %w: tensor<1x1x3x3xf32>, %m: tensor<1x6x6xf32>) -> tensor<1x6x6xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x1x6x6xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x1x6x6xf32>) -> tensor<1x1x6x6xf32>
  %conv = linalg.conv_2d_nchw_fchw {fuse.cost_override = {flops = 10000, bytes = 1000, registers = 32}} ins(%x, %w : tensor<1x1x8x8xf32>, tensor<1x1x3x3xf32>) outs(%f : tensor<1x1x6x6xf32>) -> tensor<1x1x6x6xf32>
  %bn = linalg.square {fuse.cost_override = {flops = 10000, bytes = 1000, registers = 16}} ins(%conv : tensor<1x1x6x6xf32>) outs(%e : tensor<1x1x6x6xf32>) -> tensor<1x1x6x6xf32>
  %relu = linalg.abs {fuse.cost_override = {flops = 10000, bytes = 1000, registers = 8}} ins(%bn : tensor<1x1x6x6xf32>) outs(%e : tensor<1x1x6x6xf32>) -> tensor<1x1x6x6xf32>
  %add = linalg.add {fuse.cost_override = {flops = 10000, bytes = 1000, registers = 16}} ins(%relu, %relu : tensor<1x1x6x6xf32>, tensor<1x1x6x6xf32>) outs(%e : tensor<1x1x6x6xf32>) -> tensor<1x1x6x6xf32>
  %c = tensor.collapse_shape %add [[0, 1], [2], [3]] : tensor<1x1x6x6xf32> into tensor<1x6x6xf32>
  %e2 = tensor.empty() : tensor<1x6x6xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<1x6x6xf32>) -> tensor<1x6x6xf32>
  %mm = linalg.batch_matmul {fuse.cost_override = {flops = 10000, bytes = 1000, registers = 128}} ins(%c, %m : tensor<1x6x6xf32>, tensor<1x6x6xf32>) outs(%f2 : tensor<1x6x6xf32>) -> tensor<1x6x6xf32>
  return %mm : tensor<1x6x6xf32>
}

// Intensities differ: 10 against 6 FLOP/byte, above the tolerance of 0.3; with 7.5 they agree.
// CHECK: Function=mismatch | {{.*}}Flip="tolerance=0.4, or policy=cost"{{.*}}Reason="profile: compute intensity mismatch", Verdict=keep, consumer_intensity=6, mismatch=0.4, producer_intensity=10, tolerance=0.3
// CHECK: Function=match | {{.*}}Verdict=fuse
func.func @mismatch(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.square {fuse.cost_override = {flops = 10000, bytes = 1000}} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %q = linalg.abs {fuse.cost_override = {flops = 6000, bytes = 1000}} ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %q : tensor<8xf32>
}
func.func @match(%x: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.square {fuse.cost_override = {flops = 10000, bytes = 1000}} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %q = linalg.abs {fuse.cost_override = {flops = 7500, bytes = 1000}} ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %q : tensor<8xf32>
}

// Memory-bound pairs are refused by the textbook (and are the best candidates of policy=cost). Too much data comes first.
// CHECK: Function=memory_bound | {{.*}}Reason="resource: memory-bound, low profit", Verdict=keep, half_ridge=6.27{{.*}}, intensity=0.125
// MEMORY: Function=memory_bound | {{.*}}Reason="resource: intermediate data exceeds memory", Verdict=keep, bytes=16777216, device_memory=4000000
func.func @memory_bound(%x: tensor<1048576xf32>) -> tensor<1048576xf32> {
  %e = tensor.empty() : tensor<1048576xf32>
  %p = linalg.square ins(%x : tensor<1048576xf32>) outs(%e : tensor<1048576xf32>) -> tensor<1048576xf32>
  %q = linalg.abs ins(%p : tensor<1048576xf32>) outs(%e : tensor<1048576xf32>) -> tensor<1048576xf32>
  return %q : tensor<1048576xf32>
}

// Numbers that are not known are not guessed.
// CHECK: Function=dynamic | {{.*}}Reason="profile: compute intensity depends on dynamic extents", Verdict=keep
// CHECK: Function=hinted | {{.*}}Reason="resource: memory-bound, low profit", Verdict=keep, half_ridge=6.27{{.*}}, intensity=0.125
func.func @dynamic(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  %p = linalg.square ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %q = linalg.abs ins(%p : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %q : tensor<?xf32>
}
func.func @hinted(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> attributes {fuse.dim_hint = {"arg0.0" = 64}} {
  %e = tensor.empty(%n) : tensor<?xf32>
  %p = linalg.square ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %q = linalg.abs ins(%p : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %q : tensor<?xf32>
}

// Two readers: conditional, if the later gates pass.
// CHECK-COUNT-2: Function=two_readers | {{.*}}Reason="dependency: multiple consumers", Verdict=conditional
func.func @two_readers(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %p = linalg.exp {fuse.cost_override = {flops = 10000, bytes = 1000}} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %q = linalg.abs {fuse.cost_override = {flops = 10000, bytes = 1000}} ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.negf {fuse.cost_override = {flops = 10000, bytes = 1000}} ins(%p : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %q, %r : tensor<8xf32>, tensor<8xf32>
}
