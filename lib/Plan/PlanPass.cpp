//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-plan: groups and tiles as attributes. Edits no compute operation.
//
//===----------------------------------------------------------------------===//

#include "fuse/Plan/Passes.h"
#include "fuse/Plan/Planner.h"
#include "mlir/IR/BuiltinOps.h"

namespace fuse {
#define GEN_PASS_DEF_PLANKERNELS
#include "fuse/Plan/Passes.h.inc"
} // namespace fuse

using namespace mlir;

namespace {
struct PlanPass : fuse::impl::PlanKernelsBase<PlanPass> {
  using PlanKernelsBase::PlanKernelsBase;

  void runOnOperation() override {
    std::optional<fuse::Objective> wanted = fuse::parseObjective(objective);
    if (!wanted) {
      emitError(getOperation().getLoc())
          << "fuse-plan: unknown objective '" << objective
          << "', known objectives are time, bytes";
      return signalPassFailure();
    }
    if (planner != "greedy" && planner != "exact") {
      emitError(getOperation().getLoc())
          << "fuse-plan: unknown planner '" << planner
          << "', known planners are greedy, exact";
      return signalPassFailure();
    }
    std::optional<unsigned> exactMs;
    if (planner == "exact")
      exactMs = exactLimitMs;
    fuse::planModule(getOperation(), *wanted, exactMs);
  }
};
} // namespace
