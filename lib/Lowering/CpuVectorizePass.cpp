//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-cpu-vectorize: structured operations on buffers to loops over vectors.
//
//   c[m, n] += a[m, k] * b[k, n]
//     ==>   for n by 64, m by 6 { acc = c; for k { acc += a * b }; c = acc }
//
// The order of each sum stays, but where the vectors lie along it. What cannot
// be vectorised stays as it is.
//
//===----------------------------------------------------------------------===//

#include "LoopNest.h"
#include "fuse/Lowering/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"

namespace fuse {
#define GEN_PASS_DEF_CPUVECTORIZE
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;
using namespace fuse;

namespace {
/// A vector within a tile: where it starts, and how many of its lanes count.
struct Slot {
  int64_t offset;
  unsigned count;
};

/// Makes the code of one nest.
class NestEmitter {
public:
  NestEmitter(OpBuilder &builder, const LoopNest &nest,
              const RegisterTile &tile)
      : builder(builder), loc(nest.op.getLoc()), nest(nest), tile(tile),
        ivs(nest.extents.size()) {}
  void emit();

private:
  // Loops.
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  void forEach(unsigned loop, int64_t from, int64_t to, int64_t step,
               function_ref<void()> body);
  void emitParallel(unsigned loop);
  void emitVectorBlocks();
  void emitRowBlocks(ArrayRef<Slot> slots);
  void emitTile(unsigned rows, ArrayRef<Slot> slots);
  SmallVector<Value> reduce(unsigned loop, SmallVector<Value> accumulators,
                            unsigned rows, ArrayRef<Slot> slots);
  SmallVector<Value> reduceAlong(SmallVector<Value> accumulators);
  void emitHorizontal();

  // Values.
  Value flatten(const NestOperand &operand);
  Value address(const NestOperand &operand, int64_t constant);
  VectorType vectorOf(Type element) {
    return VectorType::get(tile.lanes, element);
  }
  Value maskOf(unsigned count);
  Value load(unsigned number, int64_t row, const Slot &slot);
  void store(unsigned number, int64_t row, const Slot &slot, Value value);
  Value asVector(Value scalar, IRMapping &mapping);
  SmallVector<Value> evaluate(MutableArrayRef<IRMapping> points);
  SmallVector<Value> step(ArrayRef<Value> accumulators, unsigned rows,
                          ArrayRef<Slot> slots);

  OpBuilder &builder;
  Location loc;
  const LoopNest &nest;
  const RegisterTile &tile;
  SmallVector<Value> ivs;  ///< per loop; null: not yet in it
  SmallVector<Value> flat; ///< per operand: its buffer in one dimension
};
} // namespace

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
  if (stride == 1 && slot.count == tile.lanes)
    return vector::LoadOp::create(builder, loc, type, flat[number],
                                  address(operand, start));
  // Lanes that do not count hold 1: nothing divides by 0.
  TypedAttr one = builder.getOneAttr(element);
  Value filler = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, ArrayRef<Attribute>{one}));
  if (stride == 1)
    return vector::MaskedLoadOp::create(builder, loc, type, flat[number],
                                        address(operand, start),
                                        maskOf(slot.count), filler);
  SmallVector<Value> lanes;
  for (unsigned lane = 0; lane < tile.lanes; ++lane)
    lanes.push_back(lane < slot.count
                        ? scalar(start + stride * lane)
                        : arith::ConstantOp::create(builder, loc, one));
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

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void NestEmitter::forEach(unsigned loop, int64_t from, int64_t to, int64_t step,
                          function_ref<void()> body) {
  if (from >= to)
    return;
  OpBuilder::InsertionGuard guard(builder);
  if (from + step >= to) {
    ivs[loop] = from ? index(from) : Value();
    body();
  } else {
    auto made =
        scf::ForOp::create(builder, loc, index(from), index(to), index(step));
    ivs[loop] = made.getInductionVar();
    builder.setInsertionPointToStart(made.getBody());
    body();
  }
  ivs[loop] = Value();
}

void NestEmitter::emitParallel(unsigned loop) {
  while (loop < nest.extents.size() &&
         (nest.reduces[loop] || loop == tile.vectorLoop ||
          (tile.rowLoop && loop == *tile.rowLoop)))
    ++loop;
  if (loop < nest.extents.size())
    return forEach(loop, 0, nest.extents[loop], 1,
                   [&] { emitParallel(loop + 1); });
  if (tile.horizontal)
    emitHorizontal();
  else
    emitVectorBlocks();
}

