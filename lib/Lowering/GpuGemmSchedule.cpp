//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads, starts and epilogues of matrix products.
//
//===----------------------------------------------------------------------===//

#include "GpuGemmSchedule.h"
#include "GpuAccess.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace fuse;

Value GemmSchedule::both(Value a, Value b) {
  return a && b ? arith::AndIOp::create(builder, loc, a, b) : a ? a : b;
}

Extent fuse::tilesOf(IndexMath &math, const Extent &all, int64_t tile) {
  if (all.isStatic())
    return {int64_t(llvm::divideCeil(all.size, tile)), nullptr};
  LaneIndex up = math.add(math.of(all), math.constant(tile - 1));
  return {ShapedType::kDynamic, math.div(up, {tile, nullptr})->base};
}

void GemmSchedule::place() {
  SmallVector<Extent> grid = {
      math.product(gemm.batch.extents),
      tilesOf(math, math.product(gemm.y.extents), tileY),
      tilesOf(math, math.product(gemm.x.extents), tileX)};
  Lanes at = *math.delinearize({frame.blockId(), 0, 1}, grid);
  batch = *math.delinearize(at[0], gemm.batch.extents);
  startY = math.scale(at[1], {tileY, nullptr});
  startX = math.scale(at[2], {tileX, nullptr});
  thread = {frame.threadId(), 0, 1};
  AffineExpr blocks = frame.hostProduct(gemm.batch.extents) *
                      frame.hostProduct(gemm.y.extents).ceilDiv(tileY) *
                      frame.hostProduct(gemm.x.extents).ceilDiv(tileX);
  frame.launch(blocks, threads);
  elements.reduce = [this](linalg::LinalgOp op, unsigned,
                           ArrayRef<LaneIndex> loops) -> Value {
    return op == gemm.op ? sumAt(loops) : nullptr;
  };
}

