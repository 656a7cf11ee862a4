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

#include "GpuAccess.h"
#include "GpuGemm.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace fuse;

namespace {
/// A tile of one input in shared memory.
struct InputTile {
  unsigned operand;
  const GemmDim *dim;  ///< y or x
  int64_t rows;        ///< of the tile along `dim`
  LaneIndex start;     ///< of the block along `dim`
  bool alongK;         ///< k is contiguous, else the rows
  unsigned lanes;      ///< of a load from global memory
  int64_t pitch, size; ///< elements: of a line, of the tile
  Value shared;
  Type element;
};

class Contraction {
public:
  Contraction(GpuFrame &frame, const GpuGemm &gemm, const GemmBlock &block)
      : frame(frame), gemm(gemm), block(block), elements(frame.elements),
        math(frame.elements.math), builder(frame.builder), loc(frame.loc) {}

  bool emit();

private:
  void place();
  InputTile inputTile(unsigned operand, const GemmDim &dim, int64_t rows,
                      LaneIndex start);
  bool isContiguous(unsigned operand, unsigned loop, unsigned lanes);
  unsigned lanesAlong(unsigned operand, const GemmDim &dim, int64_t tile,
                      Type element);
  SmallVector<Value> load(const InputTile &tile, LaneIndex k);
  Value loadGroup(const InputTile &tile, LaneIndex row, LaneIndex k);
  void storeShared(const InputTile &tile, ArrayRef<Value> values,
                   LaneIndex half);
  void groupAt(const InputTile &tile, int64_t number, LaneIndex &row,
               LaneIndex &k);
  SmallVector<Value> start();
  SmallVector<Value> multiply(LaneIndex half, ArrayRef<Value> sums);
  Value fromShared(const InputTile &tile, LaneIndex half, LaneIndex row,
                   int64_t k, int64_t width);
  SmallVector<Value> rowValues(const InputTile &tile, LaneIndex half, int64_t k,
                               bool y);
  bool epilogue(ArrayRef<Value> sums);
  bool store(unsigned output, const Lanes &loops, Value condition);

  LaneIndex yOf(int64_t number);
  LaneIndex xOf(int64_t chunk);
  /// A position in `dim`, within it; `inside` says whether it was.
  LaneIndex within(const GemmDim &dim, int64_t tile, LaneIndex position,
                   unsigned lanes, Value &inside);
  std::optional<Lanes> loopsAt(LaneIndex y, LaneIndex x);
  Value both(Value a, Value b);
  int64_t chunks() const { return block.perThreadX / width; }
  int64_t groups(const InputTile &tile) const {
    return tile.rows * block.k / tile.lanes;
  }

  GpuFrame &frame;
  const GpuGemm &gemm;
  const GemmBlock &block;
  Elements &elements;
  IndexMath &math;
  OpBuilder &builder;
  Location loc;
  int64_t width = 1;  ///< neighbours along x that a thread has
  int64_t height = 1; ///< neighbours along y that a thread has
  LaneIndex thread, threadY, threadX, startY, startX;
  Lanes batch;
  InputTile y, x;
  Lanes current;      ///< loops of the sum that the epilogue is at
  Value currentValue; ///< that sum
};
} // namespace

Value Contraction::both(Value a, Value b) {
  return a && b ? arith::AndIOp::create(builder, loc, a, b) : a ? a : b;
}

static Extent whole(IndexMath &math, const GemmDim &dim) {
  return math.product(dim.extents);
}

/// Where the block and the thread are.
void Contraction::place() {
  auto tilesOf = [&](const GemmDim &dim, int64_t tile) -> Extent {
    Extent all = whole(math, dim);
    if (all.isStatic())
      return {int64_t(llvm::divideCeil(all.size, tile)), nullptr};
    LaneIndex up = math.add(math.of(all), math.constant(tile - 1));
    return {ShapedType::kDynamic, math.div(up, {tile, nullptr})->base};
  };
  SmallVector<Extent> grid = {whole(math, gemm.batch), tilesOf(gemm.y, block.y),
                              tilesOf(gemm.x, block.x)};
  Lanes at = *math.delinearize({frame.blockId(), 0, 1}, grid);
  batch = *math.delinearize(at[0], gemm.batch.extents);
  startY = math.scale(at[1], {block.y, nullptr});
  startX = math.scale(at[2], {block.x, nullptr});
  thread = {frame.threadId(), 0, 1};
  threadY = *math.div(thread, {block.threadsX, nullptr});
  threadX = *math.rem(thread, {block.threadsX, nullptr});
  constexpr int64_t most = 4; // 16 bytes of f32
  auto neighbours = [](int64_t count) {
    int64_t result = most;
    while (count % result)
      result /= 2;
    return result;
  };
  width = neighbours(block.perThreadX);
  height = neighbours(block.perThreadY);
  AffineExpr blocks = frame.hostProduct(gemm.batch.extents) *
                      frame.hostProduct(gemm.y.extents).ceilDiv(block.y) *
                      frame.hostProduct(gemm.x.extents).ceilDiv(block.x);
  frame.launch(blocks, block.threads());
}

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

