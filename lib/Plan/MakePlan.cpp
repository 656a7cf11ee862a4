//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan from groups. Decides nothing.
//
//===----------------------------------------------------------------------===//

#include "Greedy.h"

using namespace mlir;
using namespace fuse;

unsigned fuse::rootOf(const FusionGraph &graph, ArrayRef<unsigned> ops) {
  unsigned root = ops.back();
  double most = -1;
  for (unsigned id : ops) {
    double weight = graph.nodes[id].role == Role::Elementwise
                        ? 0
                        : graph.nodes[id].flops + 1;
    if (weight > most) {
      most = weight;
      root = id;
    }
  }
  return root;
}

/// What became of an edge whose ends are in kernels `a` and `b`.
static Plan::Outcome outcomeOf(const Plan &plan, int a, int b,
                               const std::string &note) {
  if (a == b)
    return {"in kernel " + std::to_string(a), true};
  if (!plan.kernels[a].kernel || !plan.kernels[b].kernel)
    return {"one side has no kernel class or tile", false};
  if (!note.empty())
    return {note, false};
  return {"between kernels " + std::to_string(a) + " and " + std::to_string(b),
          false};
}

Plan fuse::makePlan(const FusionGraph &graph, ArrayRef<unsigned> groupOf,
                    ArrayRef<Planning> groups, ArrayRef<unsigned> recomputed,
                    ArrayRef<std::string> notes) {
  Plan plan;
  plan.recomputed.assign(recomputed.begin(), recomputed.end());
  auto isRecomputed = [&](unsigned id) {
    return std::binary_search(recomputed.begin(), recomputed.end(), id);
  };
  std::vector<int> number(groups.size(), -1);
  for (unsigned id = 0; id < graph.nodes.size(); ++id) {
    unsigned index = groupOf[id];
    if (isRecomputed(id) || number[index] >= 0)
      continue;
    number[index] = plan.kernels.size();
    PlannedKernel kernel;
    kernel.ops = groups[index].ops;
    if (groups[index].cost) {
      kernel.kernel = groups[index].kernel;
      kernel.cost = *groups[index].cost;
    }
    kernel.root = rootOf(graph, kernel.ops);
    plan.kernels.push_back(std::move(kernel));
  }
  for (auto [edge, note] : llvm::zip_equal(graph.facts.edges, notes)) {
    if (isRecomputed(edge.consumer))
      plan.edges.push_back(
          {"consumer is evaluated again by its readers", false});
    else if (isRecomputed(edge.producer))
      plan.edges.push_back({"recomputed in kernel " +
                                std::to_string(number[groupOf[edge.consumer]]),
                            true});
    else
      plan.edges.push_back(outcomeOf(plan, number[groupOf[edge.producer]],
                                     number[groupOf[edge.consumer]], note));
  }
  return plan;
}
