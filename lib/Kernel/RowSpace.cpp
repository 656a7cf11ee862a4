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
//   z = reshape y, ...            a group of a reshape has one kind
//
// Changes nothing.
//
//===----------------------------------------------------------------------===//

#include "RowSpace.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace fuse;

namespace {

enum class Kind : char { Unknown, Row, Along };
using Kinds = SmallVector<Kind, 6>;

class Propagation {
public:
  explicit Propagation(const Group &group) : group(group) {}
  std::optional<RowSpace> run();

private:
  bool forward(unsigned producer, unsigned consumer, const GraphInput &input);
  bool backward(unsigned producer, unsigned consumer, const GraphInput &input);
  bool merge(Kinds &into, const Kinds &from, bool &changed);
  std::optional<RowSpace> measure();

  const Group &group;
  llvm::SmallDenseMap<unsigned, Kinds> kinds; ///< per operator, per loop
};

} // namespace

/// True where an extent of 1 makes the dimension neither row nor along.
static bool isUnit(Type type, int64_t dim) {
  return cast<ShapedType>(type).getDimSize(dim) == 1;
}

/// Kinds of a tensor's dimensions from those of the loops; false where an index
/// is no plain loop.
static bool toDims(AffineMap map, const Kinds &loops, Type type, Kinds &dims) {
  dims.assign(map.getNumResults(), Kind::Unknown);
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    if (isUnit(type, dim))
      continue;
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop)
      return false;
    dims[dim] = loops[loop.getPosition()];
  }
  return true;
}

static bool toLoops(AffineMap map, const Kinds &dims, Type type, Kinds &loops) {
  loops.assign(map.getNumDims(), Kind::Unknown);
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    if (isUnit(type, dim) || dims[dim] == Kind::Unknown)
      continue;
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop)
      return false;
    loops[loop.getPosition()] = dims[dim];
  }
  return true;
}

/// Kinds across a reshape: `groups[i]` are the expanded dimensions of collapsed
/// dimension i. A group has one kind, since its order is kept.
static bool acrossReshape(ArrayRef<ReassociationIndices> groups, Type expanded,
                          bool expand, const Kinds &from, Kinds &to) {
  to.assign(expand ? cast<ShapedType>(expanded).getRank() : groups.size(),
            Kind::Unknown);
  for (auto [collapsed, dims] : llvm::enumerate(groups))
    for (int64_t dim : dims) {
      if (isUnit(expanded, dim))
        continue;
      if (expand) {
        to[dim] = from[collapsed];
        continue;
      }
      if (from[dim] == Kind::Unknown)
        continue;
      if (to[collapsed] != Kind::Unknown && to[collapsed] != from[dim])
        return false;
      to[collapsed] = from[dim];
    }
  return true;
}

/// True if `glue` leaves every dimension of kind Row alone: slices, pads and
/// parts of a concat may only cut along a row.
static bool keepsRows(Operation *glue, Type from, Type to, const Kinds &kinds) {
  auto source = cast<ShapedType>(from), result = cast<ShapedType>(to);
  if (source.getRank() != result.getRank())
    return false;
  for (int64_t dim = 0; dim < source.getRank(); ++dim)
    if (source.getDimSize(dim) != result.getDimSize(dim) &&
        kinds[dim] == Kind::Row)
      return false;
  return true;
}

/// Kinds of `to` (a value next to `from` across `glue`), in either direction.
static bool acrossGlue(Operation *glue, Value from, Value to, bool down,
                       const Kinds &kinds, Kinds &result) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(glue))
    return acrossReshape(expand.getReassociationIndices(),
                         expand.getResultType(), down, kinds, result);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(glue))
    return acrossReshape(collapse.getReassociationIndices(),
                         collapse.getSrcType(), !down, kinds, result);
  if (auto moved = dyn_cast<linalg::LinalgOp>(glue)) {
    AffineMap read = moved.getMatchingIndexingMap(moved.getDpsInputOperand(0));
    AffineMap written =
        moved.getMatchingIndexingMap(moved.getDpsInitOperand(0));
    Kinds loops;
    return down ? toLoops(read, kinds, from.getType(), loops) &&
                      toDims(written, loops, to.getType(), result)
                : toLoops(written, kinds, from.getType(), loops) &&
                      toDims(read, loops, to.getType(), result);
  }
  if (!isa<tensor::CastOp, tensor::PadOp, tensor::ExtractSliceOp,
           tensor::InsertSliceOp, tensor::ConcatOp>(glue))
    return false;
  result = kinds;
  return keepsRows(glue, from.getType(), to.getType(), kinds);
}

