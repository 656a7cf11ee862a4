// RUN: fuse-opt %s --fuse-gpu-launch --split-input-file --verify-diagnostics
// RUN: not fuse-opt %s --split-input-file --fuse-to-nvvm=chip=sm_1 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not fuse-opt %s --split-input-file --fuse-to-nvvm=format=elf 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not fuse-opt %s --split-input-file --fuse-to-nvvm=numerics=loose 2>&1 | FileCheck %s --check-prefix=NUMERICS
// RUN: env -u CUDA_HOME -u CUDA_PATH -u VIRTUAL_ENV -u PYTHONPATH HOME=%t PATH=%fuse_bin not fuse-opt %s --split-input-file --fuse-to-nvvm=format=bin 2>&1 | FileCheck %s --check-prefix=PTXAS

// CHIP: unknown chip 'sm_1', known are sm_75, sm_80, sm_86, sm_89, sm_90, sm_100
// FORMAT: unknown format 'elf', known are isa, llvm, bin
// NUMERICS: unknown numerics 'loose', expected strict or relaxed
// PTXAS: format 'bin' needs ptxas, which is found neither on PATH

// Elements of tensors are on the device.
func.func @element(%a: memref<8xf32>, %i: index) -> f32 {
  // expected-error @+1 {{'memref.load' outside of kernels needs elements of a tensor on the host}}
  %x = memref.load %a[%i] : memref<8xf32>
  return %x : f32
}

// -----

gpu.module @kernels {
  gpu.func @k(%a: !llvm.ptr, %n: i32) kernel attributes {known_block_size = array<i32: 1, 1, 1>, fuse.grid = affine_map<() -> (1, 1, 1)>} {
    gpu.return
  }
}
func.func @arguments(%a: memref<8xf32>) {
  // expected-error @+1 {{passes '!llvm.ptr' to kernel @kernels::@k, which takes '!llvm.ptr', 'i32'}}
  fuse.launch @kernels::@k ins() outs(%a : memref<8xf32>)
  return
}

// -----

gpu.module @kernels {
  gpu.func @k(%a: !llvm.ptr) kernel attributes {known_block_size = array<i32: 1, 1, 1>, fuse.grid = affine_map<()[s0] -> (s0, 1, 1)>} {
    gpu.return
  }
}
func.func @grid(%a: memref<8xf32>) {
  // expected-error @+1 {{has the grid affine_map<()[s0] -> (s0, 1, 1)>, expected 3 results from 0 symbols}}
  fuse.launch @kernels::@k ins() outs(%a : memref<8xf32>)
  return
}

// -----

gpu.module @kernels {
  gpu.func @k(%a: !llvm.ptr) kernel attributes {fuse.grid = affine_map<() -> (1, 1, 1)>} {
    gpu.return
  }
}
func.func @block(%a: memref<8xf32>) {
  // expected-error @+1 {{launches @kernels::@k, expected a gpu.func with 'known_block_size'}}
  fuse.launch @kernels::@k ins() outs(%a : memref<8xf32>)
  return
}

// -----

gpu.module @kernels {
  gpu.func @k(%a: !llvm.ptr) kernel attributes {known_block_size = array<i32: 1, 1, 1>, fuse.grid = affine_map<() -> (1, 1, 1)>} {
    gpu.return
  }
}
func.func @strided(%a: memref<8x8xf32>) {
  %column = memref.subview %a[0, 0] [8, 1] [1, 1] : memref<8x8xf32> to memref<8x1xf32, strided<[8, 1]>>
  // expected-error @+1 {{takes a buffer of type 'memref<8x1xf32, strided<[8, 1]>>', expected a contiguous one}}
  fuse.launch @kernels::@k ins() outs(%column : memref<8x1xf32, strided<[8, 1]>>)
  return
}
