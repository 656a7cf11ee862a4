//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The greedy planner. Decides, edits nothing.
//
//   queue of edges by gain; pop the best; if its gain has changed, put it back;
//   otherwise join the two groups it leads between
//
//===----------------------------------------------------------------------===//

#include "Greedy.h"
#include <cmath>
#include <queue>

using namespace mlir;
using namespace fuse;

namespace {

/// An edge in the queue: the gain it was last found to have, and which edge.
struct Candidate {
  double gain;
  unsigned edge;
  bool operator<(const Candidate &other) const {
    return gain != other.gain ? gain < other.gain : edge > other.edge;
  }
};

} // namespace

Limits fuse::limitsOf(const VerdictOptions &options) {
  return {options.registers(),
          options.device.sharedPerBlock * options.boundary};
}

bool fuse::isCandidate(const FusionGraph &graph, ArrayRef<Decision> decisions,
                       unsigned edge) {
  const Decision &decision = decisions[edge];
  if (graph.facts.edges[edge].onMemory)
    return false;
  if (decision.verdict != VerdictKind::Keep)
    return true;
  Gate gate = decision.gate();
  bool judgement =
      gate == Gate::Profile || gate == Gate::Resource || gate == Gate::Profit;
  return judgement && decision.reason != Reason::TooLarge &&
         decision.reason != Reason::ComputedOnce;
}

double fuse::valueOf(const TileCost &cost, Objective objective) {
  return objective == Objective::Time ? cost.estimate.seconds
                                      : cost.work.dramBytes + 1;
}

/// What a kernel that does not gain would cost.
std::string Greedy::lossOf(double loss) const {
  if (objective == Objective::Time)
    return "joined kernel would take " + formatNumber(loss * 1e6) +
           " us longer";
  return "joined kernel would move " + formatNumber(loss) + " bytes more";
}

Planning Greedy::evaluate(Ops ops, Decision &refusal,
                          ArrayRef<unsigned> internal) {
  Planning planning;
  Group group{graph, std::move(ops), SmallVector<unsigned, 1>(internal)};
  planning.kernel = classify(group, refusal);
  if (planning.kernel) {
    TileCost smallest;
    planning.cost =
        bestTile(*planning.kernel, group, options.device, limits, smallest);
    if (!planning.cost)
      refusal =
          noTile(*planning.kernel, group, options.device, smallest, limits);
  }
  planning.ops = std::move(group.ops);
  return planning;
}

std::string fuse::noteOf(const Decision &refusal) {
  std::string note = stringifyReason(refusal.reason).str();
  if (refusal.reason == Reason::NoTile)
    for (auto [index, number] : llvm::enumerate(refusal.numbers))
      note += (index == 0       ? ": "
               : index % 2 == 0 ? ", "
                                : " of ") +
              (index % 2 == 0 ? number.first + "=" : std::string()) +
              formatNumber(number.second);
  return note;
}

bool Greedy::isRecomputed(unsigned id) const {
  return std::binary_search(recomputed.begin(), recomputed.end(), id);
}

