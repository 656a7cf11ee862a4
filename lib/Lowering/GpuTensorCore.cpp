//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tensor core schedule of a matrix product: inputs of 16 bits, or f32 that
// may be rounded to tf32; f32 sums.
//
//   for k by tile_k { wait for the tile of this step; start copies of the tile
//                     two steps on; ldmatrix; mma.sync }
//   epilogue on the sums in registers; store
//
// An input that is an argument as it is goes to shared memory by cp.async, one
// with a prologue or padding through registers. Shared memory is swizzled.
//
// Fragments and their lanes: "PTX ISA", mma.m16n8k16, mma.m16n8k8 and ldmatrix.
// ldmatrix does not transpose 32-bit elements: those are loaded one by one.
//
//===----------------------------------------------------------------------===//

#include "GpuAccess.h"
#include "GpuGemmSchedule.h"
#include "GpuMma.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace fuse;

constexpr int64_t kStages = kTensorCoreStages;
/// Lines of a matrix that ldmatrix loads.
constexpr int64_t kLines = 8;

namespace {
class TensorCore : GemmSchedule {
public:
  TensorCore(GpuFrame &frame, const GpuGemm &gemm, const WarpTiles &warps,
             int64_t tileK, int64_t threads)
      : GemmSchedule(frame, gemm, warps.y * warps.warpsY,
                     warps.x * warps.warpsX, tileK, threads),
        warps(warps), chunk(mmaChunk(gemm.op)) {}

  bool emit();

private:
  struct InputTile : InputRows {
    int64_t lines, length; ///< of a stage, in elements
    Value shared;          ///< of all stages
    /// Elements of the argument from a line to the next, if all are as far.
    std::optional<int64_t> lineStride;
  };
  InputTile inputTile(const InputRows &input);
  LaneIndex address(const InputTile &tile, LaneIndex line, LaneIndex element);
  Value pointer(const InputTile &tile, LaneIndex stage, LaneIndex place,
                int64_t linesOn = 0);
  /// Lines between the groups that this thread copies, if it is whole lines
  /// after which chunks lie alike.
  std::optional<int64_t> linesBetween(const InputTile &tile) const;
  static bool isOneByOne(const InputTile &tile) {
    return !tile.alongK && tile.element.isF32();
  }
  int64_t groups(const InputTile &tile) const {
    return tile.rows * tileK / tile.lanes / threads;
  }

  /// Starts or does the copy of the tile at `k` to a stage.
  bool copy(const InputTile &tile, LaneIndex k, LaneIndex stage);
  bool copyAsync(const InputTile &tile, LaneIndex k, LaneIndex stage);
  SmallVector<Value> load(const InputTile &tile, LaneIndex k);
  void storeShared(const InputTile &tile, ArrayRef<Value> values,
                   LaneIndex stage);

  SmallVector<Value> fragment(const InputTile &tile, LaneIndex stage,
                              LaneIndex row, int64_t number, int64_t k,
                              bool isY);
  SmallVector<Value> oneByOne(const InputTile &tile, LaneIndex stage,
                              LaneIndex row, int64_t number, int64_t k,
                              bool isY);
  SmallVector<Value> multiply(LaneIndex stage, ArrayRef<Value> sums);
  SmallVector<Value> round(LaneIndex number, LaneIndex stage, LaneIndex free,
                           const Extent &count, ArrayRef<Value> sums);
  SmallVector<Value> knownRounds(int64_t count, SmallVector<Value> sums);
  SmallVector<Value> dynamicRounds(const Extent &count, ArrayRef<Value> sums);
  /// Calls `body` for each pair of neighbouring sums of this thread.
  bool forEachPair(
      llvm::function_ref<bool(LaneIndex y, LaneIndex x, int64_t number)> body);
  int64_t tilesY() const { return warps.y / kMmaY; }
  int64_t tilesX() const { return warps.x / kMmaX; }

  const WarpTiles &warps;
  int64_t chunk; ///< elements of 16 bytes, the unit of ldmatrix and cp.async
  LaneIndex lane, warpY, warpX; ///< lane; the warp's first row and column
  InputTile y, x;
};
} // namespace

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

TensorCore::InputTile TensorCore::inputTile(const InputRows &input) {
  InputTile tile{input, 0, 0, nullptr, std::nullopt};
  tile.lines = tile.alongK ? tile.rows : tileK;
  tile.length = tile.alongK ? tileK : tile.rows;
  tile.shared = sharedMemory(tile, kStages * tile.lines * tile.length);
  if (tile.kStride && linesBetween(tile))
    tile.lineStride =
        strideAlong(tile.operand, tile.alongK ? *tile.dim : gemm.k,
                    tile.alongK ? tile.rows : tileK);
  return tile;
}

