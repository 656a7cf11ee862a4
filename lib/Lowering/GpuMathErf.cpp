//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The error functions of GPU kernels.
//
//===----------------------------------------------------------------------===//

#include "GpuMath.h"

using namespace mlir;
using namespace fuse;
using Num = GpuMath::Num;
using Pair = GpuMath::Pair;
using Condition = GpuMath::Condition;

/// Below it erf is its series, from it on 1 - erfc.
constexpr double kLarge = 0.75;

/// exp(-x^2) P(t) / (1 + 2 x), t = (x - c) / (x + c).
Num GpuMath::erfcOfLarge(Num size) {
  size = clamp(size, kLarge, tables.erfcxMost);
  Num t = (size - tables.erfcxCentre) / (size + tables.erfcxCentre);
  Pair square = product(size, size);
  Scaled decay = expOf(-square.high, -square.low);
  Num factor = polynomial(tables.erfcx, t) / (2.0 * size + 1.0);
  return scale({decay.mantissa * factor, decay.exponent});
}

Num GpuMath::erf(Num x) {
  Num size = abs(x);
  Num small = fma(x, polynomial(tables.erf, x * x), x);
  Num large = copySign(1.0 - erfcOfLarge(size), x);
  return select(size < kLarge, small, select(isNan(x), x, large));
}

Num GpuMath::erfc(Num x) {
  Num size = abs(x), large = erfcOfLarge(size);
  Num small = fma(-x, polynomial(tables.erf, x * x), 1.0 - x);
  large = select(x < 0.0, 2.0 - large, large);
  return select(size < kLarge, small, select(isNan(x), x, large));
}