/// True if neighbours along `loop` are neighbours in memory, `lanes` at a time.
bool Contraction::isContiguous(unsigned operand, unsigned loop,
                               unsigned lanes) {
  GpuScratch scratch(frame);
  scratch.elements.math.lanes = lanes;
  Lanes loops;
  for (unsigned i = 0; i < gemm.op.getNumLoops(); ++i)
    loops.push_back(scratch.standIn());
  loops[loop].step = 1;
  loops[loop].multiple = lanes;
  auto sources = scratch.elements.operandsAt(gemm.op, loops);
  if (!sources)
    return false;
  const ElementSource &source = *(*sources)[operand];
  auto steps = loadSteps(scratch.elements, source.tensor, source.indices);
  return steps && llvm::is_contained(*steps, 1) &&
         llvm::all_of(*steps,
                      [](int64_t step) { return step == 0 || step == 1; });
}

/// The loop of `dim` that moves fastest.
static unsigned fastest(const GemmDim &dim) {
  for (auto [loop, extent] :
       llvm::reverse(llvm::zip_equal(dim.loops, dim.extents)))
    if (!(extent == Extent{1, nullptr}))
      return loop;
  return dim.loops.back();
}

unsigned Contraction::lanesAlong(unsigned operand, const GemmDim &dim,
                                 int64_t tile, Type element) {
  constexpr unsigned accessBytes = 16;
  unsigned lanes = std::min(8u, accessBytes / *memoryBytes(element));
  Extent innermost = innermostOf(dim.extents);
  while (lanes > 1 &&
         (!innermost.isStatic() || innermost.size % lanes || tile % lanes ||
          !isContiguous(operand, fastest(dim), lanes)))
    lanes /= 2;
  return lanes;
}

InputTile Contraction::inputTile(unsigned operand, const GemmDim &dim,
                                 int64_t rows, LaneIndex start) {
  InputTile tile;
  tile.operand = operand;
  tile.dim = &dim;
  tile.rows = rows;
  tile.start = start;
  tile.element = getElementTypeOrSelf(
      gemm.op.getDpsInputOperand(operand)->get().getType());
  tile.alongK = !isContiguous(operand, fastest(dim), 1) &&
                isContiguous(operand, fastest(gemm.k), 1);
  tile.lanes = tile.alongK ? lanesAlong(operand, gemm.k, block.k, tile.element)
                           : lanesAlong(operand, dim, rows, tile.element);
  // Lines of k are apart by 16 bytes more, so that neighbouring rows are not in
  // the same bank.
  int64_t padding = 16 / *memoryBytes(tile.element);
  tile.pitch = tile.alongK ? block.k + padding : rows;
  tile.size = tile.alongK ? rows * tile.pitch : block.k * rows;
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
          perLine = (tile.alongK ? block.k : tile.rows) / lanes,
          before = number * block.threads();
  LaneIndex within, line;
  if (before % perLine == 0) {
    within = *math.rem(thread, {perLine, nullptr});
    line = math.add(*math.div(thread, {perLine, nullptr}),
                    math.constant(before / perLine));
  } else {
    LaneIndex group = math.add(thread, math.constant(before));
    within = *math.rem(group, {perLine, nullptr});
    line = *math.div(group, {perLine, nullptr});
  }
  within = math.scale(within, {lanes, nullptr});
  within.step = lanes > 1 ? 1 : 0;
  row = tile.alongK ? line : within;
  k = tile.alongK ? within : line;
}

