//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Changes nothing. Positions are followed from the kernel's results to what
// they read; two that come to the same element are one evaluation.
//
//===----------------------------------------------------------------------===//

#include "Evaluations.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace fuse;

/// Loops of `node` as pieces of one row-major index, so that operators of equal
/// size compare; by themselves where an inner extent is dynamic.
static Origins ownLoops(const GraphNode &node) {
  ArrayRef<int64_t> extents = node.extents;
  Origins loops(extents.size());
  bool dynamic = extents.size() > 1 &&
                 llvm::any_of(extents.drop_front(), ShapedType::isDynamic);
  int64_t stride = 1;
  for (size_t loop = extents.size(); loop-- > 0;) {
    loops[loop] = ownLoop(dynamic ? loop + 1 : 0, extents[loop]);
    if (dynamic || loops[loop].pieces.empty())
      continue;
    loops[loop].pieces.front().stride = stride;
    if (loop > 0) // the outermost extent may be dynamic
      stride *= extents[loop];
  }
  return loops;
}

/// Stands for the way that an operand reads a value, if that is no permutation.
static size_t hashOfRead(const GraphInput &input, linalg::LinalgOp consumer) {
  llvm::hash_code hash = llvm::hash_value(
      consumer.getMatchingIndexingMap(&consumer->getOpOperand(input.operand))
          .getAsOpaquePointer());
  for (Operation *glue : input.glue)
    hash = llvm::hash_combine(hash,
                              OperationEquivalence::computeHash(
                                  glue, OperationEquivalence::ignoreHashValue,
                                  OperationEquivalence::ignoreHashValue,
                                  OperationEquivalence::IgnoreLocations));
  return hash;
}

unsigned Evaluations::intern(Position position) {
  for (auto [number, known] : llvm::enumerate(positions))
    if (known.key == position.key && known.loops == position.loops)
      return number;
  positions.push_back(std::move(position));
  return positions.size() - 1;
}

void Evaluations::add(unsigned id, Evaluation evaluation) {
  // Past this many the count is no longer exact, but as large.
  constexpr unsigned kMostPositions = 32;
  SmallVector<Evaluation, 1> &known = found[id];
  for (Evaluation &other : known)
    if (other.position == evaluation.position) {
      other.times = std::max(other.times, evaluation.times);
      return;
    }
  if (known.size() < kMostPositions)
    known.push_back(evaluation);
  else
    known.back().times += evaluation.times;
}

void Evaluations::addOwn(unsigned id) {
  add(id, {intern({0, ownLoops(group.node(id))}), 1});
}

void Evaluations::addRead(unsigned producer, unsigned operand, double times) {
  add(producer, {intern({operand + 1, ownLoops(group.node(producer))}), times});
}

unsigned Evaluations::across(const GraphInput &input, unsigned consumer,
                             unsigned position) {
  if (input.identity)
    return position;
  const Position &from = positions[position];
  std::optional<Origins> loops =
      followBackward(group.graph, *input.producer, consumer, input, from.loops);
  if (loops)
    return intern({from.key, *loops});
  return intern({llvm::hash_combine(
                     from.key, hashOfRead(input, group.graph.op(consumer))),
                 ownLoops(group.node(*input.producer))});
}

void Evaluations::carry(unsigned id) {
  for (const GraphInput &input : group.node(id).inputs) {
    if (!input.producer || !group.contains(*input.producer))
      continue;
    double more =
        input.identity
            ? 1
            : evaluationsAlong(group.graph, *input.producer, id, input.operand);
    SmallVector<Evaluation, 1> own = found.lookup(id);
    for (const Evaluation &evaluation : own)
      add(*input.producer,
          {across(input, id, evaluation.position), evaluation.times * more});
  }
}

double Evaluations::of(unsigned id) const {
  double sum = 0;
  for (const Evaluation &evaluation : found.lookup(id))
    sum += evaluation.times;
  return sum;
}
