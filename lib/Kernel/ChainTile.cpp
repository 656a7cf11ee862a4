//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the parts of a chain and what a block of it holds. Changes nothing.
//
//===----------------------------------------------------------------------===//

#include "fuse/Kernel/ChainTile.h"
#include "fuse/Analysis/Footprint.h"
#include "fuse/Analysis/Operators.h"
#include "fuse/Kernel/Graph.h"
#include "llvm/ADT/SetVector.h"
#include <numeric>

using namespace mlir;
using namespace fuse;

//===----------------------------------------------------------------------===//
// The parts
//===----------------------------------------------------------------------===//

namespace {
using Operators = llvm::SmallDenseSet<Operation *>;
}

/// True for what a chain looks through to what it computes from.
static bool isBetween(Operation *op, const Operators &own) {
  return op &&
         (own.contains(op) || (isGlue(op) && !isFreeInit(op->getResult(0))));
}

/// Operators of `own` with a reduction that `value` is computed from.
static llvm::SmallSetVector<Operation *, 2> sumsBehind(Value value,
                                                       const Operators &own) {
  llvm::SmallSetVector<Operation *, 2> found;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> work{value};
  while (!work.empty()) {
    Value next = work.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!seen.insert(next).second || !isBetween(op, own))
      continue;
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (structured && structured.getNumReductionLoops())
      found.insert(op);
    llvm::append_range(work, usedValues(op));
  }
  return found;
}

/// The input of `op` that is computed from `producer`, if there is one and no
/// other input is.
static std::optional<unsigned>
inputFrom(linalg::LinalgOp op, Operation *producer, const Operators &own) {
  std::optional<unsigned> found;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!sumsBehind(operand.get(), own).contains(producer))
      continue;
    if (found || !op.isDpsInput(&operand))
      return std::nullopt;
    found = operand.getOperandNumber();
  }
  return found;
}

/// Sorts the loops of the last contraction by the inputs that they index.
static bool sortLoops(ChainOps &ops) {
  linalg::LinalgOp op = ops.anchor;
  if (op.getNumDpsInputs() != 2 || op->getNumResults() != 1)
    return false;
  AffineMap rows = op.getMatchingIndexingMap(op.getDpsInputOperand(ops.rows)),
            weights =
                op.getMatchingIndexingMap(op.getDpsInputOperand(1 - ops.rows));
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    bool inRows = rows.isFunctionOfDim(loop),
         inWeights = weights.isFunctionOfDim(loop);
    auto &own = kind == utils::IteratorType::reduction ? ops.k
                : inRows && !inWeights                 ? ops.m
                : inWeights && !inRows                 ? ops.n
                                                       : ops.batch;
    own.push_back(loop);
  }
  return !ops.m.empty() && !ops.n.empty() && !ops.k.empty();
}

/// The longest loop of the sum that is a dimension of what is held.
static std::optional<unsigned> channelOf(const ChainOps &ops) {
  linalg::LinalgOp op = ops.anchor;
  AffineMap rows = op.getMatchingIndexingMap(op.getDpsInputOperand(ops.rows));
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  std::optional<unsigned> best;
  for (AffineExpr expr : rows.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      if (unsigned loop = dim.getPosition(); llvm::is_contained(ops.k, loop))
        if (!best || extents[loop] > extents[*best])
          best = loop;
  return best;
}

/// For each dimension of `op`'s input `operand` that of what its result's
/// dimensions are `dims`. Nothing unless `op` computes element by element.
static std::optional<SmallVector<unsigned>>
throughOperator(linalg::LinalgOp op, OpOperand &operand, unsigned result,
                ArrayRef<unsigned> dims) {
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(result)),
            in = op.getMatchingIndexingMap(&operand);
  if (op.getNumReductionLoops() || !out.isPermutation() ||
      !in.isPermutation() || in.getNumResults() != out.getNumResults())
    return std::nullopt;
  SmallVector<unsigned> ofLoop(out.getNumDims()), found;
  for (auto [dim, expr] : llvm::zip_equal(dims, out.getResults()))
    ofLoop[cast<AffineDimExpr>(expr).getPosition()] = dim;
  for (AffineExpr expr : in.getResults())
    found.push_back(ofLoop[cast<AffineDimExpr>(expr).getPosition()]);
  return found;
}