Extent GemmSchedule::rounds() {
  return tilesOf(math, math.product(gemm.k.extents), tileK);
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// The element of an input whose lanes are neighbours along `loop`.
static std::optional<ElementSource> lanesAt(GpuScratch &scratch,
                                            const GpuGemm &gemm,
                                            unsigned operand, unsigned loop,
                                            unsigned lanes) {
  scratch.elements.math.lanes = lanes;
  Lanes loops;
  for (unsigned i = 0; i < gemm.op.getNumLoops(); ++i)
    loops.push_back(scratch.standIn());
  loops[loop].step = 1;
  loops[loop].multiple = lanes;
  auto sources = scratch.elements.operandsAt(gemm.op, loops);
  return sources ? (*sources)[operand] : std::nullopt;
}

/// Steps of the loads of such an input.
static std::optional<SmallVector<int64_t>>
stepsAlong(GpuFrame &frame, const GpuGemm &gemm, unsigned operand,
           unsigned loop, unsigned lanes) {
  GpuScratch scratch(frame);
  auto source = lanesAt(scratch, gemm, operand, loop, lanes);
  if (!source)
    return std::nullopt;
  return loadSteps(scratch.elements, source->tensor, source->indices);
}

bool GemmSchedule::isAligned(const InputRows &input) {
  if (input.lanes == 1)
    return true;
  GpuScratch scratch(frame);
  auto source =
      lanesAt(scratch, gemm, input.operand,
              fastestLoop(input.alongK ? gemm.k : *input.dim), input.lanes);
  return source &&
         areAligned(scratch.elements, source->tensor, source->indices);
}

bool GemmSchedule::isContiguous(unsigned operand, unsigned loop,
                                unsigned lanes) {
  auto steps = stepsAlong(frame, gemm, operand, loop, lanes);
  return steps && llvm::is_contained(*steps, 1) &&
         llvm::all_of(*steps,
                      [](int64_t step) { return step == 0 || step == 1; });
}

std::optional<int64_t>
GemmSchedule::strideAlong(unsigned operand, const GemmDim &dim, int64_t tile) {
  unsigned loop = fastestLoop(dim);
  int64_t length = 1;
  for (auto [other, extent] : llvm::zip_equal(dim.loops, dim.extents)) {
    if (other == loop ? !extent.isStatic() || extent.size % tile
                      : !(extent == Extent{1, nullptr}))
      return std::nullopt;
    length *= extent.size;
  }
  // All of them at once: part of the way it may be one step, as within a head.
  auto steps = stepsAlong(frame, gemm, operand, loop, length);
  if (!steps || steps->size() != 1)
    return std::nullopt;
  return steps->front();
}

unsigned fuse::fastestLoop(const GemmDim &dim) {
  for (auto [loop, extent] :
       llvm::reverse(llvm::zip_equal(dim.loops, dim.extents)))
    if (!(extent == Extent{1, nullptr}))
      return loop;
  return dim.loops.back();
}

unsigned GemmSchedule::lanesAlong(unsigned operand, const GemmDim &dim,
                                  int64_t tile, Type element) {
  constexpr unsigned accessBytes = 16;
  unsigned lanes = std::min(8u, accessBytes / *memoryBytes(element));
  Extent innermost = innermostOf(dim.extents);
  while (lanes > 1 &&
         (!innermost.isStatic() || innermost.size % lanes || tile % lanes ||
          !isContiguous(operand, fastestLoop(dim), lanes)))
    lanes /= 2;
  return lanes;
}

GemmSchedule::InputRows GemmSchedule::inputRows(unsigned operand,
                                                const GemmDim &dim,
                                                int64_t rows, LaneIndex start) {
  InputRows input;
  input.operand = operand;
  input.dim = &dim;
  input.rows = rows;
  input.start = start;
  input.element = getElementTypeOrSelf(
      gemm.op.getDpsInputOperand(operand)->get().getType());
  input.alongK = !isContiguous(operand, fastestLoop(dim), 1) &&
                 isContiguous(operand, fastestLoop(gemm.k), 1);
  input.lanes = input.alongK ? lanesAlong(operand, gemm.k, tileK, input.element)
                             : lanesAlong(operand, dim, rows, input.element);
  chooseCopies(input);
  return input;
}

LaneIndex GemmSchedule::within(const GemmDim &dim, int64_t tile,
                               LaneIndex position, unsigned lanes,
                               Value &inside) {
  Extent all = math.product(dim.extents);
  if (tile && all.isStatic() && all.size % tile == 0)
    return position;
  inside = both(inside, math.less(position, math.of(all)));
  return math.min(position,
                  math.sub(math.of(all), math.constant(int64_t(lanes))));
}

std::optional<ElementSource> GemmSchedule::inputAt(const InputRows &input,
                                                   LaneIndex row, LaneIndex k,
                                                   bool anyRow,
                                                   Value &insideK) {
  math.lanes = input.lanes;
  Value insideRow;
  row = within(*input.dim, anyRow ? 0 : input.rows, math.add(input.start, row),
               row.step ? input.lanes : 1, insideRow);
  k = within(gemm.k, tileK, k, k.step ? input.lanes : 1, insideK);
  std::optional<Lanes> rows = math.delinearize(row, input.dim->extents),
                       sums = math.delinearize(k, gemm.k.extents);
  if (!rows || !sums)
    return std::nullopt;
  Lanes loops(gemm.op.getNumLoops(), math.constant(0));
  auto set = [&](const GemmDim &dim, const Lanes &values) {
    for (auto [loop, value] : llvm::zip_equal(dim.loops, values))
      loops[loop] = value;
  };
  set(gemm.batch, batch);
  set(*input.dim, *rows);
  set(gemm.k, *sums);
  auto sources = elements.operandsAt(gemm.op, loops);
  if (!sources)
    return std::nullopt;
  return (*sources)[input.operand];
}

Value GemmSchedule::loadInput(const InputRows &input, LaneIndex row,
                              LaneIndex k, bool anyRow) {
  Value insideK;
  std::optional<ElementSource> source = inputAt(input, row, k, anyRow, insideK);
  Value value = source ? elements.at(source->tensor, source->indices) : nullptr;
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

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

std::optional<Lanes> GemmSchedule::loopsAt(LaneIndex y, LaneIndex x) {
  std::optional<Lanes> ys = math.delinearize(y, gemm.y.extents),
                       xs = math.delinearize(x, gemm.x.extents);
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

std::optional<Lanes> GemmSchedule::resultIndices(Lanes loops) {
  for (LaneIndex &index : loops)
    if (!index.base)
      index = math.constant(0);
  return math.apply(
      gemm.op.getMatchingIndexingMap(gemm.op.getDpsInitOperand(0)), loops);
}

Value GemmSchedule::startOf(LaneIndex y, LaneIndex x, int64_t width) {
  Value init = gemm.op.getDpsInitOperand(0)->get(), inside;
  LaneIndex row = within(gemm.y, tileY, math.add(startY, y), 1, inside);
  SmallVector<Value> lanes;
  for (int64_t lane = 0; lane < width; ++lane) {
    LaneIndex column = math.add(math.add(startX, x), math.constant(lane));
    column = within(gemm.x, tileX, column, 1, inside);
    std::optional<Lanes> loops = loopsAt(row, column);
    std::optional<Lanes> indices = resultIndices(*loops);
    Value value = indices ? elements.at(init, *indices) : nullptr;
    if (!value)
      return nullptr;
    lanes.push_back(value);
  }
  math.lanes = width;
  if (llvm::all_equal(lanes))
    return elements.splat(lanes[0]);
  return vector::FromElementsOp::create(
      builder, loc, VectorType::get({width}, lanes[0].getType()), lanes);
}

//===----------------------------------------------------------------------===//
// Epilogue
//===----------------------------------------------------------------------===//

Value GemmSchedule::sumAt(ArrayRef<LaneIndex> loops) {
  auto isAt = [&](auto lane) {
    return llvm::all_of(llvm::zip_equal(loops, current), [&](auto pair) {
      auto [asked, known] = pair;
      return asked.base == (known.base ? lane(known).base : known.base);
    });
  };
  bool wide = llvm::any_of(loops, [](LaneIndex i) { return i.step != 0; });
  if (wide || !isa<VectorType>(currentValue.getType()))
    return isAt([](LaneIndex index) { return index; }) ? currentValue : nullptr;
  for (unsigned lane = 0; lane < math.lanes; ++lane)
    if (isAt([&](LaneIndex index) { return math.lane(index, lane); }))
      return vector::ExtractOp::create(builder, loc, currentValue,
                                       int64_t(lane));
  return nullptr;
}

bool GemmSchedule::store(const GpuOutput &output, Value condition) {
  std::optional<Lanes> own = resultIndices(current), indices;
  if (own)
    indices =
        forwardIndices(elements, gemm.op->getResult(0), output.value, *own);
  std::optional<LaneIndex> place;
  if (indices)
    place = math.linearize(*indices, elements.extents(output.value));
  Value value = place ? elements.at(output.value, *indices) : nullptr;
  if (!value)
    return false;
  elements.storeIf(condition, value, output.pointer, *place, output.element);
  return true;
}

bool GemmSchedule::storeSums(const Lanes &loops, Value inside, Value sums) {
  current = loops;
  currentValue = sums;
  elements.enter();
  bool fine = llvm::all_of(frame.outputs, [&](const GpuOutput &output) {
    return store(output, inside);
  });
  elements.leave();
  return fine;
}

bool GemmSchedule::finish(LaneIndex y, LaneIndex x, int64_t width, Value sum) {
  Extent innermost = innermostOf(gemm.x.extents);
  bool wide = width > 1 && innermost.isStatic() && innermost.size % width == 0;
  math.lanes = wide ? width : 1;
  for (int64_t lane = 0; lane < (wide ? 1 : width); ++lane) {
    Value inside;
    LaneIndex row = within(gemm.y, tileY, math.add(startY, y), 1, inside);
    LaneIndex column = math.add(math.add(startX, x), math.constant(lane));
    column = within(gemm.x, tileX, column, math.lanes, inside);
    column.step = wide ? 1 : 0;
    Value own = wide || width == 1
                    ? sum
                    : Value(vector::ExtractOp::create(builder, loc, sum, lane));
    std::optional<Lanes> loops = loopsAt(row, column);
    if (!loops || !storeSums(*loops, inside, own))
      return false;
  }
  return true;
}
