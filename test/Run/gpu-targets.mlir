// RUN: %python -c "import numpy as np; np.save(r'%t.a.npy', np.arange(1000, dtype=np.float32)); np.save(r'%t.b.npy', np.full(1000, 2, np.float32))"
// RUN: fuse-run %s --target=emulator --inputs=%t.a.npy,%t.b.npy --repeat=2 --save-outputs=%t.out | FileCheck %s
// RUN: %python -c "import numpy as np; a = np.load(r'%t.out/result1.npy'); print('right' if (a == np.arange(1000) + 2).all() else a)" | FileCheck %s --check-prefix=VALUES
// RUN: not fuse-run %s --target=emulator:sm_1 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not fuse-run %s --target=emulator --compare 2>&1 | FileCheck %s --check-prefix=COMPARE

// A program with GPU kernels runs on the emulator; the times are marked.
// CHECK: emulated: wall time of the emulation, not a GPU's
// CHECK: program
// VALUES: right
// CHIP: unknown chip 'sm_1', known are sm_75, sm_80
// COMPARE: --compare has nothing to compare with
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @add(%a: memref<1000xf32>, %b: memref<1000xf32>, %n: index) kernel {
      %t = gpu.thread_id x
      %block = gpu.block_id x
      %size = gpu.block_dim x
      %first = arith.muli %block, %size : index
      %i = arith.addi %first, %t : index
      %inside = arith.cmpi ult, %i, %n : index
      scf.if %inside {
        %x = memref.load %a[%i] : memref<1000xf32>
        %y = memref.load %b[%i] : memref<1000xf32>
        %sum = arith.addf %x, %y : f32
        memref.store %sum, %b[%i] : memref<1000xf32>
      }
      gpu.return
    }
  }
  func.func @main(%a: memref<1000xf32>, %b: memref<1000xf32>) {
    %c1 = arith.constant 1 : index
    %blocks = arith.constant 8 : index
    %threads = arith.constant 128 : index
    %n = arith.constant 1000 : index
    %t0 = gpu.wait async
    %da, %t1 = gpu.alloc async [%t0] () : memref<1000xf32>
    %db, %t2 = gpu.alloc async [%t1] () : memref<1000xf32>
    %t3 = gpu.memcpy async [%t2] %da, %a : memref<1000xf32>, memref<1000xf32>
    %t4 = gpu.memcpy async [%t3] %db, %b : memref<1000xf32>, memref<1000xf32>
    %t5 = gpu.launch_func async [%t4] @kernels::@add blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1)
        args(%da: memref<1000xf32>, %db: memref<1000xf32>, %n: index)
    %t6 = gpu.memcpy async [%t5] %b, %db : memref<1000xf32>, memref<1000xf32>
    %t7 = gpu.dealloc async [%t6] %da : memref<1000xf32>
    %t8 = gpu.dealloc async [%t7] %db : memref<1000xf32>
    gpu.wait [%t8]
    return
  }
}
