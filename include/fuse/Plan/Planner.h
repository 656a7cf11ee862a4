//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The plan: which operators become one kernel, of which class and tile.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_PLAN_PLANNER_H
#define FUSE_PLAN_PLANNER_H

#include "fuse/Kernel/KernelClass.h"
#include "fuse/Plan/Boundary.h"

namespace fuse {

/// What the planner minimises: predicted time, or bytes between kernels.
enum class Objective { Time, Bytes };

/// The objective of that name; nothing if there is none.
std::optional<Objective> parseObjective(llvm::StringRef name);

/// Bounds on one kernel. Parameters of a CUDA kernel take at most 4 KB before
/// CUDA 12.1 and on devices before Volta, 32,764 bytes since ("CUDA C++
/// Programming Guide", __global__ function parameters), at 8 bytes each; the
/// lower bound runs everywhere. The number of operators bounds code size and
/// planning time.
constexpr unsigned kMostKernelArguments = 512;
constexpr unsigned kMostKernelOperators = 64;

/// One planned kernel.
struct PlannedKernel {
  llvm::SmallVector<unsigned, 4> ops; ///< operator ids, ascending
  const KernelClass *kernel =
      nullptr; ///< null: no class holds it, it stays as it is
  TileCost cost;
  unsigned root = 0; ///< the operator that carries the tile
};

/// The decision on two kernels that read the same value, by the root of each
/// as they stood when it was made.
struct SiblingRecord {
  unsigned first, second;
  Decision decision;
};

struct Plan {
  /// Cheap operators that no kernel stores: each reader evaluates them again.
  std::vector<unsigned> recomputed;
  std::vector<PlannedKernel> kernels; ///< by least operator id
  /// What became of an edge, in words, and whether one kernel holds both ends.
  struct Outcome {
    std::string note;
    bool joined;
  };
  std::vector<Outcome> edges; ///< per edge of the facts
  std::vector<SiblingRecord> siblings;
};

/// True if `id` is elementwise, without transcendentals, and takes no longer to
/// evaluate than to load from the cache.
bool isCheap(const FusionGraph &graph, unsigned id, const Device &device);

/// Greedy planner: takes edges by predicted gain, joins their groups where the
/// result is convex, has a kernel class, fits the device and gains. Edges that
/// a correctness gate or the user refused are never joined.
Plan planGreedily(const FusionGraph &graph, llvm::ArrayRef<Decision> decisions,
                  const VerdictOptions &options, Objective objective);

/// The least plan of a graph of fewer than 64 operators, calls and loops: among
/// all that a class holds, that fit and that no gate refuses. Nothing if the
/// graph is larger, or if the optimum is not proved in `limitMs` milliseconds.
std::optional<Plan> planExactly(const FusionGraph &graph,
                                llvm::ArrayRef<Decision> decisions,
                                const VerdictOptions &options,
                                Objective objective, unsigned limitMs);

/// What a planner minimises: seconds, or bytes and one for each kernel.
double valueOf(const Plan &plan, Objective objective);

/// Share of the device that kernels may use under `options`.
Limits limitsOf(const VerdictOptions &options);

/// Writes `fuse.group` on every planned operator and `fuse.tile` on the roots;
/// removes those of an earlier plan.
void writePlan(const FunctionFacts &facts, const Plan &plan);

/// Plans every function of `module` with the options that `fuse-boundary` left
/// on it (or its defaults), and writes facts, verdicts, plan and remarks.
/// With `exactMs`, functions that are small enough are planned exactly for that
/// long, and a remark says whether the optimum is proved and how far the greedy
/// plan is from it.
void planModule(mlir::Operation *module, Objective objective,
                std::optional<unsigned> exactMs = std::nullopt);

} // namespace fuse

#endif // FUSE_PLAN_PLANNER_H
