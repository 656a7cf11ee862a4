// RUN: fuse-opt %s --fuse-boundary --split-input-file | FileCheck %s

// Local buffers, disjoint arguments: RAW only, and the edge fuses.
// CHECK-LABEL: @raw
// CHECK: linalg.negf {fuse.boundary = [#fuse.boundary<fuse, producer = 0, operand = 0
// CHECK-SAME: fuse.dep = [#fuse.dep<raw, op = 0, operand = 0>, #fuse.dep<consumers, operand = 0, count = 1>]
func.func @raw(%x: memref<8xf32> {llvm.noalias}, %y: memref<8xf32> {llvm.noalias}) {
  %t = memref.alloc() : memref<8xf32>
  linalg.exp ins(%x : memref<8xf32>) outs(%t : memref<8xf32>)
  linalg.negf ins(%t : memref<8xf32>) outs(%y : memref<8xf32>)
  memref.dealloc %t : memref<8xf32>
  return
}

// Without noalias the result may lie where the producer reads: WAR.
// CHECK-LABEL: @war
// CHECK: reason = "dependency: anti/output dependency found"
// CHECK-SAME: #fuse.dep<raw, op = 0, operand = 0>, #fuse.dep<war, op = 0, operand = 1>
func.func @war(%x: memref<8xf32>, %y: memref<8xf32>) {
  %t = memref.alloc() : memref<8xf32>
  linalg.exp ins(%x : memref<8xf32>) outs(%t : memref<8xf32>)
  linalg.negf ins(%t : memref<8xf32>) outs(%y : memref<8xf32>)
  memref.dealloc %t : memref<8xf32>
  return
}

// -----

// Both write the same buffer.
// CHECK-LABEL: @waw
// CHECK: #fuse.dep<waw, op = 0, operand = 1>
func.func @waw(%x: memref<8xf32> {llvm.noalias}, %y: memref<8xf32> {llvm.noalias}) {
  linalg.exp ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
  linalg.negf ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
  return
}

// Only the last writer counts: no entry for op 0 on the third.
// CHECK-LABEL: @last_writer
// CHECK: linalg.abs
// CHECK-SAME: fuse.dep = [#fuse.dep<raw, op = 1, operand = 0>, #fuse.dep<consumers
func.func @last_writer(%x: memref<8xf32> {llvm.noalias}, %y: memref<8xf32> {llvm.noalias}) {
  %t = memref.alloc() : memref<8xf32>
  linalg.exp ins(%x : memref<8xf32>) outs(%t : memref<8xf32>)
  linalg.negf ins(%x : memref<8xf32>) outs(%t : memref<8xf32>)
  linalg.abs ins(%t : memref<8xf32>) outs(%y : memref<8xf32>)
  return
}

// -----

// Two disjoint static subviews of one buffer do not conflict...
// CHECK-LABEL: @disjoint
// CHECK: linalg.negf
// CHECK-NOT: #fuse.dep<{{war|waw|raw}}
// CHECK: return
func.func @disjoint(%b: memref<8xf32>, %x: memref<4xf32> {llvm.noalias}) {
  %lo = memref.subview %b[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  %hi = memref.subview %b[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  linalg.exp ins(%x : memref<4xf32>) outs(%lo : memref<4xf32, strided<[1]>>)
  linalg.negf ins(%x : memref<4xf32>) outs(%hi : memref<4xf32, strided<[1], offset: 4>>)
  return
}

// ... but overlapping ones do.
// CHECK-LABEL: @overlapping
// CHECK: linalg.negf
// CHECK-SAME: #fuse.dep<waw, op = 0, operand = 1>
func.func @overlapping(%b: memref<8xf32>, %x: memref<4xf32> {llvm.noalias}) {
  %lo = memref.subview %b[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  %hi = memref.subview %b[3] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 3>>
  linalg.exp ins(%x : memref<4xf32>) outs(%lo : memref<4xf32, strided<[1]>>)
  linalg.negf ins(%x : memref<4xf32>) outs(%hi : memref<4xf32, strided<[1], offset: 3>>)
  return
}

// A cast aliases its source.
// CHECK-LABEL: @cast
// CHECK: linalg.negf
// CHECK-SAME: #fuse.dep<raw, op = 0, operand = 0>
func.func @cast(%x: memref<8xf32> {llvm.noalias}, %y: memref<?xf32> {llvm.noalias}) {
  %t = memref.alloc() : memref<8xf32>
  %v = memref.cast %t : memref<8xf32> to memref<?xf32>
  linalg.exp ins(%x : memref<8xf32>) outs(%t : memref<8xf32>)
  linalg.negf ins(%v : memref<?xf32>) outs(%y : memref<?xf32>)
  return
}

// -----

// The producer scales what it reads, in memory that the caller sees.
// CHECK-LABEL: @in_place
// CHECK: reason = "dependency: producer updates its output in place"
func.func @in_place(%p: memref<8xf32> {llvm.noalias}, %y: memref<8xf32> {llvm.noalias}) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%p : memref<8xf32>) {
  ^bb0(%o: f32):
    %r = arith.addf %o, %o : f32
    linalg.yield %r : f32
  }
  linalg.negf ins(%p : memref<8xf32>) outs(%y : memref<8xf32>)
  return
}

// A store between producer and consumer is a wall for memory.
// CHECK-LABEL: @store_between
// CHECK: reason = "dependency: side effect"
func.func @store_between(%x: memref<8xf32> {llvm.noalias}, %y: memref<8xf32> {llvm.noalias}, %v: f32) {
  %c0 = arith.constant 0 : index
  %t = memref.alloc() : memref<8xf32>
  linalg.exp ins(%x : memref<8xf32>) outs(%t : memref<8xf32>)
  memref.store %v, %t[%c0] : memref<8xf32>
  linalg.negf ins(%t : memref<8xf32>) outs(%y : memref<8xf32>)
  return
}
