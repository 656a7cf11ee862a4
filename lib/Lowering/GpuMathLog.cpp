//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Logarithms, powers and inverse hyperbolic functions of GPU kernels.
//
//===----------------------------------------------------------------------===//

#include "GpuMath.h"

using namespace mlir;
using namespace fuse;
using Num = GpuMath::Num;
using Pair = GpuMath::Pair;
using Condition = GpuMath::Condition;

GpuMath::Scaled GpuMath::decompose(Num x) {
  double shift = isWide() ? 54 : 25;
  Condition tiny = x < (isWide() ? 0x1p-1022 : 0x1p-126);
  x = select(tiny, (isWide() ? 0x1p54 : 0x1p25) * x, x);
  Num pattern = bits(x), count = integer(mantissaBits);
  int64_t rootOfHalf = isWide() ? 0x3FE6A09E667F3BCD : 0x3F3504F3;
  Num above = make<arith::SubIOp>(pattern.value, integer(rootOfHalf).value);
  Num k = make<arith::ShRSIOp>(above.value, count.value);
  Num shifted = make<arith::ShLIOp>(k.value, count.value);
  Num mantissa = make<arith::SubIOp>(pattern.value, shifted.value);
  Num exponent = toFloat(k);
  return {make<arith::BitcastOp>(type, mantissa.value),
          select(tiny, exponent - shift, exponent)};
}

/// log(1 + f) = f - (f^2 / 2 - s (f^2 / 2 + R)), s = f / (2 + f), where
/// 2 atanh s = 2 s + s R.
Pair GpuMath::logOfMantissa(Num mantissa) {
  Num f = mantissa - 1.0;
  Num s = f / (f + 2.0), square = s * s, half = 0.5 * (f * f);
  Num rest = square * polynomial(tables.log, square);
  return {f, fma(s, half + rest, -half)};
}

Num GpuMath::logDomain(Num x, double least, Num result) {
  double infinity = std::numeric_limits<double>::infinity();
  result = select(x > least, result,
                  number(std::numeric_limits<double>::quiet_NaN()));
  result = select(x == least, number(-infinity), result);
  return select(x == infinity, x, result);
}

Num GpuMath::log(Num x) {
  auto [mantissa, k] = decompose(x);
  auto [high, low] = logOfMantissa(mantissa);
  Num top = fma(k, number(tables.ln2[0]), high);
  return logDomain(x, 0, top + fma(k, number(tables.ln2[1]), low));
}

Num GpuMath::log2(Num x) {
  auto [mantissa, k] = decompose(x);
  Pair natural = logOfMantissa(mantissa);
  Pair part =
      product(fastSum(natural.high, natural.low), constant(tables.log2e));
  Pair all = sum(k, part.high);
  return logDomain(x, 0, all.high + (all.low + part.low));
}

Num GpuMath::log10(Num x) {
  auto [mantissa, k] = decompose(x);
  Pair natural = logOfMantissa(mantissa);
  Pair part =
      product(fastSum(natural.high, natural.low), constant(tables.log10e));
  Pair ofTwo = constant(tables.log10of2), whole = product(k, ofTwo.high);
  Pair all = sum(whole.high, part.high);
  Num low = fma(k, ofTwo.low, whole.low + part.low);
  return logDomain(x, 0, all.high + (all.low + low));
}

/// log(1 + x) with what the sum `1 + x` lost, by the derivative.
Num GpuMath::log1p(Num x) {
  Pair all = sum(number(1.0), x);
  auto [mantissa, k] = decompose(all.high);
  auto [high, low] = logOfMantissa(mantissa);
  Num top = fma(k, number(tables.ln2[0]), high);
  Num lost = low + all.low / all.high;
  Num result = top + fma(k, number(tables.ln2[1]), lost);
  Condition tiny = abs(x) < (isWide() ? 0x1p-54 : 0x1p-25);
  return logDomain(x, -1, select(tiny, x, result));
}

