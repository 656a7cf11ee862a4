//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arithmetic that functions of GPU kernels are made of.
//
//===----------------------------------------------------------------------===//

#include "GpuMath.h"
#include "GpuMathCoefficients.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace fuse;
using Num = GpuMath::Num;
using Pair = GpuMath::Pair;
using Condition = GpuMath::Condition;

#define FUSE_TABLES(width)                                                     \
  {gpumath::width::exp,         gpumath::width::log,                           \
   gpumath::width::logRest,     gpumath::width::sin,                           \
   gpumath::width::cos,         gpumath::width::atan,                          \
   gpumath::width::asin,        gpumath::width::erf,                           \
   gpumath::width::erfcx,       gpumath::width::ln2,                           \
   gpumath::width::halfPi,      gpumath::width::log2e,                         \
   gpumath::width::log10of2,    gpumath::width::log10e,                        \
   gpumath::width::twoThirds,   gpumath::width::third,                         \
   gpumath::width::erfcxCentre, gpumath::width::erfcxMost}
static const GpuMathTables tablesF32 = FUSE_TABLES(f32);
static const GpuMathTables tablesF64 = FUSE_TABLES(f64);
#undef FUSE_TABLES

GpuMath::GpuMath(OpBuilder &builder, Location loc, Type type)
    : builder(builder), loc(loc), type(type),
      width(getElementTypeOrSelf(type).getIntOrFloatBitWidth()),
      mantissaBits(width == 64 ? 52 : 23),
      tables(width == 64 ? tablesF64 : tablesF32) {
  intType = like(builder.getIntegerType(width));
}

Type GpuMath::like(Type element) const {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

static TypedAttr splat(Type type, TypedAttr element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return DenseElementsAttr::get(vector, Attribute(element));
  return element;
}

Num GpuMath::number(double value) {
  return make<arith::ConstantOp>(
      splat(type, builder.getFloatAttr(getElementTypeOrSelf(type), value)));
}

Num GpuMath::integer(int64_t value) {
  return make<arith::ConstantOp>(splat(
      intType, builder.getIntegerAttr(getElementTypeOrSelf(intType), value)));
}

Num fuse::operator+(Num a, Num b) {
  return a.math->make<arith::AddFOp>(a.value, b.value);
}
Num fuse::operator-(Num a, Num b) {
  return a.math->make<arith::SubFOp>(a.value, b.value);
}
Num fuse::operator*(Num a, Num b) {
  return a.math->make<arith::MulFOp>(a.value, b.value);
}
Num fuse::operator/(Num a, Num b) {
  return a.math->make<arith::DivFOp>(a.value, b.value);
}
Num fuse::operator-(Num a) { return a.math->make<arith::NegFOp>(a.value); }
Num fuse::operator+(Num a, double b) { return a + a.math->number(b); }
Num fuse::operator+(double a, Num b) { return b.math->number(a) + b; }
Num fuse::operator-(Num a, double b) { return a - a.math->number(b); }
Num fuse::operator-(double a, Num b) { return b.math->number(a) - b; }
Num fuse::operator*(double a, Num b) { return b.math->number(a) * b; }
Num fuse::operator/(double a, Num b) { return b.math->number(a) / b; }

static Condition compare(arith::CmpFPredicate predicate, Num a, Num b) {
  return a.math->make<arith::CmpFOp>(predicate, a.value, b.value).value;
}

Condition fuse::operator<(Num a, Num b) {
  return compare(arith::CmpFPredicate::OLT, a, b);
}
Condition fuse::operator==(Num a, Num b) {
  return compare(arith::CmpFPredicate::OEQ, a, b);
}
Condition fuse::operator!=(Num a, Num b) {
  return compare(arith::CmpFPredicate::UNE, a, b);
}
Condition fuse::operator<(Num a, double b) { return a < a.math->number(b); }
Condition fuse::operator>(Num a, double b) { return a.math->number(b) < a; }
Condition fuse::operator==(Num a, double b) { return a == a.math->number(b); }

Num GpuMath::fma(Num a, Num b, Num c) {
  return make<math::FmaOp>(a.value, b.value, c.value);
}

Num GpuMath::polynomial(ArrayRef<double> coefficients, Num at) {
  Num sum = number(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, at, number(coefficient));
  return sum;
}

Num GpuMath::abs(Num x) { return make<math::AbsFOp>(x.value); }
Num GpuMath::copySign(Num x, Num sign) {
  return make<math::CopySignOp>(x.value, sign.value);
}
Num GpuMath::sqrt(Num x) { return make<math::SqrtOp>(x.value); }
Num GpuMath::roundEven(Num x) { return make<math::RoundEvenOp>(x.value); }
Num GpuMath::truncate(Num x) { return make<math::TruncOp>(x.value); }

Num GpuMath::select(Condition condition, Num yes, Num no) {
  return make<arith::SelectOp>(condition, yes.value, no.value);
}

Condition GpuMath::both(Condition a, Condition b) {
  return make<arith::AndIOp>(a, b).value;
}

Condition GpuMath::isNan(Num x) { return x != x; }

Num GpuMath::clamp(Num x, double low, double high) {
  x = select(x > low, x, number(low));
  return select(x < high, x, number(high));
}

Num GpuMath::bits(Num x) { return make<arith::BitcastOp>(intType, x.value); }
Num GpuMath::toInteger(Num x) {
  return make<arith::FPToSIOp>(intType, x.value);
}
Num GpuMath::toFloat(Num integer) {
  return make<arith::SIToFPOp>(type, integer.value);
}

Condition GpuMath::isOdd(Num integer) {
  Type bit = like(builder.getI1Type());
  return make<arith::TruncIOp>(bit, integer.value).value;
}

Condition GpuMath::signBit(Num x) {
  return make<arith::CmpIOp>(arith::CmpIPredicate::slt, bits(x).value,
                             integer(0).value)
      .value;
}

Pair GpuMath::sum(Num a, Num b) {
  Num high = a + b, other = high - a;
  return {high, (a - (high - other)) + (b - other)};
}

Pair GpuMath::fastSum(Num a, Num b) {
  Num high = a + b;
  return {high, b - (high - a)};
}

Pair GpuMath::product(Num a, Num b) {
  Num high = a * b;
  return {high, fma(a, b, -high)};
}

Pair GpuMath::product(Pair a, Pair b) {
  Pair result = product(a.high, b.high);
  Num rest = fma(a.high, b.low, fma(a.low, b.high, result.low));
  return fastSum(result.high, rest);
}

Pair GpuMath::constant(ArrayRef<double> split) {
  return {number(split[0]), number(split[1])};
}
