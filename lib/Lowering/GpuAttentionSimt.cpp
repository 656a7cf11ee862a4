//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention without tensor cores: outer products in registers.
//
// Half a warp has some rows. Of the keys each thread has every 16th, so that
// lines of them are in different banks, and of the results neighbours, which it
// stores together. Between the two p goes through shared memory.
//
//===----------------------------------------------------------------------===//

#include "GpuAttention.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/FormatVariadic.h"
#include <numeric>

using namespace mlir;
using namespace fuse;

constexpr int64_t kAcross = kAttentionThreadsX;

namespace {
class SimtAttention : public AttentionSchedule {
public:
  using AttentionSchedule::AttentionSchedule;

private:
  void spread() override;
  Values multiplyKeys() override;
  void share(ArrayRef<Value> p) override;
  Values multiplyValues(ArrayRef<Value> p, ArrayRef<Value> sums) override;
  unsigned rowOfSum(unsigned number) const override { return number / chunks; }
  bool storeAll(ArrayRef<Value> sums) override;

  Value load(const Panel &panel, LaneIndex line, LaneIndex at, int64_t count);
  Values lanesOf(Value value);
  Values multiply(linalg::LinalgOp op, unsigned left, Value a, Value b,
                  Value sum);
  LaneIndex columnAt(int64_t chunk);
  /// Elements that a thread reads at a time.
  int64_t depthStep() const { return 16 / tile.elementBytes; }

  LaneIndex threadX;
  int64_t width = 1, chunks = 1; ///< of the results' columns of a thread
  Panel shares;                  ///< p
};
} // namespace

void SimtAttention::spread() {
  threadX = *math.rem(thread, {kAcross, nullptr});
  int64_t perRow = tile.rows / (threads / kAcross);
  LaneIndex first =
      math.scale(*math.div(thread, {kAcross, nullptr}), {perRow, nullptr});
  for (int64_t i = 0; i < perRow; ++i)
    rows.push_back(math.add(first, math.constant(i)));
  for (int64_t i = 0; i < tile.keys / kAcross; ++i)
    columns.push_back(math.add(threadX, math.constant(i * kAcross)));
  for (int64_t distance = kAcross / 2; distance; distance /= 2)
    distances.push_back(distance);
  int64_t perThread = AttentionTile::padded(tile.columns) / kAcross;
  width = std::gcd<int64_t>(perThread, 4);
  chunks = perThread / width;
  numSums = perRow * chunks;
  sumType = builder.getF32Type();
  if (width > 1)
    sumType = VectorType::get({width}, sumType);
  shares = query;
  shares.length = tile.keys;
  shares.pitch = tile.keyPitch();
  shares.memory =
      sharedArray("_shares", shares.element, tile.rows * shares.pitch);
}

LaneIndex SimtAttention::columnAt(int64_t chunk) {
  return math.add(math.scale(threadX, {width, nullptr}),
                  math.constant(chunk * kAcross * width));
}

Value SimtAttention::load(const Panel &panel, LaneIndex line, LaneIndex at,
                          int64_t count) {
  Type type = panel.element;
  if (count > 1)
    type = VectorType::get({count}, type);
  return LLVM::LoadOp::create(builder, loc, type, address(panel, line, at),
                              count * tile.elementBytes);
}

SimtAttention::Values SimtAttention::lanesOf(Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type)
    return {value};
  Values lanes;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    lanes.push_back(vector::ExtractOp::create(builder, loc, value, i));
  return lanes;
}

/// `sum` and the product of `a`, which is the input `left` of `op`, and `b`.
SimtAttention::Values SimtAttention::multiply(linalg::LinalgOp op,
                                              unsigned left, Value a, Value b,
                                              Value sum) {
  Values values(3);
  values[left] = a;
  values[1 - left] = b;
  values[2] = sum;
  return elements.inlineBody(op, values, {});
}

SimtAttention::Values SimtAttention::multiplyKeys() {
  int64_t step = depthStep();
  Value zero = number(0);
  Values start(rows.size() * columns.size(), zero);
  math.lanes = 1;
  return elements.loops(
      {{query.length / step, nullptr}}, start,
      [&](ArrayRef<LaneIndex> at, ArrayRef<Value> carried) -> Values {
        LaneIndex depth = math.scale(at[0], {step, nullptr});
        SmallVector<Values> keys;
        for (LaneIndex column : columns)
          keys.push_back(lanesOf(load(key, column, depth, step)));
        Values sums(carried);
        for (auto [i, row] : llvm::enumerate(rows)) {
          Values queries = lanesOf(load(query, row, depth, step));
          for (auto [j, own] : llvm::enumerate(keys))
            for (int64_t k = 0; k < step; ++k) {
              Value &sum = sums[i * columns.size() + j];
              Values next = multiply(attention.form.first, queryOperand(),
                                     queries[k], own[k], sum);
              if (next.empty())
                return {};
              sum = next.front();
            }
        }
        return sums;
      });
}

void SimtAttention::share(ArrayRef<Value> p) {
  for (auto [i, row] : llvm::enumerate(rows))
    for (auto [j, column] : llvm::enumerate(columns))
      LLVM::StoreOp::create(builder, loc, p[i * columns.size() + j],
                            address(shares, row, column), tile.elementBytes);
}

SimtAttention::Values SimtAttention::multiplyValues(ArrayRef<Value>,
                                                    ArrayRef<Value> start) {
  int64_t step = depthStep();
  math.lanes = width;
  return elements.loops(
      {{tile.keys / step, nullptr}}, start,
      [&](ArrayRef<LaneIndex> at, ArrayRef<Value> carried) -> Values {
        LaneIndex first = math.scale(at[0], {step, nullptr});
        Values sums(carried);
        SmallVector<Values> shared;
        for (LaneIndex row : rows)
          shared.push_back(lanesOf(load(shares, row, first, step)));
        for (int64_t k = 0; k < step; ++k)
          for (int64_t chunk = 0; chunk < chunks; ++chunk) {
            Value values = load(value, math.add(first, math.constant(k)),
                                columnAt(chunk), width);
            for (auto [i, own] : llvm::enumerate(shared)) {
              Value &sum = sums[i * chunks + chunk];
              Values next = multiply(gemm.op, attention.form.operand, own[k],
                                     values, sum);
              if (next.empty())
                return {};
              sum = next.front();
            }
          }
        return sums;
      });
}

bool SimtAttention::storeAll(ArrayRef<Value> sums) {
  for (auto [i, row] : llvm::enumerate(rows))
    for (int64_t chunk = 0; chunk < chunks; ++chunk)
      if (!finishAt(row, columnAt(chunk), width, sums[i * chunks + chunk]))
        return false;
  return true;
}

bool fuse::emitAttention(GpuFrame &frame, const GpuTile &tile,
                         std::string &why) {
  auto attention = GpuAttention::of(frame, tile, /*tensorCores=*/false, why);
  if (!attention)
    return false;
  const AttentionTile &own = attention->tile;
  int64_t teams = tile.threads / kAcross;
  if (tile.threads % 32 || own.rows % std::max<int64_t>(teams, 1) ||
      own.keys % kAcross || own.rows < teams) {
    why = llvm::formatv("{0} threads cannot share {1} rows and {2} keys",
                        tile.threads, own.rows, own.keys);
    return false;
  }
  if (SimtAttention(frame, *attention).emit())
    return true;
  why = "no code for its elements";
  return false;
}
