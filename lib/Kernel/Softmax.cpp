//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds a softmax by what each scalar is computed from, however many operators
// it is spelt by.
//
//===----------------------------------------------------------------------===//

#include "fuse/Kernel/Softmax.h"
#include "fuse/Analysis/Operators.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fuse;

namespace {
/// A scalar of the body of `owner`, or, without one, elements of a tensor.
struct Scalar {
  linalg::LinalgOp owner;
  Value value;

  template <typename Op> Op op() {
    return owner ? value.getDefiningOp<Op>() : Op();
  }
  Scalar operand(Operation *op, unsigned number) const;
};
} // namespace

/// Follows `scalar` through operators that pass it on and through reshapes.
static Scalar resolve(Scalar scalar) {
  while (scalar.owner) {
    auto argument = dyn_cast<BlockArgument>(scalar.value);
    if (!argument || argument.getOwner() != scalar.owner.getBlock())
      return scalar;
    Value tensor = scalar.owner.getMatchingOpOperand(argument)->get();
    while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                           tensor::CastOp>(tensor.getDefiningOp()))
      tensor = tensor.getDefiningOp()->getOperand(0);
    auto producer = tensor.getDefiningOp<linalg::LinalgOp>();
    if (!producer || producer.getNumReductionLoops())
      return {nullptr, tensor};
    unsigned number = cast<OpResult>(tensor).getResultNumber();
    scalar = {producer,
              producer.getBlock()->getTerminator()->getOperand(number)};
  }
  return scalar;
}

Scalar Scalar::operand(Operation *op, unsigned number) const {
  return resolve({owner, op->getOperand(number)});
}

/// The result `number` of `op`, of one element.
static Scalar resultOf(Value tensor) {
  auto op = tensor.getDefiningOp<linalg::LinalgOp>();
  unsigned number = cast<OpResult>(tensor).getResultNumber();
  return {op, op.getBlock()->getTerminator()->getOperand(number)};
}

static Scalar stripConversions(Scalar scalar) {
  while (scalar.owner && isa_and_nonnull<arith::ExtFOp, arith::TruncFOp>(
                             scalar.value.getDefiningOp()))
    scalar = scalar.operand(scalar.value.getDefiningOp(), 0);
  return scalar;
}

namespace {
/// Compares and walks expressions, with an end for those that repeat parts.
class Expressions {
public:
  bool same(Scalar a, Scalar b);
  /// True if `scalar` is computed from elements of `wanted`, and of nothing
  /// else that sums or compares several.
  bool dependsOnlyOn(Scalar scalar, Value wanted);

private:
  bool walk(Scalar scalar, Value wanted, bool &found);
  unsigned left = 4096; // steps
};
} // namespace

bool Expressions::same(Scalar a, Scalar b) {
  if (a.owner == b.owner && a.value == b.value)
    return true;
  Operation *left = a.value.getDefiningOp(), *right = b.value.getDefiningOp();
  if (!a.owner || !b.owner || !left || !right || !this->left--)
    return false;
  if (isa<linalg::IndexOp>(left) || left->getNumRegions() ||
      left->getName() != right->getName() ||
      left->getAttrDictionary() != right->getAttrDictionary() ||
      left->getNumOperands() != right->getNumOperands() ||
      left->getResultTypes() != right->getResultTypes())
    return false;
  for (unsigned i = 0; i < left->getNumOperands(); ++i)
    if (!same(a.operand(left, i), b.operand(right, i)))
      return false;
  return true;
}

bool Expressions::walk(Scalar scalar, Value wanted, bool &found) {
  if (!left--)
    return false;
  if (!scalar.owner) {
    found |= scalar.value == wanted;
    auto op = scalar.value.getDefiningOp<linalg::LinalgOp>();
    return scalar.value == wanted || !op || !op.getNumReductionLoops();
  }
  Operation *op = scalar.value.getDefiningOp();
  if (!op || op->getBlock() != scalar.owner.getBlock())
    return true; // a scalar from outside
  if (op->getNumRegions())
    return false;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    if (!walk(scalar.operand(op, i), wanted, found))
      return false;
  return true;
}

bool Expressions::dependsOnlyOn(Scalar scalar, Value wanted) {
  bool found = false;
  return walk(scalar, wanted, found) && found;
}

/// What the reduction `tensor` combines by a `Combiner`, one element of it;
/// nothing if it is no such reduction.
template <typename... Combiner>
static std::optional<Scalar> reducedBy(Value tensor) {
  auto op = tensor.getDefiningOp<linalg::LinalgOp>();
  if (!op || !op.getNumReductionLoops() || op.getNumDpsInputs() == 0)
    return std::nullopt;
  Scalar result = resultOf(tensor);
  Operation *combiner = result.value.getDefiningOp();
  if (!isa_and_nonnull<Combiner...>(combiner))
    return std::nullopt;
  Value old =
      op.getRegionOutputArgs()[cast<OpResult>(tensor).getResultNumber()];
  for (unsigned i : {0u, 1u})
    if (combiner->getOperand(i) == old && combiner->getOperand(1 - i) != old)
      return result.operand(combiner, 1 - i);
  return std::nullopt;
}

