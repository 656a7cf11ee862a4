//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which function becomes which arithmetic in GPU kernels.
//
//===----------------------------------------------------------------------===//

#include "GpuMath.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fuse;
using Num = GpuMath::Num;

static bool isFixed(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return !vector || !vector.isScalable();
}

static bool isExpandable(Type type) {
  Type element = getElementTypeOrSelf(type);
  return (element.isF32() || element.isF64()) && isFixed(type);
}

namespace {
/// f16 and bf16 by f32.
template <typename Op> struct Extend : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Type type = op->getResult(0).getType(), f32 = rewriter.getF32Type();
    if (!isa<Float16Type, BFloat16Type>(getElementTypeOrSelf(type)))
      return rewriter.notifyMatchFailure(op, "no narrow float");
    Location loc = op.getLoc();
    auto toF32 = [&](Type from) -> Type {
      auto vector = dyn_cast<VectorType>(from);
      return vector ? Type(vector.clone(f32)) : f32;
    };
    IRMapping mapping;
    for (Value operand : op->getOperands())
      if (isa<FloatType>(getElementTypeOrSelf(operand.getType())))
        mapping.map(operand,
                    arith::ExtFOp::create(rewriter, loc,
                                          toF32(operand.getType()), operand)
                        .getResult());
    Operation *wide = rewriter.clone(*op, mapping);
    SmallVector<Value> results;
    for (Value result : wide->getResults()) {
      Type narrow = result.getType();
      result.setType(toF32(narrow));
      results.push_back(arith::TruncFOp::create(rewriter, loc, narrow, result));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

template <typename Op, Num (GpuMath::*function)(Num)>
struct Unary : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!isExpandable(op.getType()))
      return rewriter.notifyMatchFailure(op, "neither f32 nor f64");
    GpuMath math(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(op, (math.*function)(math.of(op.getOperand())).value);
    return success();
  }
};

template <typename Op, Num (GpuMath::*function)(Num, Num)>
struct Binary : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!isExpandable(op.getType()))
      return rewriter.notifyMatchFailure(op, "neither f32 nor f64");
    GpuMath math(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(
        op, (math.*function)(math.of(op.getLhs()), math.of(op.getRhs())).value);
    return success();
  }
};

struct SinCos : OpRewritePattern<math::SincosOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::SincosOp op,
                                PatternRewriter &rewriter) const override {
    Value x = op.getOperand();
    rewriter.replaceOp(op, {math::SinOp::create(rewriter, op.getLoc(), x),
                            math::CosOp::create(rewriter, op.getLoc(), x)});
    return success();
  }
};

/// Powers that are a few operations. pow of -0 and -infinity is no root.
struct ConstantPower : OpRewritePattern<math::PowFOp> {
  ConstantPower(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(math::PowFOp op,
                                PatternRewriter &rewriter) const override {
    APFloat exact(0.0);
    if (!isExpandable(op.getType()) ||
        !matchPattern(op.getRhs(), m_ConstantFloat(&exact)))
      return rewriter.notifyMatchFailure(op, "no constant exponent");
    GpuMath math(rewriter, op.getLoc(), op.getType());
    Num x = math.of(op.getLhs());
    double y = exact.convertToDouble();
    std::optional<Num> result;
    if (y == 2)
      result = x * x;
    else if (y == 3)
      result = x * x * x;
    else if (y == -1)
      result = 1.0 / x;
    else if (y == 0.5 || y == -0.5) {
      double infinity = std::numeric_limits<double>::infinity();
      Num root = math.sqrt(x + 0.0);
      result = math.select(x == -infinity, math.number(infinity), root);
      if (y < 0)
        result = 1.0 / *result;
    }
    if (!result)
      return rewriter.notifyMatchFailure(op, "no small power");
    rewriter.replaceOp(op, result->value);
    return success();
  }
};

/// `index` counts as i64.
template <typename Op> struct OfIndex : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType(), i64 = rewriter.getI64Type();
    if (!getElementTypeOrSelf(type).isIndex())
      return rewriter.notifyMatchFailure(op, "no index");
    if (auto vector = dyn_cast<VectorType>(type))
      i64 = vector.clone(i64);
    Location loc = op.getLoc();
    Value wide =
        arith::IndexCastOp::create(rewriter, loc, i64, op.getOperand());
    rewriter.replaceOpWithNewOp<arith::IndexCastOp>(
        op, type, Op::create(rewriter, loc, wide));
    return success();
  }
};

