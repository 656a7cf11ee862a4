// Buffers that calls return are freed without lists in memory.
// RUN: fuse-opt %s --fuse-cpu-deallocate | FileCheck %s --implicit-check-not=memref.store --implicit-check-not='call @dealloc_helper'

func.func private @apart(%x: memref<8xf32>) -> (memref<8xf32>, memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  memref.copy %x, %b : memref<8xf32> to memref<8xf32>
  return %a, %b : memref<8xf32>, memref<8xf32>
}
func.func private @unknown() -> (memref<8xf32>, memref<8xf32>)
func.func private @use(memref<8xf32>, memref<8xf32>)

// CHECK-LABEL: func.func @known
// CHECK: %[[R:.*]]:2 = call @apart
// CHECK: %[[A:[a-z0-9_]*]],{{.*}} = memref.extract_strided_metadata %[[R]]#0
// CHECK: %[[B:[a-z0-9_]*]],{{.*}} = memref.extract_strided_metadata %[[R]]#1
// CHECK-NOT: cmpi
// CHECK-DAG: memref.dealloc %[[A]]
// CHECK-DAG: memref.dealloc %[[B]]
// CHECK: return
func.func @known(%x: memref<8xf32>) {
  %0:2 = call @apart(%x) : (memref<8xf32>) -> (memref<8xf32>, memref<8xf32>)
  call @use(%0#0, %0#1) : (memref<8xf32>, memref<8xf32>) -> ()
  return
}

// The two may be one: the second is freed only if it is another.
// CHECK-LABEL: func.func @maybe
// CHECK: %[[R:.*]]:2 = call @unknown
// CHECK: %[[A:[a-z0-9_]*]],{{.*}} = memref.extract_strided_metadata %[[R]]#0
// CHECK: %[[B:[a-z0-9_]*]],{{.*}} = memref.extract_strided_metadata %[[R]]#1
// CHECK: %[[PA:.*]] = memref.extract_aligned_pointer_as_index %[[A]]
// CHECK: %[[PB:.*]] = memref.extract_aligned_pointer_as_index %[[B]]
// CHECK: arith.cmpi {{eq|ne}}, %[[PA]], %[[PB]]
// CHECK: memref.dealloc %[[A]]
// CHECK: scf.if
// CHECK-NEXT: memref.dealloc %[[B]]
// CHECK: return
func.func @maybe() {
  %0:2 = call @unknown() : () -> (memref<8xf32>, memref<8xf32>)
  call @use(%0#0, %0#1) : (memref<8xf32>, memref<8xf32>) -> ()
  return
}
