// Buffers share bytes of one allocation where one is freed before the other is made, and only there.
// RUN: fuse-opt %s --pass-pipeline='builtin.module(func.func(fuse-cpu-arena,canonicalize))' | FileCheck %s

func.func private @use(memref<100xf32>, memref<100xf32>)
func.func private @use_bytes(memref<7xi8>)
func.func private @use_any(memref<?xf32>)

// a and c do not live at once, b lives with both: 100 floats are 448 aligned bytes.
// CHECK-LABEL: @chain
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C448:.*]] = arith.constant 448 : index
// CHECK: %[[ARENA:.*]] = memref.alloc() {alignment = 64 : i64} : memref<896xi8>
// CHECK: %[[A:.*]] = memref.view %[[ARENA]][%[[C0]]][] : memref<896xi8> to memref<100xf32>
// CHECK: %[[B:.*]] = memref.view %[[ARENA]][%[[C448]]][]
// CHECK: call @use(%[[A]], %[[B]])
// CHECK: %[[C:.*]] = memref.view %[[ARENA]][%[[C0]]][]
// CHECK: call @use(%[[B]], %[[C]])
// CHECK: memref.dealloc %[[ARENA]]
// CHECK-NOT: memref.dealloc
func.func @chain() {
  %a = memref.alloc() : memref<100xf32>
  %b = memref.alloc() : memref<100xf32>
  call @use(%a, %b) : (memref<100xf32>, memref<100xf32>) -> ()
  memref.dealloc %a : memref<100xf32>
  %c = memref.alloc() : memref<100xf32>
  call @use(%b, %c) : (memref<100xf32>, memref<100xf32>) -> ()
  memref.dealloc %b : memref<100xf32>
  memref.dealloc %c : memref<100xf32>
  return
}

// a is freed later: all three live at once.
// CHECK-LABEL: @together
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<1344xi8>
func.func @together() {
  %a = memref.alloc() : memref<100xf32>
  %b = memref.alloc() : memref<100xf32>
  call @use(%a, %b) : (memref<100xf32>, memref<100xf32>) -> ()
  %c = memref.alloc() : memref<100xf32>
  call @use(%b, %c) : (memref<100xf32>, memref<100xf32>) -> ()
  memref.dealloc %a : memref<100xf32>
  memref.dealloc %b : memref<100xf32>
  memref.dealloc %c : memref<100xf32>
  return
}

// What is returned, and what has a dynamic shape, has its own memory.
// CHECK-LABEL: @apart
// CHECK: %[[A:.*]] = memref.alloc() : memref<100xf32>
// CHECK: memref.alloc(%{{.*}}) : memref<?xf32>
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<512xi8>
// CHECK: return %[[A]]
func.func @apart(%n: index) -> memref<100xf32> {
  %a = memref.alloc() : memref<100xf32>
  %d = memref.alloc(%n) : memref<?xf32>
  call @use_any(%d) : (memref<?xf32>) -> ()
  memref.dealloc %d : memref<?xf32>
  %b = memref.alloc() : memref<100xf32>
  %c = memref.alloc() : memref<7xi8>
  call @use(%a, %b) : (memref<100xf32>, memref<100xf32>) -> ()
  call @use_bytes(%c) : (memref<7xi8>) -> ()
  memref.dealloc %b : memref<100xf32>
  memref.dealloc %c : memref<7xi8>
  return %a : memref<100xf32>
}
