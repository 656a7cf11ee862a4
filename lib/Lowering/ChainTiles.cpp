//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chain kernel as one loop nest: nothing between its operators is larger than
// some rows of some channels.
//
//   e = contraction x; p = pad e; d = window p; y = contraction d
//     ==>   for rows of y, in parallel
//             for some channels
//               for rows of p { e };  d;  y += d
//
// Rows of e that two tiles need are computed for both; nothing else is. Sums
// keep their order.
//
//===----------------------------------------------------------------------===//

#include "ChainTiles.h"
#include "TileSizes.h"
#include "fuse/Analysis/Operators.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace fuse;

using FusionResult = scf::SCFTileAndFuseOptions::ControlFnResult;

/// Marks the last contraction while it is tiled.
constexpr StringLiteral kAnchorAttr = "fuse.anchor";

/// Channels that a tile has at a time: where they lie along vectors, and where
/// they are rows of registers. Fewer load and store the sums more often.
constexpr int64_t kVectorChannels = 64, kRowChannels = 32;

linalg::LinalgOp
fuse::tileOperator(linalg::LinalgOp root, ArrayRef<int64_t> sizes,
                   bool parallel,
                   scf::SCFTileAndFuseOptions::ControlFnTy control) {
  if (llvm::all_of(sizes, [](int64_t size) { return size == 0; }))
    return root;
  MLIRContext *context = root.getContext();
  IRRewriter rewriter(context);
  scf::SCFTileAndFuseOptions options;
  options.tilingOptions.setTileSizes(getAsIndexOpFoldResult(context, sizes));
  if (parallel)
    options.tilingOptions.setLoopType(
        scf::SCFTilingOptions::LoopType::ForallOp);
  options.setFusionControlFn(std::move(control));
  rewriter.setInsertionPoint(root);
  auto tiled = scf::tileConsumerAndFuseProducersUsingSCF(
      rewriter, cast<TilingInterface>(root.getOperation()), options);
  if (failed(tiled))
    return nullptr;
  Operation *loop = tiled->loops.front();
  for (auto [old, now] : tiled->replacements)
    rewriter.replaceUsesWithIf(old, now, [&](OpOperand &use) {
      Operation *user =
          loop->getBlock()->findAncestorOpInBlock(*use.getOwner());
      return user && loop->isBeforeInBlock(user);
    });
  return dyn_cast<linalg::LinalgOp>(tiled->tiledAndFusedOps.front());
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

namespace {
/// A chain kernel as it is tiled.
struct Chain {
  linalg::LinalgOp root, anchor; ///< the last operator, the last contraction
  unsigned operand = 0;          ///< of the anchor: what it reads of the chain
  bool windows = false;          ///< there is a window in front of it
  int64_t heldBytes = 0;         ///< of what is between, and of its padded form
  SmallVector<int64_t> rows, channels; ///< sizes per loop of root and anchor
};
} // namespace

static int64_t bytesOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getNumElements() *
         llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
}

/// Adds what `value` is computed by, up to a contraction; true if anything of
/// that sums.
static bool addStages(Value value, Chain &chain) {
  bool sums = false;
  SmallVector<Value> worklist{value};
  llvm::DenseSet<Operation *> seen;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (!structured) {
      llvm::append_range(worklist, op->getOperands());
      continue;
    }
    if (structured.getNumReductionLoops() != 0) {
      sums = true;
      chain.heldBytes += bytesOf(op->getResult(0));
      chain.windows |= !isHeavy(roleOf(structured));
    }
    if (!isHeavy(roleOf(structured)))
      llvm::append_range(worklist, structured.getDpsInputs());
  }
  return sums;
}

static bool isStatic(func::FuncOp function) {
  return !function
              ->walk([](linalg::LinalgOp op) {
                return llvm::is_contained(op.getStaticLoopRanges(),
                                          ShapedType::kDynamic)
                           ? WalkResult::interrupt()
                           : WalkResult::advance();
              })
              .wasInterrupted();
}

/// The largest divisor of `extent` up to `most`, at least 1.
static int64_t divisorOf(int64_t extent, int64_t most) {
  for (int64_t size = std::min(extent, most); size > 1; --size)
    if (extent % size == 0)
      return size;
  return 1;
}