/// True if the sum `tensor` starts from 0.
static bool startsFromZero(OpResult tensor) {
  auto op = cast<linalg::LinalgOp>(tensor.getOwner());
  Value init = op.getDpsInitOperand(tensor.getResultNumber())->get();
  while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
      init.getDefiningOp()))
    init = init.getDefiningOp()->getOperand(0);
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    init = fill.getInputs()[0];
  return matchPattern(init, m_AnyZeroFloat());
}

/// e and the tensor of sums of `p = e / sum` or `p = e * (1 / sum)`.
static std::optional<std::pair<Scalar, Value>> quotientOf(Scalar p) {
  p = stripConversions(p);
  Scalar e, sum;
  if (auto div = p.op<arith::DivFOp>()) {
    e = p.operand(div, 0);
    sum = stripConversions(p.operand(div, 1));
  } else if (auto mul = p.op<arith::MulFOp>()) {
    for (unsigned i : {0u, 1u}) {
      Scalar share = p.operand(mul, i);
      auto inverse = share.op<arith::DivFOp>();
      if (inverse && matchPattern(inverse.getLhs(), m_OneFloat())) {
        e = p.operand(mul, 1 - i);
        sum = stripConversions(share.operand(inverse, 1));
      }
    }
  }
  if (!e.value || sum.owner || !isa<OpResult>(sum.value))
    return std::nullopt;
  return std::make_pair(e, sum.value);
}

/// The function, its argument's first part and the tensor of maxima of
/// `exp(x - max)`; nothing if `e` is none.
static Operation *exponential(Scalar e, Scalar &x, Value &max) {
  e = stripConversions(e);
  Operation *exp = e.owner ? e.value.getDefiningOp() : nullptr;
  if (!isa_and_nonnull<math::ExpOp, math::Exp2Op>(exp))
    return nullptr;
  Scalar difference = e.operand(exp, 0);
  auto sub = difference.op<arith::SubFOp>();
  if (!sub)
    return nullptr;
  x = difference.operand(sub, 0);
  Scalar subtracted = stripConversions(difference.operand(sub, 1));
  max = subtracted.value;
  bool reduced =
      !subtracted.owner &&
      reducedBy<arith::MaximumFOp, arith::MaxNumFOp>(max).has_value();
  return reduced ? exp : nullptr;
}

/// True if one type is read by both contractions, and multiplied.
static bool hasOneType(const OnlineSoftmax &found) {
  llvm::SmallDenseSet<Type> types;
  for (linalg::LinalgOp op : {found.first, found.second})
    for (OpOperand *input : op.getDpsInputOperands())
      types.insert(getElementTypeOrSelf(input->get().getType()));
  return types.size() == 1;
}

/// True if the values that are kept from step to step are f32.
static bool inF32(const OnlineSoftmax &found) {
  auto isF32 = [](Value tensor) {
    return getElementTypeOrSelf(tensor).isF32();
  };
  return isF32(found.first->getResult(0)) &&
         isF32(found.second->getResult(0)) && isF32(found.sum) &&
         (!found.max || isF32(found.max));
}

static bool isHeld(const OnlineSoftmax &found) {
  return startsFromZero(found.sum) && inF32(found) && hasOneType(found);
}

bool OnlineSoftmax::hasKnownLengths() const {
  linalg::LinalgOp op = first;
  SmallVector<unsigned> depth;
  op.getReductionDims(depth);
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (unsigned loop : depth)
    if (ShapedType::isDynamic(extents[loop]))
      return false;
  op = second;
  extents = op.getStaticLoopRanges();
  AffineMap shares = op.getMatchingIndexingMap(op.getDpsInputOperand(operand));
  for (auto [loop, extent] : llvm::enumerate(extents))
    if (!shares.isFunctionOfDim(loop) && ShapedType::isDynamic(extent))
      return false;
  return true;
}

std::optional<OnlineSoftmax> fuse::onlineSoftmax(linalg::LinalgOp first,
                                                 linalg::LinalgOp second) {
  if (first.getNumDpsInputs() != 2 || second.getNumDpsInputs() != 2)
    return std::nullopt;
  for (unsigned operand : {0u, 1u}) {
    OnlineSoftmax found{first, second, operand, nullptr, nullptr, nullptr};
    BlockArgument own =
        second.getMatchingBlockArgument(second.getDpsInputOperand(operand));
    auto parts = quotientOf(resolve({second, own}));
    std::optional<Scalar> summed =
        parts ? reducedBy<arith::AddFOp>(parts->second) : std::nullopt;
    if (!summed)
      continue;
    found.sum = cast<OpResult>(parts->second);
    Value scores = first->getResult(0), max, otherMax;
    Scalar x, otherX;
    Expressions expressions;
    found.exp = exponential(parts->first, x, max);
    if (!found.exp) {
      if (expressions.dependsOnlyOn(parts->first, scores) &&
          expressions.dependsOnlyOn(*summed, scores) && isHeld(found))
        return found;
      continue;
    }
    found.max = cast<OpResult>(max);
    Operation *other = exponential(*summed, otherX, otherMax);
    auto compared = reducedBy<arith::MaximumFOp, arith::MaxNumFOp>(max);
    if (other && other->getName() == found.exp->getName() && otherMax == max &&
        expressions.same(x, otherX) && expressions.same(x, *compared) &&
        expressions.dependsOnlyOn(x, scores) && isHeld(found))
      return found;
  }
  return std::nullopt;
}
