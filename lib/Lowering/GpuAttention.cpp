//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention: which elements there are, and the steps over the keys.
//
// Keys and values of the next step are on their way while those of this one are
// used: k is copied behind the scores, v behind the products.
//
//===----------------------------------------------------------------------===//

#include "GpuAttention.h"
#include "GpuAccess.h"
#include "fuse/Analysis/Operators.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace fuse;

//===----------------------------------------------------------------------===//
// What the kernel computes
//===----------------------------------------------------------------------===//

/// The contractions of a kernel, the one that reads the other last.
static std::optional<OnlineSoftmax> formOf(func::FuncOp source) {
  SmallVector<linalg::LinalgOp, 2> heavy;
  source.walk([&](linalg::LinalgOp op) {
    if (isHeavy(roleOf(op)))
      heavy.push_back(op);
  });
  if (heavy.size() != 2)
    return std::nullopt;
  return onlineSoftmax(heavy[0], heavy[1]);
}

/// The extents of `dim` multiplied; nothing if one is dynamic.
static std::optional<int64_t> staticSize(const GemmDim &dim) {
  int64_t size = 1;
  for (const Extent &extent : dim.extents) {
    if (!extent.isStatic())
      return std::nullopt;
    size *= extent.size;
  }
  return size;
}

static GemmDim reductionOf(Elements &elements, linalg::LinalgOp op) {
  GemmDim dim;
  SmallVector<Extent> extents = elements.loopExtents(op);
  op.getReductionDims(dim.loops);
  for (unsigned loop : dim.loops)
    dim.extents.push_back(extents[loop]);
  return dim;
}

