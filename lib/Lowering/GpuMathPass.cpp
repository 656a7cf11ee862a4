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
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace fuse {
#define GEN_PASS_DEF_GPUMATH
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;

/// Functions that are instructions, or short sequences that LLVM makes.
static bool isNative(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
             math::CountLeadingZerosOp, math::CountTrailingZerosOp,
             math::CtPopOp, math::FloorOp, math::FmaOp, math::IsFiniteOp,
             math::IsInfOp, math::IsNaNOp, math::RoundEvenOp, math::RoundOp,
             math::SqrtOp, math::TruncOp>(op);
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
      if (!isa<math::MathDialect>(op->getDialect()) || isNative(op))
        return WalkResult::advance();
      op->emitError() << "no GPU code for '" << op->getName() << "' of "
                      << op->getResult(0).getType();
      return WalkResult::interrupt();
    });
    if (left.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
