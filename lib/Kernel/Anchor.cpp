//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What contraction and window kernels share: one anchor with its own reduction,
// prologues while its operands are loaded, epilogues on its output tile.
//
//===----------------------------------------------------------------------===//

#include "Classes.h"
#include "Evaluations.h"

using namespace mlir;
using namespace fuse;

double fuse::loadsPerElement(linalg::LinalgOp op, unsigned operand,
                             int64_t tileN) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(operand));
  double free = 1, covered = 1;
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
    double extent =
        ShapedType::isDynamic(extents[loop]) ? kAssumedExtent : extents[loop];
    bool plain = llvm::is_contained(map.getResults(),
                                    getAffineDimExpr(loop, map.getContext()));
    if (!map.isFunctionOfDim(loop))
      free *= iterator == utils::IteratorType::parallel ? extent : 1;
    else if (iterator == utils::IteratorType::reduction && !plain)
      covered *= extent;
  }
  return std::ceil(free / tileN) * covered;
}

SmallVector<unsigned> fuse::upstreamOf(const Group &group, unsigned id) {
  llvm::SmallDenseSet<unsigned> seen;
  SmallVector<unsigned> worklist{id}, result;
  while (!worklist.empty())
    for (const GraphInput &input : group.node(worklist.pop_back_val()).inputs)
      if (input.producer && group.contains(*input.producer) &&
          seen.insert(*input.producer).second) {
        worklist.push_back(*input.producer);
        result.push_back(*input.producer);
      }
  llvm::sort(result);
  return result;
}

/// Operators after `anchor`, directly or not, in ascending order.
static SmallVector<unsigned> downstreamOf(const Group &group, unsigned anchor) {
  llvm::SmallDenseSet<unsigned> seen{anchor};
  SmallVector<unsigned> result;
  for (unsigned id : group.ops)
    for (const GraphInput &input : group.node(id).inputs)
      if (input.producer && seen.contains(*input.producer) && id != anchor &&
          seen.insert(id).second)
        result.push_back(id);
  return result;
}

/// True if every operator of `after` runs over the elements of the anchor's
/// output in one order only, so that a block needs no other block's tile.
static bool runsOverTile(const Group &group, unsigned anchor,
                         ArrayRef<unsigned> after) {
  llvm::SmallDenseMap<unsigned, Origins> loops;
  for (auto [loop, extent] : llvm::enumerate(group.node(anchor).extents))
    loops[anchor].push_back(ownLoop(loop, extent));
  for (unsigned id : after) {
    Origins own(group.graph.op(id).getNumLoops());
    for (const GraphInput &input : group.node(id).inputs) {
      if (!input.producer || !loops.contains(*input.producer))
        continue;
      std::optional<Origins> found = followForward(
          group.graph, *input.producer, id, input, loops[*input.producer]);
      if (!found || !mergeOrigins(own, *found))
        return false;
    }
    loops[id] = std::move(own);
  }
  return true;
}

std::optional<Decision> fuse::matchAroundAnchor(const Group &group,
                                                unsigned anchor) {
  double elements = group.node(anchor).parallel;
  SmallVector<unsigned> before = upstreamOf(group, anchor),
                        after = downstreamOf(group, anchor);
  for (unsigned id : group.ops) {
    const GraphNode &node = group.node(id);
    if (id == anchor)
      continue;
    if (std::binary_search(before.begin(), before.end(), id)) {
      if (group.hasOutput(id))
        return Decision::keep(Reason::PrologueOutput,
                              "one reader of the prologue's result");
      continue;
    }
    bool isEpilogue = std::binary_search(after.begin(), after.end(), id);
    // A neighbour of an epilogue may be a broadcast, unless its result is
    // stored.
    if (node.points != elements && (isEpilogue || group.hasOutput(id)))
      return Decision::keep(Reason::EpilogueShape,
                            "the iteration space of the output tile")
          .number("points", node.points)
          .number("elements", elements);
  }
  if (!runsOverTile(group, anchor, after))
    return Decision::keep(Reason::EpilogueTiles,
                          "reads of the output tile alone, all in one order");
  return std::nullopt;
}

void fuse::addWork(const Group &group, unsigned anchor,
                   llvm::function_ref<double(unsigned)> evaluations,
                   const Device &device, KernelWork &work) {
  Evaluations times(group);
  for (const GraphInput &input : group.node(anchor).inputs)
    if (input.producer && group.contains(*input.producer))
      times.addRead(*input.producer, input.operand, evaluations(input.operand));
  // A prologue of a prologue is evaluated as often as that is.
  SmallVector<unsigned> before = upstreamOf(group, anchor);
  for (unsigned id : llvm::reverse(before))
    times.carry(id);
  for (unsigned id : group.ops) {
    const GraphNode &node = group.node(id);
    double own = times.of(id), count = own == 0 ? 1 : own;
    double flops =
        id == anchor ? node.flops : node.flopsPerPoint * node.points * count;
    // Tensor units multiply 16-bit floats; f32 runs on the vector units unless
    // tf32 is asked for.
    if (id == anchor && isHeavy(node.role) && node.halfInputs)
      work.tensorFlops += flops;
    else
      work.flops += vectorFlops(node, flops, device);
    work.transcendentals += node.transcendentals * count;
  }
}