std::optional<GpuAttention> GpuAttention::of(GpuFrame &frame,
                                             const GpuTile &tile,
                                             bool tensorCores,
                                             std::string &why) {
  std::optional<OnlineSoftmax> form = formOf(frame.source);
  why = "no softmax in f32 between its contractions";
  if (!form)
    return std::nullopt;
  GpuAttention attention;
  attention.form = *form;
  std::optional<GpuGemm> second = GpuGemm::of(frame, form->second, why);
  if (!second)
    return std::nullopt;
  attention.second = *second;
  attention.depth = reductionOf(frame.elements, form->first);
  std::optional<int64_t> depth = staticSize(attention.depth),
                         columns = staticSize(second->xOperand == form->operand
                                                  ? second->y
                                                  : second->x);
  why = "rows of queries or values whose extents are 0 or not known";
  if (!depth || !columns || !*depth || !*columns)
    return std::nullopt;
  why = "no tile of rows and keys";
  if (tile.sizes.size() != 2)
    return std::nullopt;
  int64_t bytes = *memoryBytes(
      getElementTypeOrSelf(form->second.getDpsInputs()[0].getType()));
  attention.tile = {tile.sizes[0], tile.sizes[1], *depth,
                    *columns,      bytes,         tensorCores};
  attention.threads = tile.threads;
  int64_t shared = attention.tile.sharedBytes();
  if (shared > kStaticShared) {
    why = llvm::formatv("a tile of {0} bytes of shared memory, of {1}", shared,
                        kStaticShared);
    return std::nullopt;
  }
  why.clear();
  return attention;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

AttentionSchedule::AttentionSchedule(GpuFrame &frame,
                                     const GpuAttention &attention)
    : GemmSchedule(
          frame, attention.second,
          attention.rowsAreX() ? AttentionTile::padded(attention.tile.columns)
                               : attention.tile.rows,
          attention.rowsAreX() ? attention.tile.rows
                               : AttentionTile::padded(attention.tile.columns),
          attention.tile.keys, attention.threads),
      attention(attention), tile(attention.tile) {}

static void setLoops(Lanes &loops, const GemmDim &dim, const Lanes &values) {
  for (auto [loop, value] : llvm::zip_equal(dim.loops, values))
    loops[loop] = value;
}

std::optional<Lanes> AttentionSchedule::secondLoops(Elements &on, LaneIndex row,
                                                    LaneIndex column,
                                                    LaneIndex key) const {
  Lanes loops(gemm.op.getNumLoops(), LaneIndex{});
  auto ofRow = on.math.delinearize(row, rowDim().extents),
       ofColumn = on.math.delinearize(column, columnDim().extents),
       ofKey = on.math.delinearize(key, gemm.k.extents);
  if (!ofRow || !ofColumn || !ofKey)
    return std::nullopt;
  setLoops(loops, gemm.batch, batch);
  setLoops(loops, rowDim(), *ofRow);
  setLoops(loops, columnDim(), *ofColumn);
  setLoops(loops, gemm.k, *ofKey);
  return loops;
}

std::optional<ElementSource>
AttentionSchedule::shareOf(Elements &on, LaneIndex row, LaneIndex key) const {
  auto loops = secondLoops(on, row, on.math.constant(0), key);
  auto sources = loops ? on.operandsAt(gemm.op, *loops) : std::nullopt;
  return sources ? (*sources)[attention.form.operand] : std::nullopt;
}

std::optional<Lanes> AttentionSchedule::loopsBehind(Elements &on,
                                                    OpResult result,
                                                    LaneIndex row,
                                                    LaneIndex key) const {
  auto share = shareOf(on, row, key);
  auto indices = share
                     ? indicesBehind(on, share->tensor, share->indices, result)
                     : std::nullopt;
  if (!indices)
    return std::nullopt;
  return on.parallelLoops(cast<linalg::LinalgOp>(result.getOwner()),
                          result.getResultNumber(), *indices);
}

std::optional<Lanes> AttentionSchedule::reductionLoops(OpResult result,
                                                       LaneIndex row,
                                                       LaneIndex key) {
  auto op = cast<linalg::LinalgOp>(result.getOwner());
  std::optional<Lanes> loops = loopsBehind(elements, result, row, key);
  GemmDim along = reductionOf(elements, op);
  auto open = math.delinearize(key, along.extents);
  if (!loops || !open)
    return std::nullopt;
  setLoops(*loops, along, *open);
  return loops;
}

std::optional<ElementSource> AttentionSchedule::sourceOf(Elements &on,
                                                         Input input,
                                                         LaneIndex line,
                                                         LaneIndex at) const {
  LaneIndex zero = on.math.constant(0);
  if (input == ValueRows) {
    auto loops = secondLoops(on, zero, at, line);
    auto sources = loops ? on.operandsAt(gemm.op, *loops) : std::nullopt;
    return sources ? (*sources)[1 - attention.form.operand] : std::nullopt;
  }
  linalg::LinalgOp first = attention.form.first;
  bool isQuery = input == Queries;
  auto loops = loopsBehind(on, cast<OpResult>(first->getResult(0)),
                           isQuery ? line : zero, isQuery ? zero : line);
  auto deep = on.math.delinearize(at, attention.depth.extents);
  if (!loops || !deep)
    return std::nullopt;
  setLoops(*loops, attention.depth, *deep);
  auto sources = on.operandsAt(first, *loops);
  return sources ? (*sources)[isQuery ? rowOperand : 1 - rowOperand]
                 : std::nullopt;
}

/// Finds which input of the first contraction is that of the rows. False if
/// none is, or if keys depend on the row.
bool AttentionSchedule::findQueries() {
  GpuScratch scratch(frame);
  LaneIndex row = scratch.standIn(), key = scratch.standIn();
  linalg::LinalgOp first = attention.form.first;
  auto loops = loopsBehind(scratch.elements,
                           cast<OpResult>(first->getResult(0)), row, key);
  if (!loops)
    return false;
  for (LaneIndex &loop : *loops)
    if (!loop.base)
      loop = scratch.elements.math.constant(0);
  auto sources = scratch.elements.operandsAt(first, *loops);
  if (!sources)
    return false;
  for (unsigned operand : {0u, 1u}) {
    auto ofQuery = scratch.dependsOn((*sources)[operand]->indices),
         ofKey = scratch.dependsOn((*sources)[1 - operand]->indices);
    if (ofQuery.contains(key.base) || ofKey.contains(row.base))
      continue;
    rowOperand = operand;
    return true;
  }
  return false;
}

LaneIndex AttentionSchedule::rowAt(LaneIndex position) {
  Value inside;
  return within(rowDim(), tile.rows,
                math.add(attention.rowsAreX() ? startX : startY, position), 1,
                inside);
}

LaneIndex AttentionSchedule::keyAt(LaneIndex position, Value &inside) {
  return within(gemm.k, tile.keys, position, 1, inside);
}

//===----------------------------------------------------------------------===//
// Tiles in shared memory
//===----------------------------------------------------------------------===//

/// True if `lanes` neighbours of a line, or of one column, are neighbours in
/// memory; those of a line as aligned as they are long.
bool AttentionSchedule::areNeighbours(const Panel &panel, unsigned lanes,
                                      bool acrossLines) {
  GpuScratch scratch(frame);
  scratch.elements.math.lanes = lanes;
  LaneIndex line = scratch.standIn(), at = scratch.standIn();
  LaneIndex &moving = acrossLines ? line : at;
  moving.step = 1;
  moving.multiple = lanes;
  auto source = sourceOf(scratch.elements, panel.input, line, at);
  auto steps =
      source ? loadSteps(scratch.elements, source->tensor, source->indices)
             : std::nullopt;
  return steps && llvm::is_contained(*steps, 1) &&
         llvm::all_of(*steps,
                      [](int64_t step) { return step == 0 || step == 1; }) &&
         (acrossLines ||
          areAligned(scratch.elements, source->tensor, source->indices));
}

AttentionSchedule::Panel AttentionSchedule::panelOf(Input input,
                                                    StringRef name) {
  constexpr unsigned accessBytes = 16;
  bool ofValues = input == ValueRows;
  Panel panel;
  panel.input = input;
  panel.lines = input == Queries ? tile.rows : tile.keys;
  panel.extent = ofValues ? tile.columns : tile.depth;
  panel.length = AttentionTile::padded(panel.extent);
  panel.pitch = ofValues ? tile.columnPitch() : tile.depthPitch();
  linalg::LinalgOp reader = ofValues ? gemm.op : attention.form.first;
  unsigned operand = ofValues           ? 1 - attention.form.operand
                     : input == Queries ? rowOperand
                                        : 1 - rowOperand;
  Value tensor = reader.getDpsInputOperand(operand)->get();
  panel.element = getElementTypeOrSelf(tensor.getType());
  panel.lanes = accessBytes / tile.elementBytes;
  while (panel.lanes > 1 && (panel.extent % panel.lanes ||
                             !areNeighbours(panel, panel.lanes, false)))
    panel.lanes /= 2;
  panel.acrossLines = panel.lanes == 1 && !areNeighbours(panel, 2, false) &&
                      areNeighbours(panel, 2, true);
  bool padded;
  panel.async = frame.features.ampere && isMoved(tensor, padded) &&
                panel.lanes * tile.elementBytes == accessBytes;
  panel.memory = sharedArray(name, panel.element, panel.lines * panel.pitch);
  return panel;
}

Value AttentionSchedule::address(const Panel &panel, LaneIndex line,
                                 LaneIndex at) {
  LaneIndex place = math.add(math.scale(line, {panel.pitch, nullptr}),
                             {at.base, 0, at.multiple});
  Value by = arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                        place.base);
  return LLVM::GEPOp::create(builder, loc, panel.memory.getType(),
                             panel.element, panel.memory,
                             ArrayRef<LLVM::GEPArg>{by});
}

