//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Angles: sines, cosines and their inverses in GPU kernels.
//
//===----------------------------------------------------------------------===//

#include "GpuMath.h"
#include "GpuMathCoefficients.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace fuse;
using Num = GpuMath::Num;
using Pair = GpuMath::Pair;
using Condition = GpuMath::Condition;

/// Angles below it are reduced by multiples of pi / 2 in three parts.
static double smallAngle(bool wide) { return wide ? 0x1p20 : 0x1p13; }

GpuMath::Angle GpuMath::reduceSmall(Num x) {
  Condition small = abs(x) < smallAngle(isWide());
  x = select(small, x, number(0));
  Num count = roundEven((1 / tables.halfPi[0]) * x);
  Num first = fma(-count, number(tables.halfPi[0]), x); // exact
  Pair second = product(count, number(tables.halfPi[1]));
  Pair rest = sum(first, -second.high);
  Num low = fma(-count, number(tables.halfPi[2]), rest.low - second.low);
  return {toInteger(count), fastSum(rest.high, low)};
}

namespace {
/// Integers of 64 bits of one shape.
struct Words {
  OpBuilder &builder;
  Location loc;
  Type type;

  template <typename Op> Value make(Value a, Value b) {
    return Op::create(builder, loc, a, b);
  }
  Value constant(uint64_t value) {
    TypedAttr attr = builder.getI64IntegerAttr(int64_t(value));
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(builder, loc, attr);
  }
  Value window(ArrayRef<Value> words, unsigned number, Value shift) {
    Value high = make<arith::ShLIOp>(words[number], shift);
    Value back = make<arith::SubIOp>(constant(63), shift);
    Value low = make<arith::ShRUIOp>(words[number + 1], constant(1));
    return make<arith::OrIOp>(high, make<arith::ShRUIOp>(low, back));
  }
  SmallVector<Value> window(Value position, unsigned blocks);
};
} // namespace

/// 192 bits of 2 / pi from `position` on, where position 0 is 64 bits before
/// the point and all positions lie in `blocks` words.
SmallVector<Value> Words::window(Value position, unsigned blocks) {
  auto word = [](unsigned number) -> uint64_t {
    return number ? gpumath::twoOverPi[number - 1] : 0;
  };
  Value block = make<arith::ShRUIOp>(position, constant(6));
  Value shift = make<arith::AndIOp>(position, constant(63));
  SmallVector<Value> words;
  for (unsigned part = 0; part < 4; ++part)
    words.push_back(constant(word(part)));
  for (unsigned number = 1; number < blocks; ++number) {
    Value here = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       block, constant(number));
    for (auto [part, value] : llvm::enumerate(words))
      value = arith::SelectOp::create(builder, loc, here,
                                      constant(word(number + part)), value);
  }
  return {window(words, 0, shift), window(words, 1, shift),
          window(words, 2, shift)};
}

/// The signed 128 bits as two f64.
static Pair toPair(GpuMath &math, Words &words, Value high, Value low) {
  Value mask = words.constant(0xffffffff), half = words.constant(32);
  Num top = math.toFloat(math.of(words.make<arith::ShRSIOp>(high, half)));
  auto part = [&](Value word) { return math.toFloat(math.of(word)); };
  Num second = part(words.make<arith::AndIOp>(high, mask));
  Num third = part(words.make<arith::ShRUIOp>(low, half));
  Num fourth = part(words.make<arith::AndIOp>(low, mask));
  Pair all = math.sum(0x1p32 * top, second);
  Pair rest = math.sum(all.high, 0x1p-32 * third + 0x1p-64 * fourth);
  return math.fastSum(rest.high, rest.low + all.low);
}

