//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linear addresses of structured operations, and the choice of register tiles.
//
//===----------------------------------------------------------------------===//

#include "LoopNest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace fuse;

ArrayRef<NestOperand> LoopNest::inputs() const {
  return ArrayRef(operands).drop_back(op.getNumDpsInits());
}

ArrayRef<NestOperand> LoopNest::outputs() const {
  return ArrayRef(operands).take_back(op.getNumDpsInits());
}

/// Element types that vectors hold as memory does (i1 takes a byte there).
static bool isVectorElement(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() &&
           llvm::is_contained({8, 16, 32, 64}, integer.getWidth());
  return type.isF32() || type.isF64() || type.isF16() || type.isBF16();
}

/// True if the body can be computed lane by lane.
static bool isLaneByLane(linalg::LinalgOp op) {
  for (Operation &nested : op.getBlock()->without_terminator()) {
    if (nested.hasTrait<OpTrait::ConstantLike>())
      continue;
    if (!OpTrait::hasElementwiseMappableTraits(&nested) ||
        nested.getNumRegions() || isa<math::FPowIOp>(nested))
      return false;
    for (Type type : llvm::concat<const Type>(nested.getOperandTypes(),
                                              nested.getResultTypes()))
      if (!isVectorElement(type) && !type.isInteger(1))
        return false;
  }
  return llvm::all_of(op.getBlock()->getTerminator()->getOperandTypes(),
                      isVectorElement);
}

/// Adds `scale` times the coefficients of `expr` to `strides`; false if it is
/// not linear. Constants must be 0: the first element is the buffer's.
static bool addLinear(AffineExpr expr, int64_t scale,
                      MutableArrayRef<int64_t> strides) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    strides[dim.getPosition()] += scale;
    return true;
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() == 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (expr.getKind() == AffineExprKind::Add)
    return addLinear(binary.getLHS(), scale, strides) &&
           addLinear(binary.getRHS(), scale, strides);
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return expr.getKind() == AffineExprKind::Mul && factor &&
         addLinear(binary.getLHS(), scale * factor.getValue(), strides);
}

static std::optional<NestOperand> describe(linalg::LinalgOp op,
                                           OpOperand &operand) {
  NestOperand result{&operand, {}, false};
  result.strides.assign(op.getNumLoops(), 0);
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type) {
    if (!isVectorElement(operand.get().getType()))
      return std::nullopt;
    return result;
  }
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!isVectorElement(type.getElementType()) ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return std::nullopt;
  result.isBuffer = true;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (auto [expr, stride] : llvm::zip_equal(map.getResults(), strides))
    if (!addLinear(expr, stride, result.strides))
      return std::nullopt;
  return result;
}

/// Drops loop `gone`; where `into` is given, it takes the iterations over.
static void dropLoop(LoopNest &nest, unsigned gone) {
  nest.extents.erase(nest.extents.begin() + gone);
  nest.reduces.erase(nest.reduces.begin() + gone);
  for (NestOperand &operand : nest.operands)
    operand.strides.erase(operand.strides.begin() + gone);
}

/// Two loops become one where every address goes on evenly from one to the
/// other: `outer` over rows and `inner` within a row of a contiguous buffer.
static bool mergeOne(LoopNest &nest) {
  unsigned count = nest.extents.size();
  for (unsigned outer = 0; outer < count; ++outer)
    for (unsigned inner = 0; inner < count; ++inner) {
      if (outer == inner || nest.reduces[outer] != nest.reduces[inner])
        continue;
      // The order of a reduction stays: only neighbours in order merge.
      if (nest.reduces[outer] && inner != outer + 1)
        continue;
      if (!llvm::all_of(nest.operands, [&](const NestOperand &operand) {
            return operand.strides[outer] ==
                   operand.strides[inner] * nest.extents[inner];
          }))
        continue;
      nest.extents[inner] *= nest.extents[outer];
      dropLoop(nest, outer);
      return true;
    }
  return false;
}

std::optional<LoopNest> LoopNest::of(linalg::LinalgOp op) {
  if (!op.hasPureBufferSemantics() || !isLaneByLane(op))
    return std::nullopt;
  LoopNest nest{op, {}, {}, {}};
  for (auto [extent, kind] :
       llvm::zip_equal(op.getStaticLoopRanges(), op.getIteratorTypesArray())) {
    if (ShapedType::isDynamic(extent) || extent == 0)
      return std::nullopt;
    nest.extents.push_back(extent);
    nest.reduces.push_back(kind != utils::IteratorType::parallel);
  }
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<NestOperand> known = describe(op, operand);
    if (!known || (op.isDpsInit(&operand) && !known->isBuffer))
      return std::nullopt;
    nest.operands.push_back(*known);
  }
  for (unsigned loop = nest.extents.size(); loop-- > 0;)
    if (nest.extents[loop] == 1)
      dropLoop(nest, loop);
  while (mergeOne(nest))
    ;
  return nest;
}

Operation *fuse::combinerOf(linalg::LinalgOp op, unsigned number) {
  Value value = op.getBlock()->getTerminator()->getOperand(number);
  BlockArgument old = op.getRegionOutputArgs()[number];
  Operation *combiner = value.getDefiningOp();
  if (!combiner || combiner->getBlock() != op.getBlock() || !old.hasOneUse() ||
      *old.user_begin() != combiner || !value.hasOneUse() ||
      !linalg::getCombinerOpKind(combiner))
    return nullptr;
  if (isa<arith::AddFOp, arith::MulFOp>(combiner)) {
    auto flags = cast<arith::ArithFastMathInterface>(combiner);
    if (!arith::bitEnumContainsAny(flags.getFastMathFlagsAttr().getValue(),
                                   arith::FastMathFlags::reassoc))
      return nullptr;
  }
  return combiner;
}