/// Cuts the first of the loops that the anchor sums over. Returns the share of
/// the channels that a tile has at a time.
static double cutChannels(Chain &chain) {
  SmallVector<int64_t> ranges = chain.anchor.getStaticLoopRanges();
  chain.channels.assign(ranges.size(), 0);
  std::optional<unsigned> first;
  int64_t inner = 1;
  for (auto [loop, kind] :
       llvm::enumerate(chain.anchor.getIteratorTypesArray())) {
    if (kind != utils::IteratorType::reduction)
      continue;
    inner *= first ? ranges[loop] : 1;
    first = first ? first : std::optional<unsigned>(loop);
  }
  AffineMap map = chain.anchor.getMatchingIndexingMap(
      chain.anchor.getDpsInputOperand(chain.operand));
  bool vectors =
      map.getNumResults() && map.getResults().back().isFunctionOfDim(*first);
  int64_t most =
      (vectors || inner > 1 ? kVectorChannels : kRowChannels) / inner;
  if (ranges[*first] <= most)
    return 1;
  int64_t size = divisorOf(ranges[*first], std::max<int64_t>(most, 1));
  chain.channels[*first] = size;
  return double(size) / double(ranges[*first]);
}

/// Cuts loops of the root that are rows of the anchor, outer ones first, until
/// a tile fits and each thread has one. False if there are none.
static bool cutRows(Chain &chain, double share, int64_t cacheBytes,
                    int64_t threads) {
  FreeLoops free(chain.root, chain.anchor);
  Value result = chain.anchor->getResult(0);
  ArrayRef<int> cut = free.loopsOf(result);
  AffineMap made =
      chain.anchor.getIndexingMapMatchingResult(cast<OpResult>(result));
  if (cut.empty() || !made.isProjectedPermutation())
    return false;
  SmallVector<int64_t> ranges = chain.root.getStaticLoopRanges();
  chain.rows.assign(ranges.size(), 0);
  double bytes = double(chain.heldBytes) * share + double(bytesOf(result));
  if (chain.root != chain.anchor)
    bytes += double(bytesOf(chain.root->getResult(0)));
  bool found = false;
  for (auto [dim, loop] : llvm::enumerate(cut)) {
    unsigned mine = made.getDimPosition(dim);
    bool isRow = llvm::all_of(
        llvm::enumerate(chain.anchor.getDpsInputOperands()), [&](auto input) {
          return chain.anchor.getMatchingIndexingMap(input.value())
                     .isFunctionOfDim(mine) ==
                 (unsigned(input.index()) == chain.operand);
        });
    if (loop == kNoLoop || !free.isFree(loop) || !isRow)
      continue;
    found = true;
    double parts = std::max(bytes / double(cacheBytes), double(threads));
    if (parts <= 1)
      break;
    int64_t size =
        divisorOf(ranges[loop], int64_t(double(ranges[loop]) / parts));
    chain.rows[loop] = size;
    bytes *= double(size) / double(ranges[loop]);
    threads = llvm::divideCeil(threads, ranges[loop] / size);
  }
  return found;
}

static std::optional<Chain> findChain(func::FuncOp function,
                                      linalg::LinalgOp root, int64_t cacheBytes,
                                      int64_t threads) {
  Chain chain;
  chain.root = root;
  for (Operation &op : function.getBody().front())
    if (auto structured = dyn_cast<linalg::LinalgOp>(op))
      if (isHeavy(roleOf(structured)) && op.getNumResults() == 1)
        chain.anchor = structured;
  if (!chain.anchor || !isStatic(function))
    return std::nullopt;
  bool found = false;
  for (OpOperand *input : chain.anchor.getDpsInputOperands())
    if (addStages(input->get(), chain)) {
      chain.operand = input->getOperandNumber();
      found = true;
    }
  if (!found || !cutRows(chain, cutChannels(chain), cacheBytes, threads))
    return std::nullopt;
  return chain;
}

//===----------------------------------------------------------------------===//
// Padded tiles
//===----------------------------------------------------------------------===//

/// Computes what `slice` takes where it is, as far as operators reach.
static void fuseInto(IRRewriter &rewriter, tensor::ExtractSliceOp slice) {
  SmallVector<tensor::ExtractSliceOp> worklist{slice};
  // Without a loop each source would be taken for a destination.
  auto loop = cast<LoopLikeOpInterface>(slice->getParentOp());
  while (!worklist.empty()) {
    tensor::ExtractSliceOp next = worklist.pop_back_val();
    if (next->use_empty() ||
        !next.getSource().getDefiningOp<linalg::LinalgOp>())
      continue;
    auto fused = scf::tileAndFuseProducerOfSlice(rewriter, next, loop);
    if (!fused)
      continue;
    for (Operation *made : fused->generatedSlices)
      if (auto other = dyn_cast<tensor::ExtractSliceOp>(made))
        worklist.push_back(other);
  }
}

