//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-gpu-math: functions as arithmetic that every GPU has.
//
//   math.exp x : f32   ==>   a polynomial
//
// No call of a device library is left, so that the code does not depend on one.
//
//===----------------------------------------------------------------------===//

#include "CpuErf.h"
#include "GpuMath.h"
#include "fuse/Lowering/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/StringSwitch.h"

namespace fuse {
#define GEN_PASS_DEF_GPUMATH
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;

/// Functions of integers that convert-math-to-llvm makes instructions of.
static bool isNative(Operation *op) {
  return isa<math::CountLeadingZerosOp, math::CountTrailingZerosOp,
             math::CtPopOp>(op);
}

/// The intrinsic for an operation that the backend has, but that
/// convert-gpu-to-nvvm would make a call of libdevice of; empty for others.
static StringRef intrinsicOf(Operation *op) {
  return llvm::StringSwitch<StringRef>(op->getName().getStringRef())
      .Case("math.absf", "llvm.fabs")
      .Case("math.ceil", "llvm.ceil")
      .Case("math.copysign", "llvm.copysign")
      .Case("math.floor", "llvm.floor")
      .Case("math.fma", "llvm.fma")
      .Case("math.round", "llvm.round")
      .Case("math.roundeven", "llvm.roundeven")
      .Case("math.sqrt", "llvm.sqrt")
      .Case("math.trunc", "llvm.trunc")
      .Case("arith.maxnumf", "llvm.maxnum")
      .Case("arith.minnumf", "llvm.minnum")
      .Case("arith.maximumf", "llvm.maximum")
      .Case("arith.minimumf", "llvm.minimum")
      .Default("");
}

static void callIntrinsics(Operation *root) {
  root->walk([](Operation *op) {
    StringRef name = intrinsicOf(op);
    if (name.empty())
      return;
    OpBuilder builder(op);
    auto call = LLVM::CallIntrinsicOp::create(
        builder, op->getLoc(), op->getResult(0).getType(),
        builder.getStringAttr(name), op->getOperands());
    op->replaceAllUsesWith(call->getResults());
    op->erase();
  });
}

namespace {
struct GpuMathPass : fuse::impl::GpuMathBase<GpuMathPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    math::populateExpansionPatterns(patterns, {"clampf"});
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    fuse::populateErfPatterns(patterns);
    fuse::populateGpuFunctionPatterns(patterns);
    fuse::populateGpuLoopPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    WalkResult left = getOperation()->walk([](Operation *op) {
      if (!isa<math::MathDialect>(op->getDialect()) || isNative(op) ||
          !intrinsicOf(op).empty())
        return WalkResult::advance();
      op->emitError() << "no GPU code for '" << op->getName() << "' of "
                      << op->getResult(0).getType();
      return WalkResult::interrupt();
    });
    if (left.wasInterrupted())
      return signalPassFailure();
    callIntrinsics(getOperation());
  }
};
} // namespace
