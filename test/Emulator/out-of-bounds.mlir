// Accesses outside of the memory that a kernel may touch, with the thread that did it. The last access inside is beside
// each: with one element less to write the program runs.
// RUN: %python %tools/emulate.py %s
// RUN: sed 's/size = arith.constant 100/size = arith.constant 101/' %s | not %python %tools/emulate.py - 2>&1 \
// RUN:   | FileCheck %s --check-prefix=GLOBAL
// GLOBAL: error: kernel 'fill', block (3,0,0), thread (4,0,0): CUDA_ERROR_ILLEGAL_ADDRESS: write of 4 bytes at byte 400 of
// GLOBAL-SAME: an allocation of 400 bytes

// RUN: sed 's/distance = arith.constant 1 /distance = arith.constant 2 /' %s | not %python %tools/emulate.py - 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SHARED
// SHARED: error: kernel 'neighbour', block (0,0,0), thread (31,0,0): CUDA_ERROR_ILLEGAL_ADDRESS: read of 4 bytes at byte 132
// SHARED-SAME: of the block's 132 bytes of shared memory

// Not registered: host memory is no memory of the device.
// RUN: sed '/gpu.host_register/d' %s | not %python %tools/emulate.py - 2>&1 | FileCheck %s --check-prefix=HOST
// HOST: error: kernel 'fill', block (0,0,0), thread (0,0,0): CUDA_ERROR_ILLEGAL_ADDRESS: write of 4 bytes in no allocation

// An access of 16 bytes at a multiple of 4.
// RUN: sed 's/start = arith.constant 4 /start = arith.constant 5 /' %s | not %python %tools/emulate.py - 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ALIGN
// ALIGN: error: kernel 'vector', block (0,0,0), thread (0,0,0): CUDA_ERROR_MISALIGNED_ADDRESS: write of 16 bytes at an
// ALIGN-SAME: address that is 4 modulo 16, expected 0

// Before the first byte.
// RUN: sed 's/start = arith.constant 4 /start = arith.constant -4 /' %s | not %python %tools/emulate.py - 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BEFORE
// BEFORE: error: kernel 'vector', block (0,0,0), thread (0,0,0): CUDA_ERROR_ILLEGAL_ADDRESS: write of 16 bytes

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @fill(%a: memref<?xf32>, %n: index) kernel {
      %c32 = arith.constant 32 : index
      %one = arith.constant 1.0 : f32
      %t = gpu.thread_id x
      %block = gpu.block_id x
      %first = arith.muli %block, %c32 : index
      %i = arith.addi %first, %t : index
      %inside = arith.cmpi ult, %i, %n : index
      scf.if %inside {
        memref.store %one, %a[%i] : memref<?xf32>
      }
      gpu.return
    }

    gpu.func @neighbour(%a: memref<?xf32>)
        workgroup(%tile: memref<33xf32, #gpu.address_space<workgroup>>) kernel {
      %distance = arith.constant 1 : index
      %one = arith.constant 1.0 : f32
      %t = gpu.thread_id x
      memref.store %one, %tile[%t] : memref<33xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %i = arith.addi %t, %distance : index
      %x = memref.load %tile[%i] : memref<33xf32, #gpu.address_space<workgroup>>
      memref.store %x, %a[%t] : memref<?xf32>
      gpu.return
    }

    gpu.func @vector(%a: memref<?xf32>) kernel {
      %start = arith.constant 4 : index
      %ones = arith.constant dense<1.0> : vector<4xf32>
      vector.store %ones, %a[%start] {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
      gpu.return
    }
  }

  func.func @main() {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c100 = arith.constant 100 : index
    %size = arith.constant 100 : index
    %a = memref.alloc(%c100) {alignment = 64} : memref<?xf32>
    %ua = memref.cast %a : memref<?xf32> to memref<*xf32>
    gpu.host_register %ua : memref<*xf32>
    gpu.launch_func @m::@fill blocks in (%c4, %c1, %c1) threads in (%c32, %c1, %c1) args(%a: memref<?xf32>, %size: index)
    gpu.launch_func @m::@neighbour blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%a: memref<?xf32>)
    gpu.launch_func @m::@vector blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a: memref<?xf32>)
    return
  }
}
