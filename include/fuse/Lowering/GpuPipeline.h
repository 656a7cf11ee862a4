//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-to-nvvm: from linalg on tensors and fuse.kernel to host code in the LLVM
// dialect and a gpu.binary.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LOWERING_GPUPIPELINE_H
#define FUSE_LOWERING_GPUPIPELINE_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir {
class DialectRegistry;
}

namespace fuse {

struct GpuOptions : mlir::PassPipelineOptions<GpuOptions> {
  Option<std::string> chip{*this, "chip", llvm::cl::desc("chip to compile for"),
                           llvm::cl::init("sm_80")};
  Option<std::string> format{
      *this, "format",
      llvm::cl::desc("what the gpu.binary holds: isa (PTX), llvm (bitcode), "
                     "bin (needs ptxas)"),
      llvm::cl::init("isa")};
  Option<std::string> numerics{
      *this, "numerics",
      llvm::cl::desc("strict: every type stays; relaxed: f64 that begins and "
                     "ends in f32 becomes compensated f32"),
      llvm::cl::init("strict")};
  Option<bool> allowTf32{
      *this, "allow-tf32",
      llvm::cl::desc("contractions of f32 may round their factors to tf32: 10 "
                     "bits of mantissa, as f16 has"),
      llvm::cl::init(false)};
};

/// Kernels to functions on tensors.
void buildGpuFunctions(mlir::OpPassManager &pm, const GpuOptions &options);

/// From there to gpu.func, and host functions to launches on device buffers.
void buildGpuLaunches(mlir::OpPassManager &pm, const GpuOptions &options);

/// From there to the LLVM dialect and a gpu.binary.
void buildGpuCode(mlir::OpPassManager &pm, const GpuOptions &options);

/// The whole way to the LLVM dialect and a gpu.binary.
void buildGpuPipeline(mlir::OpPassManager &pm, const GpuOptions &options);

/// Adds the dialects of what the pipeline makes, for passes that run it.
void addGpuDialects(mlir::DialectRegistry &registry);

/// Registers the pipeline as `fuse-to-nvvm`.
void registerGpuPipeline();

/// Lets One-Shot bufferisation know fuse.launch.
void registerLaunchBufferization(mlir::DialectRegistry &registry);

} // namespace fuse

#endif // FUSE_LOWERING_GPUPIPELINE_H
