//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Groups that gain only together: two heavy ones and all that stands between
// them, where no two of them make a kernel. Decides, edits nothing.
//
//   {q * k, scale}, {softmax}, {p * v}   ==>   one attention kernel
//
//===----------------------------------------------------------------------===//

#include "Greedy.h"

using namespace mlir;
using namespace fuse;

/// Most groups of a chain, and most heavy ones in front that are tried.
static constexpr unsigned kMostGroups = 8, kMostStarts = 4;

bool Greedy::isHeavyGroup(unsigned group) const {
  return llvm::any_of(groups[group].ops, [&](unsigned id) {
    return isHeavy(graph.nodes[id].role);
  });
}

/// Groups whose results `group` reads.
Greedy::Ops Greedy::producersOf(unsigned group) const {
  Ops found;
  for (unsigned id : groups[group].ops)
    for (const GraphInput &input : graph.nodes[id].inputs) {
      if (!input.producer)
        continue;
      unsigned other = order.groupOf(*input.producer);
      if (other != group && !llvm::is_contained(found, other))
        found.push_back(other);
    }
  return found;
}

/// Notes on the edges between groups of a chain why they are not joined.
void Greedy::noteChain(ArrayRef<unsigned> ops, const std::string &why) {
  for (unsigned id : ops)
    for (unsigned edge : edgesOf[id]) {
      const Edge &e = graph.facts.edges[edge];
      if (std::binary_search(ops.begin(), ops.end(), e.consumer) &&
          order.groupOf(id) != order.groupOf(e.consumer))
        notes[edge] = "as a chain: " + why;
    }
}

/// What speaks against a kernel of `ops` before its class is asked.
std::optional<std::string> Greedy::chainLimit(ArrayRef<unsigned> ops) {
  if (ops.size() > kMostKernelOperators)
    return "kernel would hold " + std::to_string(ops.size()) +
           " operators, limit " + std::to_string(kMostKernelOperators);
  Group group{graph, llvm::to_vector<4>(ops)};
  unsigned arguments = trafficOf(group).inputs + trafficOf(group).outputs;
  if (arguments > kMostKernelArguments)
    return "kernel would have " + std::to_string(arguments) +
           " arguments, limit " + std::to_string(kMostKernelArguments);
  for (unsigned id : ops)
    for (unsigned edge : edgesOf[id])
      if (group.contains(graph.facts.edges[edge].consumer) &&
          !isCandidate(edge))
        return stringifyReason(decisions[edge].reason).str();
  return std::nullopt;
}

/// Makes one group of `chain` in the order of evaluation; false, and nothing
/// done, if it would wait for itself.
bool Greedy::joinInOrder(Ops &chain) {
  // Positions of those that are joined first decide about the next.
  GroupOrder trial = order;
  llvm::sort(chain,
             [&](unsigned a, unsigned b) { return order.precedes(a, b); });
  for (unsigned group : ArrayRef<unsigned>(chain).drop_front()) {
    if (trial.wouldMakeCycle(chain.front(), group))
      return false;
    trial.join(chain.front(), group);
  }
  order = std::move(trial);
  return true;
}

/// Joins `chain`, groups that read each other, if they gain together.
bool Greedy::tryChain(Ops chain) {
  Ops ops;
  double before = 0;
  for (unsigned group : chain) {
    if (!groups[group].cost)
      return false;
    llvm::append_range(ops, groups[group].ops);
    before += valueOf(groups[group]);
  }
  llvm::sort(ops);
  auto refuse = [&](const std::string &why) {
    noteChain(ops, why);
    return false;
  };
  if (std::optional<std::string> limit = chainLimit(ops))
    return refuse(*limit);
  Decision refusal;
  Planning joined = evaluate(ops, refusal);
  // Two contractions without a softmax between are no chain.
  if (!joined.cost)
    return refusal.reason != Reason::TwoHeavy && refuse(noteOf(refusal));
  if (valueOf(joined) >= before)
    return refuse(lossOf(valueOf(joined) - before));
  if (!joinInOrder(chain))
    return refuse(stringifyReason(Reason::Cycle).str());
  for (unsigned group : chain)
    groups[group] = Planning();
  groups[chain.front()] = std::move(joined);
  return true;
}

/// Tries chains that end in the heavy group `last`.
void Greedy::joinChainsTo(unsigned last) {
  Ops between, starts, worklist{last};
  while (!worklist.empty())
    for (unsigned group : producersOf(worklist.pop_back_val())) {
      if (isHeavyGroup(group)) {
        if (!llvm::is_contained(starts, group))
          starts.push_back(group);
      } else if (!llvm::is_contained(between, group)) {
        between.push_back(group);
        worklist.push_back(group);
      }
      if (between.size() > kMostGroups || starts.size() > kMostStarts)
        return;
    }
  for (unsigned start : starts) {
    // Of what stands in front, only what the start leads to.
    Ops chain{start};
    for (bool grown = true; grown;) {
      grown = false;
      for (unsigned group : between)
        if (!llvm::is_contained(chain, group) &&
            llvm::any_of(producersOf(group), [&](unsigned producer) {
              return llvm::is_contained(chain, producer);
            })) {
          chain.push_back(group);
          grown = true;
        }
    }
    if (chain.size() == 1)
      continue;
    chain.push_back(last);
    if (tryChain(std::move(chain)))
      return;
  }
}

void Greedy::joinChains() {
  for (unsigned id = 0; id < graph.nodes.size(); ++id)
    if (graph.nodes[id].role == Role::Contraction)
      joinChainsTo(order.groupOf(id));
}
