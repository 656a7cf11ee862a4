//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention: rows that are normalised while they are computed.
//
//   m' = max(m, max of x); c = exp(m - m'); e = exp(x - m')
//   sum' = c sum + sum of e; o' = c o + e v; at the end o / sum
//
// What is between the contractions is computed by the elements of p, with the
// scores, the maximum so far, and 1 as the sum.
//
//===----------------------------------------------------------------------===//

#include "GpuAttention.h"
#include "GpuTeam.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fuse;

Value AttentionSchedule::number(double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getF32FloatAttr(value));
}

/// What combines two values of a reduction.
static Operation *combinerOf(OpResult result) {
  auto op = cast<linalg::LinalgOp>(result.getOwner());
  Block *body = op.getBlock();
  return body->getTerminator()
      ->getOperand(result.getResultNumber())
      .getDefiningOp();
}

/// The value of `at`, by the place that it has; nothing if it is no score of
/// the row at hand.
Value AttentionSchedule::scoreAt(ArrayRef<LaneIndex> loops) const {
  for (const Score &score : known)
    if (llvm::all_of(llvm::zip_equal(loops, score.loops), [](auto pair) {
          return std::get<0>(pair).base == std::get<1>(pair).base;
        }))
      return score.value;
  return nullptr;
}

Value AttentionSchedule::exponential(Value argument) {
  Operation *copy = builder.clone(*attention.form.exp);
  copy->setOperand(0, argument);
  return copy->getResult(0);
}

/// Combines the values of the lanes that have a row together.
Value AttentionSchedule::acrossLanes(Value value, Operation *combiner) {
  for (int64_t distance : distances)
    value = combineValues(builder, combiner, value,
                          shuffle(builder, loc, value, distance));
  return value;
}

/// `value` where the key exists, else `other`.
Value AttentionSchedule::where(Value inside, Value value, Value other) {
  if (!value || !inside)
    return value;
  return arith::SelectOp::create(builder, loc, inside, value, other);
}

/// The maximum of a row with the scores at hand; `scale` brings to it what was
/// computed for `max`.
bool AttentionSchedule::updateMax(LaneIndex row, ArrayRef<Key> keys, Value &max,
                                  Value &scale) {
  const OnlineSoftmax &form = attention.form;
  Value lowest = number(-std::numeric_limits<double>::infinity());
  auto op = cast<linalg::LinalgOp>(form.max.getOwner());
  Value found = lowest;
  for (const Key &key : keys) {
    auto loops = reductionLoops(form.max, row, key.position);
    Value next =
        loops ? elements.step(op, form.max.getResultNumber(), *loops, found)
              : nullptr;
    found = where(key.inside, next, found);
    if (!found)
      return false;
  }
  Operation *combiner = combinerOf(form.max);
  Value all =
      combineValues(builder, combiner, max, acrossLanes(found, combiner));
  // No score yet that counts: the difference to it would be no number.
  Value none = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ,
                                     all, lowest);
  rowMax = arith::SelectOp::create(builder, loc, none, number(0), all);
  scale = exponential(arith::SubFOp::create(builder, loc, max, rowMax));
  max = all;
  return true;
}

bool AttentionSchedule::updateSum(LaneIndex row, ArrayRef<Key> keys,
                                  Value &sum) {
  OpResult result = attention.form.sum;
  auto op = cast<linalg::LinalgOp>(result.getOwner());
  for (const Key &key : keys) {
    auto loops = reductionLoops(result, row, key.position);
    Value next = loops
                     ? elements.step(op, result.getResultNumber(), *loops, sum)
                     : nullptr;
    sum = where(key.inside, next, sum);
    if (!sum)
      return false;
  }
  return true;
}

/// Turns the scores of the keys from `start` on into p, row by row.
bool AttentionSchedule::softmax(LaneIndex start, MutableArrayRef<Value> scores,
                                MutableArrayRef<Value> state, Values &scales) {
  auto first = cast<OpResult>(attention.form.first->getResult(0));
  SmallVector<Key> keys;
  for (LaneIndex column : columns) {
    keys.emplace_back();
    keys.back().position = keyAt(math.add(start, column), keys.back().inside);
  }
  math.lanes = 1;
  for (auto [number, position] : llvm::enumerate(rows)) {
    LaneIndex row = rowAt(position);
    auto own = scores.slice(number * columns.size(), columns.size());
    known.clear();
    elements.enter();
    for (auto [key, score] : llvm::zip_equal(keys, own)) {
      auto loops = loopsBehind(elements, first, row, key.position);
      if (!loops)
        return false;
      known.push_back({*loops, score});
    }
    Value &sum = state[sumsAt() + number];
    scales.push_back(nullptr);
    if (attention.form.max) {
      if (!updateMax(row, keys, state[number], scales.back()))
        return false;
      sum = arith::MulFOp::create(builder, loc, sum, scales.back());
    }
    if (!updateSum(row, keys, sum))
      return false;
    for (auto [key, score] : llvm::zip_equal(keys, own)) {
      auto share = shareOf(elements, row, key.position);
      Value p = share ? elements.at(share->tensor, share->indices) : nullptr;
      if (!p)
        return false;
      score = where(key.inside, p,
                    arith::ConstantOp::create(
                        builder, loc, builder.getZeroAttr(p.getType())));
    }
    elements.leave();
  }
  return true;
}

