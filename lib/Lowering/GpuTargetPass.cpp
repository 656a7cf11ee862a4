//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-gpu-target: is there a compiler for this chip and format?
//
// Changes nothing; runs before anything is lowered.
//
//===----------------------------------------------------------------------===//

#include "Ptxas.h"
#include "fuse/Device/Chip.h"
#include "fuse/Lowering/Passes.h"

namespace fuse {
#define GEN_PASS_DEF_GPUTARGET
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;

namespace {
struct GpuTargetPass : fuse::impl::GpuTargetBase<GpuTargetPass> {
  using GpuTargetBase::GpuTargetBase;

  LogicalResult check() {
    if (llvm::Error error = fuse::ptxVersionOf(chip).takeError())
      return getOperation().emitError(llvm::toString(std::move(error)));
    if (format != "isa" && format != "llvm" && format != "bin")
      return getOperation().emitError()
             << "unknown format '" << format << "', known are isa, llvm, bin";
    if (numerics != "strict" && numerics != "relaxed")
      return getOperation().emitError() << "unknown numerics '" << numerics
                                        << "', expected strict or relaxed";
    if (format == "bin" && !fuse::findPtxas())
      return getOperation().emitError()
             << "format 'bin' needs ptxas, which is found neither on PATH, "
                "nor in CUDA_HOME or CUDA_PATH, nor in the Python package "
                "nvidia-cuda-nvcc; 'isa' needs none";
    return success();
  }

  void runOnOperation() override {
    if (failed(check()))
      signalPassFailure();
  }
};
} // namespace
