//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-cpu-deallocate: buffers are freed after their last use.
//
// By upstream's ownership-based deallocation. A module that frees buffers
// itself is left alone: the two do not mix.
//
//===----------------------------------------------------------------------===//

#include "fuse/Lowering/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

namespace fuse {
#define GEN_PASS_DEF_CPUDEALLOCATE
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;

namespace {
struct CpuDeallocatePass : fuse::impl::CpuDeallocateBase<CpuDeallocatePass> {
  void runOnOperation() override {
    bool freesItself =
        getOperation()
            ->walk([](memref::DeallocOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    if (freesItself)
      return;
    OpPassManager pm(ModuleOp::getOperationName());
    bufferization::BufferDeallocationPipelineOptions options;
    bufferization::buildBufferDeallocationPipeline(pm, options);
    pm.addNestedPass<func::FuncOp>(
        bufferization::createOptimizeAllocationLivenessPass());
    if (failed(runPipeline(pm, getOperation())))
      signalPassFailure();
  }
};
} // namespace
