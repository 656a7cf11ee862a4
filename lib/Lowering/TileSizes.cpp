//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Free loops of a kernel, and the sizes of its tiles.
//
//===----------------------------------------------------------------------===//

#include "TileSizes.h"
#include "fuse/Kernel/AttentionTile.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace fuse;

//===----------------------------------------------------------------------===//
// Free loops
//===----------------------------------------------------------------------===//

void FreeLoops::require(Value value, ArrayRef<int> dims) {
  auto [known, isNew] = cut.try_emplace(value, dims);
  if (isNew)
    return;
  for (auto [old, now] : llvm::zip_equal(known->second, dims)) {
    if (old == now)
      continue;
    bind(old);
    bind(now);
    old = kNoLoop;
  }
}

void FreeLoops::visitOperands(linalg::LinalgOp op, ArrayRef<int> loops) {
  bool reduces = op.getNumReductionLoops() != 0;
  for (OpOperand &operand : op->getOpOperands()) {
    // An empty tensor has no values: several operators may start from one.
    if (!isa<RankedTensorType>(operand.get().getType()) ||
        operand.get().getDefiningOp<tensor::EmptyOp>())
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<int> dims;
    for (AffineExpr expr : map.getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      dims.push_back(dim ? loops[dim.getPosition()] : kNoLoop);
      // Windows of neighbours overlap: they stay in one tile, unless they are
      // only packed.
      for (unsigned loop = 0; !dim && reduces && loop < loops.size(); ++loop)
        if (expr.isFunctionOfDim(loop))
          bind(loops[loop]);
    }
    if (reduces && op.isDpsInput(&operand) && dims.size() > 1 &&
        dims.back() != kNoLoop)
      columns.set(dims.back());
    require(operand.get(), dims);
  }
}

void FreeLoops::visit(linalg::LinalgOp op) {
  if (llvm::none_of(op->getResults(),
                    [&](Value result) { return cut.contains(result); }))
    return; // not part of what leads to the root
  SmallVector<int> loops(op.getNumLoops(), kNoLoop);
  for (OpResult result : op->getResults()) {
    auto known = cut.find(result);
    if (known == cut.end())
      continue;
    AffineMap map = op.getIndexingMapMatchingResult(result);
    for (auto [expr, loop] : llvm::zip_equal(map.getResults(), known->second)) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim) {
        bind(loop);
        continue;
      }
      int &mine = loops[dim.getPosition()];
      if (mine != kNoLoop && mine != loop) {
        bind(mine);
        bind(loop);
      }
      mine = loop;
    }
  }
  visitOperands(op, loops);
}

/// Passes on the dimensions that are not padded.
void FreeLoops::visitPad(Operation *op) {
  auto pad = cast<tensor::PadOp>(op);
  auto known = cut.find(pad.getResult());
  if (known == cut.end())
    return;
  SmallVector<int> dims = known->second;
  for (auto [dim, low, high] :
       llvm::zip_equal(dims, pad.getStaticLow(), pad.getStaticHigh()))
    if (low != 0 || high != 0)
      dim = kNoLoop;
  require(pad.getSource(), dims);
}

FreeLoops::FreeLoops(linalg::LinalgOp root, Operation *until) {
  bound.resize(root.getNumLoops());
  columns.resize(root.getNumLoops());
  for (auto [loop, kind] : llvm::enumerate(root.getIteratorTypesArray()))
    if (kind != utils::IteratorType::parallel)
      bound.set(loop);
  for (OpResult result : root->getResults()) {
    SmallVector<int> &dims = cut[result];
    for (AffineExpr expr :
         root.getIndexingMapMatchingResult(result).getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      dims.push_back(dim ? int(dim.getPosition()) : kNoLoop);
    }
  }
  visitOperands(root, llvm::to_vector(llvm::seq<int>(0, root.getNumLoops())));
  // Consumers come before producers. What no tile can be taken of (a reshape, a
  // slice) is computed before the loops, with all that it reads.
  Operation *op = root == until ? nullptr : root->getPrevNode();
  for (; op && op != until; op = op->getPrevNode()) {
    if (auto structured = dyn_cast<linalg::LinalgOp>(op))
      visit(structured);
    else if (isa<tensor::PadOp>(op))
      visitPad(op);
  }
}

ArrayRef<int> FreeLoops::loopsOf(Value value) const {
  auto known = cut.find(value);
  return known == cut.end() ? ArrayRef<int>() : ArrayRef<int>(known->second);
}

//===----------------------------------------------------------------------===//
// Rows and points
//===----------------------------------------------------------------------===//

/// Elements of a pointwise tile: what hides the cost of a loop, and what leaves
/// room for the tiles of a few operands in the nearest cache.
constexpr int64_t kTileLeast = 1024, kTileMost = 4096;
/// Lanes of a tile along which a reduction reads neighbours.
constexpr int64_t kColumns = 64;

