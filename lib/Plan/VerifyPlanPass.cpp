//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-verify-plan: rejects wrong plans, ours or hand-written. Changes nothing.
//
//===----------------------------------------------------------------------===//

#include "fuse/Plan/Passes.h"
#include "fuse/Plan/VerifyPlan.h"
#include "mlir/IR/BuiltinOps.h"

namespace fuse {
#define GEN_PASS_DEF_VERIFYPLAN
#include "fuse/Plan/Passes.h.inc"
} // namespace fuse

using namespace mlir;

namespace {
struct VerifyPlanPass : fuse::impl::VerifyPlanBase<VerifyPlanPass> {
  void runOnOperation() override {
    fuse::VerdictOptions options = fuse::optionsOrDefault(getOperation());
    for (FunctionOpInterface function : fuse::functionsOf(getOperation())) {
      fuse::FunctionFacts facts(function);
      fuse::FusionGraph graph(facts);
      for (const fuse::PlanGroup &group : fuse::readPlan(graph, options)) {
        if (group.problem.empty())
          continue;
        emitError(group.where->getLoc())
            << "group " << group.id
            << " cannot become a kernel: " << group.problem;
        signalPassFailure();
      }
    }
    markAllAnalysesPreserved();
  }
};
} // namespace
