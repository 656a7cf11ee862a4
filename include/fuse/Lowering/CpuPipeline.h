//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-to-cpu: from linalg on tensors and fuse.kernel to the LLVM dialect.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LOWERING_CPUPIPELINE_H
#define FUSE_LOWERING_CPUPIPELINE_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace fuse {

struct CpuOptions : mlir::PassPipelineOptions<CpuOptions> {
  Option<unsigned> threads{
      *this, "threads",
      llvm::cl::desc("threads that share a kernel (OpenMP above 1)"),
      llvm::cl::init(1)};
  Option<std::string> hooks{
      *this, "hooks",
      llvm::cl::desc("function of which a form is added that calls "
                     "fuse_kernel_begin and fuse_kernel_end around each "
                     "kernel"),
      llvm::cl::init("")};
  Option<std::string> numerics{
      *this, "numerics",
      llvm::cl::desc("strict: every type stays; relaxed: f64 that begins and "
                     "ends in f32 becomes compensated f32"),
      llvm::cl::init("strict")};
  Option<unsigned> vectorBytes{
      *this, "vector-bytes",
      llvm::cl::desc("bytes of a vector register (0: of this machine)"),
      llvm::cl::init(0)};
};

/// Kernels to functions: what comes before bufferisation.
void buildCpuKernels(mlir::OpPassManager &pm, const CpuOptions &options);

/// The whole way to the LLVM dialect.
void buildCpuPipeline(mlir::OpPassManager &pm, const CpuOptions &options);

/// Registers the pipeline as `fuse-to-cpu`.
void registerCpuPipeline();

} // namespace fuse

#endif // FUSE_LOWERING_CPUPIPELINE_H
