//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// erf of f32 as a rational function.
//
//   erf x         ==>   clamp(x * P(x^2) / Q(x^2)), |x| at most 3.9
//   erf (x / c)   ==>   erf (x * (1 / c))
//
// NaN stays NaN: both bounds are comparisons that are false for it. f64 is left
// alone.
//
//===----------------------------------------------------------------------===//

#include "CpuErf.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;

/// Beyond it erf is 1 in f32, but for 4e-8.
constexpr double kBound = 3.9;
/// Lowest first, as scripts/fit_erf.py prints them.
constexpr double kP[] = {1.1283791065216064,     0.18963518738746643,
                         0.05266345292329788,    0.003736881772056222,
                         0.00028501154156401753, 2.0664758721977705e-06};
constexpr double kQ[] = {1.0,
                         0.5013926029205322,
                         0.11380548030138016,
                         0.014911339618265629,
                         0.0011569891357794404,
                         3.8267415220616385e-05};

namespace {
/// Makes f32 arithmetic of the shape of one value.
struct Arithmetic {
  OpBuilder &builder;
  Location loc;
  Type type;

  Value constant(double value) {
    TypedAttr attr =
        FloatAttr::get(cast<FloatType>(getElementTypeOrSelf(type)), value);
    if (auto shaped = dyn_cast<ShapedType>(type))
      attr = DenseElementsAttr::get(shaped, ArrayRef<Attribute>{attr});
    return arith::ConstantOp::create(builder, loc, attr);
  }

  Value polynomial(ArrayRef<double> coefficients, Value at) {
    Value sum = constant(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      sum = math::FmaOp::create(builder, loc, sum, at, constant(coefficient));
    return sum;
  }

  Value clamp(Value value, double bound) {
    auto limit = [&](arith::CmpFPredicate predicate, double to) {
      Value end = constant(to);
      Value beyond = arith::CmpFOp::create(builder, loc, predicate, value, end);
      value = arith::SelectOp::create(builder, loc, beyond, end, value);
    };
    limit(arith::CmpFPredicate::OGT, bound);
    limit(arith::CmpFPredicate::OLT, -bound);
    return value;
  }
};

/// The argument of erf. A division by a constant in front of it is a product
/// with the reciprocal: erf grows by no larger a share than its argument, so
/// the rounding adds less than the rational function is off.
Value argumentOf(math::ErfOp op, Arithmetic &make) {
  auto division = op.getOperand().getDefiningOp<arith::DivFOp>();
  APFloat divisor(0.0f);
  if (!division || !matchPattern(division.getRhs(), m_ConstantFloat(&divisor)))
    return op.getOperand();
  double reciprocal = 1.0 / divisor.convertToDouble();
  if (!std::isnormal(float(reciprocal)))
    return op.getOperand();
  return arith::MulFOp::create(make.builder, make.loc, division.getLhs(),
                               make.constant(reciprocal));
}

struct ErfToRational : OpRewritePattern<math::ErfOp> {
  ErfToRational(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(math::ErfOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    auto shaped = dyn_cast<ShapedType>(type);
    if (!getElementTypeOrSelf(type).isF32() ||
        (shaped && !shaped.hasStaticShape()))
      return rewriter.notifyMatchFailure(op, "not f32 of static shape");
    Arithmetic make{rewriter, op.getLoc(), type};
    Value x = make.clamp(argumentOf(op, make), kBound);
    Value square = arith::MulFOp::create(rewriter, op.getLoc(), x, x);
    Value top = arith::MulFOp::create(rewriter, op.getLoc(), x,
                                      make.polynomial(kP, square));
    Value ratio = arith::DivFOp::create(rewriter, op.getLoc(), top,
                                        make.polynomial(kQ, square));
    rewriter.replaceOp(op, make.clamp(ratio, 1.0));
    return success();
  }
};
} // namespace

void fuse::populateErfPatterns(RewritePatternSet &patterns) {
  patterns.add<ErfToRational>(patterns.getContext());
}
