//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The SIMT schedule of a matrix product.
//
//   for k by tile_k { load tiles of step k + 1; acc += lhs tile * rhs tile;
//                     store the loaded tiles to the other half; barrier }
//   epilogue on acc; store
//
// A tile of an input lies in shared memory as it lies in global memory, so that
// both are accessed 16 bytes at a time.
//
//===----------------------------------------------------------------------===//

#include "GpuGemmSchedule.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace fuse;

namespace {
class Contraction : GemmSchedule {
public:
  Contraction(GpuFrame &frame, const GpuGemm &gemm, const GemmBlock &block)
      : GemmSchedule(frame, gemm, block.y, block.x, block.k, block.threads()),
        block(block) {}

  bool emit();

private:
  /// A tile of one input in shared memory, twice.
  struct InputTile : InputRows {
    int64_t pitch, size; ///< elements: of a line, of the tile
    Value shared;
  };
  InputTile inputTile(const InputRows &input);
  SmallVector<Value> load(const InputTile &tile, LaneIndex k);
  void storeShared(const InputTile &tile, ArrayRef<Value> values,
                   LaneIndex half);
  void groupAt(const InputTile &tile, int64_t number, LaneIndex &row,
               LaneIndex &k);
  LaneIndex placeOf(const InputTile &tile, LaneIndex half, LaneIndex row,
                    LaneIndex k);
  SmallVector<Value> start();
  SmallVector<Value> multiply(LaneIndex half, ArrayRef<Value> sums);
  Value fromShared(const InputTile &tile, LaneIndex half, LaneIndex row,
                   int64_t k, int64_t width);
  SmallVector<SmallVector<Value>> read(const InputTile &tile, LaneIndex half,
                                       int64_t k, int64_t steps, bool isY);
  SmallVector<Value> rowValues(const InputTile &tile, LaneIndex half, int64_t k,
                               bool isY);
  bool multiplyRow(ArrayRef<Value> ys, ArrayRef<Value> xs,
                   MutableArrayRef<Value> sums);
  bool epilogue(ArrayRef<Value> sums);

  LaneIndex yOf(int64_t number);
  LaneIndex xOf(int64_t chunk);
  int64_t chunks() const { return block.perThreadX / width; }
  int64_t groups(const InputTile &tile) const {
    return tile.rows * block.k / tile.lanes;
  }

  const GemmBlock &block;
  int64_t width = 1;  ///< neighbours along x that a thread has
  int64_t height = 1; ///< neighbours along y that a thread has
  LaneIndex threadY, threadX;
  InputTile y, x;
};
} // namespace

LaneIndex Contraction::yOf(int64_t number) {
  int64_t chunk = number / height, within = number % height;
  return math.add(math.scale(threadY, {height, nullptr}),
                  math.constant(chunk * block.threadsY * height + within));
}

