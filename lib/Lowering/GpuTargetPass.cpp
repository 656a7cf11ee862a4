//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-gpu-target: is there a compiler for this chip and format, and does every
// tile fit a block?
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

/// Of a block on every NVIDIA GPU ("CUDA C++ Programming Guide", Technical
/// Specifications per Compute Capability).
constexpr int64_t kMostThreads = 1024;

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
    return checkTiles();
  }

  LogicalResult checkTiles() {
    WalkResult found = getOperation()->walk([&](fuse::KernelOp kernel) {
      std::optional<fuse::TileAttr> tile = kernel.getTile();
      if (!tile || tile->getThreads() <= kMostThreads)
        return WalkResult::advance();
      kernel.emitError() << "the tile has " << tile->getThreads()
                         << " threads, expected at most " << kMostThreads;
      return WalkResult::interrupt();
    });
    return failure(found.wasInterrupted());
  }

  void runOnOperation() override {
    if (failed(check()))
      signalPassFailure();
  }
};
} // namespace
