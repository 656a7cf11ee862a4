//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks a plan, ours or a hand-written one, before anything is built from it.
// Changes nothing.
//
//===----------------------------------------------------------------------===//

#include "fuse/Plan/VerifyPlan.h"
#include "fuse/Plan/GroupOrder.h"
#include "llvm/ADT/SCCIterator.h"

using namespace mlir;
using namespace fuse;

namespace {

/// A check returns what is wrong, or nothing, and may move `where`.
class Checker {
public:
  Checker(const FusionGraph &graph, const VerdictOptions &options)
      : graph(graph), options(options),
        decisions(decideEdges(graph.facts, options)) {}
  void check(PlanGroup &group);

private:
  std::string checkPlace(PlanGroup &group);
  std::string checkEdges(PlanGroup &group);
  std::string checkClass(PlanGroup &group);
  std::string checkTile(PlanGroup &group);

  Group withRecomputed(const PlanGroup &group) const;

  const FusionGraph &graph;
  const VerdictOptions &options;
  std::vector<Decision> decisions;
};

} // namespace

static GroupAttr groupOf(Operation *op) {
  return op->getAttrOfType<GroupAttr>(names::kGroup);
}

/// The group with the operators that it evaluates again (`fuse.recompute`).
Group Checker::withRecomputed(const PlanGroup &group) const {
  Group all{graph, group.ops};
  for (unsigned id : group.ops)
    for (const GraphInput &input : graph.nodes[id].inputs)
      if (input.producer && !all.contains(*input.producer) &&
          graph.op(*input.producer)->hasAttr(names::kRecompute)) {
        all.ops.insert(llvm::lower_bound(all.ops, *input.producer),
                       *input.producer);
        all.internal.push_back(*input.producer);
      }
  return all;
}

std::string Checker::checkPlace(PlanGroup &group) {
  Operation *first = graph.op(group.ops.front());
  for (unsigned id : group.ops) {
    Operation *op = graph.op(id);
    group.where = op;
    if (op->getBlock() != first->getBlock())
      return "operators #" + std::to_string(group.ops.front()) + " and #" +
             std::to_string(id) + " are in different blocks";
    if (!graph.op(id).hasPureTensorSemantics())
      return "operator #" + std::to_string(id) +
             " works on memrefs: kernels are formed on tensors";
    if (groupOf(op).getKernel() != groupOf(first).getKernel())
      return "its operators name the kernel classes '" +
             groupOf(first).getKernel().getValue().str() + "' and '" +
             groupOf(op).getKernel().getValue().str() + "'";
  }
  return "";
}

/// No edge inside may be refused for correctness.
std::string Checker::checkEdges(PlanGroup &group) {
  Group inside = withRecomputed(group);
  for (auto [edge, decision] : llvm::zip_equal(graph.facts.edges, decisions)) {
    if (!inside.contains(edge.producer) || !inside.contains(edge.consumer))
      continue;
    Gate gate = decision.gate();
    bool correctness = gate == Gate::Dependency || gate == Gate::Shape ||
                       gate == Gate::Numerics;
    if (decision.verdict != VerdictKind::Keep || !correctness)
      continue;
    group.where = graph.op(edge.consumer);
    return "the edge from operator #" + std::to_string(edge.producer) +
           " to #" + std::to_string(edge.consumer) +
           " must be kept: " + stringifyReason(decision.reason).str();
  }
  return "";
}

std::string Checker::checkClass(PlanGroup &group) {
  group.where = graph.op(group.ops.front());
  StringRef wanted = groupOf(group.where).getKernel();
  std::string known;
  for (const KernelClass *kernel : kernelClasses())
    known += (known.empty() ? "" : ", ") + kernel->name().str();
  if (llvm::none_of(kernelClasses(), [&](const KernelClass *kernel) {
        return kernel->name() == wanted;
      }))
    return "unknown kernel class '" + wanted.str() + "', known are " + known;
  Decision refusal;
  group.kernel = classify(withRecomputed(group), refusal);
  if (!group.kernel)
    return "no kernel class holds it: " + stringifyReason(refusal.reason).str();
  if (group.kernel->name() != wanted)
    return "kernel class '" + wanted.str() + "' does not hold it, '" +
           group.kernel->name().str() + "' does";
  return "";
}

