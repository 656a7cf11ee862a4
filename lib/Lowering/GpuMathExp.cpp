//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exponentials and hyperbolic functions of GPU kernels.
//
//===----------------------------------------------------------------------===//

#include "GpuMath.h"

using namespace mlir;
using namespace fuse;
using Num = GpuMath::Num;
using Pair = GpuMath::Pair;
using Condition = GpuMath::Condition;

/// Beyond these exp is 0 and infinity; the exponents stay in range.
static double leastExp(bool wide) { return wide ? -760 : -110; }
static double mostExp(bool wide) { return wide ? 709.9 : 88.8; }
/// Beyond it x has no part in `1 + exp(-x)`.
static double lostBeyond(bool wide) { return wide ? 40 : 18; }

Num GpuMath::powerOf2(Num exponent) {
  int64_t bias = isWide() ? 1023 : 127;
  Num biased =
      make<arith::AddIOp>(toInteger(exponent).value, integer(bias).value);
  Num shifted = make<arith::ShLIOp>(biased.value, integer(mantissaBits).value);
  return make<arith::BitcastOp>(type, shifted.value);
}

/// In two steps, since the exponent alone may be out of range.
Num GpuMath::scale(Scaled value) {
  Num half = truncate(0.5 * value.exponent);
  return value.mantissa * powerOf2(half) * powerOf2(value.exponent - half);
}

/// exp r = 1 + r + r^2 P(r) after x = k ln 2 + r.
GpuMath::Scaled GpuMath::expOf(Num x, std::optional<Num> low) {
  Num k = roundEven(tables.log2e[0] * x);
  Num rest = fma(-k, number(tables.ln2[0]), x);
  Num lower = fma(-k, number(tables.ln2[1]), rest);
  if (low)
    lower = lower + *low;
  Num more = fma(lower * lower, polynomial(tables.exp, lower), lower);
  return {1.0 + more, k};
}

GpuMath::Scaled GpuMath::exp2Of(Num x, std::optional<Num> low) {
  Num k = roundEven(x), d = x - k;
  Num rest = tables.ln2[1] * d;
  if (low)
    rest = fma(*low, number(tables.ln2[0]), rest);
  rest = fma(d, number(tables.ln2[0]), rest);
  Num more = fma(rest * rest, polynomial(tables.exp, rest), rest);
  return {1.0 + more, k};
}

Num GpuMath::exp(Num x) {
  Num inside = clamp(x, leastExp(isWide()), mostExp(isWide()));
  return select(isNan(x), x, scale(expOf(inside)));
}

Num GpuMath::exp2(Num x) {
  double bound = isWide() ? 1100 : 160;
  return select(isNan(x), x, scale(exp2Of(clamp(x, -bound, bound))));
}

/// 2^k (exp r - 1) + (2^k - 1), halved since 2^k may be out of range.
Num GpuMath::expm1(Num x) {
  Num inside = clamp(x, -lostBeyond(isWide()), mostExp(isWide()));
  Num k = roundEven(tables.log2e[0] * inside);
  Num rest = fma(-k, number(tables.ln2[0]), inside);
  rest = fma(-k, number(tables.ln2[1]), rest);
  Num more = fma(rest * rest, polynomial(tables.exp, rest), rest);
  Num half = powerOf2(k - 1.0);
  Num all = 2.0 * fma(half, more, half - 0.5);
  Num tiny = number(isWide() ? 0x1p-54 : 0x1p-25);
  all = select(k == 0.0, more, all);
  return select(both(tiny < abs(x), x == x), all, x);
}

/// (exp 2x - 1) / (exp 2x + 1).
Num GpuMath::tanh(Num x) {
  Num most = number(lostBeyond(isWide()));
  Num twice = 2.0 * abs(x);
  Num e = expm1(select(most < twice, most, twice));
  return copySign(e / (e + 2.0), x);
}

Num GpuMath::halfExp(Num x) {
  Scaled all = expOf(clamp(x, leastExp(isWide()), mostExp(isWide()) + 1));
  return scale({all.mantissa, all.exponent - 1.0});
}

Num GpuMath::sinh(Num x) {
  Num size = abs(x), bound = number(lostBeyond(isWide()));
  Num e = expm1(select(bound < size, bound, size));
  Num small = 0.5 * (e + e / (e + 1.0));
  return copySign(select(bound < size, halfExp(size), small), x);
}

Num GpuMath::cosh(Num x) {
  Num half = halfExp(abs(x));
  return select(isNan(x), x, half + 0.25 / half);
}
