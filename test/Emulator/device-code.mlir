// A device function with a barrier and shared memory of its own, called by two kernels; a table in constant memory; an
// array in local memory; the last block's shared memory is not the first one's.
// RUN: %python %tools/emulate.py %s --reference=device_code | FileCheck %s
// CHECK: equal: 192 elements

module attributes {gpu.container_module} {
  gpu.module @kernels {
    memref.global "private" constant @table : memref<4xi32> = dense<[1, 10, 100, 1000]>
    llvm.mlir.global internal @turned() {addr_space = 3 : i32} : !llvm.array<64 x i32>

    // The value that the thread on the other side of the block gave.
    llvm.func @turn(%value: i32, %t: i32) -> i32 attributes {passthrough = ["noinline"]} {
      %last = llvm.mlir.constant(63 : i32) : i32
      %shared = llvm.mlir.addressof @turned : !llvm.ptr<3>
      %mine = llvm.getelementptr %shared[0, %t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<64 x i32>
      llvm.store %value, %mine : i32, !llvm.ptr<3>
      nvvm.barrier0
      %there = llvm.sub %last, %t : i32
      %theirs = llvm.getelementptr %shared[0, %there] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<64 x i32>
      %result = llvm.load %theirs : !llvm.ptr<3> -> i32
      llvm.return %result : i32
    }

    gpu.func @first(%out: memref<3x64xi32>) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %t = gpu.thread_id x
      %row = gpu.block_id x
      %i = arith.index_cast %t : index to i32
      // Local memory: a rotated copy of the table, indexed by a value that only the run knows.
      %table = memref.get_global @table : memref<4xi32>
      %local = memref.alloca() : memref<4xi32>
      scf.for %k = %c0 to %c4 step %c1 {
        %sum = arith.addi %k, %row : index
        %from = arith.remui %sum, %c4 : index
        %x = memref.load %table[%from] : memref<4xi32>
        memref.store %x, %local[%k] : memref<4xi32>
      }
      %at = arith.remui %t, %c4 : index
      %value = memref.load %local[%at] : memref<4xi32>
      %turned = llvm.call @turn(%value, %i) : (i32, i32) -> i32
      memref.store %turned, %out[%row, %t] : memref<3x64xi32>
      gpu.return
    }

    gpu.func @second(%out: memref<3x64xi32>) kernel {
      %t = gpu.thread_id x
      %row = gpu.block_id x
      %i = arith.index_cast %t : index to i32
      %turned = llvm.call @turn(%i, %i) : (i32, i32) -> i32
      %old = memref.load %out[%row, %t] : memref<3x64xi32>
      %new = arith.addi %old, %turned : i32
      memref.store %new, %out[%row, %t] : memref<3x64xi32>
      gpu.return
    }
  }

  func.func private @fuseSaveI32(memref<*xi32>, i64, i64) attributes {llvm.emit_c_interface}
  func.func @main() {
    %zero = arith.constant 0 : i64
    %out = memref.alloc() : memref<3x64xi32>
    %uo = memref.cast %out : memref<3x64xi32> to memref<*xi32>
    gpu.host_register %uo : memref<*xi32>
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @kernels::@first blocks in (%c3, %c1, %c1) threads in (%c64, %c1, %c1) args(%out: memref<3x64xi32>)
    gpu.launch_func @kernels::@second blocks in (%c3, %c1, %c1) threads in (%c64, %c1, %c1) args(%out: memref<3x64xi32>)
    call @fuseSaveI32(%uo, %zero, %zero) : (memref<*xi32>, i64, i64) -> ()
    return
  }
}
