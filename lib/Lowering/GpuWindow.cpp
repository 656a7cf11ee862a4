//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The schedule of poolings and depthwise convolutions: a block's part of the
// image, with what its windows reach beyond it, in shared memory.
//
//   load the part, padding and prologues applied; barrier
//   each thread: sums of a column of results, row of the filter by row
//   epilogue on the sums in registers; store
//
// Every element is loaded and computed once for a block, not once for each
// filter point. Weights come from the cache; a thread has one channel.
//
//===----------------------------------------------------------------------===//

#include "GpuAccess.h"
#include "fuse/Analysis/Operators.h"
#include "fuse/Kernel/WindowTile.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace fuse;

namespace {
class Windows {
public:
  Windows(GpuFrame &frame, linalg::LinalgOp op, const WindowTile &tile,
          int64_t threads)
      : frame(frame), op(op), tile(tile), threads(threads),
        elements(frame.elements), math(frame.elements.math),
        builder(frame.builder), loc(frame.loc) {}

  bool emit();

private:
  void place();
  void allocate();
  bool load();
  bool loadRound(LaneIndex first, bool surely);
  Value imageAt(LaneIndex number);
  bool reaches(const WindowDim &dim, const Extent &image);
  bool column(LaneIndex number);
  Lanes positions(const Lanes &local, int64_t row, Value &inside);
  bool start(const Lanes &local);
  bool addPoints(const Lanes &local);
  Value addPoint(const Lanes &local, int64_t row, ArrayRef<LaneIndex> points,
                 Value before);
  Value held(LaneIndex place);
  bool store(const Lanes &local, int64_t row, Value sum);
  Lanes resultIndices(const Lanes &loops);

  GpuFrame &frame;
  linalg::LinalgOp op;
  const WindowTile &tile;
  int64_t threads;
  Elements &elements;
  IndexMath &math;
  OpBuilder &builder;
  Location loc;
  LaneIndex thread;
  SmallVector<Extent> extents; ///< of the loops
  Lanes starts;                ///< of the block, by loop
  SmallVector<int64_t> pitch;  ///< of what is held, by dimension of the image
  int64_t size = 0;            ///< elements that are held
  Value shared;
  Value insideTile;                  ///< the thread has a column; nothing: all
  LaneIndex base;                    ///< of the thread's first window
  SmallVector<Value> sums;           ///< by row of the column
  llvm::DenseMap<Value, Value> read; ///< from shared memory, by place
};
} // namespace

/// Finds the block's results, and states the launch.
void Windows::place() {
  math.lanes = 1;
  extents = elements.loopExtents(op);
  SmallVector<Extent> grid;
  AffineExpr blocks = getAffineConstantExpr(1, builder.getContext());
  for (unsigned loop : tile.order) {
    grid.push_back(tilesOf(math, extents[loop], tile.results[loop]));
    blocks =
        blocks * frame.hostProduct({extents[loop]}).ceilDiv(tile.results[loop]);
  }
  Lanes at = *math.delinearize({frame.blockId(), 0, 1}, grid);
  starts.assign(op.getNumLoops(), LaneIndex{});
  for (auto [loop, index] : llvm::zip_equal(tile.order, at))
    starts[loop] = math.scale(index, {tile.results[loop], nullptr});
  thread = {frame.threadId(), 0, 1};
  frame.launch(blocks, threads);
}

void Windows::allocate() {
  pitch.assign(tile.dims.size(), 1);
  SmallVector<int64_t, 4> extents = tile.held();
  for (unsigned dim = tile.dims.size() - 1; dim-- > 0;)
    pitch[dim] = pitch[dim + 1] * extents[dim + 1];
  Type element = getElementTypeOrSelf(op->getOperand(tile.image).getType());
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  size = pitch.front() * extents.front();
  shared = frame.kernel.addWorkgroupAttribution(
      MemRefType::get({tile.bytes() / tile.elementBytes}, element,
                      MemRefLayoutAttrInterface(), space),
      loc);
}

//===----------------------------------------------------------------------===//
// The image
//===----------------------------------------------------------------------===//

/// True if a block may reach beyond the end of the image.
bool Windows::reaches(const WindowDim &dim, const Extent &image) {
  const Extent &own = extents[dim.loop];
  if (!own.isStatic() || !image.isStatic())
    return true;
  int64_t tiled = llvm::alignTo(own.size, tile.results[dim.loop]);
  return dim.covered(tiled) > image.size;
}

/// The `number`-th element that the block holds.
Value Windows::imageAt(LaneIndex number) {
  Value image = op->getOperand(tile.image);
  SmallVector<Extent> held;
  for (int64_t extent : tile.held())
    held.push_back({extent, nullptr});
  Lanes indices = *math.delinearize(number, held);
  for (auto [i, dim] : llvm::enumerate(tile.dims)) {
    Extent extent = elements.extent(image, i);
    indices[i] = math.add(math.scale(starts[dim.loop], {dim.stride, nullptr}),
                          indices[i]);
    // What only windows that do not exist read may be anything that does.
    if (reaches(dim, extent))
      indices[i] =
          math.min(indices[i], math.sub(math.of(extent), math.constant(1)));
  }
  return elements.at(image, indices);
}

