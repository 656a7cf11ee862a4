//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chain kernels: blocks and results.
//
//   stages; products; epilogue on the sums; store
//
//===----------------------------------------------------------------------===//

#include "GpuChain.h"
#include "fuse/Lowering/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace fuse;

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Value ChainSchedule::memory(int64_t offset, Type element, int64_t count) {
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  auto typeOf = [&](int64_t size, Type type) {
    return MemRefType::get({size}, type, MemRefLayoutAttrInterface(), space);
  };
  Value all = gpu::DynamicSharedMemoryOp::create(
      builder, loc, typeOf(ShapedType::kDynamic, builder.getI8Type()));
  Value begin = arith::ConstantIndexOp::create(builder, loc, offset);
  return memref::ViewOp::create(builder, loc, typeOf(count, element), all,
                                begin, ValueRange());
}

/// True if the results of neighbouring pixels are neighbours in memory, not
/// those of neighbouring columns.
static bool isAlongPixels(const ChainOps &ops, ArrayRef<Extent> extents) {
  linalg::LinalgOp op = ops.anchor;
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (AffineExpr expr : llvm::reverse(result.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      if (!(extents[dim.getPosition()] == Extent{1, nullptr}))
        return llvm::is_contained(ops.m, dim.getPosition());
  return false;
}

void ChainSchedule::place() {
  SmallVector<Extent> grid, columns;
  AffineExpr blocks = getAffineConstantExpr(1, builder.getContext());
  auto add = [&](ArrayRef<Extent> all, int64_t size) {
    grid.push_back(tilesOf(math, math.product(all), size));
    blocks = blocks * frame.hostProduct(all).ceilDiv(size);
  };
  for (unsigned loop : ops.batch)
    add(extents[loop], 1);
  for (auto [loop, size] : llvm::zip_equal(ops.m, tile.m))
    add(extents[loop], size);
  for (unsigned loop : ops.n)
    columns.push_back(extents[loop]);
  add(columns, blockColumns);
  Lanes at = *math.delinearize({frame.blockId(), 0, 1}, grid);
  batch = Lanes(ArrayRef(at).take_front(ops.batch.size()));
  for (auto [index, size] : llvm::zip_equal(
           ArrayRef(at).slice(ops.batch.size(), tile.m.size()), tile.m))
    startM.push_back(math.scale(index, {size, nullptr}));
  startN = math.scale(at.back(), {blockColumns, nullptr});
  channel = math.constant(0);
  thread = {frame.threadId(), 0, 1};
  alongPixels = isAlongPixels(ops, extents);
  int64_t fast = alongPixels ? tile.split.threadsM : tile.split.threadsN;
  LaneIndex inner = *math.rem(thread, {fast, nullptr}),
            outer = *math.div(thread, {fast, nullptr});
  threadM = alongPixels ? inner : outer;
  threadN = alongPixels ? outer : inner;
  frame.launch(blocks, threads);
  elements.reduce = [this](linalg::LinalgOp op, unsigned,
                           ArrayRef<LaneIndex> loops) {
    return sumOf(op, loops);
  };
}

static Type inputType(linalg::LinalgOp op, unsigned input) {
  return getElementTypeOrSelf(op.getDpsInputOperand(input)->get());
}

void ChainSchedule::allocate() {
  rowsMemory = memory(0, inputType(anchor, ops.rows), tile.heldElements());
  if (!tile.read.empty())
    readMemory = memory(tile.readOffset(ops), inputType(ops.window, ops.read),
                        tile.readElements());
  weightsMemory =
      memory(tile.weightsOffset(ops), inputType(anchor, 1 - ops.rows),
             2 * tile.depth * tile.pitch);
  frame.kernel->setAttr(kDynamicSharedAttr,
                        builder.getI64IntegerAttr(tile.bytes(ops)));
}

/// Neighbours that a thread has: as many as an access of 16 bytes of f32.
static int64_t neighbours(int64_t count) {
  int64_t result = 4;
  while (count % result)
    result /= 2;
  return result;
}

LaneIndex ChainSchedule::position(LaneIndex thread, int64_t threads,
                                  int64_t near, int64_t number) {
  return math.add(
      math.scale(thread, {near, nullptr}),
      math.constant(number / near * threads * near + number % near));
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Loops of the columns at `column` of the block, `lanes` of them, within them;
/// `inside` says whether they were.
std::optional<Lanes> ChainSchedule::columnsAt(LaneIndex column, int64_t lanes,
                                              Value &inside) {
  SmallVector<Extent> all;
  for (unsigned loop : ops.n)
    all.push_back(extents[loop]);
  Extent total = math.product(all);
  LaneIndex index = math.add(startN, column);
  bool surely = total.isStatic() && total.size % blockColumns == 0 &&
                blockColumns % std::max(tile.staged(), threadColumns()) == 0;
  if (!surely) {
    inside = both(inside, math.less(index, math.of(total)));
    index = math.min(index, math.sub(math.of(total), math.constant(lanes)));
  }
  return math.delinearize(index, all);
}

/// Loops of the last contraction at `m` of the block and `n` of the columns
/// from `column` on, `lanes` together; positions that do not exist become ones
/// that do.
std::optional<Lanes> ChainSchedule::pointAt(LaneIndex m, LaneIndex column,
                                            LaneIndex n, int64_t lanes,
                                            Value &inside) {
  Lanes loops(extents.size(), LaneIndex{});
  SmallVector<Extent> sizes;
  for (int64_t size : tile.m)
    sizes.push_back({size, nullptr});
  std::optional<Lanes> pixel = math.delinearize(m, sizes);
  // Threads have more columns than are summed, and those more than the block.
  if (threadColumns() != tile.columns)
    inside = both(inside, math.less(n, math.constant(tile.columns)));
  n = math.add(column, n);
  if (blockColumns % tile.columns)
    inside = both(inside, math.less(n, math.constant(blockColumns)));
  std::optional<Lanes> columns = columnsAt(n, n.step ? lanes : 1, inside);
  if (!pixel || !columns)
    return std::nullopt;
  for (auto [loop, index] : llvm::zip_equal(ops.batch, batch))
    loops[loop] = index;
  for (auto [loop, index] : llvm::zip_equal(ops.n, *columns))
    loops[loop] = index;
  for (auto [loop, index, start, size] :
       llvm::zip_equal(ops.m, *pixel, startM, tile.m)) {
    const Extent &all = extents[loop];
    loops[loop] = math.add(start, index);
    if (all.isStatic() && all.size % size == 0)
      continue;
    inside = both(inside, math.less(loops[loop], math.of(all)));
    loops[loop] =
        math.min(loops[loop],
                 math.sub(math.of(all), math.constant(index.step ? lanes : 1)));
  }
  return loops;
}

/// What the sums start from.
SmallVector<Value> ChainSchedule::start(LaneIndex column) {
  Value init = anchor.getDpsInitOperand(0)->get(), inside;
  SmallVector<Value> sums;
  for (int64_t i = 0; i < tile.split.perM; ++i)
    for (int64_t j = 0; j < tile.split.perN; ++j) {
      std::optional<Lanes> loops = pointAt(mAt(i), column, nAt(j), 1, inside);
      std::optional<Lanes> indices = resultIndices(*loops);
      sums.push_back(indices ? elements.at(init, *indices) : nullptr);
      if (!sums.back())
        return {};
    }
  return sums;
}

/// Neighbours among the sums of a thread that are stored together.
int64_t ChainSchedule::storedTogether() const {
  const SmallVector<unsigned> &loops = alongPixels ? ops.m : ops.n;
  const Extent &innermost = extents[loops.back()];
  int64_t near = alongPixels ? nearM : nearN;
  bool whole =
      innermost.isStatic() && innermost.size % near == 0 &&
      (alongPixels ? tile.m.back() % near == 0
                   : tile.columns % near == 0 && blockColumns % near == 0);
  return whole ? near : 1;
}

bool ChainSchedule::storeAll(LaneIndex column, ArrayRef<Value> sums) {
  int64_t lanes = storedTogether(), perN = tile.split.perN,
          stepM = alongPixels ? lanes : 1, stepN = alongPixels ? 1 : lanes;
  bool fine = true;
  math.lanes = lanes;
  for (int64_t i = 0; i < tile.split.perM; i += stepM)
    for (int64_t j = 0; j < perN && fine; j += stepN) {
      LaneIndex m = mAt(i), n = nAt(j);
      (alongPixels ? m : n).step = lanes > 1;
      SmallVector<Value> own;
      for (int64_t lane = 0; lane < lanes; ++lane)
        own.push_back(
            sums[alongPixels ? (i + lane) * perN + j : i * perN + j + lane]);
      Value value = own.front(), inside;
      if (lanes > 1)
        value = vector::FromElementsOp::create(
            builder, loc, VectorType::get({lanes}, value.getType()), own);
      std::optional<Lanes> loops = pointAt(m, column, n, lanes, inside);
      fine = loops && storeSums(*loops, inside, value);
    }
  math.lanes = 1;
  return fine && !elements.failedOp;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// All channels are on chip: some columns after the other.
bool ChainSchedule::sumColumns() {
  rows = rowsBox();
  bool fine = fill(rows, /*isContraction=*/false);
  int64_t pieces = llvm::divideCeil(blockColumns, tile.columns);
  elements.loops({Extent{pieces, nullptr}}, {},
                 [&](ArrayRef<LaneIndex> at, ArrayRef<Value>) {
                   LaneIndex column =
                       math.scale(at[0], {tile.columns, nullptr});
                   // The weights of the columns before were read.
                   gpu::BarrierOp::create(builder, loc);
                   SmallVector<Value> sums = start(column);
                   if (!sums.empty())
                     sums = multiplyAll(column, sums);
                   fine = fine && !sums.empty() && storeAll(column, sums);
                   return SmallVector<Value>();
                 });
  return fine;
}

/// Some of the channels after the other, all columns at a time.
bool ChainSchedule::sumChunks() {
  LaneIndex none = math.constant(0);
  SmallVector<Value> sums = start(none);
  if (sums.empty())
    return false;
  auto chunk = [&](ArrayRef<LaneIndex> at, ArrayRef<Value> values) {
    channel = math.scale(at[0], {tile.chunk, nullptr});
    rows = rowsBox();
    Box read;
    bool fine = true;
    if (ops.window) {
      read = readBox();
      fine = fill(read, /*isContraction=*/true);
    }
    // All read the rows of the chunk before.
    gpu::BarrierOp::create(builder, loc);
    if (ops.window)
      hold(read);
    fine = fine && fill(rows, /*isContraction=*/!ops.window);
    elements.held.clear(); // the next barrier is that of the first weights
    return fine ? multiplyAll(none, values) : SmallVector<Value>();
  };
  sums = elements.loops({tilesOf(math, extents[*ops.channel], tile.chunk)},
                        sums, chunk);
  return !sums.empty() && !elements.failedOp && storeAll(none, sums);
}

bool ChainSchedule::emit() {
  place();
  allocate();
  nearM = neighbours(tile.split.perM);
  nearN = neighbours(tile.split.perN);
  return ops.expand ? sumChunks() : sumColumns();
}