void fuse::allowReordering(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0)
    return;
  auto flags = arith::FastMathFlagsAttr::get(
      op.getContext(),
      arith::FastMathFlags::reassoc | arith::FastMathFlags::contract);
  for (Value value : op.getBlock()->getTerminator()->getOperands()) {
    Operation *combine = value.getDefiningOp();
    if (!isa_and_nonnull<arith::AddFOp, arith::MulFOp>(combine))
      continue;
    combine->setAttr("fastmath", flags);
    for (Value term : combine->getOperands())
      if (auto product = term.getDefiningOp<arith::MulFOp>())
        product->setAttr("fastmath", flags);
  }
}

//===----------------------------------------------------------------------===//
// Register tiles
//===----------------------------------------------------------------------===//

/// Widest element in bytes: it says how many lanes a vector has.
static unsigned widestElement(const LoopNest &nest) {
  unsigned bits = 8;
  auto widen = [&](Type type) {
    bits = std::max(bits, getElementTypeOrSelf(type).getIntOrFloatBitWidth());
  };
  for (const NestOperand &operand : nest.operands)
    widen(operand.operand->get().getType());
  for (Operation &nested : nest.op.getBlock()->without_terminator())
    for (Type type : nested.getResultTypes())
      widen(type);
  return bits / 8;
}

/// Inputs whose lanes lie neither side by side along `loop` nor with one
/// element between them; nothing if the loop cannot hold vectors.
static std::optional<unsigned> gathersAlong(const LoopNest &nest,
                                            unsigned loop) {
  for (auto [number, output] : llvm::enumerate(nest.outputs())) {
    if (output.strides[loop] != (nest.reduces[loop] ? 0 : 1))
      return std::nullopt;
    if (nest.reduces[loop] && !combinerOf(nest.op, number))
      return std::nullopt;
  }
  unsigned gathers = 0, contiguous = 0;
  for (const NestOperand &input : nest.inputs()) {
    gathers += input.strides[loop] < 0 || input.strides[loop] > 2;
    contiguous += input.strides[loop] == 1;
  }
  if (nest.reduces[loop] && !contiguous)
    return std::nullopt;
  return gathers;
}

/// The loop along which most is reused: some input does not move along it.
static std::optional<unsigned> findRows(const LoopNest &nest, unsigned vector) {
  std::optional<unsigned> best;
  for (unsigned loop = 0; loop < nest.extents.size(); ++loop) {
    if (loop == vector || nest.reduces[loop])
      continue;
    bool reuses = llvm::any_of(nest.inputs(), [&](const NestOperand &input) {
      return input.isBuffer && input.strides[loop] == 0;
    });
    if (reuses && (!best || nest.extents[loop] > nest.extents[*best]))
      best = loop;
  }
  return best;
}

/// Rows of a tile: as many as fit, better so that none are left over.
static unsigned chooseRows(int64_t extent, unsigned most) {
  if (extent <= int64_t(most))
    return unsigned(extent);
  for (unsigned rows = most; rows * 2 > most; --rows)
    if (extent % rows == 0)
      return rows;
  return most;
}

std::optional<RegisterTile> RegisterTile::choose(const LoopNest &nest,
                                                 const VectorUnit &unit) {
  std::optional<unsigned> best;
  unsigned fewest = 0;
  for (unsigned loop = 0; loop < nest.extents.size(); ++loop) {
    std::optional<unsigned> gathers = gathersAlong(nest, loop);
    if (!gathers)
      continue;
    bool better =
        !best || *gathers < fewest ||
        (*gathers == fewest && (nest.reduces[*best] > nest.reduces[loop] ||
                                (nest.reduces[*best] == nest.reduces[loop] &&
                                 nest.extents[loop] > nest.extents[*best])));
    if (better) {
      best = loop;
      fewest = *gathers;
    }
  }
  if (!best)
    return std::nullopt;
  RegisterTile tile;
  tile.vectorLoop = *best;
  tile.horizontal = nest.reduces[*best];
  tile.lanes = std::max(1u, unit.bytes / widestElement(nest));
  bool reduces = llvm::is_contained(nest.reduces, true);
  // Several vectors side by side hide each other's latencies. A long body
  // leaves no registers for rows as well.
  constexpr unsigned longBody = 24, vectorsWide = 4, vectorsNarrow = 2;
  unsigned body = unsigned(nest.op.getBlock()->getOperations().size());
  unsigned wanted = unit.registers > 16 ? vectorsWide : vectorsNarrow;
  int64_t available = llvm::divideCeil(nest.extents[*best], tile.lanes);
  tile.vectors = unsigned(std::min<int64_t>(wanted, available));
  if (!reduces || tile.horizontal || body > longBody)
    return tile;
  tile.rowLoop = findRows(nest, *best);
  if (tile.rowLoop)
    // Three quarters of the registers accumulate, the rest holds inputs.
    tile.rows = chooseRows(
        nest.extents[*tile.rowLoop],
        std::max(1u, unit.registers * 3 / 4 /
                         (tile.vectors * unsigned(nest.outputs().size()))));
  return tile;
}
