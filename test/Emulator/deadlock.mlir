// A barrier that not all threads reach is reported: because some have exited, because they wait at another one, and
// because they wait in a warp operation.
// RUN: rm -rf %t && split-file %s %t
// RUN: not %python %tools/emulate.py %t/exited.mlir 2>&1 | FileCheck %s --check-prefix=EXITED
// EXITED: error: kernel 'k', block (0,0,0), thread (0,0,0): deadlock: thread (0,0,0) waits at barrier 0
// EXITED-SAME: (63 of 64 threads have come), thread (63,0,0) has exited

// RUN: not %python %tools/emulate.py %t/other.mlir 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: kernel 'k', block (0,0,0), thread (0,0,0): deadlock: thread (0,0,0) waits at barrier 0
// OTHER-SAME: (32 of 64 threads have come), thread (32,0,0) waits at barrier 1 (32 of 64 threads have come)

// RUN: not %python %tools/emulate.py %t/diverged.mlir 2>&1 | FileCheck %s --check-prefix=DIVERGED
// DIVERGED: error: kernel 'k', block (0,0,0), thread ({{16|15}},0,0): barrier 0 is reached by the threads of one warp at
// DIVERGED-SAME: different instructions

// RUN: not %python %tools/emulate.py %t/shuffle.mlir 2>&1 | FileCheck %s --check-prefix=SHUFFLE
// SHUFFLE: error: kernel 'k', block (0,0,0), thread (0,0,0): deadlock: thread (0,0,0) waits in shfl.sync.bfly for the lanes
// SHUFFLE-SAME: of mask 0xffffffff, thread (16,0,0) has exited

//--- exited.mlir
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k() kernel {
      %t = gpu.thread_id x
      %c63 = arith.constant 63 : index
      %stays = arith.cmpi ult, %t, %c63 : index
      scf.if %stays {
        gpu.barrier
      }
      gpu.return
    }
  }
  func.func @main() {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
    return
  }
}
//--- other.mlir
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k() kernel {
      %t = gpu.thread_id x
      %c32 = arith.constant 32 : index
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %isFirst = arith.cmpi ult, %t, %c32 : index
      scf.if %isFirst {
        nvvm.barrier id = %zero
      } else {
        nvvm.barrier id = %one
      }
      gpu.return
    }
  }
  func.func @main() {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
    return
  }
}
//--- diverged.mlir
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%a: memref<1xi32>) kernel {
      %t = gpu.thread_id x
      %c0 = arith.constant 0 : index
      %c16 = arith.constant 16 : index
      %one = arith.constant 1 : i32
      %isFirst = arith.cmpi ult, %t, %c16 : index
      scf.if %isFirst {
        gpu.barrier
      } else {
        memref.store %one, %a[%c0] : memref<1xi32>
        gpu.barrier
      }
      gpu.return
    }
  }
  func.func @main() {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %a = memref.alloc() : memref<1xi32>
    %ua = memref.cast %a : memref<1xi32> to memref<*xi32>
    gpu.host_register %ua : memref<*xi32>
    gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%a: memref<1xi32>)
    return
  }
}
//--- shuffle.mlir
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%a: memref<32xi32>) kernel {
      %t = gpu.thread_id x
      %c16 = arith.constant 16 : index
      %one = arith.constant 1 : i32
      %width = arith.constant 32 : i32
      %isFirst = arith.cmpi ult, %t, %c16 : index
      scf.if %isFirst {
        %s, %p = gpu.shuffle xor %one, %one, %width : i32
        memref.store %s, %a[%t] : memref<32xi32>
      }
      gpu.return
    }
  }
  func.func @main() {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %a = memref.alloc() : memref<32xi32>
    gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%a: memref<32xi32>)
    return
  }
}
