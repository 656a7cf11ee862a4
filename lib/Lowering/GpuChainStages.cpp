//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chain kernels: what is in front of the last contraction, in shared memory.
//
//   box of d ==> for elements of the thread { d = sum; store to shared memory }
//
//===----------------------------------------------------------------------===//

#include "GpuChain.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace fuse;

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

void ChainSchedule::boxFrom(Box &box, linalg::LinalgOp op, unsigned input,
                            ArrayRef<LaneIndex> start,
                            ArrayRef<int64_t> reach) {
  OpOperand *operand = op.getDpsInputOperand(input);
  AffineMap map = op.getMatchingIndexingMap(operand);
  box.tensor = operand->get();
  box.start = *math.apply(map, start);
  box.reach = *boxOf(map, reach);
}

/// The dimension of `map` that is `loop`; the first one if none is.
static unsigned dimensionOf(AffineMap map, unsigned loop) {
  for (auto [dim, expr] : llvm::enumerate(map.getResults()))
    if (expr == getAffineDimExpr(loop, map.getContext()))
      return dim;
  return 0;
}

static SmallVector<unsigned> slowestFirst(unsigned slowest, unsigned rank) {
  SmallVector<unsigned> order{slowest};
  for (unsigned dim = 0; dim < rank; ++dim)
    if (dim != slowest)
      order.push_back(dim);
  return order;
}

/// Rounds that are whole tiles; a dynamic extent counts as very long.
static int64_t roundedUp(const Extent &extent, int64_t tile) {
  constexpr int64_t most = int64_t(1) << 31;
  return extent.isStatic() ? llvm::alignTo(extent.size, tile) : most;
}

ChainSchedule::Box ChainSchedule::rowsBox() {
  Box box;
  Lanes start(extents.size(), math.constant(0));
  SmallVector<int64_t> reach;
  for (const Extent &extent : extents)
    reach.push_back(roundedUp(extent, 1));
  for (auto [loop, index] : llvm::zip_equal(ops.batch, batch))
    start[loop] = index;
  for (auto [loop, index, size] : llvm::zip_equal(ops.m, startM, tile.m)) {
    start[loop] = index;
    reach[loop] = roundedUp(extents[loop], size);
  }
  if (ops.expand) {
    start[*ops.channel] = channel;
    reach[*ops.channel] = roundedUp(extents[*ops.channel], tile.chunk);
  }
  boxFrom(box, anchor, ops.rows, start, reach);
  box.memory = rowsMemory;
  box.sizes = tile.held;
  AffineMap map =
      anchor.getMatchingIndexingMap(anchor.getDpsInputOperand(ops.rows));
  box.order = slowestFirst(ops.channel ? dimensionOf(map, *ops.channel) : 0,
                           box.sizes.size());
  box.isCut = ops.expand && !fits(box, box.order[0]);
  return box;
}

ChainSchedule::Box ChainSchedule::readBox() {
  Box box;
  linalg::LinalgOp window = ops.window;
  Lanes start(window.getNumLoops(), math.constant(0));
  SmallVector<int64_t> reach = window.getStaticLoopRanges();
  AffineMap result = window.getMatchingIndexingMap(window.getDpsInitOperand(0));
  unsigned slowest = 0;
  for (auto [expr, dim] : llvm::zip_equal(result.getResults(), ops.held)) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    start[loop] = rows.start[dim];
    reach[loop] = rows.reach[dim];
    if (dim == rows.order[0])
      slowest = loop;
  }
  boxFrom(box, window, ops.read, start, reach);
  box.memory = readMemory;
  box.sizes = tile.read;
  AffineMap map =
      window.getMatchingIndexingMap(window.getDpsInputOperand(ops.read));
  box.order = slowestFirst(dimensionOf(map, slowest), box.sizes.size());
  return box;
}

/// True if no box goes beyond the tensor along `dim`.
bool ChainSchedule::fits(const Box &box, unsigned dim) {
  Extent extent = elements.extent(box.tensor, dim);
  return extent.isStatic() && box.reach[dim] <= extent.size;
}

std::optional<LaneIndex> ChainSchedule::placeIn(const Box &box,
                                                ArrayRef<LaneIndex> local) {
  Lanes indices;
  SmallVector<Extent> sizes;
  for (unsigned dim : box.order) {
    indices.push_back(local[dim]);
    sizes.push_back({box.sizes[dim], nullptr});
  }
  return math.linearize(indices, sizes);
}