/// Leaves a cheap operator of its own out of the kernels, if evaluating it
/// again in each of its readers is predicted to be faster than storing it once.
void Greedy::recompute(unsigned id) {
  const GraphNode &node = graph.nodes[id];
  unsigned own = order.groupOf(id);
  bool alone = groups[own].ops.size() == 1 && groups[own].cost;
  bool leaves = llvm::any_of(node.escapes, [](bool escape) { return escape; });
  if (!alone || leaves || node.consumers.size() < 2 ||
      !isCheap(graph, id, options.device) ||
      !llvm::all_of(edgesOf[id], [&](unsigned e) { return isCandidate(e); }) ||
      llvm::any_of(node.inputs, [&](const GraphInput &input) {
        return input.producer && isRecomputed(*input.producer);
      }))
    return;
  llvm::SmallSetVector<unsigned, 4> readers;
  for (unsigned consumer : node.consumers)
    readers.insert(order.groupOf(consumer));
  double gain = valueOf(groups[own]);
  SmallVector<std::pair<unsigned, Planning>, 4> changed;
  for (unsigned reader : readers) {
    SmallVector<unsigned, 4> ops = groups[reader].ops;
    if (!groups[reader].cost || ops.size() >= kMostKernelOperators)
      return;
    ops.insert(llvm::lower_bound(ops, id), id);
    Decision ignored;
    Planning joined = evaluate(std::move(ops), ignored, {id});
    if (!joined.cost || joined.kernel != groups[reader].kernel)
      return;
    gain += valueOf(groups[reader]) - valueOf(joined);
    joined.ops = groups[reader].ops;
    changed.push_back({reader, std::move(joined)});
  }
  if (gain <= 0)
    return;
  for (auto &[reader, planning] : changed)
    groups[reader] = std::move(planning);
  groups[own] = Planning();
  recomputed.push_back(id);
}

/// Why an edge from group `a` to `b` may not be inside of the joined kernel.
std::optional<std::string> Greedy::refusedInside(const Planning &a,
                                                 const Planning &b,
                                                 const Planning &joined) const {
  for (unsigned id : a.ops)
    for (unsigned edge : edgesOf[id]) {
      if (!std::binary_search(b.ops.begin(), b.ops.end(),
                              graph.facts.edges[edge].consumer))
        continue;
      if (!isCandidate(edge))
        return stringifyReason(decisions[edge].reason).str();
      // A row kernel evaluates a row's statistic once and keeps it.
      if (decisions[edge].reason == Reason::Recomputed &&
          !joined.kernel->keepsBroadcasts())
        return "producer would be recomputed";
    }
  return std::nullopt;
}

/// Gain of joining the groups at both ends of an edge; nothing, with a note, if
/// they cannot be joined.
std::optional<double> Greedy::gainOf(unsigned edge, bool checkCycles) {
  const Edge &e = graph.facts.edges[edge];
  const Planning &a = groups[order.groupOf(e.producer)],
                 &b = groups[order.groupOf(e.consumer)];
  std::string &note = notes[edge];
  if (!a.cost || !b.cost) {
    note = "one side has no kernel class or tile";
    return std::nullopt;
  }
  if (a.ops.size() + b.ops.size() > kMostKernelOperators) {
    note = "kernel would hold " + std::to_string(a.ops.size() + b.ops.size()) +
           " operators, limit " + std::to_string(kMostKernelOperators);
    return std::nullopt;
  }
  SmallVector<unsigned, 4> ops;
  std::merge(a.ops.begin(), a.ops.end(), b.ops.begin(), b.ops.end(),
             std::back_inserter(ops));
  Group merged{graph, ops};
  Traffic traffic = trafficOf(merged);
  if (traffic.inputs + traffic.outputs > kMostKernelArguments) {
    note = "kernel would have " +
           std::to_string(traffic.inputs + traffic.outputs) +
           " arguments, limit " + std::to_string(kMostKernelArguments);
    return std::nullopt;
  }
  Decision refusal;
  Planning joined = evaluate(std::move(ops), refusal);
  if (!joined.cost) {
    note = noteOf(refusal);
    return std::nullopt;
  }
  if (std::optional<std::string> refused = refusedInside(a, b, joined)) {
    note = *refused;
    return std::nullopt;
  }
  if (checkCycles && order.wouldMakeCycle(order.groupOf(e.producer),
                                          order.groupOf(e.consumer))) {
    note = "joined groups would wait for an operator between them";
    return std::nullopt;
  }
  double gain = valueOf(a) + valueOf(b) - valueOf(joined);
  bool forced = decisions[edge].reason == Reason::HintAlways ||
                decisions[edge].reason == Reason::AllowListed;
  if (gain <= 0 && !forced) {
    note = lossOf(-gain);
    return std::nullopt;
  }
  return gain;
}

