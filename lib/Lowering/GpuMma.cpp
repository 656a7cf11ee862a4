//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensor core instructions as NVVM operations.
//
//===----------------------------------------------------------------------===//

#include "GpuMma.h"
#include "LoopNest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace fuse;

int64_t fuse::mmaChunk(linalg::LinalgOp op) {
  constexpr int64_t bytes = 16;
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  return bytes * 8 / std::max(16u, element.getIntOrFloatBitWidth());
}

Value fuse::toTf32(OpBuilder &builder, Location loc, Value value) {
  return NVVM::ConvertFloatToTF32Op::create(builder, loc, builder.getI32Type(),
                                            value, NVVM::FPRoundingMode::RNA);
}

SmallVector<Value, 4> fuse::loadMatrices(OpBuilder &builder, Location loc,
                                         Value from, Type element,
                                         bool transposed) {
  constexpr unsigned count = 4;
  MLIRContext *context = builder.getContext();
  SmallVector<Type> words(count, builder.getI32Type());
  auto type = LLVM::LLVMStructType::getLiteral(context, words);
  Value loaded = NVVM::LdMatrixOp::create(
      builder, loc, type, from, count,
      transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(context, kMmaChunk, kMmaChunk),
      NVVM::LdStMatrixEltType::B16);
  SmallVector<Value, 4> result;
  for (unsigned i = 0; i < count; ++i) {
    Value word = LLVM::ExtractValueOp::create(builder, loc, loaded, i);
    if (element.isF16())
      word = LLVM::BitcastOp::create(builder, loc,
                                     VectorType::get({2}, element), word);
    if (element.isF32())
      word = toTf32(builder, loc,
                    LLVM::BitcastOp::create(builder, loc, element, word));
    result.push_back(word);
  }
  return result;
}

SmallVector<Value, 4> fuse::multiplyMatrices(OpBuilder &builder, Location loc,
                                             Type element, ArrayRef<Value> rows,
                                             ArrayRef<Value> columns,
                                             ArrayRef<Value> sums) {
  SmallVector<Type> floats(sums.size(), builder.getF32Type());
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), floats);
  auto kind = element.isF32()   ? NVVM::MMATypes::tf32
              : element.isF16() ? NVVM::MMATypes::f16
                                : NVVM::MMATypes::bf16;
  int64_t depth = element.isF32() ? kMmaK / 2 : kMmaK;
  Value product = NVVM::MmaOp::create(
      builder, loc, type, rows, columns, sums,
      ArrayRef<int64_t>{kMmaY, kMmaX, depth}, std::nullopt, std::nullopt,
      std::array<NVVM::MMATypes, 2>{kind, kind},
      std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                     NVVM::MMALayout::col});
  SmallVector<Value, 4> result;
  for (unsigned i = 0; i < sums.size(); ++i)
    result.push_back(LLVM::ExtractValueOp::create(builder, loc, product, i));
  return result;
}

bool fuse::isMma(linalg::LinalgOp op, bool tf32) {
  Operation *add = combinerOf(op, 0);
  if (!isa_and_nonnull<arith::AddFOp>(add) ||
      !add->getResult(0).getType().isF32())
    return false;
  llvm::SmallDenseSet<Value> found;
  for (Value term : add->getOperands()) {
    auto product = term.getDefiningOp<arith::MulFOp>();
    if (!product)
      continue;
    for (Value factor : product->getOperands()) {
      auto extend = factor.getDefiningOp<arith::ExtFOp>();
      if (Value in = extend ? extend.getIn() : factor; isa<BlockArgument>(in))
        found.insert(in);
    }
  }
  Type left = getElementTypeOrSelf(op->getOperand(0).getType()),
       right = getElementTypeOrSelf(op->getOperand(1).getType());
  bool known = isa<Float16Type, BFloat16Type>(left) || (tf32 && left.isF32());
  return known && left == right && found.contains(op.getRegionInputArgs()[0]) &&
         found.contains(op.getRegionInputArgs()[1]);
}
