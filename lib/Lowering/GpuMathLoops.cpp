//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integer powers and remainders of GPU kernels, which are loops.
//
//===----------------------------------------------------------------------===//

#include "GpuMath.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace fuse;

namespace {
/// Operations on integers of one shape.
struct Integers {
  OpBuilder &builder;
  Location loc;
  Type type;

  template <typename Op> Value make(Value a, Value b) {
    return Op::create(builder, loc, a, b);
  }
  Value constant(int64_t value) {
    TypedAttr attr = builder.getIntegerAttr(getElementTypeOrSelf(type), value);
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(builder, loc, attr);
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(builder, loc, condition, yes, no);
  }
  Value isOdd(Value value) {
    return compare(arith::CmpIPredicate::ne,
                   make<arith::AndIOp>(value, constant(1)), constant(0));
  }
};

/// Squares and multiplies, a step for each bit of the exponent. A negative
/// exponent gives the whole part of the inverse, and 0 for 0.
struct IPowIToLoop : OpRewritePattern<math::IPowIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::IPowIOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Integers make{rewriter, loc, op.getType()};
    Type element = getElementTypeOrSelf(op.getType());
    int64_t width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
    auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(rewriter, loc, value);
    };
    Value base = op.getLhs(), exponent = op.getRhs();
    Value zero = make.constant(0), one = make.constant(1);
    auto loop = scf::ForOp::create(rewriter, loc, index(0), index(width),
                                   index(1), ValueRange{one, base, exponent});
    {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPointToStart(loop.getBody());
      Value result = loop.getRegionIterArg(0), power = loop.getRegionIterArg(1),
            bits = loop.getRegionIterArg(2);
      Value next = make.select(make.isOdd(bits),
                               make.make<arith::MulIOp>(result, power), result);
      scf::YieldOp::create(rewriter, loc,
                           ValueRange{next,
                                      make.make<arith::MulIOp>(power, power),
                                      make.make<arith::ShRUIOp>(bits, one)});
    }
    Value minusOne = make.constant(-1);
    Value sign = make.select(make.isOdd(exponent), minusOne, one);
    using Predicate = arith::CmpIPredicate;
    Value inverse = make.select(
        make.compare(Predicate::eq, base, one), one,
        make.select(make.compare(Predicate::eq, base, minusOne), sign, zero));
    rewriter.replaceOp(op,
                       make.select(make.compare(Predicate::slt, exponent, zero),
                                   inverse, loop.getResult(0)));
    return success();
  }
};

/// The remainder of two scalars, exact: division of the mantissas with as many
/// new bits at a time as 64 bits hold.
class Remainder {
public:
  Remainder(OpBuilder &builder, Location loc, Type type)
      : builder(builder), loc(loc), wide(type.isF64()),
        math(builder, loc, type), make{builder, loc, builder.getI64Type()} {}

  Value of(Value x, Value y);

private:
  struct Parts {
    Value mantissa, exponent;
  };
  Parts partsOf(Value size);
  Value loop(Parts a, Parts b);

  OpBuilder &builder;
  Location loc;
  bool wide;
  GpuMath math;
  Integers make;
};
} // namespace

/// `size` is mantissa * 2^(exponent - bias - bits of the mantissa).
Remainder::Parts Remainder::partsOf(Value size) {
  Value bits = math.bits(math.of(size)).value;
  if (!wide)
    bits = arith::ExtUIOp::create(builder, loc, make.type, bits);
  int64_t count = wide ? 52 : 23;
  Value exponent = make.make<arith::ShRUIOp>(bits, make.constant(count));
  Value fraction =
      make.make<arith::AndIOp>(bits, make.constant((1ll << count) - 1));
  Value normal =
      make.compare(arith::CmpIPredicate::ne, exponent, make.constant(0));
  Value whole = make.make<arith::OrIOp>(fraction, make.constant(1ll << count));
  return {make.select(normal, whole, fraction),
          make.select(normal, exponent, make.constant(1))};
}

