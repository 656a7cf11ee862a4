//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes that turn kernels into code for the CPU.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LOWERING_PASSES_TD
#define FUSE_LOWERING_PASSES_TD

include "mlir/Pass/PassBase.td"

def WrapOps : Pass<"fuse-wrap", "::mlir::ModuleOp"> {
  let summary = "make a fuse.kernel of each operator that is in none";
  let description = [{
    Puts each linalg operation, pad and concatenation on tensors that stands outside of every `fuse.kernel` into a kernel of its
    own, of class `op`, with the fills and empty tensors that it starts from. So an operator that was not fused is lowered as
    the fused ones are, and is timed like them.
  }];
  let dependentDialects = ["::fuse::FuseDialect"];
  let options = [
    Option<"slices", "slices", "bool", "false", "wrap what takes slices and puts them in too">,
  ];
}

def SplitKernels : Pass<"fuse-split-kernels", "::mlir::ModuleOp"> {
  let summary = "make a fuse.kernel of each sibling, and of each part of a chain, of a fuse.kernel";
  let description = [{
    A kernel of class `siblings` becomes one kernel for each of them, of the class that holds it alone, and one of class `chain`
    a kernel for the window or pooling and one for the contraction behind it. For a CPU, where a launch is a call and what one part
    leaves in the cache the next one finds there. Siblings get the same number in `fuse.together`, so that a GPU launches them as
    one. With `attention`, one of class `attention` that a GPU's block cannot hold
    (between its contractions is no softmax in f32, or the length of a query or a value is not known) becomes its first contraction,
    what is between, and its second contraction. With `chip`, a chain stays whole where there is code for it in one launch on that
    chip; the parts of others say why not (`fuse.split`). With `whole-lanes`, for a CPU, a chain of static shape stays whole if what its
    loop nests hand on takes more bytes than its weights, which a tile loads again, and if no window reads rows of a contraction with
    fewer elements: such rows are computed one by one.
  }];
  let dependentDialects = ["::fuse::FuseDialect"];
  let options = [
    Option<"attention", "attention", "bool", "false", "also attention that has no GPU code in one launch">,
    Option<"chip", "chip", "std::string", "\"\"", "sm_80 and so on: keep the chains that are one launch there">,
    Option<"wholeLanes", "whole-lanes", "unsigned", "0", "lanes of a vector; chains that gain by it stay whole (0: none does)">,
  ];
}

def OutlineKernels : Pass<"fuse-outline", "::mlir::ModuleOp"> {
  let summary = "move each fuse.kernel into a private function, identical ones into one";
  let description = [{
    A kernel becomes a private function that takes its inputs and, for each result of static shape, a tensor to compute into.
    Kernels with the same text share one function. The attribute `fuse.kernel` of the function holds the kernel's class.
    Arguments of public functions are marked as not to be written to.
  }];
  let dependentDialects = ["::fuse::FuseDialect", "::mlir::affine::AffineDialect",
                           "::mlir::bufferization::BufferizationDialect", "::mlir::func::FuncDialect",
                           "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"launch", "launch", "bool", "false",
           "call kernels by fuse.launch: all results get a tensor to compute into, whose dynamic extents are computed by the caller; data of constants is an input">,
  ];
}

