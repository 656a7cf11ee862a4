// Launches beyond the device's limits fail with CUDA's name for it; those at the limits run.
// RUN: %python %tools/emulate.py %s
// RUN: sed 's/%x = arith.constant 1024/%x = arith.constant 2000/' %s | not %python %tools/emulate.py - 2>&1 \
// RUN:   | FileCheck %s --check-prefix=X
// X: error: CUDA_ERROR_INVALID_VALUE: kernel 'k' launched with 2000 threads in x, expected 1 to 1024

// RUN: sed 's/%x = arith.constant 1024/%x = arith.constant 0/' %s | not %python %tools/emulate.py - 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ZERO
// ZERO: error: CUDA_ERROR_INVALID_VALUE: kernel 'k' launched with 0 threads in x, expected 1 to 1024

// RUN: sed 's/%y = arith.constant 1 /%y = arith.constant 2 /' %s | not %python %tools/emulate.py - 2>&1 \
// RUN:   | FileCheck %s --check-prefix=THREADS
// THREADS: error: CUDA_ERROR_INVALID_VALUE: kernel 'k' launched with 2048 threads a block, device sm_80 has at most 1024

// RUN: sed 's/%grid = arith.constant 1 /%grid = arith.constant 65536 /' %s | not %python %tools/emulate.py - 2>&1 \
// RUN:   | FileCheck %s --check-prefix=GRID
// GRID: error: CUDA_ERROR_INVALID_VALUE: kernel 'k' launched with 65536 blocks in y, expected 1 to 65535

// 163 KiB a block on sm_80, 227 KiB on sm_90.
// RUN: sed 's/%bytes = arith.constant 166912/%bytes = arith.constant 166913/' %s > %t.mlir
// RUN: not %python %tools/emulate.py %t.mlir 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: env FUSE_EMULATOR_DEVICE=sm_90 %python %tools/emulate.py %t.mlir
// SHARED: error: CUDA_ERROR_INVALID_VALUE: kernel 'k' needs 166913 bytes of shared memory, device sm_80 has 166912 per block

// RUN: env FUSE_EMULATOR_DEVICE=sm_1 not %python %tools/emulate.py %s 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: error: {{.*}}sm_1

// RUN: env FUSE_EMULATOR_DEVICE=x86-avx512 not %python %tools/emulate.py %s 2>&1 | FileCheck %s --check-prefix=WARP
// WARP: error: device x86-avx512 has warps of 16 threads, 32 are emulated

// RUN: sed 's/launch_func @m::@k/& clusters in (%x, %one, %one)/' %s | not %python %tools/emulate.py - --chip=sm_90 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CLUSTER
// CLUSTER: error: clusters of 1024 x 1 x 1 blocks are not emulated, expected 1 x 1 x 1

// RUN: env FUSE_EMULATOR_THREADS=none not %python %tools/emulate.py %s 2>&1 | FileCheck %s --check-prefix=HOST
// HOST: error: FUSE_EMULATOR_THREADS is 'none', expected a number of at least 1

// More static shared memory than ptxas takes, and a block of another size than the kernel states.
// RUN: sed 's/12288x/12289x/g' %s | not %python %tools/emulate.py - 2>&1 | FileCheck %s --check-prefix=STATIC
// STATIC: error: CUDA_ERROR_INVALID_VALUE: kernel 'big' has 49156 bytes of static shared memory, at most 49152 are allowed

// RUN: sed 's/k() kernel {/k() kernel attributes {nvvm.maxntid = array<i32: 512, 1, 1>} {/' %s \
// RUN:   | not %python %tools/emulate.py - 2>&1 | FileCheck %s --check-prefix=STATED
// STATED: error: CUDA_ERROR_INVALID_VALUE: kernel 'k' launched with 1024 threads a block, it states at most 512

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k() kernel {
      gpu.return
    }

    gpu.func @big(%out: memref<1024xi32>)
        workgroup(%tile: memref<12288xi32, #gpu.address_space<workgroup>>) kernel {
      %last = arith.constant 1023 : index
      %t = gpu.thread_id x
      %other = arith.subi %last, %t : index
      %v = arith.index_cast %t : index to i32
      memref.store %v, %tile[%t] : memref<12288xi32, #gpu.address_space<workgroup>>
      gpu.barrier
      %w = memref.load %tile[%other] : memref<12288xi32, #gpu.address_space<workgroup>>
      memref.store %w, %out[%t] : memref<1024xi32>
      gpu.return
    }
  }
  func.func @main() {
    %one = arith.constant 1 : index
    %grid = arith.constant 1 : index
    %x = arith.constant 1024 : index
    %y = arith.constant 1 : index
    %bytes = arith.constant 166912 : i32
    gpu.launch_func @m::@k blocks in (%one, %grid, %one) threads in (%x, %y, %one) dynamic_shared_memory_size %bytes
    %t0 = gpu.wait async
    %out, %t1 = gpu.alloc async [%t0] () : memref<1024xi32>
    %t2 = gpu.launch_func async [%t1] @m::@big blocks in (%one, %one, %one) threads in (%x, %one, %one)
        args(%out: memref<1024xi32>)
    gpu.wait [%t2]
    return
  }
}
