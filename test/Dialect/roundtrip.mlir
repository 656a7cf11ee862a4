// RUN: fuse-opt %s | fuse-opt | FileCheck %s
// RUN: fuse-opt %s --emit-bytecode | fuse-opt | FileCheck %s
// RUN: fuse-opt %s --mlir-print-op-generic | fuse-opt | FileCheck %s

// CHECK: fuse.options = {target = #fuse.target<"tiny", {bandwidth = 1.000000e+09 : f64}>}
module attributes {fuse.options = {target = #fuse.target<"tiny", {bandwidth = 1.0e9 : f64}>}} {
  // CHECK: %{{.*}}: tensor<8xf32> {fuse.param}
  func.func @f(%x: tensor<8xf32> {fuse.param}) -> tensor<8xf32> {
    // CHECK: fuse.boundary = [#fuse.boundary<conditional, producer = 3, operand = 0, gate = dependency, reason = "dependency: multiple consumers", when = "all consumers join the kernel", via = ["pad"], numbers = {consumers = 2 : i64}, flip = "one reader", numeric = reassociates>]
    // CHECK-SAME: fuse.cost = #fuse.cost<flops = "8*arg0.0", read = 1, written = 2, points = 3, parallel = 3, reduction = 1, transcendentals = 0, intensity = 5.000000e-01 : f64>
    // CHECK-SAME: fuse.dep = [#fuse.dep<raw, op = 1, operand = 0>, #fuse.dep<consumers, operand = 0, count = 2>, #fuse.dep<copy, operand = 1, detail = "read elsewhere">, #fuse.dep<effect, detail = "memref.store">]
    // CHECK-SAME: fuse.id = 4 : i64
    %e = tensor.empty() {
      fuse.boundary = [#fuse.boundary<conditional, producer = 3, operand = 0, gate = dependency,
        reason = "dependency: multiple consumers", when = "all consumers join the kernel", via = ["pad"],
        numbers = {consumers = 2}, flip = "one reader", numeric = reassociates>],
      fuse.cost = #fuse.cost<flops = "8*arg0.0", read = 1, written = 2, points = 3, parallel = 3, reduction = 1,
        transcendentals = 0, intensity = 0.5>,
      fuse.dep = [#fuse.dep<raw, op = 1, operand = 0>, #fuse.dep<consumers, operand = 0, count = 2>,
        #fuse.dep<copy, operand = 1, detail = "read elsewhere">, #fuse.dep<effect, detail = "memref.store">],
      fuse.id = 4} : tensor<8xf32>
    return %e : tensor<8xf32>
  }
}
