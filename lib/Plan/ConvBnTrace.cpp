//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Symbolic evaluation of elementwise bodies: which scalars are affine in the
// convolution's result, and which depend on nothing but the channel.
//
//   %d = subf %conv, %mean;  %m = mulf %d, %g
//     =>  %conv * %g + (-%mean * %g)
//
// Changes nothing.
//
//===----------------------------------------------------------------------===//

#include "ConvBnParts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace fuse;

/// How far an operand is followed: operations in a row, and in all.
static constexpr unsigned kDeepest = 16, kMostInlined = 64;

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

ExprId ChannelTracer::negate(ExprId value) {
  Type type = exprs[value].type;
  if (isa<FloatType>(type))
    return exprs.op(arith::NegFOp::getOperationName(), value);
  return exprs.op(arith::SubIOp::getOperationName(),
                  {exprs.constant(type, 0.0), value});
}

Scalar ChannelTracer::unary(Operation &op, Affine y) {
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp>(
          op)) {
    y.cast = true;
    return y;
  }
  if (!isa<arith::NegFOp>(op))
    return {};
  y.scale = y.scale ? negate(*y.scale)
                    : exprs.constant(op.getResult(0).getType(), -1.0);
  if (y.shift)
    y.shift = negate(*y.shift);
  return y;
}

/// `a name b`, where one of the two is affine in the convolution and the other
/// a value per channel.
Scalar ChannelTracer::binary(StringRef name, Scalar a, Scalar b) {
  bool swapped = std::holds_alternative<ExprId>(a);
  auto *affine = std::get_if<Affine>(swapped ? &b : &a);
  auto *channel = std::get_if<ExprId>(swapped ? &a : &b);
  if (!affine || !channel)
    return {};
  Affine y = *affine;
  ExprId e = *channel;
  Type type = exprs[e].type;
  if (name == arith::AddFOp::getOperationName() ||
      name == arith::AddIOp::getOperationName()) {
    y.shift = y.shift ? exprs.op(name, {*y.shift, e}) : e;
  } else if (name == arith::MulFOp::getOperationName() ||
             name == arith::MulIOp::getOperationName()) {
    y.scale = y.scale ? exprs.op(name, {*y.scale, e}) : e;
    if (y.shift)
      y.shift = exprs.op(name, {*y.shift, e});
  } else if (name == arith::DivFOp::getOperationName() && !swapped) {
    ExprId scale = y.scale ? *y.scale : exprs.constant(type, 1.0);
    y.scale = exprs.op(name, {scale, e});
    if (y.shift)
      y.shift = exprs.op(name, {*y.shift, e});
  } else if (name == arith::SubFOp::getOperationName() ||
             name == arith::SubIOp::getOperationName()) {
    if (!swapped) {
      y.shift = y.shift ? exprs.op(name, {*y.shift, e}) : negate(e);
      return y;
    }
    y.scale = y.scale ? negate(*y.scale) : exprs.constant(type, -1.0);
    y.shift = y.shift ? exprs.op(name, {e, *y.shift}) : e;
  } else {
    return {};
  }
  return y;
}

Scalar ChannelTracer::apply(Operation &op, ArrayRef<Scalar> operands) {
  bool anyAffine = false, allChannel = true;
  for (const Scalar &operand : operands) {
    anyAffine |= std::holds_alternative<Affine>(operand);
    allChannel &= std::holds_alternative<ExprId>(operand);
  }
  if (anyAffine && operands.size() == 1)
    return unary(op, std::get<Affine>(operands[0]));
  if (anyAffine && operands.size() == 2)
    return binary(op.getName().getStringRef(), operands[0], operands[1]);
  if (anyAffine && isa<math::FmaOp>(op)) {
    StringRef add = arith::AddFOp::getOperationName();
    StringRef mul = arith::MulFOp::getOperationName();
    auto *a = std::get_if<ExprId>(&operands[0]);
    auto *b = std::get_if<ExprId>(&operands[1]);
    Scalar product = a && b ? Scalar(exprs.op(mul, {*a, *b}))
                            : binary(mul, operands[0], operands[1]);
    return binary(add, product, operands[2]);
  }
  Attribute constant;
  if (operands.empty() && matchPattern(&op, m_Constant(&constant)))
    if (auto typed = dyn_cast<TypedAttr>(constant))
      return exprs.constant(typed);
  // Any pure function of values per channel is one itself. Without operands it
  // is a function of something else (linalg.index).
  if (operands.empty() || !allChannel || op.getNumRegions() ||
      !isMemoryEffectFree(&op) ||
      !op.getResult(0).getType().isIntOrIndexOrFloat())
    return {};
  SmallVector<ExprId, 3> ids;
  for (const Scalar &operand : operands)
    ids.push_back(std::get<ExprId>(operand));
  return exprs.op(&op, ids);
}

Scalars ChannelTracer::evaluate(linalg::LinalgOp op,
                                llvm::function_ref<Scalar(OpOperand &)> read) {
  Block *body = op.getBlock();
  Scalars scalars;
  SmallVector<OpOperand *> passed = op.getOpOperandsMatchingBBargs();
  auto lookup = [&](Value value) -> Scalar {
    auto it = scalars.find(value);
    if (it != scalars.end())
      return it->second;
    Scalar found;
    auto arg = dyn_cast<BlockArgument>(value);
    if (arg && arg.getOwner() == body && arg.getArgNumber() < passed.size())
      found = read(*passed[arg.getArgNumber()]);
    else if (value.getParentBlock() != body &&
             value.getType().isIntOrIndexOrFloat())
      found = scalar(value);
    scalars[value] = found;
    return found;
  };
  for (Operation &nested : *body) {
    SmallVector<Scalar, 3> operands;
    for (Value operand : nested.getOperands())
      operands.push_back(lookup(operand));
    if (nested.getNumResults() == 1)
      scalars[nested.getResult(0)] = apply(nested, operands);
  }
  return scalars;
}