/// Classes of floats by a comparison of the magnitude with infinity.
template <typename Op, arith::CmpFPredicate predicate>
struct Classify : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getOperand().getType();
    auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
    if (!element || !isFixed(type))
      return rewriter.notifyMatchFailure(op, "no fixed number of floats");
    Location loc = op.getLoc();
    const llvm::fltSemantics &semantics = element.getFloatSemantics();
    Value size = math::AbsFOp::create(rewriter, loc, op.getOperand());
    auto compare = [&](arith::CmpFPredicate how, const APFloat &to) -> Value {
      TypedAttr attr = FloatAttr::get(element, to);
      if (auto vector = dyn_cast<VectorType>(type))
        attr = DenseElementsAttr::get(vector, Attribute(attr));
      Value value = arith::ConstantOp::create(rewriter, loc, attr);
      return arith::CmpFOp::create(rewriter, loc, how, size, value);
    };
    Value result = compare(predicate, APFloat::getInf(semantics));
    if (std::is_same_v<Op, math::IsNormalOp>)
      result = arith::AndIOp::create(
          rewriter, loc, result,
          compare(arith::CmpFPredicate::OGE,
                  APFloat::getSmallestNormalized(semantics)));
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// |x| as the larger of x and -x.
struct AbsI : OpRewritePattern<math::AbsIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::AbsIOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value x = op.getOperand();
    Value zero = arith::ConstantOp::create(rewriter, loc,
                                           rewriter.getZeroAttr(op.getType()));
    Value negative = arith::SubIOp::create(rewriter, loc, zero, x);
    rewriter.replaceOpWithNewOp<arith::MaxSIOp>(op, x, negative);
    return success();
  }
};

/// In f64, which holds exponents that f32 does not.
struct FPowI : OpRewritePattern<math::FPowIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::FPowIOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!isExpandable(type))
      return rewriter.notifyMatchFailure(op, "neither f32 nor f64");
    Location loc = op.getLoc();
    Type f64 = rewriter.getF64Type();
    if (auto vector = dyn_cast<VectorType>(type))
      f64 = vector.clone(f64);
    Value x = op.getLhs();
    if (type != f64)
      x = arith::ExtFOp::create(rewriter, loc, f64, x);
    GpuMath math(rewriter, loc, f64);
    Value result = math.powi(math.of(x), op.getRhs()).value;
    if (type != f64)
      result = arith::TruncFOp::create(rewriter, loc, type, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};
} // namespace

template <typename Op, Num (GpuMath::*function)(Num)>
static void addUnary(RewritePatternSet &patterns) {
  patterns.add<Extend<Op>, Unary<Op, function>>(patterns.getContext());
}

template <typename Op, Num (GpuMath::*function)(Num, Num)>
static void addBinary(RewritePatternSet &patterns) {
  patterns.add<Extend<Op>, Binary<Op, function>>(patterns.getContext());
}

void fuse::populateGpuFunctionPatterns(RewritePatternSet &patterns) {
  addUnary<math::ExpOp, &GpuMath::exp>(patterns);
  addUnary<math::Exp2Op, &GpuMath::exp2>(patterns);
  addUnary<math::ExpM1Op, &GpuMath::expm1>(patterns);
  addUnary<math::LogOp, &GpuMath::log>(patterns);
  addUnary<math::Log2Op, &GpuMath::log2>(patterns);
  addUnary<math::Log10Op, &GpuMath::log10>(patterns);
  addUnary<math::Log1pOp, &GpuMath::log1p>(patterns);
  addUnary<math::CbrtOp, &GpuMath::cbrt>(patterns);
  addUnary<math::RsqrtOp, &GpuMath::rsqrt>(patterns);
  addUnary<math::TanhOp, &GpuMath::tanh>(patterns);
  addUnary<math::SinhOp, &GpuMath::sinh>(patterns);
  addUnary<math::CoshOp, &GpuMath::cosh>(patterns);
  addUnary<math::AsinhOp, &GpuMath::asinh>(patterns);
  addUnary<math::AcoshOp, &GpuMath::acosh>(patterns);
  addUnary<math::AtanhOp, &GpuMath::atanh>(patterns);
  addUnary<math::SinOp, &GpuMath::sin>(patterns);
  addUnary<math::CosOp, &GpuMath::cos>(patterns);
  addUnary<math::TanOp, &GpuMath::tan>(patterns);
  addUnary<math::AtanOp, &GpuMath::atan>(patterns);
  addUnary<math::AsinOp, &GpuMath::asin>(patterns);
  addUnary<math::AcosOp, &GpuMath::acos>(patterns);
  addUnary<math::ErfOp, &GpuMath::erf>(patterns);
  addUnary<math::ErfcOp, &GpuMath::erfc>(patterns);
  addBinary<math::PowFOp, &GpuMath::pow>(patterns);
  addBinary<math::Atan2Op, &GpuMath::atan2>(patterns);
  using Predicate = arith::CmpFPredicate;
  patterns.add<Extend<math::FPowIOp>, FPowI, SinCos, ConstantPower, AbsI,
               Classify<math::IsNaNOp, Predicate::UNO>,
               Classify<math::IsInfOp, Predicate::OEQ>,
               Classify<math::IsFiniteOp, Predicate::OLT>,
               Classify<math::IsNormalOp, Predicate::OLT>,
               OfIndex<math::CountLeadingZerosOp>,
               OfIndex<math::CountTrailingZerosOp>, OfIndex<math::CtPopOp>>(
      patterns.getContext());
}
