//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NVVM arithmetic as LLVM's own instructions and intrinsics.
//
// An approximation (`ex2.approx`) becomes the host's function, which is at
// least as exact. `.ftz` flushes operands and results. Roundings other than to
// nearest are known for conversions only.
//
//===----------------------------------------------------------------------===//

#include "Translate.h"
#include "llvm/ADT/StringSwitch.h"

using namespace fuse::emulator;
using namespace llvm;

namespace {
/// A name in parts: `fma.rn.ftz.f` is operation `fma` with modes rn, ftz.
struct MathName {
  explicit MathName(StringRef name) {
    SmallVector<StringRef> parts;
    name.split(parts, '.');
    operation = parts[0];
    for (StringRef part : drop_begin(parts))
      modes.push_back(part);
  }
  bool has(StringRef mode) const { return is_contained(modes, mode); }
  bool hasOnly(ArrayRef<StringRef> known) const {
    return all_of(modes,
                  [&](StringRef mode) { return is_contained(known, mode); });
  }
  StringRef operation;
  SmallVector<StringRef> modes;
};
} // namespace

/// Numbers below the least normal one become zero of the same sign.
static Value *flush(IRBuilder<> &builder, Value *value) {
  Type *type = value->getType();
  if (!type->isFPOrFPVectorTy())
    return value;
  const fltSemantics &semantics = type->getScalarType()->getFltSemantics();
  Constant *least =
      ConstantFP::get(type, APFloat::getSmallestNormalized(semantics));
  Value *magnitude = builder.CreateUnaryIntrinsic(Intrinsic::fabs, value);
  Value *zero = builder.CreateBinaryIntrinsic(Intrinsic::copysign,
                                              ConstantFP::get(type, 0), value);
  return builder.CreateSelect(builder.CreateFCmpOLT(magnitude, least), zero,
                              value);
}

static Intrinsic::ID unaryFunction(StringRef operation) {
  return StringSwitch<Intrinsic::ID>(operation)
      .Case("ex2", Intrinsic::exp2)
      .Case("lg2", Intrinsic::log2)
      .Case("sin", Intrinsic::sin)
      .Case("cos", Intrinsic::cos)
      .Case("tanh", Intrinsic::tanh)
      .Cases({"sqrt", "rsqrt"}, Intrinsic::sqrt)
      .Case("fabs", Intrinsic::fabs)
      .Case("floor", Intrinsic::floor)
      .Case("ceil", Intrinsic::ceil)
      .Case("trunc", Intrinsic::trunc)
      .Case("round", Intrinsic::roundeven)
      .Default(Intrinsic::not_intrinsic);
}

static Value *unary(IRBuilder<> &builder, StringRef operation, Value *value) {
  Constant *one = ConstantFP::get(value->getType(), 1);
  if (operation == "rcp")
    return builder.CreateFDiv(one, value);
  if (operation == "saturate")
    return value;
  if (operation == "neg")
    return builder.CreateFNeg(value);
  Intrinsic::ID function = unaryFunction(operation);
  if (function == Intrinsic::not_intrinsic)
    return nullptr;
  Value *result = builder.CreateUnaryIntrinsic(function, value);
  return operation == "rsqrt" ? builder.CreateFDiv(one, result) : result;
}

static Value *binary(IRBuilder<> &builder, const MathName &name, Value *a,
                     Value *b) {
  Intrinsic::ID function = Intrinsic::not_intrinsic;
  bool isNan = name.has("nan");
  if (name.operation == "fmin")
    function = isNan ? Intrinsic::minimum : Intrinsic::minnum;
  if (name.operation == "fmax")
    function = isNan ? Intrinsic::maximum : Intrinsic::maxnum;
  if (function != Intrinsic::not_intrinsic)
    return builder.CreateBinaryIntrinsic(function, a, b);
  if (name.operation == "add")
    return builder.CreateFAdd(a, b);
  if (name.operation == "mul")
    return builder.CreateFMul(a, b);
  if (name.operation == "div")
    return builder.CreateFDiv(a, b);
  return nullptr;
}

/// To [0, 1]; not a number becomes 0.
static Value *saturate(IRBuilder<> &builder, Value *value) {
  Type *type = value->getType();
  Value *low = builder.CreateBinaryIntrinsic(Intrinsic::maxnum, value,
                                             ConstantFP::get(type, 0));
  return builder.CreateBinaryIntrinsic(Intrinsic::minnum, low,
                                       ConstantFP::get(type, 1));
}

Value *IntrinsicCall::math() {
  MathName parts(name);
  if (!parts.hasOnly({"approx", "full", "rn", "ftz", "sat", "relu", "nan", "f",
                      "d", "f16", "f16x2", "bf16", "bf16x2", "f32", "f64",
                      "v2f16", "v2bf16"}) ||
      !call.getType()->isFPOrFPVectorTy())
    return nullptr;
  SmallVector<Value *> operands(call.args());
  for (Value *operand : operands)
    if (operand->getType() != call.getType())
      return nullptr;
  bool isFlushed = parts.has("ftz");
  if (isFlushed)
    for (Value *&operand : operands)
      operand = flush(builder, operand);
  Value *result = nullptr;
  if (operands.size() == 1)
    result = unary(builder, parts.operation, operands[0]);
  else if (operands.size() == 2)
    result = binary(builder, parts, operands[0], operands[1]);
  else if (operands.size() == 3 && parts.operation == "fma")
    result =
        builder.CreateIntrinsic(Intrinsic::fma, {call.getType()}, operands);
  if (!result)
    return nullptr;
  if (parts.has("sat") || parts.operation == "saturate")
    result = saturate(builder, result);
  if (parts.has("relu"))
    result = builder.CreateBinaryIntrinsic(
        Intrinsic::maxnum, result, ConstantFP::get(result->getType(), 0));
  return isFlushed ? flush(builder, result) : result;
}

