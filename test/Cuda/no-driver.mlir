// Without a CUDA driver the program ends with status 1 before anything of it runs.
// UNSUPPORTED: cuda
// RUN: not %python %tools/emulate.py %s --library=fuse_cuda 2>&1 | FileCheck %s --implicit-check-not=ran
// RUN: not fuse-run %s --target=cuda 2>&1 | FileCheck %s --implicit-check-not=program
// CHECK: error: no CUDA driver found: libcuda.so.1: cannot open shared object file

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @nothing() kernel {
      gpu.return
    }
  }
  llvm.mlir.global internal constant @text("ran\0A\00")
  llvm.func @puts(!llvm.ptr) -> i32
  func.func @main() {
    %text = llvm.mlir.addressof @text : !llvm.ptr
    %r = llvm.call @puts(%text) : (!llvm.ptr) -> i32
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@nothing blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}
