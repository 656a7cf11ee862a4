//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Propagates "this loop runs over rows / along a row" from a reduction to the
// other operators of a group:
//
//   max = reduce x over d1        max: d0 row, d1 along
//   y = x - max[d0]         ==>   y:   d0 row, d1 along
//   z = reshape y, ...            a row is the same row everywhere
//
// Changes nothing.
//
//===----------------------------------------------------------------------===//

#include "RowSpace.h"
#include "Follow.h"

using namespace mlir;
using namespace fuse;

namespace {

class Propagation {
public:
  explicit Propagation(const Group &group) : group(group) {}
  std::optional<RowSpace> run();

private:
  bool sweep();
  std::optional<RowSpace> measure();

  const Group &group;
  llvm::SmallDenseMap<unsigned, Origins> loops; ///< per operator
};

} // namespace

/// Rows of every operator must be as many, and none may be reduced. A loop that
/// no edge ties to the rows (it broadcasts a row's statistic, say) runs inside
/// the block that owns the row.
std::optional<RowSpace> Propagation::measure() {
  RowSpace space;
  std::optional<double> rows;
  for (unsigned id : group.ops) {
    linalg::LinalgOp op = group.graph.op(id);
    double own = 1, reduced = 1;
    bool any = false;
    ArrayRef<int64_t> extents = group.node(id).extents;
    for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
      double extent =
          ShapedType::isDynamic(extents[loop]) ? kAssumedExtent : extents[loop];
      if (extent == 1)
        continue;
      bool reduces = iterator == utils::IteratorType::reduction;
      if (reduces && loops[id][loop].kind == Origin::Own)
        return std::nullopt;
      reduced *= reduces ? extent : 1;
      if (loops[id][loop].kind == Origin::Own) {
        own *= extent;
        any = true;
      }
    }
    space.length = std::max(space.length, reduced);
    // A vector along the row (a scale, say) has no rows of its own.
    if (!any)
      continue;
    if (rows && *rows != own)
      return std::nullopt;
    rows = own;
  }
  space.rows = rows.value_or(1);
  return space;
}

/// Follows every edge of the group down, then up; false on a contradiction.
bool Propagation::sweep() {
  auto follow = [&](unsigned consumer, bool down) {
    for (const GraphInput &input : group.node(consumer).inputs) {
      if (!input.producer || !group.contains(*input.producer))
        continue;
      unsigned producer = *input.producer;
      std::optional<Origins> found =
          down ? followForward(group.graph, producer, consumer, input,
                               loops[producer])
               : followBackward(group.graph, producer, consumer, input,
                                loops[consumer]);
      if (!found || !mergeOrigins(loops[down ? consumer : producer], *found))
        return false;
    }
    return true;
  };
  return llvm::all_of(group.ops,
                      [&](unsigned id) { return follow(id, true); }) &&
         llvm::all_of(llvm::reverse(group.ops),
                      [&](unsigned id) { return follow(id, false); });
}

std::optional<RowSpace> Propagation::run() {
  unsigned root = *llvm::find_if(group.ops, [&](unsigned id) {
    return group.node(id).role == Role::Reduction;
  });
  linalg::LinalgOp op = group.graph.op(root);
  ArrayRef<int64_t> extents = group.node(root).extents;
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    loops[root].push_back(iterator == utils::IteratorType::reduction
                              ? Origin{Origin::Along, {}}
                              : ownLoop(loop, extents[loop]));
  for (unsigned id : group.ops)
    loops[id].resize(group.graph.op(id).getNumLoops());
  // Two sweeps reach every operator of a connected group of the usual depth;
  // sweep until nothing changes.
  for (unsigned sweeps = 0; sweeps < group.ops.size() + 2; ++sweeps) {
    auto before = loops;
    if (!sweep())
      return std::nullopt;
    if (llvm::all_of(group.ops,
                     [&](unsigned id) { return before[id] == loops[id]; }))
      return measure();
  }
  return std::nullopt;
}

std::optional<RowSpace> fuse::rowSpaceOf(const Group &group) {
  if (!group.rowSpace)
    group.rowSpace = Propagation(group).run();
  return *group.rowSpace;
}