/// Rounds to a whole number as `rn`, `rz`, `rm` or `rp` say.
static Value *roundTo(IRBuilder<> &builder, StringRef mode, Value *value) {
  Intrinsic::ID function = StringSwitch<Intrinsic::ID>(mode)
                               .Case("rn", Intrinsic::roundeven)
                               .Case("rz", Intrinsic::trunc)
                               .Case("rm", Intrinsic::floor)
                               .Case("rp", Intrinsic::ceil)
                               .Default(Intrinsic::not_intrinsic);
  return function == Intrinsic::not_intrinsic
             ? nullptr
             : builder.CreateUnaryIntrinsic(function, value);
}

/// f32 to tf32 in f32's bits: `rna` rounds ties away from zero, `rn` to even.
static Value *toTf32(IRBuilder<> &builder, StringRef mode, Value *value) {
  Value *bits = builder.CreateBitCast(value, builder.getInt32Ty());
  Value *add = builder.getInt32(0x1000);
  if (mode == "rn")
    add = builder.CreateAdd(
        builder.getInt32(0xfff),
        builder.CreateAnd(builder.CreateLShr(bits, 13), builder.getInt32(1)));
  else if (mode != "rna")
    return nullptr;
  Value *rounded = builder.CreateAnd(builder.CreateAdd(bits, add),
                                     builder.getInt32(0xffffe000));
  return builder.CreateSelect(builder.CreateFCmpUNO(value, value), bits,
                              rounded);
}

/// Whether a conversion's name is of the first list or of the second; neither:
/// no value.
static std::optional<bool> isFirst(StringRef name, ArrayRef<StringRef> first,
                                   ArrayRef<StringRef> second) {
  if (is_contained(first, name))
    return true;
  if (is_contained(second, name))
    return false;
  return std::nullopt;
}

Value *IntrinsicCall::conversion() {
  auto [operation, mode] = name.split('.');
  Type *type = call.getType();
  if (operation == "f2tf32")
    return toTf32(builder, mode, arg(0));
  if (std::optional<bool> isSigned =
          isFirst(operation, {"f2i", "f2ll", "d2i", "d2ll"},
                  {"f2ui", "f2ull", "d2ui", "d2ull"})) {
    bool isFlushed = mode.consume_back(".ftz");
    Value *operand = isFlushed ? flush(builder, arg(0)) : arg(0);
    Value *whole = roundTo(builder, mode, operand);
    return whole ? builder.CreateIntrinsic(*isSigned ? Intrinsic::fptosi_sat
                                                     : Intrinsic::fptoui_sat,
                                           {type, whole->getType()}, {whole})
                 : nullptr;
  }
  if (mode != "rn")
    return nullptr;
  if (std::optional<bool> isSigned =
          isFirst(operation, {"i2f", "ll2f", "i2d", "ll2d"},
                  {"ui2f", "ull2f", "ui2d", "ull2d"}))
    return *isSigned ? builder.CreateSIToFP(arg(0), type)
                     : builder.CreateUIToFP(arg(0), type);
  return narrowing(operation);
}

/// To fewer bits, to nearest.
Value *IntrinsicCall::narrowing(StringRef operation) {
  Type *type = call.getType();
  if (operation == "f2bf16" || operation == "f2f16" || operation == "d2f")
    return builder.CreateFPTrunc(arg(0), type);
  if (operation == "f2h")
    return builder.CreateBitCast(
        builder.CreateFPTrunc(arg(0), builder.getHalfTy()), type);
  if (operation != "ff2f16x2" && operation != "ff2bf16x2")
    return nullptr;
  Type *half = type->getScalarType(); // the second operand is the low half
  Value *low = builder.CreateInsertElement(
      PoisonValue::get(type), builder.CreateFPTrunc(arg(1), half), uint64_t(0));
  return builder.CreateInsertElement(low, builder.CreateFPTrunc(arg(0), half),
                                     uint64_t(1));
}

Value *IntrinsicCall::integerMath() {
  if (name.starts_with("bitcast.") || name.starts_with("move."))
    return builder.CreateBitCast(arg(0), call.getType());
  if (name == "prmt")
    return callRuntime("fuse_permute", builder.getInt32Ty(),
                       {arg(0), arg(1), arg(2)});
  bool isSigned = name == "mulhi.i" || name == "mulhi.ll" || name == "mulhi.s";
  bool isUnsigned =
      name == "mulhi.ui" || name == "mulhi.ull" || name == "mulhi.us";
  if (!isSigned && !isUnsigned)
    return nullptr;
  unsigned bits = call.getType()->getIntegerBitWidth();
  Type *wide = builder.getIntNTy(2 * bits);
  auto extend = [&](Value *value) {
    return isSigned ? builder.CreateSExt(value, wide)
                    : builder.CreateZExt(value, wide);
  };
  Value *product = builder.CreateMul(extend(arg(0)), extend(arg(1)));
  return builder.CreateTrunc(builder.CreateLShr(product, bits), call.getType());
}
