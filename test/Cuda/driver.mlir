// What libfuse_cuda.so asks of the CUDA driver for a program lowered by the stock pipeline, by a driver that only prints;
// and that it ends cleanly, before the module is loaded, where there is no driver or no device.
// RUN: rm -rf %t && mkdir -p %t/good %t/old
// RUN: clang -shared -fPIC -Wno-everything %S/Inputs/fake_driver.c -o %t/good/libcuda.so.1
// RUN: clang -shared -fPIC -Wno-everything -DNO_STREAMS %S/Inputs/fake_driver.c -o %t/old/libcuda.so.1
// RUN: env LD_LIBRARY_PATH=%t/good %python %tools/emulate.py %s --library=fuse_cuda | FileCheck %s

// CHECK: cuDevicePrimaryCtxRetain 0
// CHECK-NEXT: cuModuleLoadDataEx 2 options, image BC
// CHECK-NEXT: cuStreamCreate 1
// CHECK-NEXT: cuMemAlloc 64
// CHECK-NEXT: cuMemsetD32Async 1073741824 x 16
// CHECK-NEXT: cuModuleGetFunction twice
// CHECK-NEXT: cuFuncSetAttribute 8 = 65536
// CHECK-NEXT: cuLaunchKernel grid 2 3 4 block 32 4 1 shared 65536 data 3
// CHECK-NEXT: cuMemcpyAsync 64
// CHECK-NEXT: cuMemFree
// CHECK-NEXT: cuStreamSynchronize
// CHECK-NEXT: cuStreamDestroy
// CHECK-NEXT: cuMemHostRegister 64
// CHECK-NEXT: cuMemHostUnregister
// CHECK-NEXT: cuModuleUnload

// PTX is compiled by the driver, at a level.
// RUN: env LD_LIBRARY_PATH=%t/good %python %tools/emulate.py %s --library=fuse_cuda --format=isa | FileCheck %s --check-prefix=ISA
// ISA: cuModuleLoadDataEx 3 options, image //

// RUN: env LD_LIBRARY_PATH=%t/good FAKE_FAIL=cuLaunchKernel not %python %tools/emulate.py %s --library=fuse_cuda 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LAUNCH
// LAUNCH: cuLaunchKernel
// LAUNCH-NEXT: error: CUDA_ERROR_INVALID_VALUE: cuLaunchKernel

// RUN: env LD_LIBRARY_PATH=%t/good FAKE_FAIL=cuModuleLoadDataEx not %python %tools/emulate.py %s --library=fuse_cuda 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PTXAS
// PTXAS: error: CUDA could not compile the module: ptxas: no such instruction

// RUN: env LD_LIBRARY_PATH=%t/good FAKE_NO_DEVICE=1 not %python %tools/emulate.py %s --library=fuse_cuda 2>&1 \
// RUN:   | FileCheck %s --check-prefix=DEVICE --implicit-check-not=cuModule
// DEVICE: error: no CUDA device found: CUDA_ERROR_NO_DEVICE

// RUN: env LD_LIBRARY_PATH=%t/old not %python %tools/emulate.py %s --library=fuse_cuda 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: error: the CUDA driver lacks cuStreamCreate

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @twice(%a: memref<16xf32>) kernel {
      gpu.return
    }
  }
  func.func @main() {
    %two = arith.constant 2.0 : f32
    %bytes = arith.constant 65536 : i32
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %a = memref.alloc() : memref<16xf32>
    %t0 = gpu.wait async
    %d, %t1 = gpu.alloc async [%t0] () : memref<16xf32>
    %t2 = gpu.memset async [%t1] %d, %two : memref<16xf32>, f32
    %t3 = gpu.launch_func async [%t2] @kernels::@twice blocks in (%c2, %c3, %c4) threads in (%c32, %c4, %c1)
        dynamic_shared_memory_size %bytes args(%d: memref<16xf32>)
    %t4 = gpu.memcpy async [%t3] %a, %d : memref<16xf32>, memref<16xf32>
    %t5 = gpu.dealloc async [%t4] %d : memref<16xf32>
    gpu.wait [%t5]
    %ua = memref.cast %a : memref<16xf32> to memref<*xf32>
    gpu.host_register %ua : memref<*xf32>
    gpu.host_unregister %ua : memref<*xf32>
    return
  }
}