/// The place of an element in a stage: chunks of a line change places so that
/// what a warp loads at once is in different banks. That is 8 lines of one
/// column of chunks, or 4 lines of two where ldmatrix does not transpose.
LaneIndex TensorCore::address(const InputTile &tile, LaneIndex line,
                              LaneIndex element) {
  int64_t chunks = tile.length / chunk;
  LaneIndex key = line, start{element.base, 0, element.multiple};
  if (chunks < kLines)
    key = *math.div(line, {kLines / chunks, nullptr});
  else if (isOneByOne(tile))
    key = math.scale(line, {2, nullptr});
  key = *math.rem(key, {std::min(chunks, kLines), nullptr});
  LaneIndex number = *math.div(start, {chunk, nullptr}),
            within = *math.rem(start, {chunk, nullptr});
  Value swapped = arith::XOrIOp::create(builder, loc, number.base, key.base);
  return math.add(
      math.scale(line, {tile.length, nullptr}),
      math.add(math.scale({swapped, 0, 1}, {chunk, nullptr}), within));
}

/// What changes with the stage, what stays, and what is known are added in this
/// order: the second is kept from round to round, the third is part of an
/// instruction. `linesOn`, a multiple of 8, is on from `place`.
Value TensorCore::pointer(const InputTile &tile, LaneIndex stage,
                          LaneIndex place, int64_t linesOn) {
  LaneIndex start = math.scale(stage, {tile.lines * tile.length, nullptr});
  Value at = offset(tile.shared, start.base, tile.element);
  at = offset(at, place.base, tile.element);
  if (!linesOn)
    return at;
  return offset(at, math.constant(linesOn * tile.length).base, tile.element);
}

std::optional<int64_t> TensorCore::linesBetween(const InputTile &tile) const {
  int64_t perLine = tile.length / tile.lanes;
  if (threads % perLine || threads / perLine % kLines)
    return std::nullopt;
  return threads / perLine;
}

bool TensorCore::copyAsync(const InputTile &tile, LaneIndex start,
                           LaneIndex stage) {
  Value first;
  LaneIndex firstPlace;
  for (int64_t i = 0; i < groups(tile); ++i) {
    LaneIndex row, k;
    groupAt(tile, i, row, k);
    LaneIndex line = tile.alongK ? row : k, element = tile.alongK ? k : row;
    Value inside, from, to;
    if (i && tile.lineStride) {
      int64_t lines = i * *linesBetween(tile);
      Value by = math.constant(lines * *tile.lineStride).base;
      from = offset(first, by, tile.element);
      to = pointer(tile, stage, firstPlace, lines);
    } else {
      from = sourceAddress(tile, row, k, start, false, inside);
      if (!from)
        return false;
      LaneIndex place = address(tile, line, element);
      to = pointer(tile, stage, place);
      first = i ? first : from;
      firstPlace = i ? firstPlace : place;
    }
    startCopy(bytesOf(tile), to, from, inside);
  }
  return true;
}

SmallVector<Value> TensorCore::load(const InputTile &tile, LaneIndex start) {
  SmallVector<Value> values;
  for (int64_t i = 0; i < groups(tile); ++i) {
    LaneIndex row, k;
    groupAt(tile, i, row, k);
    values.push_back(loadInput(tile, row, math.add(start, k), false));
    if (!values.back())
      return {};
  }
  return values;
}

void TensorCore::storeShared(const InputTile &tile, ArrayRef<Value> values,
                             LaneIndex stage) {
  unsigned bytes = *memoryBytes(tile.element);
  for (auto [i, value] : llvm::enumerate(values)) {
    LaneIndex row, k;
    groupAt(tile, i, row, k);
    LaneIndex line = tile.alongK ? row : k, element = tile.alongK ? k : row;
    LLVM::StoreOp::create(builder, loc, value,
                          pointer(tile, stage, address(tile, line, element)),
                          tile.lanes * bytes);
  }
}