void Greedy::join(unsigned edge) {
  const Edge &e = graph.facts.edges[edge];
  unsigned into = order.groupOf(e.producer), from = order.groupOf(e.consumer);
  SmallVector<unsigned, 4> ops;
  std::merge(groups[into].ops.begin(), groups[into].ops.end(),
             groups[from].ops.begin(), groups[from].ops.end(),
             std::back_inserter(ops));
  Decision ignored;
  groups[into] = evaluate(std::move(ops), ignored);
  groups[from] = Planning();
  order.join(into, from);
}

/// Joins groups along `edges`, best gain first; those that could not be joined
/// are returned. True in `joined` if any was.
std::vector<unsigned> Greedy::joinAlong(ArrayRef<unsigned> edges,
                                        bool &joined) {
  // Cycles are looked for when an edge is taken: joins before that make some
  // and undo some.
  std::vector<unsigned> refused;
  std::priority_queue<Candidate> queue;
  for (unsigned edge : edges) {
    if (std::optional<double> gain = gainOf(edge, /*checkCycles=*/false))
      queue.push({*gain, edge});
    else
      refused.push_back(edge);
  }
  while (!queue.empty()) {
    Candidate candidate = queue.top();
    queue.pop();
    const Edge &e = graph.facts.edges[candidate.edge];
    if (order.groupOf(e.producer) == order.groupOf(e.consumer))
      continue;
    std::optional<double> gain = gainOf(candidate.edge);
    if (!gain) {
      refused.push_back(candidate.edge);
      continue;
    }
    // What has become less is put back; rounding of equal gains is no change.
    if (*gain < candidate.gain - 1e-9 * std::fabs(candidate.gain)) {
      queue.push({*gain, candidate.edge});
      continue;
    }
    join(candidate.edge);
    joined = true;
  }
  return refused;
}

/// A larger group may hold what its parts could not: a prologue all of whose
/// readers have joined, a row's statistic beside the row.
void Greedy::joinEdges() {
  std::vector<unsigned> edges;
  for (unsigned edge = 0; edge < decisions.size(); ++edge)
    if (isCandidate(edge))
      edges.push_back(edge);
  constexpr unsigned kMostRounds = 4;
  for (unsigned round = 0; round < kMostRounds; ++round) {
    bool joined = false;
    edges = joinAlong(edges, joined);
    if (!joined)
      break;
    llvm::erase_if(edges, [&](unsigned edge) {
      const Edge &e = graph.facts.edges[edge];
      return order.groupOf(e.producer) == order.groupOf(e.consumer);
    });
  }
}

Plan Greedy::run() {
  unsigned count = graph.nodes.size();
  notes.resize(decisions.size());
  for (unsigned id = 0; id < count; ++id) {
    Decision ignored;
    // Kernels are formed on tensors; memrefs are analysed only.
    groups.push_back(graph.op(id).hasPureTensorSemantics()
                         ? evaluate({id}, ignored)
                         : Planning{{id}, nullptr, std::nullopt});
  }
  edgesOf.resize(count);
  for (unsigned edge = 0; edge < decisions.size(); ++edge)
    edgesOf[graph.facts.edges[edge].producer].push_back(edge);
  joinEdges();
  joinChains();
  for (unsigned id = 0; id < count; ++id)
    recompute(id);
  joinSiblings();
  return result();
}

Plan Greedy::result() {
  std::vector<unsigned> groupOf;
  for (unsigned id = 0; id < graph.nodes.size(); ++id)
    groupOf.push_back(order.groupOf(id));
  Plan plan = makePlan(graph, groupOf, groups, recomputed, notes);
  plan.siblings = siblings;
  return plan;
}

Plan fuse::planGreedily(const FusionGraph &graph, ArrayRef<Decision> decisions,
                        const VerdictOptions &options, Objective objective) {
  return Greedy(graph, decisions, options, objective).run();
}