std::string Checker::checkTile(PlanGroup &group) {
  Group inside = withRecomputed(group);
  Limits limits = limitsOf(options);
  TileAttr tile;
  for (unsigned id : group.ops)
    if (auto own = graph.op(id)->getAttrOfType<TileAttr>(names::kTile)) {
      tile = own;
      group.where = graph.op(id);
    }
  auto numbers = [&](const TileCost &cost) {
    return "registers " + formatNumber(cost.registers) + " of " +
           formatNumber(limits.registers) + ", shared memory " +
           formatNumber(cost.shared) + " of " + formatNumber(limits.shared) +
           " bytes, threads " + formatNumber(cost.tile.threads) + " of " +
           formatNumber(options.device.maxThreadsPerBlock);
  };
  double parameters = parameterBytes(inside, options.device);
  if (parameters > kMostParameters)
    return "the kernel takes " + formatNumber(parameters) +
           " bytes of parameters, expected at most " +
           formatNumber(kMostParameters);
  if (!tile) {
    TileCost smallest;
    std::optional<TileCost> best =
        bestTile(*group.kernel, inside, options.device, limits, smallest);
    if (!best)
      return "no tile fits device " + options.device.name +
             ": the smallest needs " + numbers(smallest);
    group.cost = *best;
    return "";
  }
  size_t rank =
      group.kernel->tiles(inside, options.device).front().sizes.size();
  if (tile.getSizes().size() != rank)
    return "the tile has " + std::to_string(tile.getSizes().size()) +
           " sizes, class '" + group.kernel->name().str() + "' has " +
           std::to_string(rank);
  for (int64_t size :
       tile.getSizes().drop_back(group.kernel->choicesOf(inside)))
    if (size < 1)
      return "the tile has a size of " + std::to_string(size) +
             ", expected at least 1";
  group.cost = group.kernel->cost(
      inside, {SmallVector<int64_t, 3>(tile.getSizes()), tile.getThreads()},
      options.device);
  bool fits = group.cost.registers <= limits.registers &&
              group.cost.shared <= limits.shared &&
              blocksPerSm(options.device, tile.getThreads(),
                          group.cost.registers, group.cost.shared) >= 1;
  if (!fits)
    return "the tile does not fit device " + options.device.name +
           ": it needs " + numbers(group.cost);
  return "";
}

void Checker::check(PlanGroup &group) {
  for (auto step : {&Checker::checkPlace, &Checker::checkEdges,
                    &Checker::checkClass, &Checker::checkTile}) {
    group.problem = (this->*step)(group);
    if (!group.problem.empty())
      return;
  }
}

namespace {
/// The graph with every group as one node.
struct Contracted {
  struct Node {
    int64_t group = -1; ///< none: an operator of its own
    SmallVector<Node *, 4> next;
  };
  Contracted(const FusionGraph &graph,
             const std::map<int64_t, PlanGroup> &groups);
  std::vector<Node> nodes; ///< per node that waits; a group's first for it
  Node root;               ///< leads to all
};
} // namespace

template <> struct llvm::GraphTraits<Contracted::Node *> {
  using NodeRef = Contracted::Node *;
  using ChildIteratorType = NodeRef *;
  static NodeRef getEntryNode(NodeRef node) { return node; }
  static ChildIteratorType child_begin(NodeRef node) {
    return node->next.begin();
  }
  static ChildIteratorType child_end(NodeRef node) { return node->next.end(); }
};

Contracted::Contracted(const FusionGraph &graph,
                       const std::map<int64_t, PlanGroup> &groups) {
  WaitGraph waits(graph, /*planned=*/true);
  nodes.resize(waits.position.size());
  std::vector<Node *> nodeOf;
  for (Node &node : nodes)
    nodeOf.push_back(&node);
  for (auto &[id, group] : groups)
    for (unsigned op : group.ops) {
      nodeOf[op] = nodeOf[group.ops.front()];
      nodeOf[op]->group = id;
    }
  for (unsigned node = 0; node < nodes.size(); ++node)
    for (unsigned next : waits.after[node])
      if (nodeOf[node] != nodeOf[next])
        nodeOf[node]->next.push_back(nodeOf[next]);
  for (Node &node : nodes)
    root.next.push_back(&node);
}

/// As one kernel each, groups of a cycle would wait for each other.
static void checkCycles(const FusionGraph &graph,
                        std::map<int64_t, PlanGroup> &groups) {
  Contracted contracted(graph, groups);
  for (auto it = llvm::scc_begin(&contracted.root); !it.isAtEnd(); ++it) {
    if (it->size() < 2)
      continue;
    SmallVector<int64_t> cycle;
    for (Contracted::Node *node : *it)
      if (node->group >= 0)
        cycle.push_back(node->group);
    llvm::sort(cycle);
    std::string problem = "it is not convex: an operator outside needs one of "
                          "its results and is needed by another";
    if (cycle.size() > 1)
      problem =
          "groups " +
          llvm::join(llvm::map_range(
                         cycle, [](int64_t id) { return std::to_string(id); }),
                     ", ") +
          " need each other's results";
    for (int64_t id : cycle) {
      PlanGroup &group = groups[id];
      if (!group.problem.empty())
        continue;
      group.where = graph.op(group.ops.back());
      group.problem = problem;
    }
  }
}

std::vector<PlanGroup> fuse::readPlan(const FusionGraph &graph,
                                      const VerdictOptions &options) {
  std::map<int64_t, PlanGroup> groups;
  for (unsigned id = 0; id < graph.nodes.size(); ++id)
    if (GroupAttr attr = groupOf(graph.op(id))) {
      PlanGroup &group = groups[attr.getId()];
      group.id = attr.getId();
      group.ops.push_back(id);
    }
  Checker checker(graph, options);
  std::vector<PlanGroup> result;
  for (auto &[id, group] : groups)
    checker.check(group);
  checkCycles(graph, groups);
  for (auto &[id, group] : groups)
    result.push_back(std::move(group));
  return result;
}
