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
//   for k by tile_k { wait for the tiles of this step; load those of the next;
//                     acc += lhs tile * rhs tile;
//                     store what was loaded to the other half }
//   epilogue on acc; store
//
// cp.async loads and stores at once where an input is not computed and the chip
// has it. A tile lies in shared memory as it lies in global memory, so that
// both are accessed 16 bytes at a time.
//
//===----------------------------------------------------------------------===//

#include "GpuGemmSchedule.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
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
    SmallVector<Value> loaded; ///< on their way to shared memory
  };
  InputTile inputTile(const InputRows &input);
  bool load(InputTile &tile, LaneIndex k, LaneIndex half);
  bool loadBoth(LaneIndex k, LaneIndex half);
  void storeShared(const InputTile &tile, LaneIndex half);
  void whereNeeded(const InputTile &tile, int64_t number,
                   llvm::function_ref<void()> body);
  Value placeOf(const InputTile &tile, LaneIndex half, LaneIndex row,
                LaneIndex k);
  SmallVector<Value> round(LaneIndex number, const Extent &count,
                           ArrayRef<Value> sums);
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
  int64_t perThread(const InputTile &tile) const {
    return llvm::divideCeil(groups(tile), threads);
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
  InputTile tile{input, 0, 0, nullptr, {}};
  // Lines of k are apart by 16 bytes more, so that neighbouring rows are not in
  // the same bank.
  tile.pitch = tile.alongK
                   ? gemmTileElements(1, block.k, *memoryBytes(tile.element))
                   : tile.rows;
  // As large if lines are rows, so that the plan need not know.
  tile.size = gemmTileElements(tile.rows, block.k, *memoryBytes(tile.element));
  tile.shared = sharedMemory(tile, 2 * tile.size);
  return tile;
}

/// Makes `body`, under a condition if not all threads have a `number`-th group.
void Contraction::whereNeeded(const InputTile &tile, int64_t number,
                              llvm::function_ref<void()> body) {
  int64_t left = groups(tile) - number * threads;
  if (left >= threads)
    return body();
  OpBuilder::InsertionGuard guard(builder);
  auto branch =
      scf::IfOp::create(builder, loc, math.less(thread, math.constant(left)),
                        /*withElseRegion=*/false);
  builder.setInsertionPointToStart(branch.thenBlock());
  elements.enter();
  body();
  elements.leave();
}

/// Begins to bring the tile at `start` to a half of shared memory.
bool Contraction::load(InputTile &tile, LaneIndex start, LaneIndex half) {
  tile.loaded.clear();
  // Threads that are too many load what exists, and do not store it.
  bool excess = groups(tile) % threads;
  for (int64_t i = 0; i < perThread(tile); ++i) {
    LaneIndex row, k;
    groupAt(tile, i, row, k);
    if (!tile.async) {
      tile.loaded.push_back(loadInput(tile, row, math.add(start, k), excess));
      if (!tile.loaded.back())
        return false;
      continue;
    }
    Value inside, from = sourceAddress(tile, row, k, start, excess, inside);
    if (!from)
      return false;
    whereNeeded(tile, i, [&] {
      startCopy(bytesOf(tile), placeOf(tile, half, row, k), from, inside);
    });
  }
  return true;
}

bool Contraction::loadBoth(LaneIndex start, LaneIndex half) {
  if (!load(y, start, half) || !load(x, start, half))
    return false;
  if (y.async || x.async)
    NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  return true;
}

Value Contraction::placeOf(const InputTile &tile, LaneIndex half, LaneIndex row,
                           LaneIndex k) {
  LaneIndex line = tile.alongK ? row : k, within = tile.alongK ? k : row;
  LaneIndex place =
      math.add(math.scale(half, {tile.size, nullptr}),
               math.add(math.scale(line, {tile.pitch, nullptr}), within));
  return offset(tile.shared, place.base, tile.element);
}

/// Bytes that an access of `lanes` neighbours in shared memory is aligned to.
static unsigned alignmentOf(Type element, int64_t lanes) {
  return std::min<int64_t>(16, *memoryBytes(element) * lanes);
}

void Contraction::storeShared(const InputTile &tile, LaneIndex half) {
  for (auto [i, value] : llvm::enumerate(tile.loaded)) {
    LaneIndex row, k;
    groupAt(tile, i, row, k);
    whereNeeded(tile, i, [&, own = value] {
      LLVM::StoreOp::create(builder, loc, elements.toMemory(own, tile.element),
                            placeOf(tile, half, row, k),
                            alignmentOf(tile.element, tile.lanes));
    });
  }
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// `width` elements from shared memory, contiguous in it.
Value Contraction::fromShared(const InputTile &tile, LaneIndex half,
                              LaneIndex row, int64_t k, int64_t width) {
  Type type = memoryType(tile.element);
  if (width > 1)
    type = VectorType::get({width}, type);
  Value value = LLVM::LoadOp::create(builder, loc, type,
                                     placeOf(tile, half, row, math.constant(k)),
                                     alignmentOf(tile.element, width));
  return elements.fromMemory(value, tile.element);
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

SmallVector<Value> Contraction::round(LaneIndex number, const Extent &count,
                                      ArrayRef<Value> sums) {
  LaneIndex one = math.constant(1), half = *math.rem(number, {2, nullptr}),
            other = math.sub(one, half);
  // The last round loads its own tile again: there is no next one.
  LaneIndex next =
      math.min(math.add(number, one), math.sub(math.of(count), one));
  LaneIndex k = math.scale(next, {block.k, nullptr});
  if (y.async || x.async)
    waitForCopies(0);
  // Nobody reads the other half any more from here on.
  gpu::BarrierOp::create(builder, loc);
  if (!loadBoth(k, other))
    return {};
  SmallVector<Value> result = multiply(half, sums);
  storeShared(y, other);
  storeShared(x, other);
  return result;
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
  LaneIndex zero = math.constant(0);
  if (sums.empty() || !loadBoth(zero, zero))
    return false;
  storeShared(y, zero);
  storeShared(x, zero);
  Extent count = rounds();
  sums = elements.loops({count}, sums,
                        [&](ArrayRef<LaneIndex> at, ArrayRef<Value> values) {
                          return round(at[0], count, values);
                        });
  if (sums.empty() || elements.failedOp)
    return false;
  if (y.async || x.async)
    waitForCopies(0);
  return epilogue(sums);
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
