//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Keeps the groups of a plan free of cycles:
//
//   m1 -> e1, m2 -> e1, m1 -> e2, m2 -> e2     {m1, e1} and {m2, e2} need each
//                                              other, though no operator does
//
//===----------------------------------------------------------------------===//

#include "fuse/Plan/GroupOrder.h"
#include <numeric>

using namespace mlir;
using namespace fuse;

/// Made anew by each kernel that needs it.
static bool isTransparent(Operation *op) {
  return isGlue(op) || op->hasTrait<OpTrait::ConstantLike>() ||
         llvm::any_of(op->getResults(),
                      [](Value result) { return isFreeInit(result); });
}

/// Operations, not transparent ones, whose results `op` needs.
static llvm::SetVector<Operation *> neededBy(Operation *op, bool planned) {
  llvm::SetVector<Operation *> found;
  SmallVector<Operation *> worklist{op};
  llvm::SmallPtrSet<Operation *, 8> visited{op};
  while (!worklist.empty()) {
    Operation *user = worklist.pop_back_val();
    for (Value value : usedValues(user))
      if (Operation *def = value.getDefiningOp()) {
        if (!isTransparent(def) &&
            !(planned && def->hasAttr(names::kRecompute)))
          found.insert(def);
        else if (visited.insert(def).second)
          worklist.push_back(def);
      }
  }
  return found;
}

WaitGraph::WaitGraph(const FusionGraph &graph, bool planned) {
  unsigned operators = graph.nodes.size(), place = 0;
  position.resize(operators);
  llvm::DenseMap<Operation *, unsigned> numbers;
  graph.facts.function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == graph.facts.function)
      return WalkResult::advance();
    std::optional<unsigned> id = graph.facts.idOf(op);
    if (!id && isTransparent(op))
      return WalkResult::skip();
    if (!id) {
      id = position.size();
      position.push_back(0);
    }
    position[*id] = place++;
    numbers[op] = *id;
    bool inside = op->hasTrait<OpTrait::IsIsolatedFromAbove>() ||
                  isa<linalg::LinalgOp>(op);
    return inside ? WalkResult::skip() : WalkResult::advance();
  });
  before.resize(position.size());
  after.resize(position.size());
  for (auto [op, number] : numbers)
    for (Operation *needed : neededBy(op, planned))
      if (auto it = numbers.find(needed); it != numbers.end()) {
        before[number].push_back(it->second);
        after[it->second].push_back(number);
      }
  for (SmallVector<unsigned, 2> &list : after)
    llvm::sort(list);
}

GroupOrder::GroupOrder(const FusionGraph &operators)
    : graph(operators), groups(graph.position.size()),
      ops(graph.position.size()), position(graph.position) {
  std::iota(groups.begin(), groups.end(), 0);
  for (unsigned id = 0; id < ops.size(); ++id)
    ops[id].push_back(id);
}

std::optional<SmallVector<unsigned>>
GroupOrder::reach(unsigned from, unsigned to, bool forward) const {
  constexpr unsigned kMostVisited = 4096;
  unsigned low = std::min(position[from], position[to]),
           high = std::max(position[from], position[to]);
  SmallVector<unsigned> found, worklist{from};
  llvm::SmallDenseSet<unsigned, 16> visited{from};
  bool cycle = false;
  while (!worklist.empty()) {
    unsigned group = worklist.pop_back_val();
    auto visit = [&](unsigned node) {
      unsigned next = groups[node];
      cycle |= next == to && group != from;
      if (next != to && position[next] > low && position[next] < high &&
          visited.insert(next).second) {
        worklist.push_back(next);
        found.push_back(next);
      }
    };
    for (unsigned node : ops[group])
      llvm::for_each(forward ? graph.after[node] : graph.before[node], visit);
    if (cycle || found.size() > kMostVisited)
      return std::nullopt;
  }
  return found;
}

std::optional<GroupOrder::Between> GroupOrder::between(unsigned early,
                                                       unsigned late) const {
  std::optional<SmallVector<unsigned>> after = reach(early, late, true), before;
  if (after)
    before = reach(late, early, false);
  if (!before)
    return std::nullopt;
  return Between{std::move(*before), std::move(*after)};
}

bool GroupOrder::wouldMakeCycle(unsigned a, unsigned b) const {
  if (position[a] > position[b])
    std::swap(a, b);
  return !between(a, b);
}

void GroupOrder::join(unsigned a, unsigned b) {
  unsigned early = position[a] < position[b] ? a : b, late = early == a ? b : a;
  std::optional<Between> found = between(early, late);
  assert(found && "joined groups would make a cycle");
  // What must come first takes the first positions, what must come later the
  // last ones; the joined group stands between.
  SmallVector<unsigned> slots{position[early], position[late]};
  for (SmallVector<unsigned> *part : {&found->before, &found->after}) {
    llvm::sort(*part, [&](unsigned x, unsigned y) {
      return position[x] < position[y];
    });
    for (unsigned group : *part)
      slots.push_back(position[group]);
  }
  llvm::sort(slots);
  auto *slot = slots.begin();
  for (unsigned group : found->before)
    position[group] = *slot++;
  position[a] = *slot;
  slot = slots.end() - found->after.size();
  for (unsigned group : found->after)
    position[group] = *slot++;
  SmallVector<unsigned, 2> merged;
  std::merge(ops[a].begin(), ops[a].end(), ops[b].begin(), ops[b].end(),
             std::back_inserter(merged));
  for (unsigned op : ops[b])
    groups[op] = a;
  ops[a] = std::move(merged);
  ops[b].clear();
}
