// RUN: fuse-opt %s --fuse-boundary --fuse-plan -o %t.once.mlir
// RUN: FileCheck %s --input-file=%t.once.mlir
// RUN: fuse-opt %t.once.mlir --fuse-plan | diff %t.once.mlir -
// RUN: fuse-opt %s --fuse-plan=objective=bytes | FileCheck %s --check-prefix=BYTES
// RUN: not fuse-opt %s --fuse-plan=objective=speed 2>&1 | FileCheck %s --check-prefix=OBJECTIVE
// RUN: not fuse-opt %s --fuse-greedy=objective=speed 2>&1 | FileCheck %s --check-prefix=GREEDY
// RUN: fuse-opt %s --fuse-boundary=mode=off --fuse-plan | FileCheck %s --check-prefix=OFF

// OBJECTIVE: error: fuse-plan: unknown objective 'speed', known objectives are time, bytes
// GREEDY: error: fuse-greedy: unknown objective 'speed', known objectives are time, bytes

#id = affine_map<(d0, d1) -> (d0, d1)>

// Every operator has its group; the one that does the work carries the tile. An old plan is gone.
// CHECK-LABEL: func.func @matmul(
// CHECK: linalg.fill
// CHECK-NOT: fuse.group
// CHECK: linalg.matmul {{{.*}}fuse.group = #fuse.group<id = 0, kernel = "contraction", root>, {{.*}}fuse.tile = #fuse.tile<sizes = [{{[0-9]+}}, {{[0-9]+}}, 8], threads = {{[0-9]+}}>}
// CHECK: linalg.negf {fuse.boundary = [#fuse.boundary<fuse, producer = 0, operand = 0, {{.*}}plan = "in kernel 0"{{.*}}fuse.group = #fuse.group<id = 0, kernel = "contraction">
// CHECK-NOT: fuse.tile
// CHECK: return
// OFF-LABEL: func.func @matmul(
// OFF: linalg.matmul {{{.*}}fuse.group = #fuse.group<id = 0, kernel = "contraction", root>
// OFF: linalg.negf {fuse.boundary = [#fuse.boundary<keep, {{.*}}reason = "override: mode fuses nothing"{{.*}}fuse.group = #fuse.group<id = 1, kernel = "pointwise", root>
func.func @matmul(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %m = linalg.matmul {fuse.group = #fuse.group<id = 7, kernel = "row">} ins(%x, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%f : tensor<512x512xf32>) -> tensor<512x512xf32>
  %n = linalg.negf {fuse.tile = #fuse.tile<sizes = [3], threads = 3>} ins(%m : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %n : tensor<512x512xf32>
}

// The user has the last word: `never` parts what would gain, `always` joins what would lose.
// CHECK-LABEL: func.func @never(
// CHECK: linalg.negf {{.*}}reason = "override: kept by hint"{{.*}}fuse.group = #fuse.group<id = 1, kernel = "pointwise", root>
func.func @never(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %e = tensor.empty() : tensor<512x512xf32>
  %m = linalg.exp ins(%x : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %n = linalg.negf {fuse.edge_hints = {"0" = "never"}} ins(%m : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %n : tensor<512x512xf32>
}

// An activation evaluated for nine filter points costs more time than it saves, but fewer bytes.
// CHECK-LABEL: func.func @costly(
// CHECK: linalg.conv_2d_nchw_fchw {{{.*}}plan = "joined kernel would take {{[0-9.]+}} us longer"{{.*}}fuse.group = #fuse.group<id = 1, kernel = "contraction", root>
// CHECK-LABEL: func.func @costly_always(
// CHECK: linalg.conv_2d_nchw_fchw {{{.*}}reason = "override: fused by hint"{{.*}}plan = "in kernel 0"{{.*}}fuse.group = #fuse.group<id = 0, kernel = "contraction", root>
// BYTES-LABEL: func.func @costly(
// BYTES: linalg.conv_2d_nchw_fchw {{{.*}}plan = "in kernel 0"{{.*}}fuse.group = #fuse.group<id = 0, kernel = "contraction", root>
func.func @costly(%x: tensor<1x64x58x58xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32> {
  %z = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<1x64x58x58xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x64x58x58xf32>) outs(%ex : tensor<1x64x58x58xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = math.tanh %a : f32
    %r = math.exp %q : f32
    %s = math.erf %r : f32
    linalg.yield %s : f32
  } -> tensor<1x64x58x58xf32>
  %e = tensor.empty() : tensor<1x64x56x56xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %c = linalg.conv_2d_nchw_fchw ins(%n, %w : tensor<1x64x58x58xf32>, tensor<64x64x3x3xf32>) outs(%f : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  return %c : tensor<1x64x56x56xf32>
}
func.func @costly_always(%x: tensor<1x64x58x58xf32>, %w: tensor<64x64x3x3xf32>) -> tensor<1x64x56x56xf32> {
  %z = arith.constant 0.0 : f32
  %ex = tensor.empty() : tensor<1x64x58x58xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x64x58x58xf32>) outs(%ex : tensor<1x64x58x58xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = math.tanh %a : f32
    %r = math.exp %q : f32
    %s = math.erf %r : f32
    linalg.yield %s : f32
  } -> tensor<1x64x58x58xf32>
  %e = tensor.empty() : tensor<1x64x56x56xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %c = linalg.conv_2d_nchw_fchw {fuse.edge_hints = {"0" = "always"}} ins(%n, %w : tensor<1x64x58x58xf32>, tensor<64x64x3x3xf32>) outs(%f : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  return %c : tensor<1x64x56x56xf32>
}