LaneIndex Contraction::within(const GemmDim &dim, int64_t tile,
                              LaneIndex position, unsigned lanes,
                              Value &inside) {
  Extent all = whole(math, dim);
  if (all.isStatic() && all.size % tile == 0)
    return position;
  inside = both(inside, math.less(position, math.of(all)));
  return math.min(position,
                  math.sub(math.of(all), math.constant(int64_t(lanes))));
}

Value Contraction::loadGroup(const InputTile &tile, LaneIndex row,
                             LaneIndex k) {
  Value insideRow, insideK;
  unsigned lanes = tile.lanes;
  bool excess = groups(tile) % block.threads();
  LaneIndex position = math.add(tile.start, row);
  // Threads that are too many load what exists, and do not store it.
  position = within(*tile.dim, excess ? INT64_MAX : tile.rows, position,
                    row.step ? lanes : 1, insideRow);
  k = within(gemm.k, block.k, k, k.step ? lanes : 1, insideK);
  std::optional<Lanes> rows = math.delinearize(position, tile.dim->extents),
                       sums = math.delinearize(k, gemm.k.extents);
  if (!rows || !sums)
    return nullptr;
  Lanes loops(gemm.op.getNumLoops(), math.constant(0));
  auto set = [&](const GemmDim &dim, const Lanes &values) {
    for (auto [loop, value] : llvm::zip_equal(dim.loops, values))
      loops[loop] = value;
  };
  set(gemm.batch, batch);
  set(*tile.dim, *rows);
  set(gemm.k, *sums);
  auto sources = elements.operandsAt(gemm.op, loops);
  if (!sources)
    return nullptr;
  const ElementSource &source = *(*sources)[tile.operand];
  Value value = elements.at(source.tensor, source.indices);
  if (!value)
    return nullptr;
  value = elements.splat(value);
  if (!insideK)
    return value;
  // Beyond the last k both inputs are 0, so that nothing is added.
  Value zero = arith::ConstantOp::create(builder, loc,
                                         builder.getZeroAttr(value.getType()));
  return arith::SelectOp::create(builder, loc, insideK, value, zero);
}

SmallVector<Value> Contraction::load(const InputTile &tile, LaneIndex start) {
  SmallVector<Value> values;
  math.lanes = tile.lanes;
  int64_t count = llvm::divideCeil(groups(tile), block.threads());
  for (int64_t i = 0; i < count; ++i) {
    LaneIndex row, k;
    groupAt(tile, i, row, k);
    Value value = loadGroup(tile, row, math.add(start, k));
    if (!value)
      return {};
    values.push_back(value);
  }
  return values;
}