/// In twice the precision: log2 m = (2 s + s z (2/3 + z P(z))) log2 e, z = s^2,
/// s = (m - 1) / (m + 1).
Pair GpuMath::log2Of(Num x) {
  auto [mantissa, k] = decompose(x);
  Num f = mantissa - 1.0;
  Pair under = sum(mantissa, number(1.0));
  Num s = f / under.high;
  Num left = fma(-s, under.low, fma(-s, under.high, f));
  Pair quotient{s, left / under.high};
  Pair square = product(quotient, quotient);
  Pair twoThirds = constant(tables.twoThirds);
  Pair factor = fastSum(twoThirds.high,
                        square.high * polynomial(tables.logRest, square.high));
  factor.low = factor.low + twoThirds.low;
  Pair rest = product(product(quotient, square), factor);
  Pair natural = fastSum(2.0 * quotient.high, rest.high);
  natural.low = natural.low + (rest.low + 2.0 * quotient.low);
  Pair part = product(natural, constant(tables.log2e));
  Pair all = sum(k, part.high);
  return fastSum(all.high, all.low + part.low);
}

/// 2^(y log2 |x|). What is beyond the bound is 0 or infinity.
Num GpuMath::magnitudeOfPower(Num x, Num y) {
  double bound = isWide() ? 1100 : 160;
  double largest = isWide() ? 1e300 : 1e30;
  double infinity = std::numeric_limits<double>::infinity();
  Num size = abs(x);
  y = clamp(y, -largest, largest);
  auto [high, low] = log2Of(size);
  high = select(size == 0.0, number(-infinity), high);
  high = select(size == infinity, size, high);
  Pair top = product(y, high);
  Condition inside = abs(top.high) < bound;
  Num rest = select(inside, fma(y, low, top.low), number(0));
  Num result = scale(exp2Of(clamp(top.high, -bound, bound), rest));
  return select(y == 0.0, number(1), result);
}

Num GpuMath::pow(Num x, Num y) {
  Num half = 0.5 * y, nan = number(std::numeric_limits<double>::quiet_NaN());
  Condition whole = truncate(y) == y;
  Condition odd = both(whole, truncate(half) != half);
  Num size = magnitudeOfPower(x, y);
  Num result = select(both(odd, signBit(x)), -size, size);
  Condition negative =
      both(x<0.0, x> - std::numeric_limits<double>::infinity());
  result = select(negative, select(whole, result, nan), result);
  result = select(isNan(x), x, select(isNan(y), y, result));
  return select(y == 0.0, number(1), select(x == 1.0, number(1), result));
}

Num GpuMath::powi(Num x, Value exponent) {
  Num n = of(exponent);
  Num y = toFloat(n), size = magnitudeOfPower(x, y);
  Num result = select(both(isOdd(n), signBit(x)), -size, size);
  return select(y == 0.0, y + 1.0, select(isNan(x), x, result));
}

Num GpuMath::rsqrt(Num x) { return 1.0 / sqrt(x); }

Num GpuMath::cbrt(Num x) {
  Pair exponent = product(log2Of(abs(x)), constant(tables.third));
  Num result = copySign(scale(exp2Of(exponent.high, exponent.low)), x);
  Condition usual =
      both(abs(x) < std::numeric_limits<double>::infinity(), abs(x) > 0);
  return select(usual, result, x);
}

/// Beyond it the argument of log1p below is x itself, and log 2 is added.
static double largeArea(bool wide) { return wide ? 0x1p60 : 0x1p30; }

/// log1p(x + x^2 / (1 + sqrt(1 + x^2))).
Num GpuMath::asinh(Num x) {
  Num size = abs(x), square = size * size;
  Condition large = size > largeArea(isWide());
  Num more = size + square / (sqrt(square + 1.0) + 1.0);
  Num result = log1p(select(large, size, more));
  result = result + select(large, number(tables.ln2[0]), number(0));
  return copySign(result, x);
}

/// log1p(t + sqrt(2 t + t^2)), t = x - 1.
Num GpuMath::acosh(Num x) {
  Num t = x - 1.0;
  Condition large = x > largeArea(isWide());
  Num more = t + sqrt(fma(t, t, 2.0 * t));
  Num result = log1p(select(large, x, more));
  result = result + select(large, number(tables.ln2[0]), number(0));
  Num nan = number(std::numeric_limits<double>::quiet_NaN());
  return select(x < 1.0, nan, result);
}

/// log1p(2 x / (1 - x)) / 2.
Num GpuMath::atanh(Num x) {
  Num size = abs(x);
  return copySign(0.5 * log1p(2.0 * size / (1.0 - size)), x);
}
