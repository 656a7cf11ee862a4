// A histogram: atomic additions to shared counters, then to global ones, from 6 blocks on several host threads.
// RUN: env FUSE_EMULATOR_THREADS=3 %python %tools/emulate.py %s --reference=histogram | FileCheck %s
// CHECK: equal: 9 elements

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @histogram(%a: memref<6x512xi32>, %bins: memref<9xi32>)
        workgroup(%local: memref<9xi32, #gpu.address_space<workgroup>>) kernel {
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %four = arith.constant 4 : i32
      %c9 = arith.constant 9 : index
      %c64 = arith.constant 64 : index
      %c512 = arith.constant 512 : index
      %t = gpu.thread_id x
      %row = gpu.block_id x
      %isBin = arith.cmpi ult, %t, %c9 : index
      scf.if %isBin {
        memref.store %zero, %local[%t] : memref<9xi32, #gpu.address_space<workgroup>>
      }
      gpu.barrier
      scf.for %i = %t to %c512 step %c64 {
        %x = memref.load %a[%row, %i] : memref<6x512xi32>
        %shifted = arith.addi %x, %four : i32
        %bin = arith.index_cast %shifted : i32 to index
        %old = memref.atomic_rmw addi %one, %local[%bin] : (i32, memref<9xi32, #gpu.address_space<workgroup>>) -> i32
      }
      gpu.barrier
      scf.if %isBin {
        %count = memref.load %local[%t] : memref<9xi32, #gpu.address_space<workgroup>>
        %old = memref.atomic_rmw addi %count, %bins[%t] : (i32, memref<9xi32>) -> i32
      }
      gpu.return
    }
  }

  func.func private @fuseFillI32(memref<*xi32>, i64) attributes {llvm.emit_c_interface}
  func.func private @fuseSaveI32(memref<*xi32>, i64, i64) attributes {llvm.emit_c_interface}
  func.func @main() {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %none = arith.constant 0 : i32
    %a = memref.alloc() : memref<6x512xi32>
    %bins = memref.alloc() : memref<9xi32>
    %ua = memref.cast %a : memref<6x512xi32> to memref<*xi32>
    %ub = memref.cast %bins : memref<9xi32> to memref<*xi32>
    call @fuseFillI32(%ua, %zero) : (memref<*xi32>, i64) -> ()
    call @fuseSaveI32(%ua, %zero, %one) : (memref<*xi32>, i64, i64) -> ()
    gpu.host_register %ua : memref<*xi32>
    %t0 = gpu.wait async
    %db, %t1 = gpu.alloc async [%t0] () : memref<9xi32>
    %t2 = gpu.memset async [%t1] %db, %none : memref<9xi32>, i32
    %c1 = arith.constant 1 : index
    %c6 = arith.constant 6 : index
    %c64 = arith.constant 64 : index
    %t3 = gpu.launch_func async [%t2] @kernels::@histogram blocks in (%c6, %c1, %c1) threads in (%c64, %c1, %c1)
        args(%a: memref<6x512xi32>, %db: memref<9xi32>)
    %t4 = gpu.memcpy async [%t3] %bins, %db : memref<9xi32>, memref<9xi32>
    gpu.wait [%t4]
    call @fuseSaveI32(%ub, %zero, %zero) : (memref<*xi32>, i64, i64) -> ()
    return
  }
}
