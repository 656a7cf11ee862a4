//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which chains have a schedule of their own. Changes nothing.
//
//===----------------------------------------------------------------------===//

#include "GpuChain.h"
#include "LoopNest.h"
#include "fuse/Analysis/Operators.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace fuse;

namespace {
/// What each value of a chain depends on.
class Order {
public:
  Order(Block &body, const ChainOps &ops);

  /// True if `value` is computed from a sum in front of the last contraction
  /// and not through that one.
  bool isBefore(Value value) const { return before.contains(value); }
  bool isAfter(Value value) const { return after.contains(value); }

private:
  llvm::DenseSet<Value> before, after;
};
} // namespace

Order::Order(Block &body, const ChainOps &ops) {
  for (Operation &op : body) {
    SmallVector<Value> used = usedValues(&op);
    bool isAfterOne = &op == ops.anchor.getOperation() ||
                      llvm::any_of(used, [&](Value v) { return isAfter(v); });
    bool isBeforeOne = &op == ops.window.getOperation() ||
                       &op == ops.expand.getOperation() ||
                       llvm::any_of(used, [&](Value v) { return isBefore(v); });
    for (Value result : op.getResults())
      if (isAfterOne)
        after.insert(result);
      else if (isBeforeOne)
        before.insert(result);
  }
}

/// True if `op` multiplies or sums in a way that threads can share.
static bool isPlainSum(linalg::LinalgOp op) {
  return op->getNumResults() == 1 &&
         llvm::all_of(op.getBlock()->without_terminator(), [](Operation &own) {
           return !isa<linalg::IndexOp>(own) && !own.getNumRegions();
         });
}

/// True if `pad` surrounds what may be empty.
static bool surroundsUnknown(tensor::PadOp pad) {
  auto isZero = [](OpFoldResult size) { return isConstantIntValue(size, 0); };
  for (unsigned dim = 0; dim < pad.getSourceType().getRank(); ++dim)
    if (pad.getSourceType().isDynamicDim(dim) &&
        !(isZero(pad.getMixedLowPad()[dim]) &&
          isZero(pad.getMixedHighPad()[dim])))
      return true;
  return false;
}

/// Nothing if values go from each part to the next one alone.
static std::optional<std::string> checkFlow(Block &body, const ChainOps &ops) {
  Order order(body, ops);
  Value rows = ops.anchor->getOperand(ops.rows);
  if (!rows.hasOneUse() || (ops.window && ops.expand &&
                            !ops.window->getOperand(ops.read).hasOneUse()))
    return "what is held on chip is read a second time";
  for (Operation &op : body) {
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    bool isPart = &op == ops.anchor.getOperation() ||
                  &op == ops.window.getOperation() ||
                  &op == ops.expand.getOperation();
    if (structured && structured.getNumReductionLoops() && !isPart)
      return "another sum than those of the chain";
    auto pad = dyn_cast<tensor::PadOp>(op);
    if (pad && order.isBefore(pad) && surroundsUnknown(pad))
      return "a border of what may be empty";
    bool isLast = op.hasTrait<OpTrait::IsTerminator>();
    for (Value used : usedValues(&op)) {
      if (isLast && !order.isAfter(used))
        return "a result that is not computed from the last contraction";
      bool joins = isLast || llvm::any_of(op.getResults(), [&](Value result) {
                     return order.isAfter(result);
                   });
      if (joins && order.isBefore(used) && used != rows)
        return "what is in front of the last contraction is read behind it";
    }
  }
  return std::nullopt;
}

/// Nothing if all that is on chip has a size and a type.
static std::optional<std::string> checkSizes(const ChainOps &ops) {
  auto hasType = [](linalg::LinalgOp op, unsigned input) {
    Type type = getElementTypeOrSelf(op.getDpsInputOperand(input)->get());
    return memoryBytes(type) && memoryType(type) == type;
  };
  if (!hasType(ops.anchor, 0) || !hasType(ops.anchor, 1) ||
      (ops.window && ops.expand && !hasType(ops.window, ops.read)))
    return "elements of another type on chip than in memory";
  SmallVector<int64_t> extents = ops.anchor.getStaticLoopRanges();
  for (unsigned loop : ops.k)
    if (ShapedType::isDynamic(extents[loop]) || extents[loop] == 0)
      return "a sum of dynamic length or of none";
  if (ops.window && ops.expand) {
    SmallVector<int64_t> around = ops.window.getStaticLoopRanges();
    SmallVector<unsigned> dims;
    ops.window.getReductionDims(dims);
    for (unsigned loop : dims)
      if (ShapedType::isDynamic(around[loop]))
        return "a window of dynamic size";
  }
  return std::nullopt;
}

/// Nothing if a block of `tile` can be code.
static std::optional<std::string>
checkTile(const ChainOps &ops, const GpuTile &tile, double shared) {
  constexpr int64_t longest = 4096; // along a side
  if (tile.threads < 32 || !llvm::isPowerOf2_64(tile.threads))
    return "a number of threads that is no power of two";
  for (int64_t size : tile.sizes)
    if (size < 1 || size > longest)
      return "a tile of no or of very many elements";
  ChainTile block(ops, tile.sizes, tile.threads);
  if (block.split.perM * block.split.perN > kChainSums)
    return "more sums than a thread has registers for";
  int64_t bytes = block.bytes(ops);
  if (double(bytes) > shared)
    return llvm::formatv("{0} bytes of shared memory, a block has {1}", bytes,
                         int64_t(shared))
        .str();
  return std::nullopt;
}

std::optional<ChainOps> fuse::scheduledChain(Block &body, const GpuTile &tile,
                                             double shared, std::string &why) {
  SmallVector<Operation *> operators;
  for (auto op : body.getOps<linalg::LinalgOp>())
    operators.push_back(op);
  std::optional<ChainOps> ops = ChainOps::of(operators, why);
  if (!ops)
    return std::nullopt;
  for (linalg::LinalgOp part : {ops->anchor, ops->window, ops->expand})
    if (part && !isPlainSum(part)) {
      why = "a sum with several results or with branches";
      return std::nullopt;
    }
  std::optional<std::string> refusal = checkSizes(*ops);
  if (!refusal)
    refusal = checkFlow(body, *ops);
  if (!refusal)
    refusal = checkTile(*ops, tile, shared);
  if (!refusal)
    return ops;
  why = *refusal;
  return std::nullopt;
}

GpuTile fuse::chainTile(TileAttr tile) {
  constexpr int64_t pixels = 16, columns = 64, depth = 8, threads = 128;
  if (!tile || tile.getSizes().size() != 3)
    return {{pixels, columns, depth}, threads};
  return {SmallVector<int64_t, 3>(tile.getSizes()), tile.getThreads()};
}

bool fuse::emitChain(GpuFrame &frame, double shared, std::string &why) {
  GpuTile tile = chainTile(frame.source->getAttrOfType<TileAttr>(names::kTile));
  std::optional<ChainOps> ops =
      scheduledChain(frame.source.getBody().front(), tile, shared, why);
  if (!ops)
    return false;
  GpuGemm gemm;
  gemm.op = ops->anchor;
  ChainTile block(*ops, tile.sizes, tile.threads);
  if (ChainSchedule(frame, gemm, *ops, block, tile.sizes[1], tile.threads)
          .emit())
    return true;
  why = "no code for " + (frame.elements.failure.empty()
                              ? std::string("a chain like this")
                              : frame.elements.failure);
  return false;
}
