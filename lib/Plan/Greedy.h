//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The greedy planner at work: along edges (Greedy.cpp), over chains of several
// groups (GreedyChains.cpp), over siblings (GreedySiblings.cpp). Private to
// lib/Plan.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_PLAN_GREEDY_H
#define FUSE_LIB_PLAN_GREEDY_H

#include "fuse/Plan/GroupOrder.h"
#include "fuse/Plan/Planner.h"

namespace fuse {

/// A group while planning.
struct Planning {
  llvm::SmallVector<unsigned, 4> ops; ///< empty: merged into another
  const KernelClass *kernel = nullptr;
  std::optional<TileCost> cost;
};

/// Plan of `groups`, where `groupOf` says which holds an operator, and `notes`
/// per edge why its ends are apart.
Plan makePlan(const FusionGraph &graph, llvm::ArrayRef<unsigned> groupOf,
              llvm::ArrayRef<Planning> groups,
              llvm::ArrayRef<unsigned> recomputed,
              llvm::ArrayRef<std::string> notes);

/// False for an edge that may not be inside of a kernel: where fusing is not
/// known to be right, where the user says no, or where it would move work out
/// of the preparation.
bool isCandidate(const FusionGraph &graph, llvm::ArrayRef<Decision> decisions,
                 unsigned edge);

/// What speaks against one launch for `ops`, some of which do not read each
/// other, whatever their class.
std::optional<Decision> siblingHazard(const FusionGraph &graph,
                                      llvm::ArrayRef<unsigned> ops);

/// What a planner minimises of a kernel: seconds, or bytes, of which a kernel
/// more is worth one: of two plans with equal bytes the one with fewer kernels
/// wins.
double valueOf(const TileCost &cost, Objective objective);

class Greedy {
public:
  Greedy(const FusionGraph &graph, llvm::ArrayRef<Decision> decisions,
         const VerdictOptions &options, Objective objective)
      : graph(graph), decisions(decisions), options(options),
        objective(objective), limits(limitsOf(options)), order(graph) {}
  Plan run();

private:
  using Ops = llvm::SmallVector<unsigned, 4>;

  // Edges.
  bool isCandidate(unsigned edge) const {
    return fuse::isCandidate(graph, decisions, edge);
  }
  std::optional<double> gainOf(unsigned edge, bool checkCycles = true);
  std::optional<std::string> refusedInside(const Planning &a, const Planning &b,
                                           const Planning &joined) const;
  std::vector<unsigned> joinAlong(llvm::ArrayRef<unsigned> edges, bool &joined);
  void joinEdges();
  void join(unsigned edge);
  void recompute(unsigned id);
  bool isRecomputed(unsigned id) const;

  // Chains.
  void joinChains();
  void joinChainsTo(unsigned last);
  bool tryChain(Ops chain);
  std::optional<std::string> chainLimit(llvm::ArrayRef<unsigned> ops);
  bool joinInOrder(Ops &chain);
  void noteChain(llvm::ArrayRef<unsigned> ops, const std::string &why);
  bool isHeavyGroup(unsigned group) const;
  Ops producersOf(unsigned group) const;

  // Siblings.
  void joinSiblings();
  void joinReaders(llvm::ArrayRef<unsigned> readers);
  std::optional<Decision> trySiblings(unsigned a, unsigned b);
  Ops recomputedIn(llvm::ArrayRef<unsigned> ops) const;

  Planning evaluate(Ops ops, Decision &refusal,
                    llvm::ArrayRef<unsigned> internal = {});
  double valueOf(const Planning &group) const {
    return fuse::valueOf(*group.cost, objective);
  }
  std::string lossOf(double loss) const;
  Plan result();

  const FusionGraph &graph;
  llvm::ArrayRef<Decision> decisions;
  const VerdictOptions &options;
  Objective objective;
  Limits limits;
  std::vector<Planning> groups;
  GroupOrder order;
  std::vector<std::string> notes;   ///< per edge: why not
  std::vector<unsigned> recomputed; ///< ascending
  std::vector<llvm::SmallVector<unsigned, 2>>
      edgesOf; ///< per operator: edges that leave it
  std::vector<SiblingRecord> siblings;
  /// Pairs of groups that were looked at, by their numbers.
  llvm::DenseSet<std::pair<unsigned, unsigned>> tried;
};

/// Why a group was refused, in a line.
std::string noteOf(const Decision &refusal);

/// The heaviest operator of a kernel: it carries the tile.
unsigned rootOf(const FusionGraph &graph, llvm::ArrayRef<unsigned> ops);

} // namespace fuse

#endif // FUSE_LIB_PLAN_GREEDY_H