Value Remainder::loop(Parts a, Parts b) {
  Value start = make.make<arith::RemUIOp>(a.mantissa, b.mantissa);
  Value bits = make.make<arith::SubIOp>(a.exponent, b.exponent);
  int64_t most = wide ? 11 : 40;
  auto condition = [&](OpBuilder &, Location, ValueRange state) {
    Value more =
        make.compare(arith::CmpIPredicate::sgt, state[0], make.constant(0));
    scf::ConditionOp::create(builder, loc, more, state);
  };
  auto body = [&](OpBuilder &, Location, ValueRange state) {
    Value step = make.make<arith::MinSIOp>(state[0], make.constant(most));
    Value shifted = make.make<arith::ShLIOp>(state[1], step);
    scf::YieldOp::create(
        builder, loc,
        ValueRange{make.make<arith::SubIOp>(state[0], step),
                   make.make<arith::RemUIOp>(shifted, b.mantissa)});
  };
  return scf::WhileOp::create(builder, loc, TypeRange{make.type, make.type},
                              ValueRange{bits, start}, condition, body)
      .getResult(1);
}

Value Remainder::of(Value x, Value y) {
  using Num = GpuMath::Num;
  Num a = math.abs(math.of(x)), b = math.abs(math.of(y));
  double infinity = std::numeric_limits<double>::infinity();
  Value usual = math.both(b > 0, a < infinity);
  Value smaller = a < b; // also where b is infinite
  Parts over = partsOf(a.value), under = partsOf(b.value);
  // Arguments without a quotient are not divided.
  Value divisor =
      make.compare(arith::CmpIPredicate::ne, under.mantissa, make.constant(0));
  under.mantissa = make.select(divisor, under.mantissa, make.constant(1));
  over.exponent = make.select(math.both(usual, b < infinity), over.exponent,
                              make.constant(0));
  Num rest = math.toFloat(math.of(loop(over, under)));
  Num exponent = math.toFloat(math.of(under.exponent)) - (wide ? 1075 : 150);
  Num exact = math.copySign(math.scale({rest, exponent}), math.of(x));
  Num nan = math.number(std::numeric_limits<double>::quiet_NaN());
  Num defined = math.select(smaller, math.of(x), exact);
  return math.select(usual, defined, nan).value;
}

namespace {
/// Narrower types are extended, which the remainder of two is exact in.
struct RemFToLoop : OpRewritePattern<arith::RemFOp> {
  using OpRewritePattern::OpRewritePattern;

  Value ofScalars(OpBuilder &builder, Location loc, Value x, Value y) const {
    Type type = x.getType();
    bool narrow = type.getIntOrFloatBitWidth() < 32;
    Type f32 = builder.getF32Type();
    if (narrow) {
      x = arith::ExtFOp::create(builder, loc, f32, x);
      y = arith::ExtFOp::create(builder, loc, f32, y);
    }
    Value result = Remainder(builder, loc, x.getType()).of(x, y);
    return narrow ? arith::TruncFOp::create(builder, loc, type, result)
                  : result;
  }

  LogicalResult matchAndRewrite(arith::RemFOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type element = getElementTypeOrSelf(op.getType());
    auto vector = dyn_cast<VectorType>(op.getType());
    if (!isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element) ||
        (vector && vector.isScalable()))
      return rewriter.notifyMatchFailure(op, "no floats of a fixed number");
    if (!vector) {
      rewriter.replaceOp(op,
                         ofScalars(rewriter, loc, op.getLhs(), op.getRhs()));
      return success();
    }
    auto over = vector::ToElementsOp::create(rewriter, loc, op.getLhs());
    auto under = vector::ToElementsOp::create(rewriter, loc, op.getRhs());
    SmallVector<Value> results;
    for (auto [x, y] : llvm::zip_equal(over.getResults(), under.getResults()))
      results.push_back(ofScalars(rewriter, loc, x, y));
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, vector, results);
    return success();
  }
};
} // namespace

void fuse::populateGpuLoopPatterns(RewritePatternSet &patterns) {
  patterns.add<IPowIToLoop, RemFToLoop>(patterns.getContext());
}