/// Line and place in it of the `number`-th access of this thread.
void AttentionSchedule::groupAt(const Panel &panel, int64_t number,
                                LaneIndex &line, LaneIndex &at) {
  LaneIndex group = math.add(thread, math.constant(number * threads));
  if (panel.acrossLines) {
    line = *math.rem(group, {panel.lines, nullptr});
    at = *math.div(group, {panel.lines, nullptr});
    return;
  }
  int64_t perLine = panel.length / panel.lanes;
  line = *math.div(group, {perLine, nullptr});
  at = math.scale(*math.rem(group, {perLine, nullptr}), {panel.lanes, nullptr});
  at.step = panel.lanes > 1 ? 1 : 0;
}

bool AttentionSchedule::copyGroup(const Panel &panel, LaneIndex start,
                                  LaneIndex line, LaneIndex at) {
  Value inside;
  LaneIndex from = panel.input == Queries
                       ? rowAt(line)
                       : keyAt(math.add(start, line), inside);
  LaneIndex column = at;
  if (panel.length != panel.extent) {
    LaneIndex end = math.constant(panel.extent);
    inside = both(inside, math.less(at, end));
    column = math.min(at, math.sub(end, math.constant(int64_t(panel.lanes))));
    column.multiple = panel.lanes; // of both
  }
  math.lanes = panel.lanes;
  auto source = sourceOf(elements, panel.input, from, column);
  if (!source)
    return false;
  Value to = address(panel, line, at);
  int32_t bytes = panel.lanes * tile.elementBytes;
  if (panel.async) {
    Value where = elements.addressOf(source->tensor, source->indices, inside);
    if (where)
      startCopy(bytes, to, where, inside);
    return bool(where);
  }
  Value loaded = elements.at(source->tensor, source->indices);
  if (!loaded)
    return false;
  loaded = elements.splat(loaded);
  if (inside)
    loaded = arith::SelectOp::create(
        builder, loc, inside, loaded,
        arith::ConstantOp::create(builder, loc,
                                  builder.getZeroAttr(loaded.getType())));
  LLVM::StoreOp::create(builder, loc, loaded, to, bytes);
  return true;
}

bool AttentionSchedule::copy(const Panel &panel, LaneIndex start) {
  int64_t groups = panel.lines * panel.length / panel.lanes;
  for (int64_t i = 0; i * threads < groups; ++i) {
    LaneIndex line, at;
    groupAt(panel, i, line, at);
    int64_t left = groups - i * threads;
    OpBuilder::InsertionGuard guard(builder);
    elements.enter();
    if (left < threads) {
      auto branch = scf::IfOp::create(builder, loc,
                                      math.less(thread, math.constant(left)),
                                      /*withElseRegion=*/false);
      builder.setInsertionPointToStart(branch.thenBlock());
    }
    bool fine = copyGroup(panel, start, line, at);
    elements.leave();
    if (!fine)
      return false;
  }
  if (frame.features.ampere)
    NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  return true;
}

/// Waits until no more than `pending` groups of copies are on their way, and
/// for all threads to have come here.
void AttentionSchedule::wait(int64_t pending) {
  if (frame.features.ampere)
    NVVM::CpAsyncWaitGroupOp::create(builder, loc, int32_t(pending));
  gpu::BarrierOp::create(builder, loc);
}
