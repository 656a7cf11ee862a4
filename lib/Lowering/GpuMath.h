//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arithmetic of scalars and vectors of f32 or f64, and the functions made of
// it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_LOWERING_GPUMATH_H
#define FUSE_LIB_LOWERING_GPUMATH_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

namespace fuse {

/// Polynomials and constants of one width; GpuMathCoefficients.h.
struct GpuMathTables;

/// Makes the operations of one function at one place. Its functions hold for
/// every argument, NaN, infinities and denormals included; they count on
/// additions and multiplications not being contracted.
class GpuMath {
public:
  /// A number or a bit pattern of the width at hand; `const` in the C++ sense
  /// as values of the program are.
  struct Num {
    GpuMath *math;
    mlir::Value value;
  };
  /// A sum of two that do not overlap.
  struct Pair {
    Num high, low;
  };
  /// `mantissa * 2^exponent`; the exponent is a float without fraction.
  struct Scaled {
    Num mantissa, exponent;
  };
  /// The angle modulo a half pi, and how many of those went (an integer).
  struct Angle {
    Num quadrant;
    Pair rest;
  };
  using Condition = mlir::Value;

  /// `type` is f32, f64 or a vector of it.
  GpuMath(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type);

  // Leaves.
  Num of(mlir::Value value) { return {this, value}; }
  Num number(double value);
  Num integer(int64_t value);
  template <typename Op, typename... Args> Num make(Args... args) {
    return of(Op::create(builder, loc, args...));
  }

  // Arithmetic.
  Num fma(Num a, Num b, Num c);
  Num polynomial(llvm::ArrayRef<double> coefficients, Num at);
  Num abs(Num x);
  Num copySign(Num x, Num sign);
  Num sqrt(Num x);
  Num roundEven(Num x);
  Num truncate(Num x);
  Num select(Condition condition, Num yes, Num no);
  Condition both(Condition a, Condition b);
  Condition isNan(Num x);
  /// x within the bounds; NaN becomes `low`.
  Num clamp(Num x, double low, double high);
  Num bits(Num x); ///< an integer of the same width
  Num toInteger(Num x);
  Num toFloat(Num integer);
  Condition isOdd(Num integer);
  Condition signBit(Num x);
  Num scale(Scaled value); ///< exponents of twice the range

  // Sums of two.
  Pair sum(Num a, Num b);     ///< exact
  Pair fastSum(Num a, Num b); ///< exact where |a| >= |b|
  Pair product(Num a, Num b); ///< exact
  Pair product(Pair a, Pair b);
  Pair constant(llvm::ArrayRef<double> split);

  // Functions; GpuMathExp.cpp, GpuMathLog.cpp.
  Num exp(Num x);
  Num exp2(Num x);
  Num expm1(Num x);
  Num log(Num x);
  Num log2(Num x);
  Num log10(Num x);
  Num log1p(Num x);
  Num pow(Num x, Num y);
  Num powi(Num x, mlir::Value exponent); ///< an integer of any width
  Num cbrt(Num x);
  Num rsqrt(Num x);
  Num tanh(Num x);
  Num sinh(Num x);
  Num cosh(Num x);
  Num asinh(Num x);
  Num acosh(Num x);
  Num atanh(Num x);
  // GpuMathAngle.cpp.
  Num sin(Num x);
  Num cos(Num x);
  Num tan(Num x);
  Num atan(Num x);
  Num atan2(Num y, Num x);
  Num asin(Num x);
  Num acos(Num x);
  // GpuMathErf.cpp.
  Num erf(Num x);
  Num erfc(Num x);

private:
  bool isWide() const { return width == 64; }
  /// A positive power of 2 given by its exponent, in range.
  Num powerOf2(Num exponent);
  /// Of `x + low`, x in the range of exponents.
  Scaled expOf(Num x, std::optional<Num> low = std::nullopt);
  Scaled exp2Of(Num x, std::optional<Num> low = std::nullopt);
  Num halfExp(Num x);
  /// `x = mantissa * 2^exponent`, mantissa from sqrt(1/2) to sqrt(2); x is
  /// positive and finite, else the result means nothing.
  Scaled decompose(Num x);
  Pair logOfMantissa(Num mantissa);
  Pair log2Of(Num x);
  /// `result` where x is above `least`; what logarithms give elsewhere.
  Num logDomain(Num x, double least, Num result);
  /// |x|^y, but for NaN.
  Num magnitudeOfPower(Num x, Num y);
  Num atanOfSize(Num size);
  Angle reduce(Num x);
  Angle reduceSmall(Num x);
  Angle reduceLarge(Num x);
  Num sinOf(Pair angle);
  Num cosOf(Pair angle);
  Num ofQuadrant(Num x, Angle angle, int64_t shift);
  Num asinOf(Num x, Num square);
  Num erfcOfLarge(Num size);
  mlir::Type like(mlir::Type element) const;

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Type type, intType;
  unsigned width, mantissaBits;
  const GpuMathTables &tables;
};

GpuMath::Num operator+(GpuMath::Num a, GpuMath::Num b);
GpuMath::Num operator-(GpuMath::Num a, GpuMath::Num b);
GpuMath::Num operator*(GpuMath::Num a, GpuMath::Num b);
GpuMath::Num operator/(GpuMath::Num a, GpuMath::Num b);
GpuMath::Num operator-(GpuMath::Num a);
GpuMath::Num operator+(GpuMath::Num a, double b);
GpuMath::Num operator+(double a, GpuMath::Num b);
GpuMath::Num operator-(GpuMath::Num a, double b);
GpuMath::Num operator-(double a, GpuMath::Num b);
GpuMath::Num operator*(double a, GpuMath::Num b);
GpuMath::Num operator/(double a, GpuMath::Num b);
/// Comparisons are false for NaN, but for `!=`.
GpuMath::Condition operator<(GpuMath::Num a, double b);
GpuMath::Condition operator>(GpuMath::Num a, double b);
GpuMath::Condition operator==(GpuMath::Num a, double b);
GpuMath::Condition operator<(GpuMath::Num a, GpuMath::Num b);
GpuMath::Condition operator==(GpuMath::Num a, GpuMath::Num b);
GpuMath::Condition operator!=(GpuMath::Num a, GpuMath::Num b);

struct GpuMathTables {
  using Polynomial = llvm::ArrayRef<double>;
  Polynomial exp, log, logRest, sin, cos, atan, asin, erf, erfcx;
  /// Each in three parts.
  Polynomial ln2, halfPi, log2e, log10of2, log10e, twoThirds, third;
  double erfcxCentre, erfcxMost;
};

/// Expands `math` functions of f32 and f64, scalars and vectors; narrower types
/// go through f32.
void populateGpuFunctionPatterns(mlir::RewritePatternSet &patterns);

/// Expands `math.ipowi` and `arith.remf` into loops.
void populateGpuLoopPatterns(mlir::RewritePatternSet &patterns);

} // namespace fuse

#endif // FUSE_LIB_LOWERING_GPUMATH_H
