//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which operations wait for which, and groups of operators in an order of
// evaluation that is kept while groups are joined.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_PLAN_GROUPORDER_H
#define FUSE_PLAN_GROUPORDER_H

#include "fuse/Kernel/Graph.h"

namespace fuse {

/// Operations that wait for each other, as a kernel sees them: glue, constants
/// and free inits are looked through, since each kernel makes its own; what is
/// no operator (a `tensor.extract`, a loop) is there too, and so is an `outs`
/// that only gives a shape.
struct WaitGraph {
  /// `planned`: operators marked `fuse.recompute` are looked through too.
  explicit WaitGraph(const FusionGraph &graph, bool planned = false);
  /// Per node, which it waits for and which wait for it. The first nodes are
  /// the operators, by id.
  std::vector<llvm::SmallVector<unsigned, 2>> before, after;
  std::vector<unsigned> position; ///< per node, in program order
};

/// Dynamic topological order (Pearce, Kelly: "A Dynamic Topological Sort
/// Algorithm for Directed Acyclic Graphs", JEA 2006): only groups between the
/// two that are joined are looked at.
class GroupOrder {
public:
  /// Every node of a WaitGraph is a group of its own, with its number.
  explicit GroupOrder(const FusionGraph &graph);

  unsigned groupOf(unsigned op) const { return groups[op]; }
  /// True if `a` stands before `b`.
  bool precedes(unsigned a, unsigned b) const {
    return position[a] < position[b];
  }
  /// True if a path leads from one group to the other through a third: as one
  /// kernel they would wait for themselves. Says yes where the search would
  /// take too long.
  bool wouldMakeCycle(unsigned a, unsigned b) const;
  /// Joins two groups for which wouldMakeCycle is false, under the number of
  /// the first.
  void join(unsigned a, unsigned b);

private:
  /// Groups between two, by position: those that reach the later one, and those
  /// that the earlier one reaches.
  struct Between {
    llvm::SmallVector<unsigned> before, after;
  };
  /// Nothing if one is reached from the other through a third, or if they are
  /// too many.
  std::optional<Between> between(unsigned early, unsigned late) const;
  std::optional<llvm::SmallVector<unsigned>> reach(unsigned from, unsigned to,
                                                   bool forward) const;

  WaitGraph graph;
  std::vector<unsigned> groups;                    ///< per node
  std::vector<llvm::SmallVector<unsigned, 2>> ops; ///< per group, ascending
  std::vector<unsigned> position;                  ///< per group
};

} // namespace fuse

#endif // FUSE_PLAN_GROUPORDER_H
