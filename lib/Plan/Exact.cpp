//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The exact planner: the least plan of a small graph, where time allows to find
// it. Decides, edits nothing.
//
//   states: sets of operators that are closed under what they wait for;
//   a step adds one kernel; the cheapest state is extended first, so the first
//   complete one is the optimum
//
// Cheap operators that readers may evaluate again are left out in each of the
// possible ways.
//
//===----------------------------------------------------------------------===//

#include "Greedy.h"
#include <chrono>
#include <queue>

using namespace mlir;
using namespace fuse;

using Clock = std::chrono::steady_clock;
using Mask = uint64_t;

/// Bits of a Mask; and most operators that are left out in all possible ways.
static constexpr unsigned kMostNodes = 64, kMostRecomputed = 6;

static bool has(Mask mask, unsigned node) { return mask >> node & 1; }
static Mask bit(unsigned node) { return Mask(1) << node; }

namespace {

/// A state of the search: what it cost, and the kernel that led to it.
struct State {
  double value;
  Mask from, group;
};

class Exact {
public:
  Exact(const FusionGraph &graph, ArrayRef<Decision> decisions,
        const VerdictOptions &options, Objective objective,
        Clock::time_point end)
      : graph(graph), decisions(decisions), options(options),
        objective(objective), end(end), waits(graph) {}
  /// Nothing if the graph is too large, or time runs out.
  std::optional<Plan> run();

private:
  SmallVector<unsigned> recomputable() const;
  void leaveOut(Mask again);
  bool search();
  void extend(Mask done, double value);
  std::optional<double> valueOf(Mask group);
  Planning evaluate(Mask group) const;
  bool mayHold(const Group &group, const Planning &planning) const;
  bool isLate() { return late |= (++steps % 256 == 0 && Clock::now() > end); }
  Plan makeBest() const;

  const FusionGraph &graph;
  ArrayRef<Decision> decisions;
  const VerdictOptions &options;
  Objective objective;
  Clock::time_point end;
  WaitGraph waits;
  SmallVector<Mask> before; ///< per node, what it waits for
  Mask again = 0;           ///< operators that are left out
  Mask all = 0;             ///< nodes that are not
  unsigned steps = 0;
  bool late = false;
  llvm::DenseMap<Mask, std::optional<double>> values; ///< per group
  llvm::DenseMap<Mask, State> states;
  using Open = std::pair<double, Mask>;
  std::priority_queue<Open, std::vector<Open>, std::greater<Open>> queue;
  // The best so far.
  std::optional<double> least;
  Mask leastAgain = 0;
  SmallVector<Mask> leastGroups;
};

} // namespace

/// Cheap operators that no kernel need store.
SmallVector<unsigned> Exact::recomputable() const {
  SmallVector<unsigned> found;
  for (unsigned id = 0; id < graph.nodes.size(); ++id) {
    const GraphNode &node = graph.nodes[id];
    bool leaves = llvm::is_contained(node.escapes, true);
    bool allowed = true;
    for (auto [number, edge] : llvm::enumerate(graph.facts.edges))
      allowed &= edge.producer != id || isCandidate(graph, decisions, number);
    if (!leaves && allowed && node.consumers.size() > 1 &&
        graph.op(id).hasPureTensorSemantics() &&
        isCheap(graph, id, options.device))
      found.push_back(id);
  }
  return found;
}

/// What waits for an operator of `mask` waits for what that waits for.
void Exact::leaveOut(Mask mask) {
  again = mask;
  before.assign(waits.before.size(), 0);
  all = 0;
  for (unsigned node = 0; node < before.size(); ++node) {
    if (has(again, node))
      continue;
    all |= bit(node);
    for (unsigned other : waits.before[node]) {
      before[node] |= has(again, other) ? 0 : bit(other);
      if (has(again, other))
        for (unsigned further : waits.before[other])
          before[node] |= bit(further);
    }
  }
}

/// False if an edge inside may not be, or if parts may not share a launch.
bool Exact::mayHold(const Group &group, const Planning &planning) const {
  for (auto [number, edge] : llvm::enumerate(graph.facts.edges)) {
    if (!group.contains(edge.producer) || !group.contains(edge.consumer))
      continue;
    if (!isCandidate(graph, decisions, number) ||
        (decisions[number].reason == Reason::Recomputed &&
         !planning.kernel->keepsBroadcasts()))
      return false;
  }
  return !hasSiblings(group) || !siblingHazard(graph, group.ops);
}

Planning Exact::evaluate(Mask mask) const {
  Planning planning;
  Group group{graph, {}};
  for (unsigned id = 0; id < graph.nodes.size(); ++id)
    if (has(mask, id)) {
      group.ops.push_back(id);
      planning.ops.push_back(id);
      if (!graph.op(id).hasPureTensorSemantics())
        return planning;
    }
  for (unsigned id : planning.ops)
    for (const GraphInput &input : graph.nodes[id].inputs)
      if (input.producer && has(again, *input.producer) &&
          !group.contains(*input.producer)) {
        group.ops.insert(llvm::lower_bound(group.ops, *input.producer),
                         *input.producer);
        group.internal.push_back(*input.producer);
      }
  const Traffic &traffic = trafficOf(group);
  if (group.ops.size() > kMostKernelOperators ||
      traffic.inputs + traffic.outputs > kMostKernelArguments)
    return planning;
  Decision ignored;
  planning.kernel = classify(group, ignored);
  if (!planning.kernel ||
      (planning.ops.size() > 1 && !mayHold(group, planning)))
    return planning;
  TileCost smallest;
  planning.cost = bestTile(*planning.kernel, group, options.device,
                           limitsOf(options), smallest);
  return planning;
}