/// Elements of the block by the number of the first thread's, one each.
bool Windows::loadRound(LaneIndex first, bool surely) {
  LaneIndex number = math.add(first, thread), count = math.constant(size);
  Value value = imageAt(
      surely ? number : math.min(number, math.sub(count, math.constant(1))));
  if (!value)
    return false;
  OpBuilder::InsertionGuard guard(builder);
  if (!surely) {
    auto branch = scf::IfOp::create(builder, loc, math.less(number, count),
                                    /*withElseRegion=*/false);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  memref::StoreOp::create(builder, loc, value, shared, number.base);
  return true;
}

bool Windows::load() {
  constexpr int64_t most = 12; // loads in flight of a thread
  int64_t rounds = llvm::divideCeil(size, threads);
  if (rounds > most) {
    elements.loops({{rounds, nullptr}}, {},
                   [&](ArrayRef<LaneIndex> round, ArrayRef<Value>) {
                     loadRound(math.scale(round[0], {threads, nullptr}),
                               size % threads == 0);
                     return SmallVector<Value>();
                   });
    return !elements.failedOp;
  }
  for (int64_t round = 0; round < rounds; ++round)
    if (!loadRound(math.constant(round * threads),
                   (round + 1) * threads <= size))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// The loops at a row of the column, at results that exist; those over filter
/// points are left open.
Lanes Windows::positions(const Lanes &local, int64_t row, Value &inside) {
  Lanes loops(op.getNumLoops(), LaneIndex{});
  inside = insideTile;
  for (unsigned loop : tile.order) {
    LaneIndex position = math.add(starts[loop], local[loop]);
    if (loop == tile.stripLoop)
      position = math.add(position, math.constant(row));
    const Extent &extent = extents[loop];
    if (!extent.isStatic() || extent.size % tile.results[loop]) {
      Value own = math.less(position, math.of(extent));
      inside = inside ? Value(arith::AndIOp::create(builder, loc, inside, own))
                      : own;
      position =
          math.min(position, math.sub(math.of(extent), math.constant(1)));
    }
    loops[loop] = position;
  }
  return loops;
}

Lanes Windows::resultIndices(const Lanes &loops) {
  Lanes indices;
  for (unsigned loop : tile.order)
    indices.push_back(loops[loop]);
  return indices;
}

bool Windows::start(const Lanes &local) {
  sums.clear();
  for (int64_t row = 0; row < tile.strip; ++row) {
    Value inside;
    sums.push_back(elements.at(op.getDpsInits()[0],
                               resultIndices(positions(local, row, inside))));
    if (!sums.back())
      return false;
  }
  return true;
}

Value Windows::held(LaneIndex place) {
  Value &value = read[place.base];
  if (!value)
    value = memref::LoadOp::create(builder, loc, shared, place.base);
  return value;
}

/// The sum of a row of the column, `before`, after one point of the filter.
Value Windows::addPoint(const Lanes &local, int64_t row,
                        ArrayRef<LaneIndex> points, Value before) {
  Value inside;
  Lanes loops = positions(local, row, inside);
  LaneIndex on = math.constant(0);
  for (auto [dim, step] : llvm::zip_equal(tile.dims, pitch)) {
    if (dim.loop == tile.stripLoop)
      on = math.add(on, math.constant(row * dim.stride * step));
    if (!dim.filter)
      continue;
    loops[*dim.filter] = points[*dim.filter];
    on = math.add(
        on, math.scale(points[*dim.filter], {dim.dilation * step, nullptr}));
  }
  auto sources = elements.operandsAt(op, loops);
  if (!sources)
    return nullptr;
  SmallVector<Value> values(op->getNumOperands());
  for (OpOperand *input : op.getDpsInputOperands()) {
    unsigned number = input->getOperandNumber();
    if (const std::optional<ElementSource> &source = (*sources)[number];
        source && number != tile.image)
      values[number] = elements.at(source->tensor, source->indices);
    else if (!isa<ShapedType>(input->get().getType()))
      values[number] = elements.scalar(input->get());
  }
  values[tile.image] = held(math.add(base, on));
  values.back() = before;
  if (elements.failedOp)
    return nullptr;
  SmallVector<Value> results = elements.inlineBody(op, values, loops);
  return results.empty() ? nullptr : results.front();
}

/// All points of the filter: as code for each if they are few, else by loops.
bool Windows::addPoints(const Lanes &local) {
  constexpr int64_t most = 448; // 7 rows of 8 x 8 points
  SmallVector<unsigned> filters;
  SmallVector<Extent> taps;
  for (const WindowDim &dim : tile.dims)
    if (dim.filter) {
      filters.push_back(*dim.filter);
      taps.push_back({dim.taps, nullptr});
    }
  Lanes points(op.getNumLoops(), LaneIndex{});
  auto at = [&](ArrayRef<LaneIndex> indices, ArrayRef<Value> before) {
    for (auto [loop, index] : llvm::zip_equal(filters, indices))
      points[loop] = index;
    SmallVector<Value> after;
    for (auto [row, sum] : llvm::enumerate(before)) {
      after.push_back(addPoint(local, row, points, sum));
      if (!after.back())
        return SmallVector<Value>();
    }
    return after;
  };
  read.clear();
  if (tile.taps() * tile.strip > most) {
    sums = elements.loops(
        taps, sums, [&](ArrayRef<LaneIndex> indices, ArrayRef<Value> before) {
          read.clear();
          return at(indices, before);
        });
    return !elements.failedOp && !sums.empty();
  }
  for (int64_t number = 0; number < tile.taps(); ++number) {
    sums = at(*math.delinearize(math.constant(number), taps), sums);
    if (sums.empty())
      return false;
  }
  return true;
}

bool Windows::store(const Lanes &local, int64_t row, Value sum) {
  Value inside, result = op->getResult(0);
  Lanes own = resultIndices(positions(local, row, inside));
  elements.enter();
  elements.preset(result, own, sum);
  bool fine = true;
  for (const GpuOutput &output : frame.outputs) {
    std::optional<Lanes> indices =
        forwardIndices(elements, result, output.value, own);
    std::optional<LaneIndex> place;
    if (indices)
      place = math.linearize(*indices, elements.extents(output.value));
    Value value = place ? elements.at(output.value, *indices) : nullptr;
    fine = fine && value;
    if (fine)
      elements.storeIf(inside, value, output.pointer, *place, output.element);
  }
  elements.leave();
  return fine;
}

/// The `number`-th column of the block's results.
bool Windows::column(LaneIndex number) {
  SmallVector<Extent> columns;
  for (unsigned loop : tile.order)
    columns.push_back({loop == tile.stripLoop ? tile.results[loop] / tile.strip
                                              : tile.results[loop],
                       nullptr});
  Lanes at = *math.delinearize(number, columns),
        local(op.getNumLoops(), LaneIndex{});
  for (auto [loop, index] : llvm::zip_equal(tile.order, at))
    local[loop] = loop == tile.stripLoop
                      ? math.scale(index, {tile.strip, nullptr})
                      : index;
  base = math.constant(0);
  for (auto [dim, step] : llvm::zip_equal(tile.dims, pitch))
    base = math.add(base,
                    math.scale(local[dim.loop], {dim.stride * step, nullptr}));
  if (!start(local) || !addPoints(local))
    return false;
  for (int64_t row = 0; row < tile.strip; ++row)
    if (!store(local, row, sums[row]))
      return false;
  return true;
}

bool Windows::emit() {
  place();
  allocate();
  if (elements.failedOp || !load())
    return false;
  gpu::BarrierOp::create(builder, loc);
  // What is asked for must be there: no second window is computed.
  elements.reduce = [](linalg::LinalgOp, unsigned, ArrayRef<LaneIndex>) {
    return Value();
  };
  int64_t count = tile.strips(), rounds = llvm::divideCeil(count, threads);
  bool fine = true;
  auto round = [&](LaneIndex first) {
    LaneIndex number = math.add(first, thread);
    insideTile = nullptr;
    if (count % threads) {
      insideTile = math.less(number, math.constant(count));
      number = math.min(number, math.constant(count - 1));
    }
    fine = column(number);
  };
  if (rounds == 1)
    round(math.constant(0));
  else
    elements.loops({{rounds, nullptr}}, {},
                   [&](ArrayRef<LaneIndex> at, ArrayRef<Value>) {
                     round(math.scale(at[0], {threads, nullptr}));
                     return SmallVector<Value>();
                   });
  return fine && !elements.failedOp;
}

bool fuse::emitWindow(GpuFrame &frame, const GpuTile &tile, std::string &why) {
  SmallVector<linalg::LinalgOp> reducing;
  frame.source.walk([&](linalg::LinalgOp op) {
    if (op.getNumReductionLoops())
      reducing.push_back(op);
  });
  if (reducing.size() != 1) {
    why = "more than one window";
    return false;
  }
  linalg::LinalgOp op = reducing.front();
  int64_t height = 16, width = 16;
  if (tile.sizes.size() == 2)
    height = tile.sizes[0], width = tile.sizes[1];
  std::optional<WindowTile> own =
      windowTile(op, height, width, tile.threads, why);
  if (!own)
    return false;
  Type element = getElementTypeOrSelf(op->getOperand(own->image).getType());
  if (memoryType(element) != element) {
    why = "an image of booleans";
    return false;
  }
  if (Windows(frame, op, *own, tile.threads).emit())
    return true;
  why = "no code for " + (frame.elements.failure.empty()
                              ? std::string("its epilogue")
                              : frame.elements.failure);
  return false;
}