void ChainSchedule::hold(const Box &box) {
  elements.held[box.tensor] = [this, box](ArrayRef<LaneIndex> indices) {
    Lanes local;
    for (auto [index, start] : llvm::zip_equal(indices, box.start)) {
      if (index.step != 0)
        return Value();
      local.push_back(math.sub(index, start));
    }
    std::optional<LaneIndex> place = placeIn(box, local);
    return Value(memref::LoadOp::create(builder, loc, box.memory, place->base));
  };
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static std::pair<Operation *, SmallVector<const void *, 4>>
keyOf(linalg::LinalgOp op, ArrayRef<LaneIndex> loops) {
  SmallVector<const void *, 4> bases;
  for (const LaneIndex &index : loops)
    bases.push_back(index.base.getAsOpaquePointer());
  return {op, bases};
}

Value ChainSchedule::sumOf(linalg::LinalgOp op, ArrayRef<LaneIndex> loops) {
  if (op == anchor)
    return sumAt(loops);
  auto found = done.find(keyOf(op, loops));
  return found == done.end() ? nullptr : found->second;
}

/// The sums of one operator at several points, in one loop. Nothing where there
/// is no code for it.
SmallVector<Value> ChainSchedule::reduce(ArrayRef<RowReduction> needed) {
  constexpr int64_t unrolled = 18; // products: 3 x 3 of 2 pixels
  linalg::LinalgOp op = needed.front().op;
  OpOperand *init = op.getDpsInitOperand(needed.front().result);
  SmallVector<unsigned> dims;
  op.getReductionDims(dims);
  SmallVector<Extent> all = elements.loopExtents(op), along;
  for (unsigned dim : dims)
    along.push_back(all[dim]);
  SmallVector<Value> sums;
  for (const RowReduction &one : needed) {
    std::optional<Lanes> indices =
        math.apply(op.getMatchingIndexingMap(init), one.loops);
    sums.push_back(indices ? elements.at(init->get(), *indices) : nullptr);
    if (!sums.back())
      return {};
  }
  auto round = [&](ArrayRef<LaneIndex> at, ArrayRef<Value> carried) {
    SmallVector<Value> next;
    for (auto [one, sum] : llvm::zip_equal(needed, carried)) {
      Lanes loops = one.loops;
      for (auto [dim, index] : llvm::zip_equal(dims, at))
        loops[dim] = index;
      next.push_back(elements.step(op, one.result, loops, sum));
      if (!next.back())
        return SmallVector<Value>();
    }
    return next;
  };
  Extent rounds = math.product(along);
  if (!rounds.isStatic() || rounds.size * int64_t(needed.size()) > unrolled)
    return elements.loops(along, sums, round);
  for (int64_t i = 0; i < rounds.size && !sums.empty(); ++i)
    sums = round(*math.delinearize(math.constant(i), along), sums);
  return sums;
}

/// Computes the sums that the elements at `points` need.
bool ChainSchedule::reduceAll(const Box &box, ArrayRef<Lanes> points) {
  SmallVector<SmallVector<RowReduction>> needed;
  for (const Lanes &point : points) {
    auto found = reductionsOf(elements, box.tensor, point,
                              [&](const Extent &) { return math.constant(0); });
    if (!found || (!needed.empty() && found->size() != needed[0].size()))
      return false;
    needed.push_back(std::move(*found));
  }
  for (unsigned number = 0; number < needed[0].size(); ++number) {
    SmallVector<RowReduction> together;
    for (const auto &ofPoint : needed) {
      const RowReduction &one = ofPoint[number];
      auto isNew = done.try_emplace(keyOf(one.op, one.loops), nullptr).second;
      if (isNew)
        together.push_back(one);
    }
    if (together.empty())
      continue;
    SmallVector<Value> sums = reduce(together);
    if (sums.empty() || elements.failedOp)
      return false;
    for (auto [one, sum] : llvm::zip_equal(together, sums))
      done[keyOf(one.op, one.loops)] = sum;
  }
  return true;
}

void ChainSchedule::storeShared(Value value, Value memory, LaneIndex place,
                                Value inside) {
  OpBuilder::InsertionGuard guard(builder);
  if (inside) {
    auto branch = scf::IfOp::create(builder, loc, inside,
                                    /*withElseRegion=*/false);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  memref::StoreOp::create(builder, loc, value, memory, place.base);
}

/// Stores the element at `indices` to its place in the box, where `inside`
/// holds.
bool ChainSchedule::storeAt(const Box &box, const Lanes &local,
                            const Lanes &indices, Value inside) {
  Value value = elements.at(box.tensor, indices);
  std::optional<LaneIndex> place = placeIn(box, local);
  if (!value || !place)
    return false;
  unsigned slowest = box.order[0];
  if (box.isCut) {
    Extent extent = elements.extent(box.tensor, slowest);
    Value exists = math.less(math.add(box.start[slowest], local[slowest]),
                             math.of(extent));
    Value zero = arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(value.getType()));
    value = arith::SelectOp::create(builder, loc, exists, value, zero);
  }
  storeShared(value, box.memory, *place, inside);
  return true;
}

/// Indices of the element `local` of a box; one that exists where it does not.
Lanes ChainSchedule::pointOf(const Box &box, ArrayRef<LaneIndex> local) {
  Lanes point;
  for (unsigned dim = 0; dim < local.size(); ++dim) {
    LaneIndex index = math.add(box.start[dim], local[dim]);
    LaneIndex last =
        math.sub(math.of(elements.extent(box.tensor, dim)), math.constant(1));
    point.push_back(fits(box, dim) ? index : math.min(index, last));
  }
  return point;
}

/// Fills the `item`-th group of elements; there are `columns` of them along the
/// pixels, whose elements are as far apart.
bool ChainSchedule::fillGroup(const Box &box, const ChainGroup &group,
                              int64_t columns, LaneIndex item, Value inside) {
  ArrayRef<unsigned> order(box.order);
  SmallVector<Extent> others;
  for (unsigned dim : order.drop_front())
    others.push_back({box.sizes[dim], nullptr});
  LaneIndex line = *math.div(item, {columns, nullptr}),
            column = *math.rem(item, {columns, nullptr});
  auto within = [&](LaneIndex index, int64_t size, int64_t count, Value &own) {
    if (size == count)
      return index;
    own = both(own, math.less(index, math.constant(size)));
    return math.min(index, math.constant(size - 1));
  };
  int64_t lines = box.sizes[order[0]], pixels = math.product(others).size;
  SmallVector<Lanes> locals, points;
  SmallVector<Value> insides;
  for (int64_t number = 0; number < group.channels * group.pixels; ++number) {
    LaneIndex channel = math.add(math.scale(line, {group.channels, nullptr}),
                                 math.constant(number / group.pixels));
    LaneIndex pixel =
        math.add(column, math.constant(number % group.pixels * columns));
    insides.push_back(inside);
    channel = within(channel, lines, llvm::alignTo(lines, group.channels),
                     insides.back());
    pixel = within(pixel, pixels, columns * group.pixels, insides.back());
    locals.emplace_back(box.sizes.size());
    locals.back()[order[0]] = channel;
    for (auto [dim, index] :
         llvm::zip_equal(order.drop_front(), *math.delinearize(pixel, others)))
      locals.back()[dim] = index;
    points.push_back(pointOf(box, locals.back()));
  }
  if (!reduceAll(box, points))
    return false;
  for (auto [local, point, own] : llvm::zip_equal(locals, points, insides))
    if (!storeAt(box, local, point, own))
      return false;
  return true;
}

bool ChainSchedule::fill(const Box &box, bool isContraction) {
  int64_t channels = box.sizes[box.order[0]],
          pixels = ChainTile::product(box.sizes) / channels;
  // Pixels of a window share its weights.
  ChainGroup group{1, 2};
  if (channels * pixels < threads * group.pixels)
    group.pixels = 1;
  if (isContraction)
    group = ChainGroup::of(channels, pixels, threads);
  int64_t lines = llvm::divideCeil(channels, group.channels),
          columns = llvm::divideCeil(pixels, group.pixels),
          items = lines * columns;
  Extent rounds{int64_t(llvm::divideCeil(items, threads)), nullptr};
  bool fine = false;
  elements.enter();
  elements.loops({rounds}, {}, [&](ArrayRef<LaneIndex> at, ArrayRef<Value>) {
    LaneIndex item = math.add(math.scale(at[0], {threads, nullptr}), thread);
    Value inside;
    if (items % threads) {
      inside = math.less(item, math.constant(items));
      item = math.min(item, math.constant(items - 1));
    }
    fine = fillGroup(box, group, columns, item, inside);
    return SmallVector<Value>();
  });
  elements.leave();
  done.clear();
  return fine && !elements.failedOp;
}