/// Follows the held input back to the window, element by element.
static bool findHeld(ChainOps &ops, const Operators &own) {
  Value start = ops.anchor->getOperand(ops.rows);
  SmallVector<unsigned> dims(cast<ShapedType>(start.getType()).getRank());
  std::iota(dims.begin(), dims.end(), 0);
  SmallVector<std::pair<Value, SmallVector<unsigned>>> work{{start, dims}};
  while (!work.empty()) {
    auto [value, own_] = work.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (op == ops.window) {
      if (!ops.held.empty() && ops.held != own_)
        return false;
      ops.held = own_;
      continue;
    }
    if (!sumsBehind(value, own).contains(ops.window))
      continue;
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (!structured)
      return false;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!sumsBehind(operand.get(), own).contains(ops.window))
        continue;
      auto next = throughOperator(
          structured, operand, cast<OpResult>(value).getResultNumber(), own_);
      if (!next)
        return false;
      work.push_back({operand.get(), *next});
    }
  }
  return !ops.held.empty();
}

/// What the boxes are made of has a form.
static bool hasBoxes(const ChainOps &ops) {
  auto isBox = [](linalg::LinalgOp op, unsigned input) {
    SmallVector<int64_t> ones(op.getNumLoops(), 1);
    return boxOf(op.getMatchingIndexingMap(op.getDpsInputOperand(input)), ones)
        .has_value();
  };
  if (!isBox(ops.anchor, ops.rows))
    return false;
  if (!ops.window || !ops.expand)
    return true;
  AffineMap result =
      ops.window.getMatchingIndexingMap(ops.window.getDpsInitOperand(0));
  return isBox(ops.window, ops.read) && result.isProjectedPermutation();
}

std::optional<ChainOps> ChainOps::of(ArrayRef<Operation *> operators,
                                     std::string &why) {
  Operators own(operators.begin(), operators.end());
  ChainOps ops;
  for (Operation *op : operators)
    if (auto structured = dyn_cast<linalg::LinalgOp>(op))
      if (isHeavy(roleOf(structured)))
        ops.anchor = structured;
  why = "no contraction that reads what another sum computes";
  if (!ops.anchor)
    return std::nullopt;
  llvm::SmallSetVector<Operation *, 2> stages;
  for (Value operand : ops.anchor->getOperands())
    stages.insert_range(sumsBehind(operand, own));
  for (Operation *op : operators) // in order
    if (stages.contains(op)) {
      auto stage = cast<linalg::LinalgOp>(op);
      (isHeavy(roleOf(stage)) ? ops.expand : ops.window) = stage;
    }
  if (stages.empty() ||
      stages.size() != unsigned(bool(ops.window)) + bool(ops.expand))
    return std::nullopt;
  Operation *last = ops.window ? ops.window : ops.expand;
  std::optional<unsigned> rows = inputFrom(ops.anchor, last, own);
  ops.rows = rows.value_or(0);
  if (!rows || !sortLoops(ops)) {
    why = "the last contraction does not read the other sums as its rows alone";
    return std::nullopt;
  }
  why = "no block of what is between the sums is known";
  ops.channel = channelOf(ops);
  if (ops.expand && !ops.channel)
    return std::nullopt;
  if (ops.expand && ops.window) {
    std::optional<unsigned> read = inputFrom(ops.window, ops.expand, own);
    if (!read || !findHeld(ops, own))
      return std::nullopt;
    ops.read = *read;
  }
  if (!hasBoxes(ops))
    return std::nullopt;
  why.clear();
  return ops;
}

//===----------------------------------------------------------------------===//
// The block
//===----------------------------------------------------------------------===//

/// What `expr` is at the loops' last round, where the first one is 0.
static std::optional<int64_t> lengthOf(AffineExpr expr,
                                       ArrayRef<int64_t> sizes) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return sizes[dim.getPosition()] - 1;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() == 0 ? std::optional<int64_t>(0) : std::nullopt;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<int64_t> a = lengthOf(binary.getLHS(), sizes);
  if (a && expr.getKind() == AffineExprKind::Add) {
    std::optional<int64_t> b = lengthOf(binary.getRHS(), sizes);
    return b ? std::optional(*a + *b) : std::nullopt;
  }
  auto by = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!a || !by || expr.getKind() != AffineExprKind::Mul || by.getValue() < 0)
    return std::nullopt;
  return *a * by.getValue();
}

std::optional<SmallVector<int64_t>> fuse::boxOf(AffineMap map,
                                                ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> box;
  for (AffineExpr expr : map.getResults()) {
    std::optional<int64_t> length = lengthOf(expr, sizes);
    if (!length)
      return std::nullopt;
    box.push_back(*length + 1);
  }
  return box;
}

int64_t ChainTile::product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

static SmallVector<int64_t> assumedRanges(linalg::LinalgOp op) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (int64_t &range : ranges)
    if (ShapedType::isDynamic(range))
      range = kAssumedExtent;
  return ranges;
}

