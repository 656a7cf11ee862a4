//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels that read the same value and do not need each other become one
// launch. Decides, edits nothing.
//
//   q = matmul x, wq; k = matmul x, wk; v = matmul x, wv   ==>   one kernel
//
//===----------------------------------------------------------------------===//

#include "Greedy.h"

using namespace mlir;
using namespace fuse;

/// Launches with the same input that a further kernel is tried with: the last
/// ones, so that the number of tries is linear.
static constexpr unsigned kMostLaunches = 4;

/// Operators that no group holds, evaluated again by those of `ops`.
Greedy::Ops Greedy::recomputedIn(ArrayRef<unsigned> ops) const {
  Ops found;
  for (unsigned id : ops)
    for (const GraphInput &input : graph.nodes[id].inputs)
      if (input.producer && isRecomputed(*input.producer) &&
          !llvm::is_contained(found, *input.producer))
        found.push_back(*input.producer);
  llvm::sort(found);
  return found;
}

std::optional<Decision> fuse::siblingHazard(const FusionGraph &graph,
                                            ArrayRef<unsigned> ops) {
  const FunctionFacts &facts = graph.facts;
  Operation *first = facts.operators[ops.front()].op;
  bool prepared = graph.nodes[ops.front()].fromParameters;
  for (unsigned id : ops) {
    const OperatorFacts &op = facts.operators[id];
    if (op.op->getBlock() != first->getBlock())
      return Decision::keep(Reason::OtherBlock,
                            "move both kernels into one block");
    if (!op.effect.empty())
      return Decision::keep(Reason::SideEffect,
                            "take '" + op.effect + "' out of the body");
    if (op.copyOfReadInit)
      return Decision::keep(Reason::CopyNeeded,
                            "use a fresh tensor.empty as the destination");
    auto hint = op.op->getAttrOfType<StringAttr>(names::kHint);
    if (hint && hint.getValue() == "never")
      return Decision::keep(Reason::HintNever, "remove the hint");
    if (graph.nodes[id].fromParameters != prepared)
      return Decision::keep(Reason::ComputedOnce,
                            "arguments without fuse.param");
  }
  if (facts.wallBetween(ops.front(), ops.back(), /*memory=*/false))
    return Decision::keep(
        Reason::SideEffect,
        "move the operation with the effect before or behind both kernels");
  return std::nullopt;
}

/// Joins groups `a` and `b` if they may and should be one launch, and says why
/// or why not; nothing where they are no siblings.
std::optional<Decision> Greedy::trySiblings(unsigned a, unsigned b) {
  Ops ops;
  std::merge(groups[a].ops.begin(), groups[a].ops.end(), groups[b].ops.begin(),
             groups[b].ops.end(), std::back_inserter(ops));
  Ops again = recomputedIn(ops), all;
  std::merge(ops.begin(), ops.end(), again.begin(), again.end(),
             std::back_inserter(all));
  Group group{graph, all, llvm::to_vector<1>(again)};
  Traffic traffic = trafficOf(group);
  if (all.size() > kMostKernelOperators ||
      traffic.inputs + traffic.outputs > kMostKernelArguments ||
      !hasSiblings(group))
    return std::nullopt;
  if (std::optional<Decision> hazard = siblingHazard(graph, all))
    return hazard;
  Decision decision;
  Planning joined = evaluate(std::move(all), decision, again);
  if (!joined.cost)
    return decision;
  if (order.wouldMakeCycle(a, b))
    return Decision::keep(Reason::Cycle,
                          "siblings of which neither needs the other's result");
  double gain = valueOf(groups[a]) + valueOf(groups[b]) - valueOf(joined);
  if (gain <= 0)
    decision = Decision::keep(Reason::NoGain,
                              "a larger input, or siblings of one best tile");
  if (objective == Objective::Time)
    decision.number("gain_us", gain * 1e6);
  decision.number("bytes_removed", groups[a].cost->work.dramBytes +
                                       groups[b].cost->work.dramBytes -
                                       joined.cost->work.dramBytes);
  if (gain <= 0)
    return decision;
  joined.ops = std::move(ops);
  groups[a] = std::move(joined);
  groups[b] = Planning();
  order.join(a, b);
  return decision;
}

/// Joins groups that read one value through `readers`, ascending operators.
void Greedy::joinReaders(ArrayRef<unsigned> readers) {
  SmallVector<unsigned, kMostLaunches + 1> launches; // an operator of each
  for (unsigned id : readers) {
    unsigned group = order.groupOf(id);
    if (isRecomputed(id) || !groups[group].cost)
      continue;
    bool placed = llvm::any_of(launches, [&](unsigned other) {
      return order.groupOf(other) == group;
    });
    for (unsigned other : llvm::reverse(launches)) {
      unsigned into = order.groupOf(other);
      if (placed || !tried.insert({into, group}).second)
        continue;
      unsigned first = rootOf(graph, groups[into].ops),
               second = rootOf(graph, groups[group].ops);
      std::optional<Decision> decision = trySiblings(into, group);
      if (!decision)
        continue;
      placed = decision->verdict == VerdictKind::Fuse;
      siblings.push_back({first, second, std::move(*decision)});
    }
    if (placed)
      continue;
    launches.push_back(id);
    if (launches.size() > kMostLaunches)
      launches.erase(launches.begin());
  }
}

void Greedy::joinSiblings() {
  if (options.mode != Mode::Full)
    return;
  llvm::MapVector<Value, SmallVector<unsigned, 2>> readers;
  for (unsigned id = 0; id < graph.nodes.size(); ++id)
    for (const GraphInput &input : graph.nodes[id].inputs) {
      SmallVector<unsigned, 2> &list = readers[input.root];
      if (list.empty() || list.back() != id)
        list.push_back(id);
    }
  for (auto &[value, list] : readers)
    if (list.size() > 1)
      joinReaders(list);
}