def CpuNormalize : Pass<"fuse-cpu-normalize", "::mlir::func::FuncOp"> {
  let summary = "bring the operators of an outlined kernel into few generic loops";
  let description = [{
    In functions with the attribute `fuse.kernel`: named operators other than contractions, convolutions and pooling become
    generic ones, unused results, loops of extent 1 and reshapes between operators go, and pointwise operators that only one
    operator reads become part of it.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def CpuNumerics : Pass<"fuse-cpu-numerics", "::mlir::func::FuncOp"> {
  let summary = "compute f64 islands of an outlined kernel in compensated f32, if asked for";
  let description = [{
    In functions with the attribute `fuse.kernel` that take and return no f64, with `numerics=relaxed`: what is computed in f64
    is computed in f32, and sums carry along what each addition loses (Kahan). Only where every f64 sum is along the last
    dimension of an input. `strict` changes nothing.
  }];
  let options = [
    Option<"numerics", "numerics", "std::string", "\"strict\"", "strict or relaxed">,
  ];
}

def CpuIm2col : Pass<"fuse-cpu-im2col", "::mlir::func::FuncOp"> {
  let summary = "make contractions of the convolutions of an outlined kernel";
  let description = [{
    In functions with the attribute `fuse.kernel`: a convolution with a reduction over channels becomes a copy of its windows
    side by side and a contraction that reads them. Tiling makes the copy as small as a tile.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def CpuDestinations : Pass<"fuse-cpu-destinations", "::mlir::func::FuncOp"> {
  let summary = "compute the results of an outlined kernel into its destinations";
  let description = [{
    In functions with the attribute `fuse.kernel`: an operator whose result goes into a destination starts from the destination
    instead of an empty tensor, so that nothing is copied.
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def CpuTile : Pass<"fuse-cpu-tile", "::mlir::func::FuncOp"> {
  let summary = "cut an outlined kernel into tiles that stay in the cache";
  let description = [{
    In functions with the attribute `fuse.kernel`: tiles the last operator over its outer parallel loops and computes what it
    reads tile by tile with it, so that intermediates are as large as a tile. A chain is cut into as many rows as fit the cache with
    some channels of what is in front of its last contraction, which are computed one after the other and summed.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"cacheBytes", "cache-bytes", "uint64_t", "1310720", "bytes of a core's cache, for chains (default: of x86-avx512)">,
    Option<"threads", "threads", "unsigned", "1", "threads that share a chain's tiles">,
  ];
}

def CpuBuffers : Pass<"fuse-cpu-buffers", "::mlir::func::FuncOp"> {
  let summary = "place the buffers of an outlined kernel";
  let description = [{
    In functions with the attribute `fuse.kernel`: a buffer of static size moves out of the sequential loops around it; a small
    one goes on the stack. Copies become loops.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::memref::MemRefDialect"];
  let options = [
    Option<"stackBytes", "stack-bytes", "unsigned", "65536", "largest sum of buffers of a kernel that are on the stack">,
  ];
}

def CpuDeallocate : Pass<"fuse-cpu-deallocate", "::mlir::ModuleOp"> {
  let summary = "free buffers after their last use";
  let description = [{
    Runs upstream's ownership-based deallocation and moves each deallocation behind the last use. Buffers that may be one are told
    apart by their addresses. A module that contains `memref.dealloc` is left alone.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def CpuArena : Pass<"fuse-cpu-arena", "::mlir::func::FuncOp"> {
  let summary = "place the buffers between kernels in one allocation";
  let description = [{
    In functions that are no kernels: buffers of static shape that are allocated and freed in one block become views of one
    allocation, 64-byte aligned. Two share bytes only if one is freed before the other is allocated; large ones are placed first,
    each at the lowest offset that is free all its life.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def CpuVectorize : Pass<"fuse-cpu-vectorize", "::mlir::func::FuncOp"> {
  let summary = "lower structured operations on buffers to loops over vectors";
  let description = [{
    An operation with static extents and strides whose body is elementwise becomes loops over vectors, several of which are held
    in registers: along its contiguous loop and, for a reduction, along a second loop that reuses an input. The last vector of a
    row is masked. Addresses are linear, so this holds for any layout, stride, dilation and transposition. What it does not hold
    for stays as it is.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
  let options = [
    Option<"vectorBytes", "vector-bytes", "unsigned", "32", "bytes of a vector register">,
    Option<"vectorRegisters", "vector-registers", "unsigned", "16", "vector registers">,
  ];
}

def CpuOutlineTiles : Pass<"fuse-cpu-outline-tiles", "::mlir::ModuleOp"> {
  let summary = "make functions of the bodies of parallel loops";
  let description = [{
    In functions with the attribute `fuse.kernel`: the body of an outermost `scf.parallel` becomes a function that takes the
    loop's variables and the buffers, which stay known not to overlap.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def CpuMath : Pass<"fuse-cpu-math", "::mlir::func::FuncOp"> {
  let summary = "expand mathematical functions into arithmetic that vectorises";
  let description = [{
    Expands f32 (and narrower) `exp`, `tanh`, `log`, ... by upstream's polynomial and rational approximations, `erf` by a rational
    function, and whole powers into products. Sums of a reduction may be reordered; nothing else may.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
}

def CpuFunctions : Pass<"fuse-cpu-functions", "::mlir::ModuleOp"> {
  let summary = "choose how kernels are called";
  let description = [{
    A kernel whose arguments are buffers of static shape takes plain pointers, which do not overlap where no call passes one
    buffer twice. Public functions get the C interface that a runner calls. A function that is only a list of calls is not optimised,
    since that takes long.
  }];
}

def GpuKernels : Pass<"fuse-gpu-kernels", "::mlir::ModuleOp"> {
  let summary = "make GPU functions of outlined kernels";
  let description = [{
    A function on tensors with the attribute `fuse.kernel` becomes a `gpu.func` in `gpu.module @kernels`. It takes, for each
    argument: of a tensor a pointer to its elements in row-major order and an i64 for each dynamic extent, else the value. Its
    attribute `fuse.grid` maps the dynamic extents of all arguments to the blocks of a launch. Pointwise kernels stride over
    groups of lanes, reductions along rows are done by a warp or a block in registers, contractions and convolutions as matrix
    products in tiles, of 16-bit floats on tensor cores; windows read a part of the image from shared memory; any other kernel has a
    thread for each few elements of its results, and `fuse.plain` says why. With `numerics=relaxed`, f64 values between f32 values of a
    row kernel are computed in f32. With `allow-tf32`, contractions and convolutions of f32 round their factors to the 10 bits of
    tf32's mantissa, from sm_80 on, where the tile can be shared by warps; sums stay f32.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::DLTIDialect", "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let options = [
    Option<"chip", "chip", "std::string", "\"sm_80\"", "the GPU, as sm_80: says which instructions there are">,
    Option<"numerics", "numerics", "std::string", "\"strict\"", "strict: every type stays; relaxed: f64 islands of row kernels in f32">,
    Option<"allowTf32", "allow-tf32", "bool", "false", "factors of f32 products may be rounded to tf32">,
  ];
}

def GpuSiblings : Pass<"fuse-gpu-siblings", "::mlir::ModuleOp"> {
  let summary = "launch siblings as one GPU kernel";
  let description = [{
    Launches that `fuse-split-kernels` made of one kernel of class `siblings`, and numbered by `fuse.together`, become one. Its
    blocks are those of the first sibling, then those of the next; each range has the code of its own schedule, equal kernels
    share theirs. Shared memory is that of the sibling that takes most. Kernels that cannot share a launch, such as those with
    different numbers of threads, stay, and `fuse.apart` says why.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect"];
}

def GpuMath : Pass<"fuse-gpu-math"> {
  let summary = "expand mathematical functions of GPU kernels into arithmetic";
  let description = [{
    Expands functions into arithmetic and instructions that every GPU has, so that no call of a device library is left; a function
    for which there is no expansion is an error. Functions of f32 and f64 hold for every argument, NaN, infinities and denormals
    included; those of f16 and bf16 are computed in f32. `test/tools/check_gpu_math.py` measures the errors and holds their bounds:
    at most 3 units in the last place, 6 for erf and erfc. Dynamic integer powers, and remainders of floats, which are exact, become loops.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def TimeKernels : Pass<"fuse-time-kernels", "::mlir::ModuleOp"> {
  let summary = "add a form of a function that calls a hook before and after each kernel";
  let description = [{
    Copies the function `f` that the option names, and those that it calls, to `f.timed`, which calls `fuse_kernel_begin(i64 number)` before and
    `fuse_kernel_end(i64 number)` after each call of an outlined kernel. The module's attribute `fuse.kernel_calls` holds the
    kernels by number.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::arith::ArithDialect"];
  let options = [
    Option<"functionName", "function", "std::string", "\"main\"", "the function">,
  ];
}

def GpuTarget : Pass<"fuse-gpu-target", "::mlir::ModuleOp"> {
  let summary = "check that kernels can be compiled for a chip";
  let description = [{
    Fails where the chip, the format or the numerics are not known, and where the format `bin` is asked for and there is no `ptxas`.
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"sm_80\"", "chip to compile for">,
    Option<"format", "format", "std::string", "\"isa\"", "isa (PTX), llvm (bitcode) or bin (needs ptxas)">,
    Option<"numerics", "numerics", "std::string", "\"strict\"", "strict or relaxed">,
  ];
}

def GpuConstants : Pass<"fuse-gpu-constants", "::mlir::func::FuncOp"> {
  let summary = "copy the data of constants to the device";
  let description = [{
    A `memref.get_global` of a host function becomes a buffer that the data is copied into.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect"];
}

def GpuLaunch : Pass<"fuse-gpu-launch", "::mlir::ModuleOp"> {
  let summary = "launch kernels and copy buffers on a stream";
  let description = [{
    In host functions, whose buffers are all memory of the device: `fuse.launch` becomes `gpu.launch_func` with pointers and dynamic
    extents, the blocks computed from the attribute `fuse.grid` of the kernel; a launch without blocks is none. Copies become calls of
    the runtime. All of a function is on one stream, which is waited for before a buffer is freed and before the function returns.
    Code that reads or writes elements is refused.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def GpuMemory : Pass<"fuse-gpu-memory", "::mlir::ModuleOp"> {
  let summary = "allocate the buffers of host functions on the device";
  let description = [{
    Calls of the generic allocation functions of `finalize-memref-to-llvm` become calls of `mgpuMemAlloc` and `mgpuMemFree`.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def GpuBinary : Pass<"fuse-gpu-binary", "::mlir::ModuleOp"> {
  let summary = "compile GPU modules to PTX, bitcode or a cubin";
  let description = [{
    A `gpu.module` in the LLVM dialect becomes a `gpu.binary`. Calls of functions that the module has no body of, such as those of
    libdevice, are refused with the kernel's name. Only the format `bin` needs a tool of CUDA (`ptxas`).
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::NVVM::NVVMDialect"];
  let options = [
    Option<"chip", "chip", "std::string", "\"sm_80\"", "chip to compile for">,
    Option<"format", "format", "std::string", "\"isa\"", "isa (PTX), llvm (bitcode) or bin (needs ptxas)">,
  ];
}

def Resources : Pass<"fuse-resources", "::mlir::ModuleOp"> {
  let summary = "print the registers and shared memory of kernels, predicted and actual";
  let description = [{
    Lowers a copy of the module for a chip and prints for each kernel what its class predicts for its tile and, where `ptxas` is found,
    what that says: registers, shared memory, bytes spilled, stack, and the occupancy that follows. Fails where a kernel spills.
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"sm_80\"", "chip to compile for">,
  ];
}

#endif // FUSE_LOWERING_PASSES_TD
