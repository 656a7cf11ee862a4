//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-gpu-launch: host code that launches kernels on one stream.
//
//   fuse.launch @kernels::@k ins(a) outs(b)
//     ==>   gpu.launch_func <stream> @kernels::@k blocks in (...) threads in
//             (...) args(pointer of a, its dynamic extents, ...)
//   gpu.memcpy b, a   ==>   mgpuMemcpy(b, a, bytes, stream)
//
// A function has one stream, which it waits for before it frees a buffer, calls
// another function, or returns. Buffers are memory of the device: what reads or
// writes their elements is refused. Changes no kernel.
//
//===----------------------------------------------------------------------===//

#include "GpuHost.h"
#include "fuse/Lowering/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

namespace fuse {
#define GEN_PASS_DEF_GPULAUNCH
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;

/// True for what takes buffers and leaves their elements alone.
static bool movesNoElement(Operation *op) {
  if (isa<fuse::LaunchOp, gpu::MemcpyOp, memref::CopyOp, memref::AllocOp,
          memref::DeallocOp, memref::GetGlobalOp, memref::DimOp, memref::RankOp,
          memref::ViewOp, memref::ExtractAlignedPointerAsIndexOp,
          memref::ExtractStridedMetadataOp, memref::AssumeAlignmentOp,
          arith::SelectOp>(op))
    return true;
  return isa<ViewLikeOpInterface, CallOpInterface, RegionBranchOpInterface,
             BranchOpInterface, FunctionOpInterface>(op) ||
         op->hasTrait<OpTrait::IsTerminator>();
}

static LogicalResult checkHost(func::FuncOp function) {
  WalkResult found = function->walk([](Operation *op) {
    bool touches =
        llvm::any_of(op->getOperandTypes(), llvm::IsaPred<BaseMemRefType>);
    if (!touches || movesNoElement(op))
      return WalkResult::advance();
    op->emitError() << "'" << op->getName()
                    << "' outside of kernels needs elements of a tensor on "
                       "the host, expected work on tensors inside of kernels";
    return WalkResult::interrupt();
  });
  return failure(found.wasInterrupted());
}

/// True if the stream is waited for just before `op`, or between it and
/// releases.
static bool isWaitedFor(Operation *op) {
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode()) {
    if (auto call = dyn_cast<LLVM::CallOp>(before))
      return call.getCallee() == StringRef("mgpuStreamSynchronize");
    if (!isa<memref::DeallocOp>(before))
      return false;
  }
  return false;
}

namespace {
struct GpuLaunchPass : fuse::impl::GpuLaunchBase<GpuLaunchPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (function.isExternal())
        continue;
      if (failed(checkHost(function)) || failed(lower(function)))
        return signalPassFailure();
    }
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    UnitAttr::get(&getContext()));
  }

private:
  LogicalResult lower(func::FuncOp function);
};
} // namespace

LogicalResult GpuLaunchPass::lower(func::FuncOp function) {
  SmallVector<Operation *> work, waits, returns;
  function->walk([&](Operation *op) {
    if (isa<fuse::LaunchOp, gpu::MemcpyOp, memref::CopyOp>(op))
      work.push_back(op);
    // A function that is called has a stream of its own.
    if (isa<memref::DeallocOp, func::CallOp>(op))
      waits.push_back(op);
    if (isa<func::ReturnOp>(op))
      returns.push_back(op);
  });
  if (work.empty())
    return success();
  fuse::GpuHost host(function);
  for (Operation *op : work) {
    auto launch = dyn_cast<fuse::LaunchOp>(op);
    if (failed(launch ? host.launch(launch)
                      : host.copy(op, op->getOperand(isa<memref::CopyOp>(op)),
                                  op->getOperand(!isa<memref::CopyOp>(op)))))
      return failure();
    op->erase();
  }
  for (Operation *op : waits)
    if (!isWaitedFor(op))
      host.wait(op);
  for (Operation *op : returns) {
    if (!isWaitedFor(op))
      host.wait(op);
    host.end(op);
  }
  return success();
}
