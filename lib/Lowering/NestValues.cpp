//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values of a nest: addresses, vectors, the body on vectors.
//
//===----------------------------------------------------------------------===//

#include "NestEmitter.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace fuse;

//===----------------------------------------------------------------------===//
// Addresses, loads and stores
//===----------------------------------------------------------------------===//

/// The operand's elements, from its first to its last, as one dimension.
Value NestEmitter::flatten(const NestOperand &operand) {
  Value buffer = operand.operand->get();
  if (!operand.isBuffer)
    return buffer;
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  int64_t span = 1;
  for (auto [extent, stride] : llvm::zip_equal(type.getShape(), strides))
    span += (extent - 1) * stride;
  OpFoldResult start = builder.getIndexAttr(offset);
  if (ShapedType::isDynamic(offset))
    start = memref::ExtractStridedMetadataOp::create(builder, loc, buffer)
                .getOffset();
  auto layout = StridedLayoutAttr::get(builder.getContext(), offset, {1});
  auto flatType = MemRefType::get({span}, type.getElementType(), layout,
                                  type.getMemorySpace());
  return memref::ReinterpretCastOp::create(
      builder, loc, flatType, buffer, start,
      ArrayRef<OpFoldResult>{builder.getIndexAttr(span)},
      ArrayRef<OpFoldResult>{builder.getIndexAttr(1)});
}

Value NestEmitter::address(const NestOperand &operand, int64_t constant) {
  Value sum;
  for (auto [iv, stride] : llvm::zip_equal(ivs, operand.strides)) {
    if (!iv || stride == 0)
      continue;
    Value term = stride == 1
                     ? iv
                     : arith::MulIOp::create(builder, loc, iv, index(stride))
                           .getResult();
    sum =
        sum ? arith::AddIOp::create(builder, loc, sum, term).getResult() : term;
  }
  if (!sum)
    return index(constant);
  return constant ? arith::AddIOp::create(builder, loc, sum, index(constant))
                        .getResult()
                  : sum;
}

Value NestEmitter::maskOf(unsigned count) {
  return vector::ConstantMaskOp::create(
      builder, loc, VectorType::get(tile.lanes, builder.getI1Type()),
      ArrayRef<int64_t>{count});
}

/// `count` elements side by side, from `start` on. Lanes that do not count hold
/// 1: nothing divides by 0.
Value NestEmitter::loadRun(unsigned number, int64_t start, int64_t count) {
  const NestOperand &operand = nest.operands[number];
  Type element = getElementTypeOrSelf(operand.operand->get().getType());
  VectorType type = vectorOf(element);
  Value at = address(operand, start);
  if (count == tile.lanes)
    return vector::LoadOp::create(builder, loc, type, flat[number], at);
  Value filler = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(type,
                             ArrayRef<Attribute>{builder.getOneAttr(element)}));
  if (count <= 0)
    return filler;
  return vector::MaskedLoadOp::create(builder, loc, type, flat[number], at,
                                      maskOf(count), filler);
}

/// `count` elements, each the second behind the one before: those of two runs,
/// of which the other ends at the last that is needed.
Value NestEmitter::loadEverySecond(unsigned number, int64_t start,
                                   int64_t count) {
  int64_t lanes = tile.lanes, behind = lanes - 1;
  Value first = loadRun(number, start, std::min(lanes, 2 * count - 1));
  Value second = loadRun(number, start + behind, 2 * count - 1 - behind);
  SmallVector<int64_t> order;
  for (int64_t at = 0; at < 2 * lanes; at += 2)
    order.push_back(at < lanes ? at : lanes + at - behind);
  return vector::ShuffleOp::create(builder, loc, first, second, order);
}