/// How much of a loop goes into a pointwise tile, around `inner` elements: all,
/// or a divisor.
static int64_t pointSize(int64_t extent, int64_t inner, bool isDynamic) {
  if (inner >= kTileLeast)
    return 1;
  int64_t most = kTileMost / std::max<int64_t>(inner, 1);
  for (int64_t size = most; size < extent && size * inner >= kTileLeast; --size)
    if (extent % size == 0 && !isDynamic)
      return size;
  bool isShort = extent * inner <= kTileMost || isDynamic;
  return isShort || inner < kTileLeast / 4 ? extent : 1;
}

/// Some columns of one row, or some rows of few columns.
static SmallVector<int64_t> pointTile(linalg::LinalgOp root,
                                      const FreeLoops &free) {
  SmallVector<int64_t> ranges = root.getStaticLoopRanges();
  SmallVector<int64_t> sizes(ranges.size(), 0);
  int64_t inner = 1;
  for (unsigned loop = ranges.size(); loop-- > 0;) {
    // What is not known is taken to be long enough.
    bool isDynamic = ShapedType::isDynamic(ranges[loop]);
    int64_t range = isDynamic ? kTileLeast : ranges[loop];
    int64_t size = pointSize(range, inner, isDynamic);
    if (free.isFree(loop) && (size < range || size == 1))
      sizes[loop] = size;
    inner *= sizes[loop] ? size : range;
  }
  return sizes;
}

