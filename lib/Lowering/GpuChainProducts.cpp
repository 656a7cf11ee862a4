//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chain kernels: the products of what is on chip and the weights.
//
//   for k by 8 { weights of k to the other half; barrier; sums += rows *
//   weights }
//
//===----------------------------------------------------------------------===//

#include "GpuChain.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace fuse;

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// Rounds of the sum's loops for what the block has on chip.
SmallVector<Extent> ChainSchedule::heldRounds() const {
  SmallVector<Extent> rounds;
  for (unsigned loop : ops.k)
    rounds.push_back(ops.expand && loop == *ops.channel
                         ? Extent{tile.chunk, nullptr}
                         : extents[loop]);
  return rounds;
}

/// The weight at the `k`-th round of what is on chip; 0 beyond the channels.
Value ChainSchedule::weightAt(LaneIndex k, LaneIndex column) {
  Lanes loops(extents.size(), math.constant(0));
  Value exists;
  for (auto [loop, index] : llvm::zip_equal(ops.batch, batch))
    loops[loop] = index;
  for (auto [loop, index] :
       llvm::zip_equal(ops.k, *math.delinearize(k, heldRounds())))
    loops[loop] = index;
  if (ops.expand) {
    LaneIndex &own = loops[*ops.channel];
    const Extent &all = extents[*ops.channel];
    own = math.add(channel, own);
    if (!all.isStatic() || all.size % tile.chunk) {
      exists = math.less(own, math.of(all));
      own = math.min(own, math.sub(math.of(all), math.constant(1)));
    }
  }
  Value inside; // what is beyond the columns is multiplied and not stored
  std::optional<Lanes> columns = columnsAt(column, 1, inside);
  for (auto [loop, index] : llvm::zip_equal(ops.n, *columns))
    loops[loop] = index;
  auto sources = elements.operandsAt(anchor, loops);
  if (!sources || !(*sources)[1 - ops.rows])
    return nullptr;
  const ElementSource &source = *(*sources)[1 - ops.rows];
  Value value = elements.at(source.tensor, source.indices);
  if (!value || !exists)
    return value;
  Value zero = arith::ConstantOp::create(builder, loc,
                                         builder.getZeroAttr(value.getType()));
  return arith::SelectOp::create(builder, loc, exists, value, zero);
}