/// x = m 2^e; m times the bits of 2 / pi from 2 - e on is x 2 / pi modulo 4.
GpuMath::Angle GpuMath::reduceLarge(Num x) {
  GpuMath wide(builder, loc, like(builder.getF64Type()));
  Words words{builder, loc, wide.intType};
  Num whole = isWide() ? wide.of(x.value)
                       : wide.make<arith::ExtFOp>(wide.type, x.value);
  Value pattern = wide.bits(wide.abs(whole)).value;
  Value exponent = words.make<arith::ShRUIOp>(pattern, words.constant(52));
  Value position = words.make<arith::SubIOp>(exponent, words.constant(1013));
  Value mantissa = words.make<arith::OrIOp>(
      words.make<arith::AndIOp>(pattern, words.constant(0xfffffffffffff)),
      words.constant(0x10000000000000));
  SmallVector<Value> bits = words.window(position, isWide() ? 17 : 3);
  auto second = arith::MulUIExtendedOp::create(builder, loc, mantissa, bits[1]);
  auto third = arith::MulUIExtendedOp::create(builder, loc, mantissa, bits[2]);
  auto low = arith::AddUIExtendedOp::create(builder, loc, second.getLow(),
                                            third.getHigh());
  Value carry =
      arith::ExtUIOp::create(builder, loc, words.type, low.getOverflow());
  Value high = words.make<arith::AddIOp>(
      words.make<arith::MulIOp>(mantissa, bits[0]),
      words.make<arith::AddIOp>(second.getHigh(), carry));
  Value rounded = words.make<arith::AddIOp>(high, words.constant(1ull << 61));
  Value quadrant = words.make<arith::ShRUIOp>(rounded, words.constant(62));
  high = words.make<arith::SubIOp>(
      high, words.make<arith::ShLIOp>(quadrant, words.constant(62)));
  Pair turns = toPair(wide, words, high, low.getSum());
  Pair angle = wide.product(turns, wide.constant(wide.tables.halfPi));
  angle = {0x1p-62 * angle.high, 0x1p-62 * angle.low};
  Condition negative = wide.signBit(whole);
  Num turned = wide.of(words.make<arith::SubIOp>(words.constant(0), quadrant));
  turned = wide.select(negative, turned, wide.of(quadrant));
  angle = {wide.select(negative, -angle.high, angle.high),
           wide.select(negative, -angle.low, angle.low)};
  if (isWide())
    return {of(turned.value), {of(angle.high.value), of(angle.low.value)}};
  Num short_ = make<arith::TruncFOp>(type, angle.high.value);
  Num back = wide.make<arith::ExtFOp>(wide.type, short_.value);
  return {make<arith::TruncIOp>(intType, turned.value),
          {short_, make<arith::TruncFOp>(type, (angle.high - back).value)}};
}

/// Large angles, which are rare, cost a branch.
GpuMath::Angle GpuMath::reduce(Num x) {
  Angle small = reduceSmall(x);
  Condition large = make<arith::CmpFOp>(arith::CmpFPredicate::OGE, abs(x).value,
                                        number(smallAngle(isWide())).value)
                        .value;
  Value any = large;
  if (auto vector = dyn_cast<VectorType>(large.getType())) {
    if (vector.getRank() != 1)
      any = vector::ShapeCastOp::create(
          builder, loc,
          VectorType::get({vector.getNumElements()}, vector.getElementType()),
          any);
    any = vector::ReductionOp::create(builder, loc, vector::CombiningKind::OR,
                                      any);
  }
  auto branch = scf::IfOp::create(builder, loc, TypeRange{intType, type, type},
                                  any, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Angle other = reduceLarge(x);
  auto choose = [&](Num yes, Num no) { return select(large, yes, no).value; };
  scf::YieldOp::create(builder, loc,
                       ValueRange{choose(other.quadrant, small.quadrant),
                                  choose(other.rest.high, small.rest.high),
                                  choose(other.rest.low, small.rest.low)});
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc,
                       ValueRange{small.quadrant.value, small.rest.high.value,
                                  small.rest.low.value});
  return {of(branch.getResult(0)),
          {of(branch.getResult(1)), of(branch.getResult(2))}};
}

Num GpuMath::sinOf(Pair angle) {
  Num square = angle.high * angle.high;
  Num cubic = angle.high * square * polynomial(tables.sin, square);
  return angle.high + (cubic + angle.low * (1.0 - 0.5 * square));
}