namespace {
/// Makes a tile of a padded tensor: the border, and row by row what is inside.
class PaddedTile {
public:
  PaddedTile(IRRewriter &rewriter, tensor::PadOp pad,
             tensor::ExtractSliceOp slice)
      : rewriter(rewriter), pad(pad), slice(slice), loc(slice.getLoc()),
        shape(slice.getType().getShape()),
        value(pad.getConstantPaddingValue()) {}
  /// False, and nothing done, if the slice's place is not known along more than
  /// one padded dimension.
  bool run();

private:
  using Place = SmallVector<OpFoldResult>;
  /// What of a padded dimension comes from the source.
  struct Inside {
    int64_t low, size; ///< in the tile
    int64_t from;      ///< in the source
  };
  Value index(int64_t number) {
    return arith::ConstantIndexOp::create(rewriter, loc, number);
  }
  bool findInside();
  Value fill(Value tile, const Place &offsets, const Place &sizes);
  Value fillBorder(Value tile, unsigned dim, const Inside &part);
  Value forRows(Value from, Value to, Value tile,
                llvm::function_ref<Value(Value row, Value tile)> body);
  Value rowOf(Value row, Value start, Value tile);
  void startIn(Value computed, Value destination);
  /// Where a row of the tile is, borders left out.
  void place(Value row, Place &offsets, Place &sizes);

  IRRewriter &rewriter;
  tensor::PadOp pad;
  tensor::ExtractSliceOp slice;
  Location loc;
  ArrayRef<int64_t> shape;
  Value value;
  std::optional<unsigned> rowDim;
  SmallVector<std::optional<Inside>> inside; ///< of padded ones but the row
};
} // namespace

bool PaddedTile::findInside() {
  ArrayRef<int64_t> low = pad.getStaticLow(), high = pad.getStaticHigh();
  if (!value || !slice.getType().hasStaticShape() || !slice.hasUnitStride() ||
      slice.getSourceType().getRank() != slice.getType().getRank() ||
      llvm::is_contained(low, ShapedType::kDynamic) ||
      llvm::is_contained(high, ShapedType::kDynamic))
    return false;
  inside.resize(shape.size());
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    if (low[dim] == 0 && high[dim] == 0)
      continue;
    int64_t offset = slice.getStaticOffsets()[dim];
    if (ShapedType::isDynamic(offset)) {
      if (rowDim)
        return false;
      rowDim = dim;
      continue;
    }
    int64_t extent = pad.getSourceType().getDimSize(dim);
    int64_t begin = std::clamp<int64_t>(low[dim] - offset, 0, shape[dim]),
            end = std::clamp(low[dim] + extent - offset, begin, shape[dim]);
    inside[dim] = Inside{begin, end - begin, offset + begin - low[dim]};
  }
  for (unsigned dim = 0; dim < shape.size() && !rowDim; ++dim)
    if (inside[dim]) {
      rowDim = dim;
      inside[dim].reset();
    }
  return rowDim.has_value();
}

Value PaddedTile::fill(Value tile, const Place &offsets, const Place &sizes) {
  Place strides(shape.size(), rewriter.getIndexAttr(1));
  Value part = tensor::ExtractSliceOp::create(rewriter, loc, tile, offsets,
                                              sizes, strides);
  Value filled =
      linalg::FillOp::create(rewriter, loc, value, part).getResult(0);
  return tensor::InsertSliceOp::create(rewriter, loc, filled, tile, offsets,
                                       sizes, strides);
}

/// Fills what is in front of `part` and behind it.
Value PaddedTile::fillBorder(Value tile, unsigned dim, const Inside &part) {
  int64_t behind = part.low + part.size;
  for (auto [from, count] : {std::pair(int64_t(0), part.low),
                             std::pair(behind, shape[dim] - behind)}) {
    if (count == 0)
      continue;
    Place offsets(shape.size(), rewriter.getIndexAttr(0)),
        sizes = getAsIndexOpFoldResult(rewriter.getContext(), shape);
    offsets[dim] = rewriter.getIndexAttr(from);
    sizes[dim] = rewriter.getIndexAttr(count);
    tile = fill(tile, offsets, sizes);
  }
  return tile;
}

