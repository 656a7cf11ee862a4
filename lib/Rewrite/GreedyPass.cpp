//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-greedy: fuse-plan, then fuse-apply.
//
//===----------------------------------------------------------------------===//

#include "fuse/Rewrite/Kernels.h"
#include "fuse/Rewrite/Passes.h"
#include "mlir/IR/BuiltinOps.h"

namespace fuse {
#define GEN_PASS_DEF_GREEDY
#include "fuse/Rewrite/Passes.h.inc"
} // namespace fuse

using namespace mlir;

namespace {
struct GreedyPass : fuse::impl::GreedyBase<GreedyPass> {
  using GreedyBase::GreedyBase;

  void runOnOperation() override {
    std::optional<fuse::Objective> wanted = fuse::parseObjective(objective);
    if (!wanted) {
      emitError(getOperation().getLoc())
          << "fuse-greedy: unknown objective '" << objective
          << "', known objectives are time, bytes";
      return signalPassFailure();
    }
    fuse::planModule(getOperation(), *wanted);
    fuse::applyPlan(getOperation());
    if (pack)
      fuse::packWeights(getOperation());
    fuse::splitPreparation(getOperation());
    // What no kernel took has other numbers and neighbours now.
    fuse::refreshVerdicts(getOperation());
  }
};
} // namespace
