//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The schedule of pointwise kernels that read across their results: tiles of
// such inputs go through shared memory, so that loads and stores are both of
// neighbours.
//
//   y[i, j] = f(x[j, i])   ==>   tile[i][j] = x[j, i], i fastest; barrier;
//                                y[i, j] = f(tile[i][j]), j fastest
//
//===----------------------------------------------------------------------===//

#include "GpuAccess.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace fuse;

/// Elements of a tile along both dimensions, and of a line of it with one more,
/// so that a column is in different banks.
constexpr int64_t kTile = 32, kPitch = kTile + 1;

namespace {
class Transpose {
public:
  Transpose(GpuFrame &frame, int64_t threads)
      : frame(frame), elements(frame.elements), math(frame.elements.math),
        builder(frame.builder), loc(frame.loc), rows(threads / kTile) {}

  /// Finds what is read across. False if nothing is, or not alike.
  bool find();
  bool emit();

private:
  std::optional<SmallVector<int64_t>> stepsAlong(unsigned dim);
  Lanes indicesAt(LaneIndex fast, LaneIndex slow, Value &inside);
  bool load(LaneIndex lane, LaneIndex row);
  bool store(LaneIndex lane, LaneIndex row);

  GpuFrame &frame;
  Elements &elements;
  IndexMath &math;
  OpBuilder &builder;
  Location loc;
  int64_t rows; ///< of threads, each of `kTile`
  SmallVector<Extent> extents;
  unsigned inner = 0;        ///< contiguous in the results
  unsigned outer = 0;        ///< contiguous in what is read across
  SmallVector<bool> across;  ///< by load, of the result
  SmallVector<Value> shared; ///< by load; nothing if it is not read across
  LaneIndex startInner, startOuter;
  Lanes others;
};
} // namespace

std::optional<SmallVector<int64_t>> Transpose::stepsAlong(unsigned dim) {
  GpuScratch scratch(frame);
  Lanes indices;
  for (const Extent &extent : extents)
    indices.push_back(extent == Extent{1, nullptr}
                          ? scratch.elements.math.constant(0)
                          : scratch.standIn());
  indices[dim].step = 1;
  return loadSteps(scratch.elements, frame.outputs.front().value, indices);
}

bool Transpose::find() {
  bool chooses = frame.source
                     .walk([](Operation *op) {
                       return isa<tensor::PadOp, tensor::ConcatOp,
                                  tensor::InsertSliceOp, tensor::ExtractOp>(op)
                                  ? WalkResult::interrupt()
                                  : WalkResult::advance();
                     })
                     .wasInterrupted();
  if (chooses || frame.outputs.size() != 1 || rows < 1 || kTile % rows)
    return false;
  extents = elements.extents(frame.outputs.front().value);
  SmallVector<unsigned> large;
  for (auto [dim, extent] : llvm::enumerate(extents))
    if (!extent.isStatic() || extent.size >= kTile)
      large.push_back(dim);
  if (large.size() < 2 || !(innermostOf(extents) == extents[large.back()]))
    return false;
  inner = large.back();
  auto along = stepsAlong(inner);
  if (!along)
    return false;
  for (int64_t step : *along)
    across.push_back(step != 0 && step != 1);
  if (!llvm::is_contained(across, true))
    return false;
  for (unsigned dim : ArrayRef(large).drop_back()) {
    auto steps = stepsAlong(dim);
    bool fits =
        steps && llvm::all_of(llvm::zip_equal(*steps, across), [](auto pair) {
          auto [step, isAcross] = pair;
          return !isAcross || step == 1;
        });
    if (!fits)
      continue;
    outer = dim;
    return true;
  }
  return false;
}

/// Indices of the result at a place of the tile, or at one that exists.
Lanes Transpose::indicesAt(LaneIndex atInner, LaneIndex atOuter,
                           Value &inside) {
  Lanes indices = others;
  auto set = [&](unsigned dim, LaneIndex position) {
    const Extent &extent = extents[dim];
    if (!extent.isStatic() || extent.size % kTile) {
      Value own = math.less(position, math.of(extent));
      inside = inside ? Value(arith::AndIOp::create(builder, loc, inside, own))
                      : own;
      position =
          math.min(position, math.sub(math.of(extent), math.constant(1)));
    }
    indices[dim] = position;
  };
  set(inner, math.add(startInner, atInner));
  set(outer, math.add(startOuter, atOuter));
  return indices;
}

