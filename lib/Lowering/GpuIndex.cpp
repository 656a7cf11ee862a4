//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Index arithmetic of a GPU kernel: folded while it is made.
//
//===----------------------------------------------------------------------===//

#include "GpuIndex.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <numeric>

using namespace mlir;
using namespace fuse;

Value IndexMath::number(int64_t value) {
  Key key(Constant, nullptr, nullptr, value);
  for (auto &scope : scopes)
    if (auto found = scope.find(key); found != scope.end())
      return found->second;
  Value made = arith::ConstantIndexOp::create(builder, loc, value);
  return scopes.back()[key] = made;
}

Value IndexMath::make(Kind kind, Value a, Value b) {
  Key key(kind, a.getAsOpaquePointer(), b.getAsOpaquePointer(), 0);
  for (auto &scope : scopes)
    if (auto found = scope.find(key); found != scope.end())
      return found->second;
  Value made;
  std::optional<int64_t> x = getConstantIntValue(a), y = getConstantIntValue(b);
  if (kind == Less) {
    made = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b);
  } else if (x && y) {
    int64_t value = kind == Add   ? *x + *y
                    : kind == Sub ? *x - *y
                    : kind == Mul ? *x * *y
                    : kind == Div ? *x / *y
                    : kind == Rem ? *x % *y
                    : kind == Min ? std::min(*x, *y)
                                  : std::max(*x, *y);
    return number(value);
  } else {
    switch (kind) {
    case Add:
      made = arith::AddIOp::create(builder, loc, a, b);
      break;
    case Sub:
      made = arith::SubIOp::create(builder, loc, a, b);
      break;
    case Mul:
      made = arith::MulIOp::create(builder, loc, a, b);
      break;
    case Div:
      made = arith::DivUIOp::create(builder, loc, a, b);
      break;
    case Rem:
      made = arith::RemUIOp::create(builder, loc, a, b);
      break;
    case Min:
      made = arith::MinSIOp::create(builder, loc, a, b);
      break;
    default:
      made = arith::MaxSIOp::create(builder, loc, a, b);
    }
  }
  return scopes.back()[key] = made;
}

Value IndexMath::valueOf(const Extent &extent) {
  return extent.isStatic() ? number(extent.size) : extent.value;
}

LaneIndex IndexMath::constant(int64_t value) {
  return {number(value), 0, value};
}

LaneIndex IndexMath::of(const Extent &extent) {
  if (extent.isStatic())
    return constant(extent.size);
  return {extent.value, 0, 1};
}

LaneIndex IndexMath::add(LaneIndex a, LaneIndex b) {
  int64_t multiple = std::gcd(a.multiple, b.multiple), step = a.step + b.step;
  if (a.multiple == 0)
    return {b.base, step, multiple};
  if (b.multiple == 0)
    return {a.base, step, multiple};
  return {make(Add, a.base, b.base), step, multiple};
}

LaneIndex IndexMath::sub(LaneIndex a, LaneIndex b) {
  int64_t multiple = std::gcd(a.multiple, b.multiple), step = a.step - b.step;
  if (b.multiple == 0)
    return {a.base, step, multiple};
  return {make(Sub, a.base, b.base), step, multiple};
}

LaneIndex IndexMath::scale(LaneIndex a, const Extent &by) {
  if (!by.isStatic())
    // A dynamic step between lanes has no form: callers split them before.
    return {make(Mul, a.base, by.value), 0, a.multiple};
  if (by.size == 1)
    return a;
  if (by.size == 0 || a.multiple == 0)
    return {number(0), a.step * by.size, 0};
  return {make(Mul, a.base, number(by.size)), a.step * by.size,
          std::abs(a.multiple * by.size)};
}

/// True if no multiple of `by` lies between the lanes of `a`.
bool IndexMath::keepsTogether(LaneIndex a, const Extent &by) const {
  if (a.step == 0)
    return true;
  int64_t span = a.step * lanes;
  return a.step > 0 && by.isStatic() && by.size % span == 0 &&
         a.multiple % span == 0;
}

std::optional<IndexMath::Sum> IndexMath::sumOf(LaneIndex index) const {
  auto found = sums.find(index.base);
  if (found == sums.end() || found->second.low.step != index.step)
    return std::nullopt;
  return found->second;
}

/// `a / b` where both are known and it has no rest.
static std::optional<Extent> exactRatio(const Extent &a, const Extent &b) {
  if (!a.isStatic() || !b.isStatic() || b.size == 0 || a.size % b.size)
    return std::nullopt;
  return Extent{a.size / b.size, nullptr};
}

std::optional<LaneIndex> IndexMath::div(LaneIndex a, const Extent &by) {
  if (std::optional<Sum> sum = sumOf(a)) {
    if (sum->by == by)
      return sum->high;
    if (std::optional<Extent> ratio = exactRatio(by, sum->by))
      return div(sum->high, *ratio);
    if (std::optional<Extent> ratio = exactRatio(sum->by, by)) {
      std::optional<LaneIndex> low = div(sum->low, by);
      return low ? std::optional(add(scale(sum->high, *ratio), *low))
                 : std::nullopt;
    }
  }
  if (!keepsTogether(a, by))
    return std::nullopt;
  if (by.isStatic() && by.size == 1)
    return a;
  if (a.multiple == 0)
    return constant(0);
  Value made = make(Div, a.base, valueOf(by));
  quotients[made] = {a.base, by};
  int64_t multiple =
      by.isStatic() && a.multiple % by.size == 0 ? a.multiple / by.size : 1;
  if (std::optional<int64_t> known = getConstantIntValue(made))
    multiple = *known;
  return LaneIndex{made, 0, multiple};
}

