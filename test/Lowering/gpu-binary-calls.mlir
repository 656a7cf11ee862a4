// RUN: fuse-opt %s --fuse-gpu-binary --verify-diagnostics

// A call of libdevice does not go out unnoticed.
gpu.module @kernels {
  llvm.func @__nv_expf(f32) -> f32
  llvm.func @k(%a: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    %x = llvm.load %a : !llvm.ptr -> f32
    // expected-error @+1 {{kernel 'k' calls '__nv_expf', which no GPU module has; expected arithmetic}}
    %y = llvm.call @__nv_expf(%x) : (f32) -> f32
    llvm.store %y, %a : f32, !llvm.ptr
    llvm.return
  }
}
