//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention on tensor cores: a warp has 16 rows, and all of their keys.
//
// The sums that mma.sync leaves in a thread are the elements of p that it wants
// from the thread as an input of the next product, so p stays in registers.
//
//===----------------------------------------------------------------------===//

#include "GpuAttention.h"
#include "GpuMma.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace fuse;

constexpr int64_t kWarp = 32;

namespace {
class MmaAttention : public AttentionSchedule {
public:
  using AttentionSchedule::AttentionSchedule;

private:
  void spread() override;
  void readQueries() override;
  Values multiplyKeys() override;
  void share(ArrayRef<Value>) override {}
  Values multiplyValues(ArrayRef<Value> p, ArrayRef<Value> sums) override;
  unsigned rowOfSum(unsigned number) const override { return number % 4 / 2; }
  bool storeAll(ArrayRef<Value> sums) override;

  Values matrices(const Panel &panel, LaneIndex line, LaneIndex at,
                  bool linesFirst, bool transposed);
  void addProducts(ArrayRef<Value> rowWords, ArrayRef<Value> words,
                   int64_t column, MutableArrayRef<Value> sums);
  Value pair(Value low, Value high);

  LaneIndex lane, warpRow;
  SmallVector<Values> queries; ///< fragments, by step of the depth
};
} // namespace

void MmaAttention::spread() {
  lane = *math.rem(thread, {kWarp, nullptr});
  warpRow = math.scale(*math.div(thread, {kWarp, nullptr}),
                       {kAttentionWarpRows, nullptr});
  LaneIndex row = math.add(warpRow, *math.div(lane, {4, nullptr})),
            column = math.scale(*math.rem(lane, {4, nullptr}), {2, nullptr});
  rows = {row, math.add(row, math.constant(kMmaX))};
  for (int64_t at = 0; at < tile.keys; at += kMmaX)
    for (int64_t i : {0, 1})
      columns.push_back(math.add(column, math.constant(at + i)));
  distances = {2, 1};
  numSums = AttentionTile::padded(tile.columns) / kMmaX * 4;
  sumType = builder.getF32Type();
}

/// Four 8 x 8 matrices of a panel from `line` and `at` on: along the lines
/// first, or along `at`.
MmaAttention::Values MmaAttention::matrices(const Panel &panel, LaneIndex line,
                                            LaneIndex at, bool linesFirst,
                                            bool transposed) {
  constexpr Extent chunk{kMmaChunk, nullptr};
  LaneIndex matrix = *math.div(lane, chunk), own = *math.rem(lane, chunk);
  LaneIndex low = math.scale(*math.rem(matrix, {2, nullptr}), chunk),
            high = math.scale(*math.div(matrix, {2, nullptr}), chunk);
  line = math.add(line, math.add(linesFirst ? low : high, own));
  at = math.add(at, linesFirst ? high : low);
  return Values(loadMatrices(builder, loc, address(panel, line, at),
                             panel.element, transposed));
}

/// Adds to the sums of 16 columns from `column` on the products of a fragment
/// of rows and the two of columns in `words`.
void MmaAttention::addProducts(ArrayRef<Value> rowWords, ArrayRef<Value> words,
                               int64_t column, MutableArrayRef<Value> sums) {
  for (int64_t i : {0, 1}) {
    auto own = sums.slice((column / kMmaX + i) * 4, 4);
    llvm::copy(multiplyMatrices(builder, loc, query.element, rowWords,
                                words.slice(2 * i, 2), own),
               own.begin());
  }
}

void MmaAttention::readQueries() {
  for (int64_t k = 0; k < query.length; k += kMmaK)
    queries.push_back(matrices(query, warpRow, math.constant(k),
                               /*linesFirst=*/true, /*transposed=*/false));
}

MmaAttention::Values MmaAttention::multiplyKeys() {
  Values sums(tile.keys / kMmaX * 4, number(0));
  for (auto [step, rowWords] : llvm::enumerate(queries))
    for (int64_t at = 0; at < tile.keys; at += 2 * kMmaX) {
      Values words =
          matrices(key, math.constant(at), math.constant(int64_t(step) * kMmaK),
                   /*linesFirst=*/false, /*transposed=*/false);
      addProducts(rowWords, words, at, sums);
    }
  // From four of a matrix, two rows of two, to row by row.
  Values scores;
  for (int64_t row : {0, 1})
    for (int64_t i = 0; i < tile.keys / kMmaX; ++i)
      for (int64_t j : {0, 1})
        scores.push_back(sums[i * 4 + row * 2 + j]);
  return scores;
}

/// Two elements as a word of mma.sync.
Value MmaAttention::pair(Value low, Value high) {
  Value both = vector::FromElementsOp::create(
      builder, loc, VectorType::get({2}, low.getType()), ValueRange{low, high});
  if (low.getType().isF16())
    return both;
  return LLVM::BitcastOp::create(builder, loc, builder.getI32Type(), both);
}

MmaAttention::Values MmaAttention::multiplyValues(ArrayRef<Value> p,
                                                  ArrayRef<Value> start) {
  Values sums(start);
  for (int64_t at = 0; at < tile.keys; at += kMmaK) {
    Values words;
    for (int64_t half : {0, 1})
      for (int64_t row : {0, 1}) {
        int64_t first =
            row * int64_t(columns.size()) + (at + half * kMmaX) / kMmaX * 2;
        words.push_back(pair(p[first], p[first + 1]));
      }
    for (int64_t column = 0; column < value.length; column += 2 * kMmaX) {
      Values ofValues =
          matrices(value, math.constant(at), math.constant(column),
                   /*linesFirst=*/true, /*transposed=*/true);
      addProducts(words, ofValues, column, sums);
    }
  }
  return sums;
}

bool MmaAttention::storeAll(ArrayRef<Value> sums) {
  LaneIndex column = math.scale(*math.rem(lane, {4, nullptr}), {2, nullptr});
  for (int64_t i = 0; i < int64_t(sums.size()); i += 2) {
    LaneIndex at = math.add(column, math.constant(i / 4 * kMmaX));
    Value both = vector::FromElementsOp::create(
        builder, loc, VectorType::get({2}, sumType),
        ValueRange{sums[i], sums[i + 1]});
    if (!finishAt(rows[rowOfSum(i)], at, 2, both))
      return false;
  }
  return true;
}

bool fuse::emitTensorCoreAttention(GpuFrame &frame, const GpuTile &tile,
                                   std::string &why) {
  auto attention = GpuAttention::of(frame, tile, /*tensorCores=*/true, why);
  if (!attention)
    return false;
  const AttentionTile &own = attention->tile;
  if (!isMma(attention->form.first) || !isMma(attention->form.second)) {
    why = "no products of 16-bit floats";
    return false;
  }
  if (own.rows != tile.threads / kWarp * kAttentionWarpRows ||
      own.keys % kMmaK) {
    why = llvm::formatv("{0} threads cannot share {1} rows and {2} keys",
                        tile.threads, own.rows, own.keys);
    return false;
  }
  if (MmaAttention(frame, *attention).emit())
    return true;
  why = "no code for its elements";
  return false;
}
