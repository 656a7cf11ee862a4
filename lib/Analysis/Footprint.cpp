//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts what an operator computes and touches, from its indexing maps and its
// body. Changes nothing.
//
//===----------------------------------------------------------------------===//

#include "fuse/Analysis/Footprint.h"
#include "fuse/Analysis/Operators.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace fuse;

bool Footprint::overflowed() const {
  for (const Count *count : {&flops, &read, &written, &points, &parallel,
                             &reduction, &transcendentals})
    if (count->overflowed())
      return true;
  return bytes().overflowed();
}

std::optional<double> Footprint::intensity() const {
  std::optional<int64_t> flopCount = flops.value(), byteCount = bytes().value();
  if (!flopCount || !byteCount)
    return std::nullopt;
  return static_cast<double>(*flopCount) /
         static_cast<double>(std::max<int64_t>(*byteCount, 1));
}

//===----------------------------------------------------------------------===//
// FLOPs of a body
//===----------------------------------------------------------------------===//

namespace {
struct BodyCost {
  int64_t flops = 0;
  int64_t transcendentals = 0;
  double weighted = 0; ///< flops, transcendentals by what they take
};
} // namespace

/// Math operations that are plain arithmetic: one FLOP, no transcendental.
static bool isPlainMath(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::FloorOp,
             math::RoundOp, math::RoundEvenOp, math::TruncOp, math::CopySignOp,
             math::CtPopOp, math::CountLeadingZerosOp,
             math::CountTrailingZerosOp, math::IsNaNOp, math::IsInfOp,
             math::IsFiniteOp, math::IsNormalOp, math::ClampFOp>(op);
}

double fuse::transcendentalFlops(Operation *op) {
  return isa<math::RsqrtOp>(op) ? 8 : 16;
}

/// SPEC section 1: add, mul, compare, select, ... weigh 1, fma 2, casts, index
/// and constants 0, transcendentals 1 and are counted apart.
static BodyCost bodyCost(Block *body) {
  BodyCost cost;
  body->walk([&](Operation *op) {
    if (op->hasTrait<OpTrait::ConstantLike>() || isa<CastOpInterface>(op))
      return;
    int64_t before = cost.flops, transcendentalsBefore = cost.transcendentals;
    StringRef dialect = op->getName().getDialectNamespace();
    if (dialect == "arith") {
      cost.flops += 1;
    } else if (dialect == "math") {
      cost.flops += isa<math::FmaOp>(op) ? 2 : 1;
      cost.transcendentals += isa<math::FmaOp>(op) || isPlainMath(op) ? 0 : 1;
    } else if (dialect == "complex") {
      // (a+bi)(c+di) is 4 multiplies and 2 adds; add and sub are 2 each.
      cost.flops += isa<complex::MulOp>(op)                   ? 6
                    : isa<complex::AddOp, complex::SubOp>(op) ? 2
                                                              : 0;
    }
    bool transcendental = cost.transcendentals > transcendentalsBefore;
    cost.weighted +=
        transcendental ? transcendentalFlops(op) : cost.flops - before;
  });
  return cost;
}