std::optional<LaneIndex> IndexMath::rem(LaneIndex a, const Extent &by) {
  if (std::optional<Sum> sum = sumOf(a)) {
    if (sum->by == by)
      return sum->low;
    if (std::optional<Extent> ratio = exactRatio(by, sum->by)) {
      std::optional<LaneIndex> high = rem(sum->high, *ratio);
      return high ? std::optional(add(scale(*high, sum->by), sum->low))
                  : std::nullopt;
    }
    if (exactRatio(sum->by, by))
      return rem(sum->low, by);
  }
  if (!keepsTogether(a, by))
    return std::nullopt;
  if (by.isStatic() && by.size == 1)
    return constant(0);
  if (a.multiple == 0)
    return a;
  Value made = make(Rem, a.base, valueOf(by));
  remainders[made] = {a.base, by};
  int64_t multiple = by.isStatic() ? std::gcd(a.multiple, by.size) : 1;
  if (std::optional<int64_t> known = getConstantIntValue(made))
    multiple = *known;
  return LaneIndex{made, a.step, multiple};
}

LaneIndex IndexMath::min(LaneIndex a, LaneIndex b) {
  return {make(Min, a.base, b.base), a.step, std::gcd(a.multiple, b.multiple)};
}

LaneIndex IndexMath::max(LaneIndex a, LaneIndex b) {
  return {make(Max, a.base, b.base), a.step, std::gcd(a.multiple, b.multiple)};
}

Value IndexMath::less(LaneIndex a, LaneIndex b) {
  return make(Less, a.base, b.base);
}

std::optional<LaneIndex> IndexMath::linearize(ArrayRef<LaneIndex> indices,
                                              ArrayRef<Extent> extents) {
  LaneIndex sum = constant(0);
  for (auto [index, extent] : llvm::zip_equal(indices, extents)) {
    if (extent.isStatic() && extent.size == 1)
      continue;
    auto quotient = quotients.find(sum.base);
    auto remainder = remainders.find(index.base);
    if (quotient != quotients.end() && remainder != remainders.end() &&
        quotient->second.whole == remainder->second.whole &&
        quotient->second.by == extent && remainder->second.by == extent &&
        sum.step == 0) {
      sum = {quotient->second.whole, index.step,
             std::gcd(index.multiple, extent.isStatic() ? extent.size : 1)};
      continue;
    }
    if (sum.step != 0 && !extent.isStatic())
      return std::nullopt;
    LaneIndex high = sum;
    sum = add(scale(high, extent), index);
    // Where one part is 0 the sum is no new value.
    if (high.multiple != 0 && index.multiple != 0 && high.step == 0)
      sums[sum.base] = {high, index, extent};
  }
  return sum;
}

std::optional<Lanes> IndexMath::delinearize(LaneIndex number,
                                            ArrayRef<Extent> extents) {
  Lanes result(extents.size(), constant(0));
  std::optional<unsigned> outermost;
  for (auto [dim, extent] : llvm::enumerate(extents))
    if (!(extent.isStatic() && extent.size == 1)) {
      outermost = dim;
      break;
    }
  if (!outermost)
    return result;
  for (unsigned dim = extents.size() - 1; dim > *outermost; --dim) {
    if (extents[dim].isStatic() && extents[dim].size == 1)
      continue;
    std::optional<LaneIndex> rest = rem(number, extents[dim]);
    std::optional<LaneIndex> quotient = div(number, extents[dim]);
    if (!rest || !quotient)
      return std::nullopt;
    result[dim] = *rest;
    number = *quotient;
  }
  result[*outermost] = number;
  return result;
}

Extent IndexMath::product(ArrayRef<Extent> extents) {
  int64_t known = 1;
  LaneIndex value = constant(1);
  bool dynamic = false;
  for (const Extent &extent : extents) {
    if (extent.isStatic()) {
      known *= extent.size;
      continue;
    }
    value = dynamic ? scale(value, extent) : of(extent);
    dynamic = true;
  }
  if (!dynamic)
    return {known, nullptr};
  return {ShapedType::kDynamic, scale(value, {known, nullptr}).base};
}

std::optional<LaneIndex> IndexMath::apply(AffineExpr expr,
                                          ArrayRef<LaneIndex> dims) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto constantExpr = dyn_cast<AffineConstantExpr>(expr))
    return constant(constantExpr.getValue());
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<LaneIndex> a = apply(binary.getLHS(), dims),
                           b = apply(binary.getRHS(), dims);
  if (!a || !b)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return add(*a, *b);
  auto by = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!by)
    return std::nullopt;
  Extent extent{by.getValue(), nullptr};
  switch (expr.getKind()) {
  case AffineExprKind::Mul:
    return scale(*a, extent);
  case AffineExprKind::FloorDiv:
    return div(*a, extent);
  case AffineExprKind::Mod:
    return rem(*a, extent);
  default:
    return std::nullopt;
  }
}

std::optional<Lanes> IndexMath::apply(AffineMap map, ArrayRef<LaneIndex> dims) {
  Lanes result;
  for (AffineExpr expr : map.getResults()) {
    std::optional<LaneIndex> index = apply(expr, dims);
    if (!index)
      return std::nullopt;
    result.push_back(*index);
  }
  return result;
}

LaneIndex IndexMath::lane(LaneIndex index, unsigned lane) {
  LaneIndex alone{index.base, 0, index.multiple};
  return index.step ? add(alone, constant(index.step * lane)) : alone;
}