/// Copies the weights of `steps` rounds from `k` on to shared memory.
bool ChainSchedule::stage(LaneIndex half, LaneIndex k, int64_t steps,
                          LaneIndex column) {
  AffineMap map =
      anchor.getMatchingIndexingMap(anchor.getDpsInputOperand(1 - ops.rows));
  bool alongK =
      llvm::any_of(ops.k,
                   [&](unsigned loop) {
                     return extents[loop].size != 1 &&
                            map.getResults().back().isFunctionOfDim(loop);
                   }) ||
      llvm::none_of(ops.n, [&](unsigned loop) {
        return map.getResults().back().isFunctionOfDim(loop);
      });
  int64_t columns = tile.staged(), count = steps * columns,
          fast = alongK ? steps : columns;
  for (int64_t first = 0; first < count; first += threads) {
    LaneIndex item = math.add(thread, math.constant(first));
    Value inside;
    if (count - first < threads) {
      inside = math.less(item, math.constant(count));
      item = math.min(item, math.constant(count - 1));
    }
    LaneIndex inner = *math.rem(item, {fast, nullptr}),
              outer = *math.div(item, {fast, nullptr}),
              round = alongK ? inner : outer, line = alongK ? outer : inner;
    Value value = weightAt(math.add(k, round), math.add(column, line));
    if (!value)
      return false;
    LaneIndex place =
        math.add(math.scale(half, {tile.depth * tile.pitch, nullptr}),
                 math.add(math.scale(round, {tile.pitch, nullptr}), line));
    storeShared(value, weightsMemory, place, inside);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// `width` elements of shared memory from `place` on, which is aligned to as
/// many.
SmallVector<Value> ChainSchedule::read(Value memory, LaneIndex place,
                                       int64_t width) {
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  if (width == 1)
    return {memref::LoadOp::create(builder, loc, memory, place.base)};
  int64_t bytes = *memoryBytes(element) * width;
  Value group = vector::LoadOp::create(
      builder, loc, VectorType::get({width}, element), memory, place.base,
      /*nontemporal=*/false, llvm::MaybeAlign(std::min<int64_t>(bytes, 16)));
  SmallVector<Value> values;
  for (int64_t i = 0; i < width; ++i)
    values.push_back(vector::ExtractOp::create(builder, loc, group, i));
  return values;
}

/// The thread's elements of the rows at the `k`-th round of what is on chip.
SmallVector<Value> ChainSchedule::rowValues(LaneIndex k) {
  AffineMap map =
      anchor.getMatchingIndexingMap(anchor.getDpsInputOperand(ops.rows));
  SmallVector<Extent> sizes;
  for (int64_t size : tile.m)
    sizes.push_back({size, nullptr});
  auto placeAt = [&](LaneIndex m) -> std::optional<LaneIndex> {
    Lanes loops(extents.size(), math.constant(0));
    std::optional<Lanes> pixel = math.delinearize(m, sizes);
    if (!pixel)
      return std::nullopt;
    for (auto [loop, index] : llvm::zip_equal(ops.m, *pixel))
      loops[loop] = index;
    for (auto [loop, index] :
         llvm::zip_equal(ops.k, *math.delinearize(k, heldRounds())))
      loops[loop] = index;
    std::optional<Lanes> local = math.apply(map, loops);
    return local ? placeIn(rows, *local) : std::nullopt;
  };
  SmallVector<Value> values;
  for (int64_t i = 0; i < tile.split.perM; i += nearM) {
    LaneIndex m = mAt(i);
    m.step = nearM > 1;
    math.lanes = nearM;
    std::optional<LaneIndex> place = placeAt(m);
    math.lanes = 1;
    if (place && place->step == 1 && place->multiple % nearM == 0) {
      place->step = 0;
      llvm::append_range(values, read(rows.memory, *place, nearM));
      continue;
    }
    for (int64_t j = 0; j < nearM; ++j)
      llvm::append_range(values, read(rows.memory, *placeAt(mAt(i + j)), 1));
  }
  return values;
}

SmallVector<Value> ChainSchedule::weightValues(LaneIndex half, int64_t step) {
  SmallVector<Value> values;
  LaneIndex line =
      math.add(math.scale(half, {tile.depth * tile.pitch, nullptr}),
               math.constant(step * tile.pitch));
  for (int64_t j = 0; j < tile.split.perN; j += nearN) {
    LaneIndex n = nAt(j);
    if (threadColumns() > tile.staged())
      n = math.min(n, math.constant(tile.staged() - nearN));
    llvm::append_range(values, read(weightsMemory, math.add(line, n), nearN));
  }
  return values;
}

/// Adds the products of `steps` rounds from `k` on.
SmallVector<Value> ChainSchedule::multiply(LaneIndex half, LaneIndex k,
                                           int64_t steps,
                                           ArrayRef<Value> sums) {
  SmallVector<Value> result(sums);
  for (int64_t step = 0; step < steps; ++step) {
    SmallVector<Value> left = rowValues(math.add(k, math.constant(step))),
                       right = weightValues(half, step);
    for (int64_t i = 0; i < tile.split.perM; ++i)
      for (int64_t j = 0; j < tile.split.perN; ++j) {
        Value &sum = result[i * tile.split.perN + j];
        SmallVector<Value> values{left[i], right[j], sum};
        if (ops.rows == 1)
          std::swap(values[0], values[1]);
        SmallVector<Value> next = elements.inlineBody(anchor, values, {});
        if (next.empty())
          return {};
        sum = next.front();
      }
  }
  return result;
}

/// Adds the products of all that is on chip.
SmallVector<Value> ChainSchedule::multiplyAll(LaneIndex column,
                                              ArrayRef<Value> sums) {
  int64_t all = math.product(heldRounds()).size, full = all / tile.depth,
          rest = all % tile.depth;
  auto round = [&](LaneIndex number, int64_t steps, ArrayRef<Value> values) {
    LaneIndex half = *math.rem(number, {2, nullptr}),
              k = math.scale(number, {tile.depth, nullptr});
    if (!stage(half, k, steps, column))
      return SmallVector<Value>();
    gpu::BarrierOp::create(builder, loc);
    return multiply(half, k, steps, values);
  };
  SmallVector<Value> values(sums);
  if (full)
    values = elements.loops({Extent{full, nullptr}}, values,
                            [&](ArrayRef<LaneIndex> at, ArrayRef<Value> own) {
                              return round(at[0], tile.depth, own);
                            });
  if (rest && !values.empty())
    values = round(math.constant(full), rest, values);
  return elements.failedOp ? SmallVector<Value>() : values;
}