/// The slots of a block of `extent` elements.
static SmallVector<Slot> slotsOf(int64_t extent, unsigned lanes) {
  SmallVector<Slot> slots;
  for (int64_t at = 0; at < extent; at += lanes)
    slots.push_back({at, unsigned(std::min<int64_t>(lanes, extent - at))});
  return slots;
}

void NestEmitter::emitVectorBlocks() {
  int64_t extent = nest.extents[tile.vectorLoop];
  int64_t block = int64_t(tile.lanes) * tile.vectors;
  int64_t whole = extent / block * block;
  forEach(tile.vectorLoop, 0, whole, block,
          [&] { emitRowBlocks(slotsOf(block, tile.lanes)); });
  forEach(tile.vectorLoop, whole, extent, block,
          [&] { emitRowBlocks(slotsOf(extent - whole, tile.lanes)); });
}

void NestEmitter::emitRowBlocks(ArrayRef<Slot> slots) {
  if (!tile.rowLoop)
    return emitTile(1, slots);
  int64_t extent = nest.extents[*tile.rowLoop];
  int64_t whole = extent / tile.rows * tile.rows;
  forEach(*tile.rowLoop, 0, whole, tile.rows,
          [&] { emitTile(tile.rows, slots); });
  forEach(*tile.rowLoop, whole, extent, tile.rows,
          [&] { emitTile(unsigned(extent - whole), slots); });
}

void NestEmitter::emitTile(unsigned rows, ArrayRef<Slot> slots) {
  unsigned inputs = nest.inputs().size(), outputs = nest.outputs().size();
  Block *body = nest.op.getBlock();
  bool reduces = llvm::is_contained(nest.reduces, true);
  SmallVector<Value> accumulators;
  for (unsigned row = 0; row < rows; ++row)
    for (const Slot &slot : slots)
      for (unsigned i = 0; i < outputs; ++i)
        accumulators.push_back(!reduces &&
                                       body->getArgument(inputs + i).use_empty()
                                   ? Value()
                                   : load(inputs + i, row, slot));
  SmallVector<Value> results = reduce(0, accumulators, rows, slots);
  size_t next = 0;
  for (unsigned row = 0; row < rows; ++row)
    for (const Slot &slot : slots)
      for (unsigned i = 0; i < outputs; ++i)
        store(inputs + i, row, slot, results[next++]);
}

SmallVector<Value> NestEmitter::reduce(unsigned loop,
                                       SmallVector<Value> accumulators,
                                       unsigned rows, ArrayRef<Slot> slots) {
  while (loop < nest.extents.size() && !nest.reduces[loop])
    ++loop;
  if (loop == nest.extents.size())
    return step(accumulators, rows, slots);
  OpBuilder::InsertionGuard guard(builder);
  auto made =
      scf::ForOp::create(builder, loc, index(0), index(nest.extents[loop]),
                         index(1), accumulators);
  ivs[loop] = made.getInductionVar();
  builder.setInsertionPointToStart(made.getBody());
  SmallVector<Value> inner(made.getRegionIterArgs());
  scf::YieldOp::create(builder, loc, reduce(loop + 1, inner, rows, slots));
  ivs[loop] = Value();
  return SmallVector<Value>(made.getResults());
}

//===----------------------------------------------------------------------===//
// Reductions along the vectors
//===----------------------------------------------------------------------===//

/// All points of the reduction loops, vectors along one of them: one
/// accumulator per slot and output.
SmallVector<Value> NestEmitter::reduceAlong(SmallVector<Value> accumulators) {
  unsigned outputs = nest.outputs().size();
  int64_t extent = nest.extents[tile.vectorLoop];
  int64_t block = int64_t(tile.lanes) * tile.vectors;
  int64_t whole = extent / block * block;
  auto made = scf::ForOp::create(builder, loc, index(0), index(whole),
                                 index(block), accumulators);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(made.getBody());
    ivs[tile.vectorLoop] = made.getInductionVar();
    SmallVector<Value> inner(made.getRegionIterArgs());
    scf::YieldOp::create(builder, loc,
                         step(inner, 1, slotsOf(block, tile.lanes)));
  }
  SmallVector<Value> results(made.getResults());
  if (whole < extent) {
    ivs[tile.vectorLoop] = index(whole);
    SmallVector<Slot> slots = slotsOf(extent - whole, tile.lanes);
    size_t used = slots.size() * outputs;
    SmallVector<Value> last =
        step(ArrayRef(results).take_front(used), 1, slots);
    for (size_t i = 0; i < used; ++i) {
      const Slot &slot = slots[i / outputs];
      results[i] =
          slot.count == tile.lanes
              ? last[i]
              : arith::SelectOp::create(builder, loc, maskOf(slot.count),
                                        last[i], results[i])
                    .getResult();
    }
  }
  ivs[tile.vectorLoop] = Value();
  return results;
}

