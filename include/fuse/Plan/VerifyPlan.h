//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a plan back from attributes and checks it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_PLAN_VERIFYPLAN_H
#define FUSE_PLAN_VERIFYPLAN_H

#include "fuse/Plan/Planner.h"

namespace fuse {

/// One group as the attributes have it.
struct PlanGroup {
  int64_t id;
  llvm::SmallVector<unsigned, 4> ops; ///< ascending
  /// What is wrong with it, and where; empty if it may be formed.
  std::string problem;
  mlir::Operation *where = nullptr;
  const KernelClass *kernel = nullptr;
  TileCost cost; ///< of the tile on the root, or of the best one if it has none
};

/// The groups of `fuse.group`, by id, each checked: one block, no hazard, no
/// cycle, a known class that holds it, a tile that fits.
std::vector<PlanGroup> readPlan(const FusionGraph &graph,
                                const VerdictOptions &options);

} // namespace fuse

#endif // FUSE_PLAN_VERIFYPLAN_H