bool Propagation::merge(Kinds &into, const Kinds &from, bool &changed) {
  if (into.empty())
    into.assign(from.size(), Kind::Unknown);
  for (auto [mine, other] : llvm::zip_equal(into, from)) {
    if (other == Kind::Unknown || other == mine)
      continue;
    if (mine != Kind::Unknown)
      return false;
    mine = other;
    changed = true;
  }
  return true;
}

/// The values along an edge: the root, after each glue, ending at the operand.
static SmallVector<Value> valuesAlong(linalg::LinalgOp consumer,
                                      const GraphInput &input) {
  SmallVector<Value> values{input.root};
  for (Operation *glue : input.glue)
    values.push_back(glue->getResult(0));
  return values;
}

bool Propagation::forward(unsigned producer, unsigned consumer,
                          const GraphInput &input) {
  linalg::LinalgOp from = group.graph.op(producer),
                   to = group.graph.op(consumer);
  SmallVector<Value> values = valuesAlong(to, input);
  unsigned result = cast<OpResult>(input.root).getResultNumber();
  Kinds dims, next;
  if (!toDims(from.getMatchingIndexingMap(from.getDpsInitOperand(result)),
              kinds[producer], input.root.getType(), dims))
    return false;
  for (size_t i = 0; i < input.glue.size(); ++i) {
    if (!acrossGlue(input.glue[i], values[i], values[i + 1], /*down=*/true,
                    dims, next))
      return false;
    dims = next;
  }
  Kinds loops;
  bool changed = false;
  OpOperand &operand = to->getOpOperand(input.operand);
  return toLoops(to.getMatchingIndexingMap(&operand), dims,
                 operand.get().getType(), loops) &&
         merge(kinds[consumer], loops, changed);
}

bool Propagation::backward(unsigned producer, unsigned consumer,
                           const GraphInput &input) {
  linalg::LinalgOp from = group.graph.op(producer),
                   to = group.graph.op(consumer);
  SmallVector<Value> values = valuesAlong(to, input);
  OpOperand &operand = to->getOpOperand(input.operand);
  Kinds dims, next;
  if (!toDims(to.getMatchingIndexingMap(&operand), kinds[consumer],
              operand.get().getType(), dims))
    return false;
  for (size_t i = input.glue.size(); i-- > 0;) {
    if (!acrossGlue(input.glue[i], values[i + 1], values[i], /*down=*/false,
                    dims, next))
      return false;
    dims = next;
  }
  Kinds loops;
  bool changed = false;
  unsigned result = cast<OpResult>(input.root).getResultNumber();
  return toLoops(from.getMatchingIndexingMap(from.getDpsInitOperand(result)),
                 dims, input.root.getType(), loops) &&
         merge(kinds[producer], loops, changed);
}

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
    SmallVector<int64_t> extents = op.getStaticLoopRanges();
    for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
      double extent =
          ShapedType::isDynamic(extents[loop]) ? kAssumedExtent : extents[loop];
      if (extent == 1)
        continue;
      bool reduces = iterator == utils::IteratorType::reduction;
      if (reduces && kinds[id][loop] == Kind::Row)
        return std::nullopt;
      reduced *= reduces ? extent : 1;
      if (kinds[id][loop] == Kind::Row) {
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

std::optional<RowSpace> Propagation::run() {
  unsigned root = *llvm::find_if(group.ops, [&](unsigned id) {
    return group.node(id).role == Role::Reduction;
  });
  linalg::LinalgOp op = group.graph.op(root);
  for (utils::IteratorType iterator : op.getIteratorTypesArray())
    kinds[root].push_back(
        iterator == utils::IteratorType::reduction ? Kind::Along : Kind::Row);
  for (unsigned id : group.ops)
    kinds[id].resize(group.graph.op(id).getNumLoops(), Kind::Unknown);
  // Two sweeps up and down reach every operator of a connected group of the
  // usual depth; sweep until nothing changes.
  for (unsigned sweep = 0, most = 2 * group.ops.size() + 2; sweep < most;
       ++sweep) {
    auto before = kinds;
    for (unsigned consumer : group.ops)
      for (const GraphInput &input : group.node(consumer).inputs)
        if (input.producer && group.contains(*input.producer) &&
            !forward(*input.producer, consumer, input))
          return std::nullopt;
    for (unsigned consumer : llvm::reverse(group.ops))
      for (const GraphInput &input : group.node(consumer).inputs)
        if (input.producer && group.contains(*input.producer) &&
            !backward(*input.producer, consumer, input))
          return std::nullopt;
    bool same = llvm::all_of(
        group.ops, [&](unsigned id) { return before[id] == kinds[id]; });
    if (same)
      return measure();
  }
  return std::nullopt;
}

std::optional<RowSpace> fuse::rowSpaceOf(const Group &group) {
  if (!group.rowSpace)
    group.rowSpace = Propagation(group).run();
  return *group.rowSpace;
}
