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

#include "fuse/Plan/GroupOrder.h"
#include "fuse/Plan/Planner.h"
#include <cmath>
#include <queue>

using namespace mlir;
using namespace fuse;

namespace {

/// A group while planning.
struct Planning {
  SmallVector<unsigned, 4> ops; ///< empty: merged into another
  const KernelClass *kernel = nullptr;
  std::optional<TileCost> cost;
};

/// An edge in the queue: the gain it was last found to have, and which edge.
struct Candidate {
  double gain;
  unsigned edge;
  bool operator<(const Candidate &other) const {
    return gain != other.gain ? gain < other.gain : edge > other.edge;
  }
};

class Greedy {
public:
  Greedy(const FusionGraph &graph, ArrayRef<Decision> decisions,
         const VerdictOptions &options, Objective objective)
      : graph(graph), decisions(decisions), options(options),
        objective(objective), limits(limitsOf(options)), order(graph) {}
  Plan run();

private:
  bool isCandidate(unsigned edge);
  std::optional<double> gainOf(unsigned edge, bool checkCycles = true);
  std::vector<unsigned> joinAlong(ArrayRef<unsigned> edges, bool &joined);
  void join(unsigned edge);
  void recompute(unsigned id);
  Planning evaluate(SmallVector<unsigned, 4> ops, std::string &refusal,
                    ArrayRef<unsigned> internal = {});
  double valueOf(const Planning &group) const;
  Plan result();

  const FusionGraph &graph;
  ArrayRef<Decision> decisions;
  const VerdictOptions &options;
  Objective objective;
  Limits limits;
  std::vector<Planning> groups;
  GroupOrder order;
  std::vector<std::string> notes;   ///< per edge: why not
  std::vector<unsigned> recomputed; ///< ascending
  std::vector<SmallVector<unsigned, 2>>
      edgesOf; ///< per operator: edges that leave it
};

} // namespace

Limits fuse::limitsOf(const VerdictOptions &options) {
  return {options.registers(),
          options.device.sharedPerBlock * options.boundary};
}

/// Joined or not, an edge is no candidate where fusing is not known to be
/// right, where the user says no, or where it would move work out of the
/// preparation.
bool Greedy::isCandidate(unsigned edge) {
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

double Greedy::valueOf(const Planning &group) const {
  if (objective == Objective::Time)
    return group.cost->estimate.seconds;
  // A kernel more is worth a byte: of two plans with equal bytes the one with
  // fewer kernels wins.
  return group.cost->work.dramBytes + 1;
}

/// "reason: registers=40 of 32, ...": numbers come with their limits.
static std::string textOf(const Decision &refusal) {
  std::string text = stringifyReason(refusal.reason).str();
  for (size_t i = 0; i + 1 < refusal.numbers.size(); i += 2)
    text += (i ? ", " : ": ") + refusal.numbers[i].first + "=" +
            formatNumber(refusal.numbers[i].second) + " of " +
            formatNumber(refusal.numbers[i + 1].second);
  return text;
}

Planning Greedy::evaluate(SmallVector<unsigned, 4> ops, std::string &refusal,
                          ArrayRef<unsigned> internal) {
  Planning planning;
  // Kernels are formed on tensors; memrefs are analysed only.
  if (llvm::any_of(ops, [&](unsigned id) {
        return !graph.op(id).hasPureTensorSemantics();
      })) {
    refusal = "kernels are formed on tensors only";
    planning.ops = std::move(ops);
    return planning;
  }
  Group group{graph, std::move(ops), SmallVector<unsigned, 1>(internal)};
  Decision reason;
  planning.kernel = classify(group, reason);
  if (!planning.kernel) {
    refusal = stringifyReason(reason.reason).str();
  } else {
    TileCost smallest;
    planning.cost =
        bestTile(*planning.kernel, group, options.device, limits, smallest);
    if (!planning.cost)
      refusal = textOf(noTile(group, options.device, smallest, limits));
  }
  planning.ops = std::move(group.ops);
  return planning;
}

/// Leaves a cheap operator of its own out of the kernels, if evaluating it
/// again in each of its readers is predicted to be faster than storing it once.
void Greedy::recompute(unsigned id) {
  const GraphNode &node = graph.nodes[id];
  unsigned own = order.groupOf(id);
  auto isRecomputed = [&](unsigned other) {
    return std::binary_search(recomputed.begin(), recomputed.end(), other);
  };
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
    std::string ignored;
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
  Planning joined = evaluate(std::move(ops), note);
  if (!joined.cost)
    return std::nullopt;
  // A row kernel evaluates a row's statistic once and keeps it.
  if (decisions[edge].reason == Reason::Recomputed &&
      !joined.kernel->keepsBroadcasts()) {
    note = "producer would be recomputed";
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
    note =
        objective == Objective::Time
            ? "joined kernel would take " + formatNumber(-gain * 1e6) +
                  " us longer"
            : "joined kernel would move " + formatNumber(-gain) + " bytes more";
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
  std::string ignored;
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

Plan Greedy::run() {
  unsigned count = graph.nodes.size();
  notes.resize(decisions.size());
  for (unsigned id = 0; id < count; ++id) {
    std::string ignored;
    groups.push_back(evaluate({id}, ignored));
  }
  std::vector<unsigned> edges;
  for (unsigned edge = 0; edge < decisions.size(); ++edge)
    if (isCandidate(edge))
      edges.push_back(edge);
  // A larger group may hold what its parts could not: a prologue all of whose
  // readers have joined, a row's statistic beside the row.
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
  edgesOf.resize(count);
  for (unsigned edge = 0; edge < decisions.size(); ++edge)
    edgesOf[graph.facts.edges[edge].producer].push_back(edge);
  for (unsigned id = 0; id < count; ++id)
    recompute(id);
  return result();
}

/// The heaviest operator of a kernel: it carries the tile.
static unsigned rootOf(const FusionGraph &graph, ArrayRef<unsigned> ops) {
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

Plan Greedy::result() {
  Plan plan;
  plan.recomputed = recomputed;
  std::vector<int> number(groups.size(), -1);
  for (unsigned id = 0; id < graph.nodes.size(); ++id) {
    unsigned index = order.groupOf(id);
    if (number[index] >= 0 || llvm::is_contained(recomputed, id))
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
  for (unsigned edge = 0; edge < decisions.size(); ++edge) {
    const Edge &e = graph.facts.edges[edge];
    if (std::binary_search(recomputed.begin(), recomputed.end(), e.consumer)) {
      plan.edges.push_back(
          {"consumer is evaluated again by its readers", false});
      continue;
    }
    if (std::binary_search(recomputed.begin(), recomputed.end(), e.producer)) {
      plan.edges.push_back(
          {"recomputed in kernel " +
               std::to_string(number[order.groupOf(e.consumer)]),
           true});
      continue;
    }
    int a = number[order.groupOf(e.producer)],
        b = number[order.groupOf(e.consumer)];
    std::string note = notes[edge];
    if (a == b)
      note = "in kernel " + std::to_string(a);
    else if (!plan.kernels[a].kernel || !plan.kernels[b].kernel)
      note = "one side has no kernel class or tile";
    else if (note.empty())
      note =
          "between kernels " + std::to_string(a) + " and " + std::to_string(b);
    plan.edges.push_back({std::move(note), a == b});
  }
  return plan;
}

Plan fuse::planGreedily(const FusionGraph &graph, ArrayRef<Decision> decisions,
                        const VerdictOptions &options, Objective objective) {
  return Greedy(graph, decisions, options, objective).run();
}