void Contraction::storeShared(const InputTile &tile, ArrayRef<Value> values,
                              LaneIndex half) {
  int64_t bytes = *memoryBytes(tile.element) * tile.lanes;
  for (auto [i, value] : llvm::enumerate(values)) {
    LaneIndex row, k;
    groupAt(tile, i, row, k);
    LaneIndex line = tile.alongK ? row : k, within = tile.alongK ? k : row;
    LaneIndex place =
        math.add(math.scale(half, {tile.size, nullptr}),
                 math.add(math.scale(line, {tile.pitch, nullptr}), within));
    OpBuilder::InsertionGuard guard(builder);
    int64_t left = groups(tile) - int64_t(i) * block.threads();
    if (left < block.threads()) {
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
  LaneIndex line = tile.alongK ? row : math.constant(k),
            within = tile.alongK ? math.constant(k) : row;
  LaneIndex place =
      math.add(math.scale(half, {tile.size, nullptr}),
               math.add(math.scale(line, {tile.pitch, nullptr}), within));
  if (width == 1)
    return memref::LoadOp::create(builder, loc, tile.shared, place.base);
  int64_t bytes = *memoryBytes(tile.element) * width;
  while (bytes > 16 || (bytes & (bytes - 1)))
    bytes /= 2;
  return vector::LoadOp::create(
      builder, loc, VectorType::get({width}, tile.element), tile.shared,
      place.base, /*nontemporal=*/false, llvm::MaybeAlign(bytes));
}

/// The thread's elements of a tile at `k`, one by one, or, `k` contiguous, at
/// the `steps` from `k` on: by row, then by k.
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

SmallVector<Value> Contraction::multiply(LaneIndex half, ArrayRef<Value> sums) {
  SmallVector<Value> result(sums);
  constexpr int64_t most = 4;
  int64_t steps = block.k % most ? 1 : most;
  /// By k of the steps, the values of the thread's rows.
  auto read = [&](const InputTile &tile, int64_t k, bool isY) {
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
  };
  math.lanes = width;
  for (int64_t k = 0; k < block.k; k += steps) {
    auto ys = read(y, k, true), xs = read(x, k, false);
    for (int64_t step = 0; step < steps; ++step)
      for (int64_t chunk = 0; chunk < chunks(); ++chunk) {
        ArrayRef<Value> lanes = ArrayRef(xs[step]).slice(chunk * width, width);
        Value right = width == 1
                          ? lanes[0]
                          : Value(vector::FromElementsOp::create(
                                builder, loc,
                                VectorType::get({width}, x.element), lanes));
        for (int64_t i = 0; i < block.perThreadY; ++i) {
          Value &sum = result[i * chunks() + chunk];
          SmallVector<Value> values(3);
          values[y.operand] = ys[step][i];
          values[x.operand] = right;
          values[2] = sum;
          SmallVector<Value> next = elements.inlineBody(gemm.op, values, {});
          if (next.empty())
            return {};
          sum = elements.splat(next.front());
        }
      }
  }
  return result;
}

std::optional<Lanes> Contraction::loopsAt(LaneIndex atY, LaneIndex atX) {
  std::optional<Lanes> ys = math.delinearize(atY, gemm.y.extents),
                       xs = math.delinearize(atX, gemm.x.extents);
  if (!ys || !xs)
    return std::nullopt;
  Lanes loops(gemm.op.getNumLoops(), LaneIndex{});
  auto set = [&](const GemmDim &dim, const Lanes &values) {
    for (auto [loop, value] : llvm::zip_equal(dim.loops, values))
      loops[loop] = value;
  };
  set(gemm.batch, batch);
  set(gemm.y, *ys);
  set(gemm.x, *xs);
  return loops;
}

/// What the sums start from.
SmallVector<Value> Contraction::start() {
  OpOperand *init = gemm.op.getDpsInitOperand(0);
  AffineMap map = gemm.op.getMatchingIndexingMap(init);
  SmallVector<Value> sums;
  math.lanes = width;
  for (int64_t i = 0; i < block.perThreadY; ++i)
    for (int64_t chunk = 0; chunk < chunks(); ++chunk) {
      Value inside;
      LaneIndex atY =
          within(gemm.y, block.y, math.add(startY, yOf(i)), 1, inside);
      SmallVector<Value> lanes;
      for (int64_t lane = 0; lane < width; ++lane) {
        LaneIndex atX =
            within(gemm.x, block.x,
                   math.add(math.add(startX, xOf(chunk)), math.constant(lane)),
                   1, inside);
        std::optional<Lanes> loops = loopsAt(atY, atX);
        for (LaneIndex &index : *loops)
          if (!index.base)
            index = math.constant(0);
        Value value = elements.at(init->get(), *math.apply(map, *loops));
        if (!value)
          return {};
        lanes.push_back(value);
      }
      bool same = llvm::all_equal(lanes);
      sums.push_back(
          same || width == 1
              ? elements.splat(lanes[0])
              : Value(vector::FromElementsOp::create(
                    builder, loc, VectorType::get({width}, lanes[0].getType()),
                    lanes)));
    }
  return sums;
}

//===----------------------------------------------------------------------===//
// Epilogue
//===----------------------------------------------------------------------===//

bool Contraction::store(unsigned number, const Lanes &loops, Value condition) {
  const GpuOutput &output = frame.outputs[number];
  AffineMap map = gemm.op.getMatchingIndexingMap(gemm.op.getDpsInitOperand(0));
  Lanes filled = loops;
  for (LaneIndex &index : filled)
    if (!index.base)
      index = math.constant(0);
  std::optional<Lanes> own = math.apply(map, filled), indices;
  if (own)
    indices =
        forwardIndices(elements, gemm.op->getResult(0), output.value, *own);
  std::optional<LaneIndex> place;
  if (indices)
    place = math.linearize(*indices, elements.extents(output.value));
  if (!place || (place->step != 0 && place->step != 1))
    return false;
  current = loops;
  Value value = elements.at(output.value, *indices);
  if (!value)
    return false;
  OpBuilder::InsertionGuard guard(builder);
  if (condition) {
    auto branch = scf::IfOp::create(builder, loc, condition,
                                    /*withElseRegion=*/false);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  elements.enter();
  elements.store(value, output.pointer, *place, output.element);
  elements.leave();
  return true;
}

bool Contraction::epilogue(ArrayRef<Value> sums) {
  elements.reduce = [&](linalg::LinalgOp op, unsigned,
                        ArrayRef<LaneIndex> loops) -> Value {
    if (op != gemm.op)
      return nullptr;
    auto isAt = [&](auto lane) {
      return llvm::all_of(llvm::zip_equal(loops, current), [&](auto pair) {
        auto [asked, known] = pair;
        return asked.base == (known.base ? lane(known).base : known.base);
      });
    };
    auto same = [](LaneIndex index) { return index; };
    bool steps = llvm::any_of(loops, [](LaneIndex i) { return i.step != 0; });
    if (steps || !isa<VectorType>(currentValue.getType()))
      return isAt(same) ? currentValue : nullptr;
    for (unsigned lane = 0; lane < math.lanes; ++lane)
      if (isAt([&](LaneIndex index) { return math.lane(index, lane); }))
        return vector::ExtractOp::create(builder, loc, currentValue,
                                         int64_t(lane));
    return nullptr;
  };
  Extent innermost = innermostOf(gemm.x.extents);
  bool wide = width > 1 && innermost.isStatic() && innermost.size % width == 0;
  for (int64_t i = 0; i < block.perThreadY; ++i)
    for (int64_t chunk = 0; chunk < chunks(); ++chunk) {
      Value sum = sums[i * chunks() + chunk];
      for (int64_t lane = 0; lane < (wide ? 1 : width); ++lane) {
        Value inside;
        math.lanes = wide ? width : 1;
        LaneIndex atY =
            within(gemm.y, block.y, math.add(startY, yOf(i)), 1, inside);
        LaneIndex atX =
            math.add(math.add(startX, xOf(chunk)), math.constant(lane));
        atX = within(gemm.x, block.x, atX, math.lanes, inside);
        atX.step = wide ? 1 : 0;
        currentValue =
            wide || width == 1
                ? sum
                : Value(vector::ExtractOp::create(builder, loc, sum, lane));
        elements.enter();
        std::optional<Lanes> loops = loopsAt(atY, atX);
        bool fine = loops.has_value();
        for (unsigned n = 0; fine && n < frame.outputs.size(); ++n)
          fine = store(n, *loops, inside);
        elements.leave();
        if (!fine)
          return false;
      }
    }
  return true;
}

bool Contraction::emit() {
  place();
  y = inputTile(gemm.yOperand, gemm.y, block.y, startY);
  x = inputTile(gemm.xOperand, gemm.x, block.x, startX);
  SmallVector<Value> sums = start();
  LaneIndex zero = math.constant(0), one = math.constant(1);
  SmallVector<Value> firstY = load(y, zero), firstX = load(x, zero);
  if (sums.empty() || firstY.empty() || firstX.empty())
    return false;
  storeShared(y, firstY, zero);
  storeShared(x, firstX, zero);
  gpu::BarrierOp::create(builder, loc);
  Extent all = whole(math, gemm.k);
  Extent rounds{ShapedType::kDynamic, nullptr};
  if (all.isStatic())
    rounds.size = llvm::divideCeil(all.size, block.k);
  else
    rounds.value = math.div(math.add(math.of(all), math.constant(block.k - 1)),
                            {block.k, nullptr})
                       ->base;
  auto round = [&](ArrayRef<LaneIndex> at, ArrayRef<Value> values) {
    LaneIndex half = *math.rem(at[0], {2, nullptr});
    LaneIndex next = math.add(at[0], one);
    // The last round loads its own tile again: there is no next one.
    LaneIndex known = math.min(next, math.sub(math.of(rounds), one));
    LaneIndex k = math.scale(known, {block.k, nullptr});
    SmallVector<Value> nextY = load(y, k), nextX = load(x, k), result;
    result = multiply(half, values);
    if (nextY.empty() || nextX.empty() || result.empty())
      return SmallVector<Value>();
    LaneIndex other = math.sub(one, half);
    storeShared(y, nextY, other);
    storeShared(x, nextX, other);
    gpu::BarrierOp::create(builder, loc);
    return result;
  };
  sums = elements.loops({rounds}, sums, round);
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