/// Largest number of 32-bit scalars that are live at once in `body`, by a
/// backward sweep over the block. Constants are immediates and cost none.
static unsigned liveRegisters(Block *body) {
  auto width = [](Type type) -> unsigned {
    if (type.isIntOrFloat())
      return std::max(1u, (type.getIntOrFloatBitWidth() + 31) / 32);
    return 2;
  };
  llvm::DenseSet<Value> live;
  unsigned now = 0, most = 0;
  for (Operation &op : llvm::reverse(*body)) {
    for (Value result : op.getResults())
      if (live.erase(result))
        now -= width(result.getType());
    for (Value operand : op.getOperands()) {
      bool outside = operand.getParentBlock() != body;
      bool immediate =
          operand.getDefiningOp() &&
          operand.getDefiningOp()->hasTrait<OpTrait::ConstantLike>();
      if (!outside && !immediate && live.insert(operand).second)
        now += width(operand.getType());
    }
    most = std::max(most, now);
  }
  return most;
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

std::optional<int64_t> fuse::elementBytes(Type element) {
  if (element.isIndex())
    return 8;
  if (element.isIntOrFloat())
    return (element.getIntOrFloatBitWidth() + 7) / 8;
  if (auto complex = dyn_cast<ComplexType>(element))
    if (std::optional<int64_t> part = elementBytes(complex.getElementType()))
      return 2 * *part;
  return std::nullopt;
}

/// Splits `expr` into sum of coefficient * dim; false where it is anything
/// else.
static bool collectLinear(AffineExpr expr,
                          std::map<unsigned, int64_t> &coefficients) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return true;
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    coefficients[dim.getPosition()] += 1;
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return collectLinear(binary.getLHS(), coefficients) &&
           collectLinear(binary.getRHS(), coefficients);
  auto dim = dyn_cast<AffineDimExpr>(binary.getLHS());
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (binary.getKind() != AffineExprKind::Mul || !dim || !factor)
    return false;
  coefficients[dim.getPosition()] += factor.getValue();
  return true;
}

/// Distinct values of `s*i + t*k` for i < I, k < K (s, t > 0). With s and t
/// divided by their gcd, two points collide exactly if they differ by a
/// multiple of (t, -s), so the distinct values are the points without such a
/// predecessor: `I*K - max(0, I-t) * max(0, K-s)`.
static Count distinctOfTwo(int64_t s, const Count &i, int64_t t,
                           const Count &k) {
  int64_t g = std::gcd(s, t);
  s /= g;
  t /= g;
  // A dynamic extent is taken to be larger than a stride or dilation.
  auto excess = [](const Count &extent, int64_t step) -> Count {
    std::optional<int64_t> value = extent.value();
    if (value)
      return Count(std::max<int64_t>(0, *value - step));
    return extent + Count(-step);
  };
  return i * k + Count(-1) * (excess(i, t) * excess(k, s));
}

/// Distinct values of one map result.
static Count distinctValues(AffineExpr expr, ArrayRef<Count> extents) {
  std::map<unsigned, int64_t> coefficients;
  Count domain(1);
  expr.walk([&](AffineExpr nested) {
    if (auto dim = dyn_cast<AffineDimExpr>(nested))
      coefficients.try_emplace(dim.getPosition(), 0);
  });
  for (auto [dim, coefficient] : coefficients)
    domain *= extents[dim];
  std::map<unsigned, int64_t> linear;
  if (domain.isZero() || !collectLinear(expr, linear))
    return domain;
  SmallVector<std::pair<int64_t, Count>> terms;
  for (auto [dim, coefficient] : linear)
    if (coefficient != 0 && extents[dim] != Count(1))
      terms.push_back({std::abs(coefficient), extents[dim]});
  if (terms.empty())
    return Count(1);
  if (terms.size() == 1)
    return terms[0].second;
  if (terms.size() == 2)
    return distinctOfTwo(terms[0].first, terms[0].second, terms[1].first,
                         terms[1].second);
  return domain;
}

Count fuse::touchedElements(AffineMap map, ArrayRef<Count> extents) {
  // Results that share a loop are not independent: each loop counts once.
  llvm::SmallBitVector seen(map.getNumDims());
  Count touched(1);
  for (AffineExpr expr : map.getResults()) {
    bool shares = false;
    llvm::SmallBitVector used(map.getNumDims());
    expr.walk([&](AffineExpr nested) {
      if (auto dim = dyn_cast<AffineDimExpr>(nested))
        used.set(dim.getPosition());
    });
    for (unsigned dim : used.set_bits())
      shares |= seen.test(dim);
    // A result over loops already counted adds nothing (a diagonal).
    if (shares && !used.test(seen))
      continue;
    touched *= distinctValues(expr, extents);
    seen |= used;
  }
  return touched;
}