bool TensorCore::copy(const InputTile &tile, LaneIndex k, LaneIndex stage) {
  if (tile.async)
    return copyAsync(tile, k, stage);
  SmallVector<Value> values = load(tile, k);
  storeShared(tile, values, stage);
  return !values.empty();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Four matrices of 8 lines of 16 bytes: of y 16 rows by the k of mma.sync, of
/// x as much k by 16 columns, in the order that mma.sync takes them. They are
/// `number` times 16 rows behind `row`.
SmallVector<Value> TensorCore::fragment(const InputTile &tile, LaneIndex stage,
                                        LaneIndex row, int64_t number,
                                        int64_t k, bool isY) {
  if (isOneByOne(tile))
    return oneByOne(tile, stage, row, number, k, isY);
  // Which matrix this lane gives a line's address of, and which line.
  LaneIndex matrix = *math.div(lane, {kLines, nullptr}),
            own = *math.rem(lane, {kLines, nullptr});
  LaneIndex low = *math.rem(matrix, {2, nullptr}),
            high = *math.div(matrix, {2, nullptr});
  // Of y the matrices go down the rows first, of x along k.
  LaneIndex atRow =
                math.add(row, math.scale(isY ? low : high, {kLines, nullptr})),
            atK = math.scale(isY ? high : low, {chunk, nullptr});
  // 16 lines on the chunks lie alike.
  int64_t rowsOn = number * 2 * kLines, linesOn = tile.alongK ? rowsOn : k;
  if (tile.alongK)
    atK = math.add(atK, math.constant(k));
  else
    atRow = math.add(atRow, math.constant(rowsOn));
  LaneIndex line = math.add(tile.alongK ? atRow : atK, own),
            element = tile.alongK ? atK : atRow;
  Value from = pointer(tile, stage, address(tile, line, element), linesOn);
  // A matrix of y has its rows as lines, one of x its columns.
  bool transposed = !tile.alongK;
  return SmallVector<Value>(
      loadMatrices(builder, loc, from, tile.element, transposed));
}

/// The same of elements that lie along the rows: lane l has row l / 4 and k
/// l % 4 of each matrix.
SmallVector<Value> TensorCore::oneByOne(const InputTile &tile, LaneIndex stage,
                                        LaneIndex row, int64_t number,
                                        int64_t k, bool isY) {
  constexpr int64_t words = 4;
  SmallVector<Value> result;
  for (int64_t word = 0; word < words; ++word) {
    int64_t low = word % 2, high = word / 2;
    int64_t rowsOn = (number * 2 + (isY ? low : high)) * kLines,
            kOn = (isY ? high : low) * chunk;
    LaneIndex line = math.add(*math.rem(lane, {chunk, nullptr}),
                              math.constant(kOn)),
              element =
                  math.add(math.add(row, *math.div(lane, {chunk, nullptr})),
                           math.constant(rowsOn));
    Value from = pointer(tile, stage, address(tile, line, element), k),
          loaded = LLVM::LoadOp::create(builder, loc, tile.element, from);
    result.push_back(toTf32(builder, loc, loaded));
  }
  return result;
}

SmallVector<Value> TensorCore::multiply(LaneIndex stage, ArrayRef<Value> sums) {
  SmallVector<Value> result(sums);
  for (int64_t k = 0; k < tileK; k += 2 * chunk) {
    SmallVector<SmallVector<Value>> rows, columns;
    for (int64_t i = 0; i < tilesY(); ++i)
      rows.push_back(fragment(y, stage, warpY, i, k, true));
    for (int64_t i = 0; i < tilesX(); i += 2) {
      SmallVector<Value> both = fragment(x, stage, warpX, i / 2, k, false);
      columns.push_back({both[0], both[1]});
      columns.push_back({both[2], both[3]});
    }
    for (int64_t i = 0; i < tilesY(); ++i)
      for (int64_t j = 0; j < tilesX(); ++j) {
        auto own = MutableArrayRef(result).slice((i * tilesX() + j) * 4, 4);
        llvm::copy(
            multiplyMatrices(builder, loc, y.element, rows[i], columns[j], own),
            own.begin());
      }
  }
  return result;
}

bool TensorCore::forEachPair(
    llvm::function_ref<bool(LaneIndex, LaneIndex, int64_t)> body) {
  LaneIndex group = *math.div(lane, {4, nullptr}),
            column = math.scale(*math.rem(lane, {4, nullptr}), {2, nullptr});
  for (int64_t i = 0; i < tilesY(); ++i)
    for (int64_t j = 0; j < tilesX(); ++j)
      for (int64_t half = 0; half < 2; ++half) {
        LaneIndex atY = math.add(
            math.add(warpY, math.constant(i * kMmaY + half * kMmaX)), group);
        LaneIndex atX =
            math.add(math.add(warpX, math.constant(j * kMmaX)), column);
        if (!body(atY, atX, (i * tilesX() + j) * 4 + half * 2))
          return false;
      }
  return true;
}

SmallVector<Value> TensorCore::round(LaneIndex number, LaneIndex stage,
                                     LaneIndex free, const Extent &count,
                                     ArrayRef<Value> sums) {
  waitForCopies(kStages - 2);
  gpu::BarrierOp::create(builder, loc);
  LaneIndex one = math.constant(1);
  // Past the end the last tile is copied again, to where nobody reads it.
  LaneIndex next = math.min(math.add(number, math.constant(kStages - 1)),
                            math.sub(math.of(count), one));
  LaneIndex k = math.scale(next, {tileK, nullptr});
  if ((y.async && !copyAsync(y, k, free)) ||
      (x.async && !copyAsync(x, k, free)))
    return {};
  NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  SmallVector<Value> ofY, ofX;
  if (!y.async && (ofY = load(y, k)).empty())
    return {};
  if (!x.async && (ofX = load(x, k)).empty())
    return {};
  SmallVector<Value> result = multiply(stage, sums);
  storeShared(y, ofY, free);
  storeShared(x, ofX, free);
  return result;
}

/// As many rounds as there are stages in the body of the loop, so that a stage
/// is a constant in each; what is left over behind it.
SmallVector<Value> TensorCore::knownRounds(int64_t count,
                                           SmallVector<Value> sums) {
  Extent all{count, nullptr};
  auto several = [&](LaneIndex first, int64_t rounds, ArrayRef<Value> values) {
    SmallVector<Value> result(values);
    for (int64_t i = 0; i < rounds && !result.empty(); ++i)
      result = round(math.add(first, math.constant(i)), math.constant(i),
                     math.constant((i + kStages - 1) % kStages), all, result);
    return result;
  };
  int64_t whole = count / kStages;
  if (whole)
    sums =
        elements.loops({{whole, nullptr}}, sums,
                       [&](ArrayRef<LaneIndex> at, ArrayRef<Value> values) {
                         return several(math.scale(at[0], {kStages, nullptr}),
                                        kStages, values);
                       });
  return several(math.constant(whole * kStages), count % kStages, sums);
}

SmallVector<Value> TensorCore::dynamicRounds(const Extent &count,
                                             ArrayRef<Value> sums) {
  return elements.loops(
      {count}, sums, [&](ArrayRef<LaneIndex> at, ArrayRef<Value> values) {
        Extent stages{kStages, nullptr};
        LaneIndex ahead = math.add(at[0], math.constant(kStages - 1));
        return round(at[0], *math.rem(at[0], stages), *math.rem(ahead, stages),
                     count, values);
      });
}

bool TensorCore::emit() {
  place();
  constexpr int64_t warp = 32;
  lane = *math.rem(thread, {warp, nullptr});
  LaneIndex number = *math.div(thread, {warp, nullptr});
  warpY = math.scale(*math.div(number, {warps.warpsX, nullptr}),
                     {warps.y, nullptr});
  warpX = math.scale(*math.rem(number, {warps.warpsX, nullptr}),
                     {warps.x, nullptr});
  y = inputTile(inputRows(gemm.yOperand, gemm.y, tileY, startY));
  x = inputTile(inputRows(gemm.xOperand, gemm.x, tileX, startX));
  SmallVector<Value> sums(tilesY() * tilesX() * 4);
  bool fine = forEachPair([&](LaneIndex atY, LaneIndex atX, int64_t n) {
    Value both = startOf(atY, atX, 2);
    for (int64_t i = 0; both && i < 2; ++i)
      sums[n + i] = vector::ExtractOp::create(builder, loc, both, i);
    return bool(both);
  });
  Extent count = rounds();
  LaneIndex last = math.sub(math.of(count), math.constant(1));
  for (int64_t stage = 0; fine && stage < kStages - 1; ++stage) {
    LaneIndex at = math.constant(stage),
              k = math.scale(math.min(at, last), {tileK, nullptr});
    fine = copy(y, k, at) && copy(x, k, at);
    NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  }
  if (!fine)
    return false;
  sums = count.isStatic() ? knownRounds(count.size, sums)
                          : dynamicRounds(count, sums);
  if (sums.empty() || elements.failedOp)
    return false;
  waitForCopies(0);
  return forEachPair([&](LaneIndex atY, LaneIndex atX, int64_t n) {
    Value both = vector::FromElementsOp::create(
        builder, loc, VectorType::get({2}, builder.getF32Type()),
        ValueRange{sums[n], sums[n + 1]});
    return finish(atY, atX, 2, both);
  });
}

bool fuse::emitTensorCoreGemm(GpuFrame &frame, const GpuTile &tile,
                              std::string &why) {
  std::optional<GpuGemm> gemm = GpuGemm::of(frame, why);
  if (!gemm || tile.sizes.size() != 3)
    return false;
  int64_t m = tile.sizes[0], n = tile.sizes[1], k = tile.sizes[2];
  if (!isMma(gemm->op, frame.features.tf32) || k % (2 * mmaChunk(gemm->op)) ||
      !llvm::isPowerOf2_64(k) || !llvm::isPowerOf2_64(m) ||
      !llvm::isPowerOf2_64(n)) {
    why = "no products for tensor cores, or not in tiles of theirs";
    return false;
  }
  std::optional<WarpTiles> warps =
      WarpTiles::split(gemm->xIsM ? n : m, gemm->xIsM ? m : n, tile.threads);
  if (!warps || std::min(m, n) * k % (tile.threads * mmaChunk(gemm->op))) {
    why = "warps cannot share the tile";
    return false;
  }
  if (TensorCore(frame, *gemm, *warps, k, tile.threads).emit())
    return true;
  why = "no code for its epilogue on tensor cores";
  return false;
}
