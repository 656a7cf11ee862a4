//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pointwise schedule: threads stride over groups of lanes.
//
//   y = f(x)   ==>   for (e = 4 * id; e < n; e += 4 * all threads)
//                      y[e : e+4] = f(x[e : e+4])
//
//===----------------------------------------------------------------------===//

#include "GpuSchedule.h"
#include "fuse/Lowering/Passes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace fuse;

/// Results of one shape share their loop.
static SmallVector<SmallVector<GpuOutput>> byShape(GpuFrame &frame) {
  SmallVector<SmallVector<GpuOutput>> groups;
  for (const GpuOutput &output : frame.outputs) {
    auto *found = llvm::find_if(groups, [&](ArrayRef<GpuOutput> group) {
      return frame.elements.extents(group.front().value) ==
             frame.elements.extents(output.value);
    });
    if (found != groups.end())
      found->push_back(output);
    else
      groups.push_back({output});
  }
  return groups;
}

/// The groups of lanes of a space: all its extents but the innermost, and that
/// in lanes.
static SmallVector<Extent> inLanes(ArrayRef<Extent> extents, unsigned lanes) {
  SmallVector<Extent> groups(extents);
  for (Extent &extent : llvm::reverse(groups))
    if (!(extent.isStatic() && extent.size == 1)) {
      if (extent.isStatic())
        extent.size /= lanes;
      break;
    }
  return groups;
}

static bool emitGroup(GpuFrame &frame, ArrayRef<GpuOutput> outputs,
                      int64_t threads, unsigned lanes) {
  Elements &elements = frame.elements;
  OpBuilder &builder = frame.builder;
  IndexMath &math = elements.math;
  SmallVector<Extent> extents = elements.extents(outputs.front().value);
  math.lanes = lanes;
  Extent groups = math.product(inLanes(extents, lanes));
  LaneIndex block{frame.blockId(), 0, 1}, thread{frame.threadId(), 0, 1};
  LaneIndex start = math.add(math.scale(block, {threads, nullptr}), thread);
  Value blocks = gpu::GridDimOp::create(builder, frame.loc, gpu::Dimension::x);
  Value step = math.scale({blocks, 0, 1}, {threads, nullptr}).base;
  auto loop = scf::ForOp::create(builder, frame.loc, start.base,
                                 math.of(groups).base, step);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  elements.enter();
  LaneIndex number =
      math.scale({loop.getInductionVar(), 0, 1}, {int64_t(lanes), nullptr});
  number.step = lanes > 1 ? 1 : 0;
  std::optional<Lanes> indices = math.delinearize(number, extents);
  for (const GpuOutput &output : outputs) {
    Value value = elements.at(output.value, *indices);
    if (!value)
      return false;
    elements.store(value, output.pointer, number, output.element);
  }
  elements.leave();
  return true;
}

bool fuse::emitPointwise(GpuFrame &frame, const GpuTile &tile) {
  AffineExpr blocks;
  for (ArrayRef<GpuOutput> outputs : byShape(frame)) {
    SmallVector<Extent> extents = frame.elements.extents(outputs.front().value);
    bool single = tile.sizes.size() == 1 && tile.sizes[0] <= tile.threads;
    unsigned lanes = single ? 1 : lanesOf(frame.source, innermostOf(extents));
    int64_t perBlock = std::max<int64_t>(
        tile.sizes.size() == 1 ? tile.sizes[0] : 0, tile.threads * lanes);
    if (frame.elements.failedOp ||
        !emitGroup(frame, outputs, tile.threads, lanes))
      return false;
    AffineExpr own = frame.hostProduct(extents).ceilDiv(perBlock);
    // The first result's blocks: others stride over what they have more.
    blocks = blocks ? blocks : own;
  }
  if (!blocks)
    return true;
  frame.launch(blocks, tile.threads);
  // Where nothing is asked for, ptxas spills a few registers of long bodies to
  // have more blocks on an SM.
  auto kernelClass = frame.source->getAttrOfType<StringAttr>(kKernelClassAttr);
  if (kernelClass && kernelClass.getValue() == "pointwise")
    frame.kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                          frame.builder.getI32IntegerAttr(1));
  return true;
}