/// `combiner` with other operands; scalars or vectors.
static Value combine(OpBuilder &builder, Operation *combiner, Value a,
                     Value b) {
  Operation *copy = builder.clone(*combiner);
  copy->setOperands({a, b});
  copy->getResult(0).setType(a.getType());
  return copy->getResult(0);
}

void NestEmitter::emitHorizontal() {
  unsigned inputs = nest.inputs().size(), outputs = nest.outputs().size();
  SmallVector<Value> accumulators;
  for (unsigned v = 0; v < tile.vectors; ++v)
    for (unsigned i = 0; i < outputs; ++i) {
      Operation *combiner = combinerOf(nest.op, i);
      VectorType type = vectorOf(combiner->getResult(0).getType());
      TypedAttr neutral = *arith::getNeutralElement(combiner);
      accumulators.push_back(arith::ConstantOp::create(
          builder, loc,
          DenseElementsAttr::get(type, ArrayRef<Attribute>{neutral})));
    }
  // Other reduction loops go around.
  std::function<SmallVector<Value>(unsigned, SmallVector<Value>)> around =
      [&](unsigned loop, SmallVector<Value> values) -> SmallVector<Value> {
    while (loop < nest.extents.size() &&
           (!nest.reduces[loop] || loop == tile.vectorLoop))
      ++loop;
    if (loop == nest.extents.size())
      return reduceAlong(values);
    OpBuilder::InsertionGuard guard(builder);
    auto made = scf::ForOp::create(builder, loc, index(0),
                                   index(nest.extents[loop]), index(1), values);
    ivs[loop] = made.getInductionVar();
    builder.setInsertionPointToStart(made.getBody());
    SmallVector<Value> inner(made.getRegionIterArgs());
    scf::YieldOp::create(builder, loc, around(loop + 1, inner));
    ivs[loop] = Value();
    return SmallVector<Value>(made.getResults());
  };
  SmallVector<Value> sums = around(0, accumulators);
  for (unsigned i = 0; i < outputs; ++i) {
    Operation *combiner = combinerOf(nest.op, i);
    Value vector = sums[i];
    for (unsigned v = 1; v < tile.vectors; ++v)
      vector = combine(builder, combiner, vector, sums[v * outputs + i]);
    Value total = vector::ReductionOp::create(
        builder, loc, *linalg::getCombinerOpKind(combiner), vector,
        arith::FastMathFlags::reassoc);
    const NestOperand &output = nest.operands[inputs + i];
    Value at = address(output, 0);
    Value old = memref::LoadOp::create(builder, loc, flat[inputs + i], at);
    memref::StoreOp::create(builder, loc,
                            combine(builder, combiner, old, total),
                            flat[inputs + i], at);
  }
}

void NestEmitter::emit() {
  for (const NestOperand &operand : nest.operands)
    flat.push_back(flatten(operand));
  emitParallel(0);
}

namespace {
struct CpuVectorizePass : fuse::impl::CpuVectorizeBase<CpuVectorizePass> {
  using CpuVectorizeBase::CpuVectorizeBase;

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> work;
    getOperation()->walk([&](linalg::LinalgOp op) { work.push_back(op); });
    VectorUnit unit{vectorBytes, vectorRegisters};
    for (linalg::LinalgOp op : work) {
      std::optional<LoopNest> nest = LoopNest::of(op);
      if (!nest)
        continue;
      std::optional<RegisterTile> tile = RegisterTile::choose(*nest, unit);
      if (!tile)
        continue;
      OpBuilder builder(op);
      NestEmitter(builder, *nest, *tile).emit();
      op->erase();
    }
  }
};
} // namespace