/// One row, or some columns where rows are summed.
static SmallVector<int64_t> rowTile(linalg::LinalgOp root,
                                    const FreeLoops &free) {
  SmallVector<int64_t> ranges = root.getStaticLoopRanges();
  SmallVector<int64_t> sizes(ranges.size(), 0);
  for (unsigned loop = 0; loop < ranges.size(); ++loop) {
    int64_t size = free.isColumn(loop) ? kColumns : 1;
    bool fits = ShapedType::isDynamic(ranges[loop]) || size == 1 ||
                (size < ranges[loop] && ranges[loop] % size == 0);
    if (free.isFree(loop) && fits)
      sizes[loop] = size;
  }
  return sizes;
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// Columns of a panel: a few registers of the widest vectors side by side.
constexpr int64_t kColumnsWanted = 64, kColumnsMost = 128, kLanes = 16;
/// Rows whose results stay in the nearest cache behind the contraction.
constexpr int64_t kRowsMost = 32, kRowsLeast = 4;
/// Rows that a register tile of four vectors has at best.
constexpr int64_t kRegisterRows = 6;
/// Bytes of a packed panel that the second cache holds.
constexpr int64_t kPanelBytes = 1024 * 1024;

/// The divisor of `extent` up to `most` whose multiples of `unit` fill vectors
/// best, and among those the one nearest to what is wanted.
static int64_t columnsOf(int64_t extent, int64_t unit, int64_t most) {
  int64_t best = 1;
  auto filled = [&](int64_t size) {
    int64_t columns = size * unit;
    return double(columns) / double(llvm::alignTo(columns, kLanes));
  };
  auto distance = [&](int64_t size) {
    return std::abs(size * unit - kColumnsWanted);
  };
  for (int64_t size = 1; size <= extent && size * unit <= most; ++size) {
    if (extent % size)
      continue;
    double gain = filled(size) - filled(best);
    if (gain > 0 || (gain == 0 && distance(size) < distance(best)))
      best = size;
  }
  return best;
}

/// A divisor of `extent` up to `most`: a multiple of the register rows if there
/// is one.
static int64_t rowsOf(int64_t extent, int64_t most = kRowsMost) {
  int64_t best = 0, even = 0;
  for (int64_t size = kRowsLeast; size <= std::min(extent, most); ++size) {
    if (extent % size)
      continue;
    best = size;
    if (size % kRegisterRows == 0)
      even = size;
  }
  return even >= 2 * kRegisterRows ? even : best;
}

namespace {
/// The loops of a contraction's result, as loops of the root.
struct ContractionLoops {
  SmallVector<unsigned> columns; ///< of the panel, innermost first
  SmallVector<unsigned> rows;    ///< that reuse the panel, innermost first
  SmallVector<unsigned> batch;
  int64_t depth = 1; ///< elements that a result sums
  unsigned elementBytes = 4;
};
} // namespace

static std::optional<ContractionLoops> sortLoops(linalg::LinalgOp heavy,
                                                 const FreeLoops &free) {
  ArrayRef<int> cut = free.loopsOf(heavy->getResult(0));
  AffineMap result = heavy.getIndexingMapMatchingResult(heavy->getResult(0));
  SmallVector<OpOperand *> inputs = heavy.getDpsInputOperands();
  if (cut.empty() || inputs.size() != 2 || !result.isProjectedPermutation())
    return std::nullopt;
  unsigned last = result.getDimPosition(result.getNumResults() - 1);
  auto indexes = [&](OpOperand *input, unsigned loop) {
    return heavy.getMatchingIndexingMap(input).isFunctionOfDim(loop);
  };
  bool second = indexes(inputs[1], last);
  if (second == indexes(inputs[0], last))
    return std::nullopt;
  OpOperand *panel = inputs[second ? 1 : 0], *other = inputs[second ? 0 : 1];
  ContractionLoops loops;
  for (unsigned dim = result.getNumResults(); dim-- > 0;) {
    int loop = cut[dim];
    if (loop == kNoLoop || !free.isFree(loop))
      return std::nullopt;
    unsigned mine = result.getDimPosition(dim);
    if (!indexes(other, mine))
      loops.columns.push_back(loop);
    else if (!indexes(panel, mine))
      loops.rows.push_back(loop);
    else
      loops.batch.push_back(loop);
  }
  for (auto [range, kind] : llvm::zip_equal(heavy.getStaticLoopRanges(),
                                            heavy.getIteratorTypesArray()))
    if (kind != utils::IteratorType::parallel)
      loops.depth *= range;
  loops.elementBytes = std::max(
      1u,
      getElementTypeOrSelf(panel->get().getType()).getIntOrFloatBitWidth() / 8);
  return loops;
}

static std::optional<TileSizes> contractionTiles(linalg::LinalgOp root,
                                                 linalg::LinalgOp heavy,
                                                 const FreeLoops &free) {
  SmallVector<int64_t> ranges = root.getStaticLoopRanges();
  // Dynamic extents are negative here.
  auto isUnknownOrNone = [](int64_t extent) { return extent < 1; };
  if (llvm::any_of(ranges, isUnknownOrNone) ||
      llvm::any_of(heavy.getStaticLoopRanges(), isUnknownOrNone))
    return std::nullopt;
  std::optional<ContractionLoops> loops = sortLoops(heavy, free);
  if (!loops)
    return std::nullopt;
  TileSizes tiles;
  tiles.outer.assign(ranges.size(), 0);
  tiles.inner.assign(ranges.size(), 0);
  for (unsigned loop : loops->batch)
    tiles.outer[loop] = 1;
  int64_t fits = kPanelBytes / (loops->depth * loops->elementBytes);
  int64_t most = std::clamp(fits, kLanes, kColumnsMost), columns = 1;
  for (unsigned loop : loops->columns) {
    int64_t size = columnsOf(ranges[loop], columns, most);
    tiles.outer[loop] = size;
    columns *= size;
    if (size != ranges[loop])
      most = columns; // what is further out is cut to 1
  }
  int64_t rows = 1;
  for (unsigned loop : loops->rows) {
    tiles.inner[loop] = rows > 1 ? 1 : rowsOf(ranges[loop]);
    rows *= std::max<int64_t>(tiles.inner[loop], 1);
  }
  for (SmallVector<int64_t> *sizes : {&tiles.outer, &tiles.inner})
    for (auto [size, range] : llvm::zip_equal(*sizes, ranges))
      if (size >= range)
        size = 0;
  return tiles;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

std::optional<TileSizes> fuse::chooseAttentionTiles(linalg::LinalgOp root,
                                                    linalg::LinalgOp first) {
  SmallVector<int64_t> ranges = root.getStaticLoopRanges(),
                       scores = first.getStaticLoopRanges();
  FreeLoops free(root);
  ArrayRef<int> cut = free.loopsOf(first->getResult(0));
  AffineMap result = first.getIndexingMapMatchingResult(first->getResult(0));
  if (llvm::is_contained(ranges, ShapedType::kDynamic) ||
      llvm::is_contained(scores, ShapedType::kDynamic) || cut.empty() ||
      !result.isProjectedPermutation())
    return std::nullopt;
  SmallVector<unsigned> batch, rows;
  int64_t columns = 1;
  for (unsigned dim = result.getNumResults(); dim-- > 0;) {
    unsigned mine = result.getDimPosition(dim);
    int loop = cut[dim];
    if (loop == kNoLoop || !free.isFree(loop)) {
      columns *= scores[mine];
      continue;
    }
    bool shared =
        llvm::all_of(first.getDpsInputOperands(), [&](OpOperand *input) {
          return first.getMatchingIndexingMap(input).isFunctionOfDim(mine);
        });
    (shared ? batch : rows).push_back(loop);
  }
  if (rows.empty())
    return std::nullopt;
  TileSizes tiles;
  tiles.outer.assign(ranges.size(), 0);
  tiles.inner.assign(ranges.size(), 0);
  for (unsigned loop : batch)
    tiles.outer[loop] = 1;
  int64_t bytes = columns * sizeof(float);
  int64_t most =
      std::max(kScoreBytes / std::max<int64_t>(bytes, 1), kRowsLeast);
  for (unsigned loop : rows) {
    int64_t size =
        ranges[loop] <= most ? ranges[loop] : rowsOf(ranges[loop], most);
    tiles.outer[loop] = size < ranges[loop] ? std::max<int64_t>(size, 1) : 0;
    most = std::max<int64_t>(most / std::max<int64_t>(size, 1), 1);
  }
  return tiles;
}

TileSizes fuse::chooseTiles(linalg::LinalgOp root, linalg::LinalgOp heavy,
                            bool reduces) {
  FreeLoops free(root);
  if (heavy)
    if (std::optional<TileSizes> tiles = contractionTiles(root, heavy, free))
      return *tiles;
  return {reduces ? rowTile(root, free) : pointTile(root, free),
          SmallVector<int64_t>(root.getNumLoops(), 0)};
}