/// Powers of two that are `pixels` together: the two innermost loops grow
/// first, the shorter one before, as far as the image goes; then the others.
static SmallVector<int64_t> pixelsOf(ArrayRef<int64_t> extents,
                                     int64_t pixels) {
  SmallVector<int64_t> tile(extents.size(), 1);
  unsigned last = extents.size() - 1;
  for (int64_t total = 1; total < pixels; total *= 2) {
    std::optional<unsigned> best;
    auto offer = [&](unsigned loop) {
      if (tile[loop] < extents[loop] && (!best || tile[loop] < tile[*best]))
        best = loop;
    };
    offer(last);
    if (last)
      offer(last - 1);
    for (unsigned loop = last; !best && loop-- > 0;)
      offer(loop);
    tile[best.value_or(last)] *= 2;
  }
  return tile;
}

ChainSplit ChainSplit::of(int64_t m, int64_t n, int64_t threads) {
  std::optional<ChainSplit> best;
  for (int64_t across = 1; across <= m && across <= threads; across *= 2) {
    ChainSplit split{across, threads / across, 0, 0};
    split.perM = llvm::divideCeil(m, split.threadsM);
    split.perN = llvm::divideCeil(n, split.threadsN);
    auto isBetter = [&](const ChainSplit &other) {
      int64_t own = split.perM * split.perN, others = other.perM * other.perN;
      return own < others || (own == others && split.perM + split.perN <
                                                   other.perM + other.perN);
    };
    if (!best || isBetter(*best))
      best = split;
  }
  return *best;
}

ChainGroup ChainGroup::of(int64_t channels, int64_t pixels, int64_t threads) {
  constexpr ChainGroup groups[] = {{4, 4}, {4, 2}, {8, 1},
                                   {4, 1}, {2, 1}, {1, 1}};
  ChainGroup best = groups[5];
  int64_t least = INT64_MAX;
  for (ChainGroup group : groups) {
    if (group.channels > channels || group.pixels > pixels)
      continue;
    int64_t items = llvm::divideCeil(channels, group.channels) *
                    llvm::divideCeil(pixels, group.pixels);
    // A load takes as long as four products.
    int64_t time =
        int64_t(llvm::divideCeil(items, threads)) *
        (group.channels * group.pixels + 4 * (group.channels + group.pixels));
    if (time < least) {
      least = time;
      best = group;
    }
  }
  return best;
}

ChainTile::ChainTile(const ChainOps &ops, ArrayRef<int64_t> sizes,
                     int64_t threads)
    : depth(sizes[2]), chunk(1) {
  SmallVector<int64_t> extents = assumedRanges(ops.anchor), loops(extents);
  SmallVector<int64_t> image;
  for (unsigned loop : ops.m)
    image.push_back(extents[loop]);
  m = pixelsOf(image, sizes[0]);
  for (auto [loop, size] : llvm::zip_equal(ops.m, m))
    loops[loop] = size;
  for (unsigned loop : ops.batch)
    loops[loop] = 1;
  if (ops.expand)
    chunk = loops[*ops.channel] =
        std::clamp<int64_t>(extents[*ops.channel], 1, kChainChunk);
  columns = ops.expand ? sizes[1] : std::min(sizes[1], kChainColumns);
  split = ChainSplit::of(product(m), columns, threads);
  // A line of other banks than the one before, of whole vectors.
  pitch = staged() + 4;
  held = *boxOf(ops.anchor.getMatchingIndexingMap(
                    ops.anchor.getDpsInputOperand(ops.rows)),
                loops);
  if (!ops.expand || !ops.window)
    return;
  SmallVector<int64_t> around = assumedRanges(ops.window);
  AffineMap result =
      ops.window.getMatchingIndexingMap(ops.window.getDpsInitOperand(0));
  for (auto [expr, dim] : llvm::zip_equal(result.getResults(), ops.held))
    around[cast<AffineDimExpr>(expr).getPosition()] = held[dim];
  read = *boxOf(ops.window.getMatchingIndexingMap(
                    ops.window.getDpsInputOperand(ops.read)),
                around);
}

static int64_t bytesOf(linalg::LinalgOp op, unsigned input) {
  Type type = getElementTypeOrSelf(op.getDpsInputOperand(input)->get());
  return elementBytes(type).value_or(0);
}

int64_t ChainTile::readOffset(const ChainOps &ops) const {
  return llvm::alignTo(heldElements() * bytesOf(ops.anchor, ops.rows), 16);
}

int64_t ChainTile::weightsOffset(const ChainOps &ops) const {
  int64_t bytes = ops.window ? bytesOf(ops.window, ops.read) : 0;
  return readOffset(ops) + llvm::alignTo(readElements() * bytes, 16);
}

int64_t ChainTile::bytes(const ChainOps &ops) const {
  // Twice, so that one is written while the other is read.
  return weightsOffset(ops) +
         2 * depth * pitch * bytesOf(ops.anchor, 1 - ops.rows);
}