Value PaddedTile::forRows(
    Value from, Value to, Value tile,
    llvm::function_ref<Value(Value row, Value tile)> body) {
  auto loop =
      scf::ForOp::create(rewriter, loc, from, to, index(1), ValueRange{tile});
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(loop.getBody());
  Value made = body(loop.getInductionVar(), loop.getRegionIterArg(0));
  scf::YieldOp::create(rewriter, loc, made);
  return loop.getResult(0);
}

void PaddedTile::place(Value row, Place &offsets, Place &sizes) {
  offsets.assign(shape.size(), rewriter.getIndexAttr(0));
  sizes = getAsIndexOpFoldResult(rewriter.getContext(), shape);
  for (auto [dim, part] : llvm::enumerate(inside))
    if (part) {
      offsets[dim] = rewriter.getIndexAttr(part->low);
      sizes[dim] = rewriter.getIndexAttr(part->size);
    }
  offsets[*rowDim] = row;
  sizes[*rowDim] = rewriter.getIndexAttr(1);
}

/// Lets what starts from an empty tensor start from `destination`.
void PaddedTile::startIn(Value computed, Value destination) {
  auto op = computed.getDefiningOp<linalg::LinalgOp>();
  while (op && op.getNumDpsInits() == 1) {
    Value init = op.getDpsInits()[0], from = init;
    while (auto part = from.getDefiningOp<tensor::ExtractSliceOp>())
      from = part.getSource();
    if (from.getDefiningOp<tensor::EmptyOp>()) {
      op.getDpsInitsMutable()[0].set(destination);
      return;
    }
    if (!init.hasOneUse())
      return;
    op = init.getDefiningOp<linalg::LinalgOp>();
  }
}

/// Puts row `row` of the tile, which starts at row `start`, into it.
Value PaddedTile::rowOf(Value row, Value start, Value tile) {
  Place offsets, sizes, from = slice.getMixedOffsets(),
                        strides(shape.size(), rewriter.getIndexAttr(1));
  place(row, offsets, sizes);
  for (auto [dim, part] : llvm::enumerate(inside))
    if (part)
      from[dim] = rewriter.getIndexAttr(part->from);
  Value at = arith::AddIOp::create(rewriter, loc, row, start);
  at = arith::SubIOp::create(rewriter, loc, at,
                             index(pad.getStaticLow()[*rowDim]));
  from[*rowDim] = at;
  Value destination = tensor::ExtractSliceOp::create(rewriter, loc, tile,
                                                     offsets, sizes, strides);
  auto part = tensor::ExtractSliceOp::create(rewriter, loc, pad.getSource(),
                                             from, sizes, strides);
  auto insert = tensor::InsertSliceOp::create(rewriter, loc, part, tile,
                                              offsets, sizes, strides);
  fuseInto(rewriter, part);
  startIn(insert.getSource(), destination);
  rewriter.setInsertionPointAfter(insert);
  return insert;
}