Num GpuMath::cosOf(Pair angle) {
  Num square = angle.high * angle.high, half = 0.5 * square;
  Num top = 1.0 - half;
  Num rest = fma(square * square, polynomial(tables.cos, square),
                 -(angle.high * angle.low));
  return top + (((1.0 - top) - half) + rest);
}

/// The sine of `angle`, `shift` quadrants on.
Num GpuMath::ofQuadrant(Num x, Angle angle, int64_t shift) {
  Num quadrant =
      make<arith::AddIOp>(angle.quadrant.value, integer(shift).value);
  Num second = make<arith::ShRUIOp>(quadrant.value, integer(1).value);
  Num result = select(isOdd(quadrant), cosOf(angle.rest), sinOf(angle.rest));
  result = select(isOdd(second), -result, result);
  return select(abs(x) < std::numeric_limits<double>::infinity(), result,
                x - x);
}

Num GpuMath::sin(Num x) {
  return select(x == 0.0, x, ofQuadrant(x, reduce(x), 0));
}

Num GpuMath::cos(Num x) { return ofQuadrant(x, reduce(x), 1); }

Num GpuMath::tan(Num x) {
  Angle angle = reduce(x);
  Num result = ofQuadrant(x, angle, 0) / ofQuadrant(x, angle, 1);
  return select(x == 0.0, x, result);
}

/// t + t^3 P(t^2) after atan x = pi / 4 + atan((x - 1) / (x + 1)) or
/// pi / 2 + atan(-1 / x).
Num GpuMath::atanOfSize(Num size) {
  constexpr double tanOfEighth = 0.41421356237309503; // of pi / 8
  Condition large = size > 1 / tanOfEighth, middle = size > tanOfEighth;
  Num top = select(large, number(-1), select(middle, size - 1.0, size));
  Num bottom = select(large, size, select(middle, size + 1.0, number(1)));
  Num t = top / bottom, square = t * t;
  auto base = [&](double part) {
    return select(large, number(part),
                  select(middle, number(part / 2), number(0)));
  };
  Num rest =
      fma(t * square, polynomial(tables.atan, square), base(tables.halfPi[1]));
  return base(tables.halfPi[0]) + (t + rest);
}

Num GpuMath::atan(Num x) { return copySign(atanOfSize(abs(x)), x); }

Num GpuMath::atan2(Num y, Num x) {
  Num up = abs(y), along = abs(x);
  Num ratio = select(up == along, number(1), up / along);
  ratio = select(up == 0.0, number(0), ratio);
  Num size = atanOfSize(ratio);
  Num behind = 2 * tables.halfPi[0] - (size - 2 * tables.halfPi[1]);
  Num result = copySign(select(signBit(x), behind, size), y);
  return select(isNan(x), x, select(isNan(y), y, result));
}

Num GpuMath::asinOf(Num x, Num square) {
  return fma(x * square, polynomial(tables.asin, square), x);
}

/// Above 1/2 by asin x = pi / 2 - 2 asin(sqrt((1 - x) / 2)).
Num GpuMath::asin(Num x) {
  Num size = abs(x), rest = 0.5 * (1.0 - size);
  Condition large = size > 0.5;
  Num square = select(large, rest, size * size);
  Num part = asinOf(select(large, sqrt(rest), size), square);
  Num far = tables.halfPi[0] - (2.0 * part - tables.halfPi[1]);
  return copySign(select(large, far, part), x);
}

Num GpuMath::acos(Num x) {
  Num size = abs(x), rest = 0.5 * (1.0 - size);
  Condition large = size > 0.5;
  Num square = select(large, rest, size * size);
  Num part = asinOf(select(large, sqrt(rest), x), square);
  Num middle = tables.halfPi[0] - (part - tables.halfPi[1]);
  Num left = 2 * tables.halfPi[0] - (2.0 * part - 2 * tables.halfPi[1]);
  return select(large, select(x < 0.0, left, 2.0 * part), middle);
}