static bool isAffine(const Scalars &scalars, Value value) {
  return std::holds_alternative<Affine>(scalars.lookup(value));
}

/// The affine values from the block argument to `value`. An affine operation
/// has one affine operand.
static SmallVector<Value> affinePath(const Scalars &scalars, Value value) {
  SmallVector<Value> path{value};
  while (Operation *def = path.back().getDefiningOp())
    path.push_back(*llvm::find_if(def->getOperands(), [&](Value operand) {
      return isAffine(scalars, operand);
    }));
  std::reverse(path.begin(), path.end());
  return path;
}

Value fuse::affineHead(linalg::LinalgOp op, const Scalars &scalars) {
  // Affine values that something else reads: their paths from the block
  // argument have a part in common.
  std::optional<SmallVector<Value>> common;
  auto visit = [&](Value value) {
    if (!isAffine(scalars, value) ||
        llvm::all_of(value.getUsers(), [&](Operation *user) {
          return user->getNumResults() == 1 &&
                 isAffine(scalars, user->getResult(0));
        }))
      return;
    SmallVector<Value> path = affinePath(scalars, value);
    if (!common)
      common = path;
    auto end =
        std::mismatch(common->begin(), common->end(), path.begin(), path.end());
    common->erase(end.first, common->end());
  };
  llvm::for_each(op.getBlock()->getArguments(), visit);
  for (Operation &nested : *op.getBlock())
    llvm::for_each(nested.getResults(), visit);
  if (!common || common->empty() || isa<BlockArgument>(common->back()))
    return {};
  return common->back();
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

ExprId ChannelTracer::scalar(Value value) {
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    if (auto typed = dyn_cast<TypedAttr>(constant))
      return exprs.constant(typed);
  return exprs.leaf(value, {});
}

/// The scalar that a constant tensor repeats.
static TypedAttr splatOf(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return {};
  return dyn_cast<TypedAttr>(elements.getSplatValue<Attribute>());
}

Scalar ChannelTracer::traceOperand(linalg::LinalgOp op, OpOperand &operand,
                                   const Axes &loopAxes) {
  if (!isa<ShapedType>(operand.get().getType()))
    return scalar(operand.get());
  Axes axes;
  for (AffineExpr result : op.getMatchingIndexingMap(&operand).getResults()) {
    auto zero = dyn_cast<AffineConstantExpr>(result);
    if (auto dim = dyn_cast<AffineDimExpr>(result))
      axes.push_back(loopAxes[dim.getPosition()]);
    else if (zero && zero.getValue() == 0)
      axes.emplace_back();
    else
      return {};
  }
  return trace(operand.get(), axes);
}

/// The value as an expression of what the elementwise operation that produces
/// it reads. Operations that move data only are always looked through.
std::optional<ExprId> ChannelTracer::inlineProducer(Value value,
                                                    const Axes &axes) {
  Operation *def = value.getDefiningOp();
  if (!def || !isElementwise(def) || depth == kDeepest ||
      inlined == kMostInlined)
    return std::nullopt;
  auto op = cast<linalg::LinalgOp>(def);
  unsigned result = cast<OpResult>(value).getResultNumber();
  AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  if (!written.isPermutation())
    return std::nullopt;
  Axes loopAxes(op.getNumLoops());
  for (auto [dim, loop] : llvm::enumerate(written.getResults()))
    loopAxes[cast<AffineDimExpr>(loop).getPosition()] = axes[dim];
  ++inlined;
  ++depth;
  llvm::scope_exit leave([&] { --depth; });
  Scalars scalars = evaluate(op, [&](OpOperand &operand) {
    return traceOperand(op, operand, loopAxes);
  });
  Value yielded = op.getBlock()->getTerminator()->getOperand(result);
  Scalar found = scalars.lookup(yielded);
  auto *expr = std::get_if<ExprId>(&found);
  if (!expr)
    return std::nullopt;
  // What another operation computes is better read than computed again, unless
  // only the inlined form shows that it does not depend on every axis.
  bool moves = isa<BlockArgument>(yielded);
  if (moves || !exprs[*expr].computed ||
      (site.isFull(axisSetOf(axes)) && !site.isFull(exprs[*expr].axisSet)))
    return *expr;
  return std::nullopt;
}

ExprId ChannelTracer::trace(Value value, const Axes &given) {
  if (depth == 0)
    inlined = 0;
  Axes axes = given;
  // Code that is never reached may go in circles.
  for (unsigned i = 0; i < kMostInlined; ++i) {
    Operation *def = value.getDefiningOp();
    if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(def)) {
      axes = collapseAxes(axes, expand.getReassociationIndices());
    } else if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(def)) {
      Axes expanded =
          expandAxes(axes, collapse.getReassociationIndices(),
                     collapse.getSrcType().getShape(), site.extents);
      if (axisSetOf(expanded) != axisSetOf(axes))
        break;
      axes = std::move(expanded);
    } else if (!isa_and_nonnull<tensor::CastOp>(def) ||
               !isa<RankedTensorType>(def->getOperand(0).getType())) {
      break;
    }
    value = def->getOperand(0);
  }
  if (TypedAttr splat = splatOf(value))
    return exprs.constant(splat);
  if (auto splat = value.getDefiningOp<tensor::SplatOp>())
    return scalar(splat.getInput());
  if (std::optional<ExprId> expr = inlineProducer(value, axes))
    return *expr;
  return exprs.leaf(value, axes);
}