bool PaddedTile::run() {
  if (!findInside())
    return false;
  rewriter.setInsertionPoint(slice);
  Value tile = tensor::EmptyOp::create(rewriter, loc, shape,
                                       slice.getType().getElementType());
  for (auto [dim, part] : llvm::enumerate(inside))
    if (part)
      tile = fillBorder(tile, dim, *part);
  int64_t low = pad.getStaticLow()[*rowDim],
          extent = pad.getSourceType().getDimSize(*rowDim);
  Value zero = index(0), rows = index(shape[*rowDim]),
        start = getValueOrCreateConstantIndexOp(
            rewriter, loc, slice.getMixedOffsets()[*rowDim]);
  auto clamp = [&](int64_t row) -> Value {
    Value at = arith::SubIOp::create(rewriter, loc, index(row), start);
    at = arith::MaxSIOp::create(rewriter, loc, at, zero);
    return arith::MinSIOp::create(rewriter, loc, at, rows);
  };
  Value from = clamp(low), to = clamp(low + extent);
  auto border = [&](Value row, Value old) {
    Place offsets, sizes;
    place(row, offsets, sizes);
    return fill(old, offsets, sizes);
  };
  tile = forRows(zero, from, tile, border);
  tile = forRows(to, rows, tile, border);
  tile = forRows(from, to, tile,
                 [&](Value row, Value old) { return rowOf(row, start, old); });
  rewriter.replaceOp(slice, tile);
  return true;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Slices of slices become one; empty tensors shrink.
static void mergeSlices(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  tensor::populateMergeConsecutiveInsertExtractSlicePatterns(patterns);
  tensor::populateFoldTensorEmptyPatterns(patterns);
  (void)applyPatternsGreedily(function, std::move(patterns));
}

/// The marked contraction in the innermost loops.
static linalg::LinalgOp findAnchor(func::FuncOp function) {
  linalg::LinalgOp anchor;
  function->walk<WalkOrder::PreOrder>([&](linalg::LinalgOp op) {
    if (op->hasAttr(kAnchorAttr) && !op->use_empty() &&
        (!anchor || anchor->getParentOp()->isProperAncestor(op)))
      anchor = op;
  });
  return anchor;
}

/// The window, and what follows it, channel by channel.
static void tileWindow(linalg::LinalgOp anchor, unsigned operand) {
  auto window = anchor.getDpsInputOperand(operand)
                    ->get()
                    .getDefiningOp<linalg::LinalgOp>();
  if (!window || window->getBlock() != anchor->getBlock())
    return;
  tileOperator(window, chooseTiles(window, nullptr, /*reduces=*/true).outer,
               /*parallel=*/false,
               [](tensor::ExtractSliceOp, OpResult producer,
                  bool) -> std::optional<FusionResult> {
                 if (isa<linalg::LinalgOp>(producer.getOwner()))
                   return FusionResult{};
                 return std::nullopt;
               });
}

/// True if a contraction is among what `value` is computed by.
static bool isContracted(Value value) {
  Operation *op = value.getDefiningOp();
  auto structured = dyn_cast_or_null<linalg::LinalgOp>(op);
  if (!structured)
    return op && op->getNumOperands() && isContracted(op->getOperand(0));
  return isHeavy(roleOf(structured)) ||
         llvm::any_of(structured.getDpsInputs(), isContracted);
}

/// Makes tiles of what the loops take of padded tensors: of contractions, or of
/// others.
static void tilePads(func::FuncOp function, bool contracted) {
  mergeSlices(function);
  IRRewriter rewriter(function.getContext());
  SmallVector<std::pair<tensor::PadOp, tensor::ExtractSliceOp>> work;
  for (auto pad : function.getOps<tensor::PadOp>())
    for (Operation *user : pad->getUsers())
      if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
          slice && slice->getBlock() != pad->getBlock() &&
          isContracted(pad.getSource()) == contracted)
        work.push_back({pad, slice});
  for (auto [pad, slice] : work)
    PaddedTile(rewriter, pad, slice).run();
}

bool fuse::tileChain(func::FuncOp function, linalg::LinalgOp root,
                     int64_t cacheBytes, int64_t threads) {
  // Half of the cache is left to weights and to what comes in.
  std::optional<Chain> chain =
      findChain(function, root, cacheBytes / 2, threads);
  if (!chain)
    return false;
  chain->anchor->setAttr(kAnchorAttr, UnitAttr::get(function.getContext()));
  auto inside = [&](tensor::ExtractSliceOp, OpResult producer,
                    bool) -> std::optional<FusionResult> {
    if (isa<tensor::PadOp>(producer.getOwner()))
      return std::nullopt;
    return FusionResult{llvm::any_of(producer.getUsers(), [&](Operation *user) {
      return user->getBlock() == root->getBlock() &&
             root->isBeforeInBlock(user);
    })};
  };
  tileOperator(root, chain->rows, /*parallel=*/true, inside);
  tileOperator(findAnchor(function), chain->channels, /*parallel=*/false,
               [](tensor::ExtractSliceOp, OpResult producer,
                  bool isStart) -> std::optional<FusionResult> {
                 if (isStart || isa<tensor::PadOp>(producer.getOwner()))
                   return std::nullopt;
                 return FusionResult{};
               });
  // A contraction gives rows of several channels; others one channel at a time.
  tilePads(function, /*contracted=*/true);
  if (chain->windows)
    tileWindow(findAnchor(function), chain->operand);
  tilePads(function, /*contracted=*/false);
  mergeSlices(function);
  function->walk([](Operation *op) { op->removeAttr(kAnchorAttr); });
  return true;
}