/// `sums` times a scalar for each row.
void AttentionSchedule::scaleSums(MutableArrayRef<Value> sums,
                                  ArrayRef<Value> scales) {
  for (auto [number, sum] : llvm::enumerate(sums)) {
    Value scale = scales[rowOfSum(number)];
    if (!scale)
      continue;
    if (isa<VectorType>(sum.getType()))
      scale = vector::BroadcastOp::create(builder, loc, sum.getType(), scale);
    sum = arith::MulFOp::create(builder, loc, sum, scale);
  }
}

/// Maxima and sums of the rows, then sums of the results.
AttentionSchedule::Values AttentionSchedule::startState() {
  Values state;
  OpResult max = attention.form.max;
  for (LaneIndex position : rows) {
    if (!max)
      break;
    auto op = cast<linalg::LinalgOp>(max.getOwner());
    auto loops = reductionLoops(max, rowAt(position), math.constant(0));
    OpOperand *init = op.getDpsInitOperand(max.getResultNumber());
    auto indices = loops ? math.apply(op.getMatchingIndexingMap(init), *loops)
                         : std::nullopt;
    state.push_back(indices ? elements.at(init->get(), *indices) : nullptr);
    if (!state.back())
      return {};
  }
  state.append(rows.size(), number(0));
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(sumType));
  state.append(numSums, zero);
  return state;
}

AttentionSchedule::Values AttentionSchedule::round(LaneIndex number,
                                                   const Extent &count,
                                                   ArrayRef<Value> carried) {
  Values state(carried), scales;
  LaneIndex start = math.scale(number, {tile.keys, nullptr});
  // Past the end the last keys are copied again, to where nobody reads them.
  LaneIndex last = math.sub(math.of(count), math.constant(1)),
            next =
                math.scale(math.min(math.add(number, math.constant(1)), last),
                           {tile.keys, nullptr});
  wait(1);
  Values scores = multiplyKeys();
  gpu::BarrierOp::create(builder, loc);
  if (scores.empty() || !copy(key, next) ||
      !softmax(start, scores, state, scales))
    return {};
  share(scores);
  wait(1);
  auto sums = MutableArrayRef(state).drop_front(sumsAt() + rows.size());
  scaleSums(sums, scales);
  Values added = multiplyValues(scores, sums);
  if (added.empty())
    return {};
  llvm::copy(added, sums.begin());
  gpu::BarrierOp::create(builder, loc);
  if (!copy(value, next))
    return {};
  return state;
}

bool AttentionSchedule::finishAt(LaneIndex row, LaneIndex column, int64_t width,
                                 Value value) {
  bool swapped = attention.rowsAreX();
  for (int64_t lane = 0; lane < (swapped ? width : 1); ++lane) {
    Value own = value;
    if (swapped && width > 1)
      own = vector::ExtractOp::create(builder, loc, value, lane);
    LaneIndex at = math.add(column, math.constant(lane));
    LaneIndex y = swapped ? at : row, x = swapped ? row : column;
    Value start = startOf(y, x, swapped ? 1 : width);
    if (!start)
      return false;
    if (!matchPattern(start, m_AnyZeroFloat()))
      own = arith::AddFOp::create(builder, loc, start, own);
    if (!finish(y, x, swapped ? 1 : width, own))
      return false;
  }
  return true;
}

bool AttentionSchedule::finishRows(ArrayRef<Value> state) {
  Values shares, sums(state.drop_front(sumsAt() + rows.size()));
  Operation *combiner = combinerOf(attention.form.sum);
  for (unsigned row = 0; row < rows.size(); ++row) {
    Value total = acrossLanes(state[sumsAt() + row], combiner);
    shares.push_back(arith::DivFOp::create(builder, loc, number(1), total));
  }
  scaleSums(sums, shares);
  return storeAll(sums);
}

/// What elements of operators with a reduction are while p is computed.
Value AttentionSchedule::reduced(linalg::LinalgOp op, unsigned result,
                                 ArrayRef<LaneIndex> loops) {
  const OnlineSoftmax &form = attention.form;
  OpResult asked = cast<OpResult>(op->getResult(result));
  if (op == form.first)
    return scoreAt(loops);
  if (asked == form.max)
    return rowMax;
  if (asked == form.sum)
    return number(1);
  return op == gemm.op ? sumAt(loops) : nullptr;
}

bool AttentionSchedule::emit() {
  place();
  elements.reduce = [this](linalg::LinalgOp op, unsigned result,
                           ArrayRef<LaneIndex> loops) {
    return reduced(op, result, loops);
  };
  if (!findQueries())
    return false;
  query = panelOf(Queries, "_queries");
  key = panelOf(Keys, "_keys");
  value = panelOf(ValueRows, "_values");
  spread();
  LaneIndex zero = math.constant(0);
  if (!copy(query, zero) || !copy(key, zero) || !copy(value, zero))
    return false;
  wait(1);
  readQueries();
  Values state = startState();
  if (state.empty())
    return false;
  Extent count = rounds();
  state = elements.loops({count}, state,
                         [&](ArrayRef<LaneIndex> at, ArrayRef<Value> values) {
                           return round(at[0], count, values);
                         });
  if (state.empty() || elements.failedOp)
    return false;
  if (frame.features.ampere)
    NVVM::CpAsyncWaitGroupOp::create(builder, loc, 0);
  return finishRows(state);
}