/// Of a kernel; what no class or tile takes stays alone and costs nothing that
/// a plan could change.
std::optional<double> Exact::valueOf(Mask group) {
  auto [known, isNew] = values.try_emplace(group);
  if (!isNew)
    return known->second;
  bool single = (group & (group - 1)) == 0;
  if (group >> graph.nodes.size() != 0)
    return known->second = single ? std::optional<double>(0) : std::nullopt;
  Planning planning = evaluate(group);
  std::optional<double> value;
  if (planning.cost)
    value = fuse::valueOf(*planning.cost, objective);
  else if (single)
    value = 0;
  return values[group] = value;
}

/// Adds every kernel that can run next. Groups grow by operators that wait for
/// nothing outside of them, each set once: by ascending exclusion.
void Exact::extend(Mask done, double value) {
  struct Partial {
    Mask group, excluded;
  };
  SmallVector<Partial> worklist{{0, 0}};
  while (!worklist.empty() && !isLate()) {
    Partial partial = worklist.pop_back_val();
    Mask reached = done | partial.group;
    for (unsigned node = 0; node < before.size(); ++node) {
      if (!has(all, node) || has(reached | partial.excluded, node) ||
          (before[node] & ~reached) != 0)
        continue;
      Mask group = partial.group | bit(node);
      worklist.push_back({group, partial.excluded});
      partial.excluded |= bit(node);
      std::optional<double> own = valueOf(group);
      if (!own)
        continue;
      Mask next = done | group;
      auto [known, isNew] =
          states.try_emplace(next, State{value + *own, done, group});
      if (!isNew && known->second.value <= value + *own)
        continue;
      known->second = {value + *own, done, group};
      queue.push({value + *own, next});
    }
  }
}

/// Finds the least plan that leaves `again` out; false if time runs out.
bool Exact::search() {
  states.clear();
  values.clear();
  queue = {};
  states[0] = {0, 0, 0};
  queue.push({0, 0});
  while (!queue.empty() && !late) {
    auto [value, done] = queue.top();
    queue.pop();
    if (value > states[done].value)
      continue;
    if (least && value >= *least)
      return true;
    if (done != all) {
      extend(done, value);
      continue;
    }
    least = value;
    leastAgain = again;
    leastGroups.clear();
    for (Mask mask = done; mask != 0; mask = states[mask].from)
      leastGroups.push_back(states[mask].group);
    return true;
  }
  return !late;
}

Plan Exact::makeBest() const {
  std::vector<unsigned> groupOf(graph.nodes.size()), recomputed;
  std::vector<Planning> groups;
  for (Mask mask : leastGroups) {
    if (mask >> graph.nodes.size() != 0)
      continue;
    groups.push_back(evaluate(mask));
    for (unsigned id : groups.back().ops)
      groupOf[id] = groups.size() - 1;
  }
  for (unsigned id = 0; id < graph.nodes.size(); ++id)
    if (has(leastAgain, id))
      recomputed.push_back(id);
  std::vector<std::string> notes(graph.facts.edges.size());
  return makePlan(graph, groupOf, groups, recomputed, notes);
}

std::optional<Plan> Exact::run() {
  if (waits.before.size() >= kMostNodes)
    return std::nullopt;
  SmallVector<unsigned> cheap = recomputable();
  if (cheap.size() > kMostRecomputed)
    return std::nullopt;
  for (Mask choice = 0; choice < Mask(1) << cheap.size(); ++choice) {
    Mask mask = 0;
    for (auto [index, id] : llvm::enumerate(cheap))
      mask |= has(choice, index) ? bit(id) : 0;
    // What is evaluated again reads nothing that is.
    bool nested = false;
    for (unsigned id : cheap)
      for (const GraphInput &input : graph.nodes[id].inputs)
        nested |= has(mask, id) && input.producer && has(mask, *input.producer);
    if (nested)
      continue;
    leaveOut(mask);
    if (!search())
      return std::nullopt;
  }
  leaveOut(leastAgain);
  return makeBest();
}

double fuse::valueOf(const Plan &plan, Objective objective) {
  double sum = 0;
  for (const PlannedKernel &kernel : plan.kernels)
    if (kernel.kernel)
      sum += valueOf(kernel.cost, objective);
  return sum;
}

std::optional<Plan> fuse::planExactly(const FusionGraph &graph,
                                      ArrayRef<Decision> decisions,
                                      const VerdictOptions &options,
                                      Objective objective, unsigned limitMs) {
  if (options.mode != Mode::Full)
    return std::nullopt;
  return Exact(graph, decisions, options, objective,
               Clock::now() + std::chrono::milliseconds(limitMs))
      .run();
}