bool Transpose::load(LaneIndex lane, LaneIndex row) {
  Value inside;
  Lanes indices = indicesAt(row, lane, inside);
  auto loads = loadsOf(elements, frame.outputs.front().value, indices);
  if (!loads)
    return false;
  Value place = math.add(math.scale(row, {kPitch, nullptr}), lane).base;
  for (auto [load, buffer] : llvm::zip_equal(*loads, shared)) {
    if (!buffer)
      continue;
    Value value = elements.at(load.tensor, load.indices);
    if (!value)
      return false;
    memref::StoreOp::create(builder, loc, value, buffer, place);
  }
  return true;
}

bool Transpose::store(LaneIndex lane, LaneIndex row) {
  Value inside;
  Lanes indices = indicesAt(lane, row, inside);
  const GpuOutput &output = frame.outputs.front();
  auto loads = loadsOf(elements, output.value, indices);
  std::optional<LaneIndex> number = math.linearize(indices, extents);
  if (!loads || !number)
    return false;
  elements.enter();
  Value place = math.add(math.scale(lane, {kPitch, nullptr}), row).base;
  for (auto [load, buffer] : llvm::zip_equal(*loads, shared))
    if (buffer)
      elements.preset(load.tensor, load.indices,
                      memref::LoadOp::create(builder, loc, buffer, place));
  Value value = elements.at(output.value, indices);
  if (value)
    elements.storeIf(inside, value, output.pointer, *number, output.element);
  elements.leave();
  return bool(value);
}

bool Transpose::emit() {
  math.lanes = 1;
  SmallVector<Extent> grid = extents;
  AffineExpr blocks = getAffineConstantExpr(1, builder.getContext());
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    AffineExpr own = frame.hostProduct({extent});
    if (!own)
      return false;
    if (dim == inner || dim == outer) {
      own = own.ceilDiv(kTile);
      LaneIndex up = math.add(math.of(extent), math.constant(kTile - 1));
      LaneIndex tiles = *math.div(up, {kTile, nullptr});
      grid[dim] =
          extent.isStatic()
              ? Extent{int64_t(llvm::divideCeil(extent.size, kTile)), nullptr}
              : Extent{ShapedType::kDynamic, tiles.base};
    }
    blocks = blocks * own;
  }
  others = *math.delinearize({frame.blockId(), 0, 1}, grid);
  startInner = math.scale(others[inner], {kTile, nullptr});
  startOuter = math.scale(others[outer], {kTile, nullptr});
  LaneIndex thread{frame.threadId(), 0, 1};
  LaneIndex lane = *math.rem(thread, {kTile, nullptr}),
            row = *math.div(thread, {kTile, nullptr});
  Value inside;
  auto loads = loadsOf(elements, frame.outputs.front().value,
                       indicesAt(row, lane, inside));
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  for (auto [load, isAcross] : llvm::zip_equal(*loads, across)) {
    shared.emplace_back();
    Type element = getElementTypeOrSelf(load.tensor.getType());
    if (isAcross && memoryType(element) == element)
      shared.back() = frame.kernel.addWorkgroupAttribution(
          MemRefType::get({kTile * kPitch}, element,
                          MemRefLayoutAttrInterface(), space),
          loc);
  }
  frame.launch(blocks, rows * kTile);
  for (int64_t i = 0; i < kTile; i += rows)
    if (!load(lane, math.add(row, math.constant(i))))
      return false;
  gpu::BarrierOp::create(builder, loc);
  for (int64_t i = 0; i < kTile; i += rows)
    if (!store(lane, math.add(row, math.constant(i))))
      return false;
  return true;
}

bool fuse::emitTransposed(GpuFrame &frame, const GpuTile &tile) {
  Transpose transpose(frame, tile.threads);
  return transpose.find() && transpose.emit();
}
