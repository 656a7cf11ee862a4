// RUN: fuse-opt %s --fuse-gpu-launch --canonicalize | FileCheck %s
// RUN: fuse-opt %s --fuse-to-nvvm | FileCheck %s --check-prefix=PTX
// RUN: fuse-opt %s --fuse-to-nvvm > %t.1
// RUN: env CUDA_HOME=/nonexistent fuse-opt %s --fuse-to-nvvm > %t.2
// RUN: cmp %t.1 %t.2

// Pointers and dynamic extents, in the order of the operands; one stream; an
// empty grid launches nothing.
// CHECK-LABEL: func.func @static
// CHECK:         %[[STREAM:.*]] = llvm.call @mgpuStreamCreate() : () -> !llvm.ptr
// CHECK:         %[[A:.*]] = llvm.inttoptr
// CHECK:         gpu.launch_func <%[[STREAM]] : !llvm.ptr> @kernels::@add1 blocks in (%{{.*}}, %{{.*}}, %{{.*}}) threads in (%{{.*}}, %{{.*}}, %{{.*}}) : i64
// CHECK-SAME:      args(%[[A]] : !llvm.ptr, %{{.*}} : !llvm.ptr)
// CHECK-NOT:     scf.if
// CHECK:         llvm.call @mgpuStreamSynchronize(%[[STREAM]])
// CHECK-NEXT:    llvm.call @mgpuStreamDestroy(%[[STREAM]])
// CHECK-NEXT:    return

// CHECK-LABEL: func.func @dynamic
// CHECK:         %[[EXTENT:.*]] = memref.dim %arg0, %{{.*}}
// CHECK:         %[[I:.*]] = arith.index_cast %[[EXTENT]] : index to i64
// CHECK:         %[[BLOCKS:.*]] = arith.divsi
// CHECK:         %[[SOME:.*]] = arith.cmpi sgt
// CHECK:         scf.if %[[SOME]] {
// CHECK:           gpu.launch_func {{.*}} @kernels::@scale {{.*}} args(%{{.*}} : !llvm.ptr, %[[I]] : i64, %arg1 : f32, %{{.*}} : !llvm.ptr, %{{.*}} : i64)

// A function that is called has a stream of its own; a copy is one on the
// device.
// CHECK-LABEL: func.func @waits
// CHECK:         gpu.launch_func
// CHECK:         llvm.call @mgpuStreamSynchronize
// CHECK-NEXT:    call @static
// CHECK:         llvm.call @mgpuMemcpy(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr, i64, !llvm.ptr) -> ()
// CHECK-NEXT:    llvm.call @mgpuStreamSynchronize
// CHECK-NEXT:    memref.dealloc
// CHECK-NEXT:    llvm.call @mgpuStreamDestroy
// CHECK-NEXT:    return

// A kernel ends in text; no toolkit is looked for.
// PTX: gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80", features = "+ptx80">, assembly = "
// PTX-SAME: .version 8.0
// PTX-SAME: .visible .entry add1(

gpu.module @kernels {
  gpu.func @add1(%a: !llvm.ptr, %b: !llvm.ptr) kernel attributes {known_block_size = array<i32: 128, 1, 1>, fuse.grid = affine_map<() -> (8, 1, 1)>, fuse.kernel = "pointwise"} {
    %one = arith.constant 1.0 : f32
    %n = arith.constant 1000 : i64
    %t = gpu.thread_id x
    %block = gpu.block_id x
    %size = arith.constant 128 : index
    %first = arith.muli %block, %size : index
    %i = arith.addi %first, %t : index
    %k = arith.index_cast %i : index to i64
    %inside = arith.cmpi ult, %k, %n : i64
    scf.if %inside {
      %p = llvm.getelementptr %a[%k] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %x = llvm.load %p : !llvm.ptr -> f32
      %y = arith.addf %x, %one : f32
      %q = llvm.getelementptr %b[%k] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %y, %q : f32, !llvm.ptr
    }
    gpu.return
  }
  gpu.func @scale(%a: !llvm.ptr, %n: i64, %f: f32, %b: !llvm.ptr, %m: i64) kernel attributes {known_block_size = array<i32: 128, 1, 1>, fuse.grid = affine_map<()[s0, s1] -> (s0 ceildiv 128, 1, 1)>} {
    %t = gpu.thread_id x
    %block = gpu.block_id x
    %size = arith.constant 128 : index
    %first = arith.muli %block, %size : index
    %i = arith.addi %first, %t : index
    %k = arith.index_cast %i : index to i64
    %inside = arith.cmpi ult, %k, %n : i64
    scf.if %inside {
      %p = llvm.getelementptr %a[%k] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %x = llvm.load %p : !llvm.ptr -> f32
      %y = arith.mulf %x, %f : f32
      %q = llvm.getelementptr %b[%k] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %y, %q : f32, !llvm.ptr
    }
    gpu.return
  }
}

func.func @static(%a: memref<1000xf32>, %b: memref<1000xf32>) {
  fuse.launch @kernels::@add1 ins(%a : memref<1000xf32>) outs(%b : memref<1000xf32>)
  return
}

func.func @dynamic(%a: memref<?xf32>, %f: f32, %b: memref<?xf32>) {
  fuse.launch @kernels::@scale ins(%a, %f : memref<?xf32>, f32) outs(%b : memref<?xf32>)
  return
}

func.func @waits(%a: memref<1000xf32>, %b: memref<1000xf32>) {
  %c = memref.alloc() : memref<1000xf32>
  fuse.launch @kernels::@add1 ins(%a : memref<1000xf32>) outs(%c : memref<1000xf32>)
  call @static(%c, %b) : (memref<1000xf32>, memref<1000xf32>) -> ()
  memref.copy %b, %a : memref<1000xf32> to memref<1000xf32>
  memref.dealloc %c : memref<1000xf32>
  return
}
