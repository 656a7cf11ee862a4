//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-cpu-math: functions as arithmetic that LLVM vectorises.
//
//   math.exp x : f32   ==>   a polynomial; addf of a reduction may be reordered
//
// f64 functions stay calls of libm.
//
//===----------------------------------------------------------------------===//

#include "CpuErf.h"
#include "LoopNest.h"
#include "fuse/Lowering/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace fuse {
#define GEN_PASS_DEF_CPUMATH
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;

bool fuse::isApproximated(StringRef name) {
  static constexpr StringLiteral names[] = {
      "math.exp",  "math.expm1", "math.tanh", "math.erf",
      "math.erfc", "math.log",   "math.log2", "math.log1p"};
  return llvm::is_contained(names, name);
}

namespace {
struct CpuMathPass : fuse::impl::CpuMathBase<CpuMathPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    math::populateExpansionPatterns(patterns, {"fpowi", "rsqrt"});
    fuse::populateErfPatterns(patterns);
    populateMathF32ExpansionPatterns(patterns, fuse::isApproximated);
    populateMathPolynomialApproximationPatterns(patterns, fuse::isApproximated);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    if (getOperation()->hasAttr(fuse::kKernelClassAttr))
      getOperation()->walk(fuse::allowReordering);
  }
};
} // namespace