/// The lanes of operand `number` at `slot`, `row` rows into the tile.
Value NestEmitter::load(unsigned number, int64_t row, const Slot &slot) {
  const NestOperand &operand = nest.operands[number];
  Type element = getElementTypeOrSelf(operand.operand->get().getType());
  VectorType type = vectorOf(element);
  if (!operand.isBuffer)
    return vector::BroadcastOp::create(builder, loc, type, flat[number]);
  int64_t stride = operand.strides[tile.vectorLoop];
  int64_t start = stride * slot.offset;
  if (tile.rowLoop)
    start += operand.strides[*tile.rowLoop] * row;
  auto scalar = [&](int64_t at) -> Value {
    return memref::LoadOp::create(builder, loc, flat[number],
                                  address(operand, at));
  };
  if (stride == 0)
    return vector::BroadcastOp::create(builder, loc, type, scalar(start));
  if (stride == 1)
    return loadRun(number, start, slot.count);
  if (stride == 2 && tile.lanes > 1)
    return loadEverySecond(number, start, slot.count);
  SmallVector<Value> lanes;
  for (unsigned lane = 0; lane < tile.lanes; ++lane)
    lanes.push_back(lane < slot.count
                        ? scalar(start + stride * lane)
                        : arith::ConstantOp::create(
                              builder, loc, builder.getOneAttr(element)));
  return vector::FromElementsOp::create(builder, loc, type, lanes);
}

void NestEmitter::store(unsigned number, int64_t row, const Slot &slot,
                        Value value) {
  const NestOperand &operand = nest.operands[number];
  int64_t start = slot.offset;
  if (tile.rowLoop)
    start += operand.strides[*tile.rowLoop] * row;
  Value at = address(operand, start);
  if (slot.count == tile.lanes)
    vector::StoreOp::create(builder, loc, value, flat[number], at);
  else
    vector::MaskedStoreOp::create(builder, loc, flat[number], at,
                                  maskOf(slot.count), value);
}

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

/// The vector form of `scalar` at one point; constants and what comes from
/// outside of the body become vectors of equal lanes.
Value NestEmitter::asVector(Value scalar, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(scalar))
    return known;
  Value outer = scalar;
  if (Operation *def = scalar.getDefiningOp();
      def && def->getBlock() == nest.op.getBlock())
    outer = builder.clone(*def)->getResult(0);
  Value vector = vector::BroadcastOp::create(builder, loc,
                                             vectorOf(scalar.getType()), outer);
  mapping.map(scalar, vector);
  return vector;
}

/// The body on vectors, at several points: new values of the outputs, point by
/// point. The points go through it side by side, so that one fills the time
/// that another waits.
SmallVector<Value> NestEmitter::evaluate(MutableArrayRef<IRMapping> points) {
  Block *body = nest.op.getBlock();
  for (Operation &op : body->without_terminator()) {
    if (op.hasTrait<OpTrait::ConstantLike>())
      continue;
    for (IRMapping &mapping : points) {
      for (Value operand : op.getOperands())
        asVector(operand, mapping);
      Operation *copy = builder.clone(op, mapping);
      for (OpResult result : copy->getResults())
        result.setType(vectorOf(result.getType()));
    }
  }
  SmallVector<Value> results;
  for (IRMapping &mapping : points)
    for (Value value : body->getTerminator()->getOperands())
      results.push_back(asVector(value, mapping));
  return results;
}

/// One point of the reduction loops for all vectors of the tile: by row, slot
/// and output. Loads that rows or slots share are made once.
SmallVector<Value> NestEmitter::step(ArrayRef<Value> accumulators,
                                     unsigned rows, ArrayRef<Slot> slots) {
  unsigned inputs = nest.inputs().size(), outputs = nest.outputs().size();
  Block *body = nest.op.getBlock();
  llvm::DenseMap<std::pair<unsigned, std::pair<unsigned, unsigned>>, Value>
      loaded;
  SmallVector<IRMapping> points(rows * slots.size());
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned s = 0; s < slots.size(); ++s) {
      unsigned point = row * unsigned(slots.size()) + s;
      for (unsigned i = 0; i < inputs; ++i) {
        if (body->getArgument(i).use_empty())
          continue;
        const NestOperand &input = nest.operands[i];
        bool sameRow = !tile.rowLoop || input.strides[*tile.rowLoop] == 0;
        bool sameSlot = input.strides[tile.vectorLoop] == 0;
        Value &value = loaded[{i, {sameRow ? 0 : row, sameSlot ? 0 : s}}];
        if (!value)
          value = load(i, row, slots[s]);
        points[point].map(body->getArgument(i), value);
      }
      for (unsigned i = 0; i < outputs; ++i)
        if (Value old = accumulators[point * outputs + i])
          points[point].map(body->getArgument(inputs + i), old);
    }
  return evaluate(points);
}
