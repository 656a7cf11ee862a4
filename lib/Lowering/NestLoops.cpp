//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loops of a nest: around register tiles, and along reductions.
//
//===----------------------------------------------------------------------===//

#include "NestEmitter.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace fuse;

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

/// One step of each sum that carries along what its additions lost: Kahan's.
/// Of `accumulators` the second half is what was lost.
void NestEmitter::compensate(ArrayRef<Value> terms,
                             MutableArrayRef<Value> accumulators) {
  size_t half = accumulators.size() / 2;
  for (auto [i, term] : llvm::enumerate(terms)) {
    Value &sum = accumulators[i], &lost = accumulators[half + i];
    Value added = arith::SubFOp::create(builder, loc, term, lost);
    Value total = arith::AddFOp::create(builder, loc, sum, added);
    Value kept = arith::SubFOp::create(builder, loc, total, sum);
    lost = arith::SubFOp::create(builder, loc, kept, added);
    sum = total;
  }
}

/// The accumulators after the vectors of `slots`, along the reduction.
SmallVector<Value> NestEmitter::advance(SmallVector<Value> accumulators,
                                        ArrayRef<Slot> slots) {
  bool compensates = nest.op->hasAttr(kCompensatedAttr);
  unsigned outputs = nest.outputs().size();
  size_t used = slots.size() * outputs;
  SmallVector<Value> before(ArrayRef(accumulators).take_front(used));
  if (compensates) {
    auto type = cast<VectorType>(before[0].getType());
    before.assign(used, arith::ConstantOp::create(builder, loc,
                                                  builder.getZeroAttr(type)));
  }
  SmallVector<Value> after = step(before, 1, slots);
  for (size_t i = 0; i < used; ++i)
    if (const Slot &slot = slots[i / outputs]; slot.count != tile.lanes)
      after[i] = arith::SelectOp::create(builder, loc, maskOf(slot.count),
                                         after[i], before[i]);
  if (compensates)
    compensate(after, accumulators);
  else
    llvm::copy(after, accumulators.begin());
  return accumulators;
}

/// All points of the reduction loops, vectors along one of them: one
/// accumulator per slot and output.
SmallVector<Value> NestEmitter::reduceAlong(SmallVector<Value> accumulators) {
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
                         advance(inner, slotsOf(block, tile.lanes)));
  }
  SmallVector<Value> results(made.getResults());
  if (whole < extent) {
    ivs[tile.vectorLoop] = index(whole);
    results = advance(results, slotsOf(extent - whole, tile.lanes));
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
  if (nest.op->hasAttr(kCompensatedAttr))
    accumulators.append(SmallVector<Value>(accumulators));
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