/// Bytes that `operand` moves; 0 for scalars and element types without a size.
static Count operandBytes(linalg::LinalgOp op, OpOperand *operand,
                          ArrayRef<Count> extents) {
  auto type = dyn_cast<ShapedType>(operand->get().getType());
  if (!type)
    return Count(0);
  std::optional<int64_t> size = elementBytes(type.getElementType());
  return Count(size.value_or(0)) *
         touchedElements(op.getMatchingIndexingMap(operand), extents);
}

Count fuse::touchedBytes(linalg::LinalgOp op, OpOperand &operand,
                         ExtentNamer &namer) {
  return operandBytes(op, &operand, loopExtents(op, namer));
}

/// Of two counts of the same tensor the larger; of two symbolic ones the first.
static Count larger(const Count &a, const Count &b) {
  std::optional<int64_t> left = a.value(), right = b.value();
  return left && right && *right > *left ? b : a;
}

/// Bytes of a tensor that the body gathers from: at most one element a point,
/// at most the whole tensor.
static Count gatheredBytes(tensor::ExtractOp extract, const Count &points,
                           ExtentNamer &namer) {
  auto type = extract.getTensor().getType();
  Count elements(1);
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    elements *= namer.extent(extract.getTensor(), dim);
  std::optional<int64_t> whole = elements.value(), touched = points.value();
  return Count(elementBytes(type.getElementType()).value_or(0)) *
         (whole && touched && *touched < *whole ? points : elements);
}

/// Bytes read: every distinct tensor once, if the body uses it.
static Count bytesRead(linalg::LinalgOp op, ArrayRef<Count> extents,
                       const Count &points, ExtentNamer &namer) {
  llvm::MapVector<Value, Count> perValue;
  auto note = [&](Value value, Count bytes) {
    auto [slot, isNew] = perValue.insert({value, bytes});
    if (!isNew)
      slot->second = larger(slot->second, bytes);
  };
  for (OpOperand &operand : op->getOpOperands()) {
    bool reads = op.isDpsInit(&operand)
                     ? carriesData(op, &operand)
                     : !op.getMatchingBlockArgument(&operand).use_empty();
    if (reads)
      note(operand.get(), operandBytes(op, &operand, extents));
  }
  op.getBlock()->walk([&](tensor::ExtractOp extract) {
    if (extract.getTensor().getParentBlock() != op.getBlock())
      note(extract.getTensor(), gatheredBytes(extract, points, namer));
  });
  Count total(0);
  for (auto &entry : perValue)
    total += entry.second;
  return total;
}

/// Later operators see a result's dynamic extents as this operator's loops.
static void rememberResults(linalg::LinalgOp op, ArrayRef<Count> extents,
                            ExtentNamer &namer) {
  for (OpResult result : op->getResults()) {
    auto type = cast<ShapedType>(result.getType());
    OpOperand *init = op.getDpsInitOperand(result.getResultNumber());
    for (auto [dim, expr] :
         llvm::enumerate(op.getMatchingIndexingMap(init).getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(expr);
          loop && type.isDynamicDim(dim))
        namer.remember(result, dim, extents[loop.getPosition()]);
  }
}

Footprint fuse::footprintOf(linalg::LinalgOp op, ExtentNamer &namer) {
  SmallVector<Count> extents = loopExtents(op, namer);
  rememberResults(op, extents, namer);
  Footprint result;
  result.points = result.parallel = result.reduction = Count(1);
  for (auto [extent, iterator] :
       llvm::zip_equal(extents, op.getIteratorTypesArray())) {
    result.points *= extent;
    (iterator == utils::IteratorType::reduction ? result.reduction
                                                : result.parallel) *= extent;
  }
  BodyCost body = bodyCost(op.getBlock());
  result.flops = Count(body.flops) * result.points;
  result.transcendentals = Count(body.transcendentals) * result.points;
  result.read = bytesRead(op, extents, result.points, namer);
  result.written = Count(0);
  for (OpOperand &init : op.getDpsInitsMutable())
    result.written += operandBytes(op, &init, extents);
  result.registers = liveRegisters(op.getBlock());
  result.flopsPerPoint = body.weighted;
  return result;
}
