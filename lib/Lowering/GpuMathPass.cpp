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
#include "fuse/Lowering/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/StringSwitch.h"

namespace fuse {
#define GEN_PASS_DEF_GPUMATH
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;

/// Functions that upstream has an approximation of that holds for every f32.
static bool isApproximated(StringRef name) {
  static constexpr StringLiteral names[] = {
      "math.exp",  "math.expm1", "math.tanh", "math.erf",
      "math.erfc", "math.log",   "math.log2", "math.log1p",
      "math.atan", "math.atan2", "math.acos", "math.asin"};
  return llvm::is_contained(names, name);
}

/// Functions that are instructions, or short sequences that LLVM makes.
static bool isNative(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
             math::CountLeadingZerosOp, math::CountTrailingZerosOp,
             math::CtPopOp, math::FloorOp, math::FmaOp, math::IsFiniteOp,
             math::IsInfOp, math::IsNaNOp, math::IsNormalOp, math::RoundEvenOp,
             math::SqrtOp, math::TruncOp>(op);
}

/// The intrinsic for a function that convert-gpu-to-nvvm would make a call of
/// libdevice of; empty for others.
static StringRef intrinsicOf(Operation *op) {
  return llvm::StringSwitch<StringRef>(op->getName().getStringRef())
      .Case("math.absf", "llvm.fabs")
      .Case("math.ceil", "llvm.ceil")
      .Case("math.copysign", "llvm.copysign")
      .Case("math.floor", "llvm.floor")
      .Case("math.fma", "llvm.fma")
      .Case("math.roundeven", "llvm.roundeven")
      .Case("math.sqrt", "llvm.sqrt")
      .Case("math.trunc", "llvm.trunc")
      .Default("");
}

static void callIntrinsics(gpu::GPUModuleOp module) {
  module.walk([](Operation *op) {
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
    // Whole powers become products first: the power of a negative number by
    // logarithms is none.
    RewritePatternSet powers(&getContext());
    populateMathAlgebraicSimplificationPatterns(powers);
    if (failed(applyPatternsGreedily(getOperation(), std::move(powers))))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    math::populateExpansionPatterns(
        patterns, {"fpowi", "rsqrt", "tan", "sinh", "cosh", "asinh", "acosh",
                   "atanh", "powf", "exp2", "round", "clampf"});
    fuse::populateErfPatterns(patterns);
    populateMathF32ExpansionPatterns(patterns, isApproximated);
    populateMathPolynomialApproximationPatterns(patterns, isApproximated);
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
      return signalPassFailure();
    callIntrinsics(getOperation());
  }
};
} // namespace