LaneIndex Contraction::xOf(int64_t chunk) {
  return math.add(math.scale(threadX, {width, nullptr}),
                  math.constant(chunk * block.threadsX * width));
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

Contraction::InputTile Contraction::inputTile(const InputRows &input) {
  InputTile tile{input, 0, 0, nullptr};
  // Lines of k are apart by 16 bytes more, so that neighbouring rows are not in
  // the same bank.
  tile.pitch = tile.alongK
                   ? gemmTileElements(1, block.k, *memoryBytes(tile.element))
                   : tile.rows;
  // As large if lines are rows, so that the plan need not know.
  tile.size = gemmTileElements(tile.rows, block.k, *memoryBytes(tile.element));
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get({2 * tile.size}, tile.element,
                              MemRefLayoutAttrInterface(), space);
  tile.shared = frame.kernel.addWorkgroupAttribution(type, loc);
  frame.kernel.setWorkgroupAttributionAttr(
      frame.kernel.getNumWorkgroupAttributions() - 1,
      LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(16));
  return tile;
}

/// Row and k, within the tile, of the `number`-th group that this thread loads.
void Contraction::groupAt(const InputTile &tile, int64_t number, LaneIndex &row,
                          LaneIndex &k) {
  int64_t lanes = tile.lanes,
          perLine = (tile.alongK ? block.k : tile.rows) / lanes;
  LaneIndex group = math.add(thread, math.constant(number * threads));
  LaneIndex within = *math.rem(group, {perLine, nullptr}),
            line = *math.div(group, {perLine, nullptr});
  if (number * threads % perLine == 0) {
    within = *math.rem(thread, {perLine, nullptr});
    line = math.add(*math.div(thread, {perLine, nullptr}),
                    math.constant(number * threads / perLine));
  }
  within = math.scale(within, {lanes, nullptr});
  within.step = lanes > 1 ? 1 : 0;
  row = tile.alongK ? line : within;
  k = tile.alongK ? within : line;
}

SmallVector<Value> Contraction::load(const InputTile &tile, LaneIndex start) {
  SmallVector<Value> values;
  int64_t count = llvm::divideCeil(groups(tile), threads);
  // Threads that are too many load what exists, and do not store it.
  bool excess = groups(tile) % threads;
  for (int64_t i = 0; i < count; ++i) {
    LaneIndex row, k;
    groupAt(tile, i, row, k);
    Value value = loadInput(tile, row, math.add(start, k), excess);
    if (!value)
      return {};
    values.push_back(value);
  }
  return values;
}

LaneIndex Contraction::placeOf(const InputTile &tile, LaneIndex half,
                               LaneIndex row, LaneIndex k) {
  LaneIndex line = tile.alongK ? row : k, within = tile.alongK ? k : row;
  return math.add(math.scale(half, {tile.size, nullptr}),
                  math.add(math.scale(line, {tile.pitch, nullptr}), within));
}

void Contraction::storeShared(const InputTile &tile, ArrayRef<Value> values,
                              LaneIndex half) {
  int64_t bytes = *memoryBytes(tile.element) * tile.lanes;
  for (auto [i, value] : llvm::enumerate(values)) {
    LaneIndex row, k;
    groupAt(tile, i, row, k);
    LaneIndex place = placeOf(tile, half, row, k);
    OpBuilder::InsertionGuard guard(builder);
    int64_t left = groups(tile) - int64_t(i) * threads;
    if (left < threads) {
      auto branch = scf::IfOp::create(builder, loc,
                                      math.less(thread, math.constant(left)),
                                      /*withElseRegion=*/false);
      builder.setInsertionPointToStart(branch.thenBlock());
    }
    if (isa<VectorType>(value.getType()))
      vector::StoreOp::create(builder, loc, value, tile.shared, place.base,
                              /*nontemporal=*/false,
                              llvm::MaybeAlign(std::min<int64_t>(bytes, 16)));
    else
      memref::StoreOp::create(builder, loc, value, tile.shared, place.base);
  }
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// `width` elements from shared memory, contiguous in it.
Value Contraction::fromShared(const InputTile &tile, LaneIndex half,
                              LaneIndex row, int64_t k, int64_t width) {
  LaneIndex place = placeOf(tile, half, row, math.constant(k));
  if (width == 1)
    return memref::LoadOp::create(builder, loc, tile.shared, place.base);
  int64_t bytes = *memoryBytes(tile.element) * width;
  return vector::LoadOp::create(builder, loc,
                                VectorType::get({width}, tile.element),
                                tile.shared, place.base, /*nontemporal=*/false,
                                llvm::MaybeAlign(std::min<int64_t>(bytes, 16)));
}

/// The thread's elements of a tile at `k`, rows contiguous.
SmallVector<Value> Contraction::rowValues(const InputTile &tile, LaneIndex half,
                                          int64_t k, bool isY) {
  int64_t count = isY ? block.perThreadY : block.perThreadX,
          near = isY ? height : width;
  SmallVector<Value> values;
  for (int64_t i = 0; i < count; i += near) {
    LaneIndex row = isY ? yOf(i) : xOf(i / width);
    Value group = fromShared(tile, half, row, k, near);
    for (int64_t j = 0; j < near; ++j)
      values.push_back(
          near == 1 ? group
                    : Value(vector::ExtractOp::create(builder, loc, group, j)));
  }
  return values;
}

/// By step from `k` on, the thread's elements of a tile.
SmallVector<SmallVector<Value>> Contraction::read(const InputTile &tile,
                                                  LaneIndex half, int64_t k,
                                                  int64_t steps, bool isY) {
  SmallVector<SmallVector<Value>> byStep(steps);
  if (!tile.alongK) {
    for (int64_t step = 0; step < steps; ++step)
      byStep[step] = rowValues(tile, half, k + step, isY);
    return byStep;
  }
  int64_t count = isY ? block.perThreadY : block.perThreadX;
  for (int64_t i = 0; i < count; ++i) {
    LaneIndex row =
        isY ? yOf(i) : math.add(xOf(i / width), math.constant(i % width));
    Value line = fromShared(tile, half, row, k, steps);
    for (int64_t step = 0; step < steps; ++step)
      byStep[step].push_back(steps == 1 ? line
                                        : Value(vector::ExtractOp::create(
                                              builder, loc, line, step)));
  }
  return byStep;
}

/// The outer product of the thread's elements at one k.
bool Contraction::multiplyRow(ArrayRef<Value> ys, ArrayRef<Value> xs,
                              MutableArrayRef<Value> sums) {
  for (int64_t chunk = 0; chunk < chunks(); ++chunk) {
    ArrayRef<Value> lanes = xs.slice(chunk * width, width);
    Value right = lanes[0];
    if (width > 1)
      right = vector::FromElementsOp::create(
          builder, loc, VectorType::get({width}, x.element), lanes);
    for (int64_t i = 0; i < block.perThreadY; ++i) {
      Value &sum = sums[i * chunks() + chunk];
      SmallVector<Value> values(3);
      values[y.operand] = ys[i];
      values[x.operand] = right;
      values[2] = sum;
      SmallVector<Value> next = elements.inlineBody(gemm.op, values, {});
      if (next.empty())
        return false;
      sum = elements.splat(next.front());
    }
  }
  return true;
}

SmallVector<Value> Contraction::multiply(LaneIndex half, ArrayRef<Value> sums) {
  SmallVector<Value> result(sums);
  int64_t steps = gemmSteps(block.k);
  math.lanes = width;
  for (int64_t k = 0; k < block.k; k += steps) {
    auto ys = read(y, half, k, steps, true),
         xs = read(x, half, k, steps, false);
    for (int64_t step = 0; step < steps; ++step)
      if (!multiplyRow(ys[step], xs[step], result))
        return {};
  }
  return result;
}

SmallVector<Value> Contraction::start() {
  SmallVector<Value> sums;
  for (int64_t i = 0; i < block.perThreadY; ++i)
    for (int64_t chunk = 0; chunk < chunks(); ++chunk) {
      sums.push_back(startOf(yOf(i), xOf(chunk), width));
      if (!sums.back())
        return {};
    }
  return sums;
}

bool Contraction::epilogue(ArrayRef<Value> sums) {
  for (int64_t i = 0; i < block.perThreadY; ++i)
    for (int64_t chunk = 0; chunk < chunks(); ++chunk)
      if (!finish(yOf(i), xOf(chunk), width, sums[i * chunks() + chunk]))
        return false;
  return true;
}

bool Contraction::emit() {
  place();
  threadY = *math.div(thread, {block.threadsX, nullptr});
  threadX = *math.rem(thread, {block.threadsX, nullptr});
  width = gemmNeighbours(block.perThreadX);
  height = gemmNeighbours(block.perThreadY);
  y = inputTile(inputRows(gemm.yOperand, gemm.y, block.y, startY));
  x = inputTile(inputRows(gemm.xOperand, gemm.x, block.x, startX));
  SmallVector<Value> sums = start();
  LaneIndex zero = math.constant(0), one = math.constant(1);
  SmallVector<Value> firstY = load(y, zero), firstX = load(x, zero);
  if (sums.empty() || firstY.empty() || firstX.empty())
    return false;
  storeShared(y, firstY, zero);
  storeShared(x, firstX, zero);
  gpu::BarrierOp::create(builder, loc);
  Extent count = rounds();
  auto round = [&](ArrayRef<LaneIndex> at, ArrayRef<Value> values) {
    LaneIndex half = *math.rem(at[0], {2, nullptr});
    // The last round loads its own tile again: there is no next one.
    LaneIndex next =
        math.min(math.add(at[0], one), math.sub(math.of(count), one));
    LaneIndex k = math.scale(next, {block.k, nullptr});
    SmallVector<Value> nextY = load(y, k), nextX = load(x, k),
                       result = multiply(half, values);
    if (nextY.empty() || nextX.empty() || result.empty())
      return SmallVector<Value>();
    LaneIndex other = math.sub(one, half);
    storeShared(y, nextY, other);
    storeShared(x, nextX, other);
    gpu::BarrierOp::create(builder, loc);
    return result;
  };
  sums = elements.loops({count}, sums, round);
  return !sums.empty() && !elements.failedOp && epilogue(sums);
}

bool fuse::emitGemm(GpuFrame &frame, const GpuTile &tile, std::string &why) {
  std::optional<GpuGemm> gemm = GpuGemm::of(frame, why);
  if (!gemm)
    return false;
  int64_t m = 64, n = 64, k = 8, threads = 64;
  if (tile.sizes.size() == 3) {
    m = tile.sizes[0], n = tile.sizes[1], k = tile.sizes[2];
    threads = tile.threads;
  }
  std::optional<GemmBlock> block =
      GemmBlock::split(gemm->xIsM ? n : m, gemm->xIsM ? m : n, k, threads);
  if (!block) {
    why = llvm::formatv("{0} threads cannot share a tile of {1} x {2}", threads,
                        m, n);
    return false;
  }
  if (Contraction(frame, *gemm, *block).emit())
    return true;
  why = "no code for " + (frame.elements.failure.empty()
                              ? std::string("its epilogue")
                              : frame.elements.failure);
  return false;
}
