//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows an element back to the loads that it needs; makes index arithmetic,
// of which nothing is kept.
//
//===----------------------------------------------------------------------===//

#include "GpuAccess.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fuse;

GpuScratch::GpuScratch(GpuFrame &frame)
    : elements(frame.builder, frame.loc), frame(frame) {
  // The frame's own values are made before what is deleted later.
  for (const GpuOutput &output : frame.outputs)
    frame.elements.extents(output.value);
  for (auto argument : frame.source.getArguments()) {
    if (isa<RankedTensorType>(argument.getType()))
      elements.bindTensor(argument, nullptr, frame.elements.extents(argument));
    else
      elements.bindScalar(argument, frame.elements.scalar(argument));
  }
  standIn();
}

GpuScratch::~GpuScratch() {
  Block *block = standIns.front()->getBlock();
  while (&block->back() != standIns.front())
    block->back().erase();
  standIns.front()->erase();
}

LaneIndex GpuScratch::standIn() {
  auto made = UnrealizedConversionCastOp::create(
      frame.builder, frame.loc, frame.builder.getIndexType(), ValueRange());
  standIns.push_back(made);
  return {made.getResult(0), 0, 1};
}

llvm::SmallDenseSet<Value> GpuScratch::dependsOn(ArrayRef<LaneIndex> indices) {
  llvm::SmallDenseSet<Value> ends, seen;
  SmallVector<Value> work;
  for (const LaneIndex &index : indices)
    if (index.base)
      work.push_back(index.base);
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    Operation *op = value.getDefiningOp();
    if (op && llvm::is_contained(standIns, op))
      ends.insert(value);
    else if (op)
      llvm::append_range(work, op->getOperands());
  }
  return ends;
}

/// True if `pad` adds elements where the lanes of `indices` move.
static bool padsLanes(tensor::PadOp pad, ArrayRef<LaneIndex> indices) {
  auto isZero = [](OpFoldResult size) { return isConstantIntValue(size, 0); };
  for (auto [dim, index] : llvm::enumerate(indices))
    if (index.step != 0 && !(isZero(pad.getMixedLowPad()[dim]) &&
                             isZero(pad.getMixedHighPad()[dim])))
      return true;
  return false;
}

/// What the element is computed from in one step.
static std::optional<SmallVector<ElementSource, 4>>
sourcesOf(Elements &elements, Value tensor, ArrayRef<LaneIndex> indices) {
  SmallVector<ElementSource, 4> result;
  Operation *op = tensor.getDefiningOp();
  if (isa<tensor::EmptyOp, tensor::SplatOp>(op) ||
      op->hasTrait<OpTrait::ConstantLike>())
    return result;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    std::optional<Lanes> loops = elements.parallelLoops(
        structured, cast<OpResult>(tensor).getResultNumber(), indices);
    if (!loops || structured.getNumReductionLoops())
      return std::nullopt;
    auto sources = elements.operandsAt(structured, *loops);
    if (!sources)
      return std::nullopt;
    for (const std::optional<ElementSource> &source : *sources)
      if (source)
        result.push_back(*source);
    return result;
  }
  auto pad = dyn_cast<tensor::PadOp>(op);
  if (pad && padsLanes(pad, indices))
    return std::nullopt;
  auto sources = elements.glueSources(op, indices);
  if (!sources)
    return std::nullopt;
  result.append(sources->begin(), sources->end());
  return result;
}

std::optional<SmallVector<ElementSource>>
fuse::loadsOf(Elements &elements, Value tensor, ArrayRef<LaneIndex> indices) {
  SmallVector<ElementSource> loads, work{{tensor, Lanes(indices)}};
  while (!work.empty()) {
    ElementSource next = work.pop_back_val();
    if (!next.tensor.getDefiningOp()) {
      loads.push_back(next);
      continue;
    }
    auto sources = sourcesOf(elements, next.tensor, next.indices);
    if (!sources || elements.failedOp)
      return std::nullopt;
    work.append(sources->begin(), sources->end());
  }
  return loads;
}

bool fuse::areAligned(Elements &elements, Value tensor,
                      ArrayRef<LaneIndex> indices) {
  auto loads = loadsOf(elements, tensor, indices);
  return loads && llvm::all_of(*loads, [&](const ElementSource &load) {
           std::optional<LaneIndex> number = elements.math.linearize(
               load.indices, elements.extents(load.tensor));
           return number && number->multiple % elements.math.lanes == 0;
         });
}

std::optional<SmallVector<int64_t>>
fuse::loadSteps(Elements &elements, Value tensor, ArrayRef<LaneIndex> indices) {
  auto loads = loadsOf(elements, tensor, indices);
  if (!loads)
    return std::nullopt;
  SmallVector<int64_t> steps;
  for (const ElementSource &load : *loads) {
    std::optional<LaneIndex> number =
        elements.math.linearize(load.indices, elements.extents(load.tensor));
    if (!number)
      return std::nullopt;
    steps.push_back(number->step);
  }
  return steps;
}

std::optional<Lanes> fuse::indicesBehind(Elements &elements, Value tensor,
                                         ArrayRef<LaneIndex> indices,
                                         Value wanted) {
  SmallVector<ElementSource> work{{tensor, Lanes(indices)}};
  llvm::SmallDenseSet<Value> seen;
  while (!work.empty()) {
    ElementSource next = work.pop_back_val();
    if (next.tensor == wanted)
      return next.indices;
    if (!next.tensor.getDefiningOp() || !seen.insert(next.tensor).second)
      continue;
    if (auto sources = sourcesOf(elements, next.tensor, next.indices))
      work.append(sources->begin(), sources->end());
  }
  return std::nullopt;
}

/// True for padding with what cp.async fills with.
static bool padsZeros(tensor::PadOp pad) {
  Value value = pad.getConstantPaddingValue();
  return value && (matchPattern(value, m_Zero()) ||
                   matchPattern(value, m_PosZeroFloat()));
}

bool fuse::isMoved(Value value, bool &padded) {
  padded = false;
  while (Operation *op = value.getDefiningOp()) {
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    bool copies = structured && !structured.getNumReductionLoops() &&
                  structured.getNumDpsInputs() == 1 &&
                  structured.getBlock()->getTerminator()->getOperand(0) ==
                      structured.getRegionInputArgs()[0];
    auto pad = dyn_cast<tensor::PadOp>(op);
    padded |= bool(pad);
    if (!copies && !(pad && padsZeros(pad)) &&
        !isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
             tensor::ExtractSliceOp>(op))
      return false;
    value = op->getOperand(0);
  }
  return true;
}

/// Indices of the results of `op`, an elementwise operator, for an element of
/// the input `operand`: all loops must follow from it.
static std::optional<Lanes> throughOperator(Elements &elements,
                                            linalg::LinalgOp op,
                                            OpOperand &operand, unsigned result,
                                            ArrayRef<LaneIndex> indices) {
  if (op.getNumReductionLoops())
    return std::nullopt;
  Lanes loops(op.getNumLoops(), LaneIndex{});
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (auto [expr, index] : llvm::zip_equal(map.getResults(), indices)) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops[dim.getPosition()] = index;
    else if (!isa<AffineConstantExpr>(expr))
      return std::nullopt;
  }
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (auto [loop, index] : llvm::enumerate(loops)) {
    if (!index.base && ranges[loop] != 1)
      return std::nullopt;
    if (!index.base)
      index = elements.math.constant(0);
  }
  return elements.math.apply(
      op.getMatchingIndexingMap(op.getDpsInitOperand(result)), loops);
}

static std::optional<Lanes> throughReshape(Elements &elements, Operation *op,
                                           ArrayRef<LaneIndex> indices) {
  IndexMath &math = elements.math;
  Lanes result;
  if (isa<tensor::CastOp>(op))
    return Lanes(indices);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    SmallVector<Extent> shape = elements.extents(expand.getResult());
    for (auto [index, group] :
         llvm::zip_equal(indices, expand.getReassociationIndices())) {
      std::optional<Lanes> parts = math.delinearize(
          index, ArrayRef(shape).slice(group.front(), group.size()));
      if (!parts)
        return std::nullopt;
      result.append(*parts);
    }
    return result;
  }
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(op);
  if (!collapse)
    return std::nullopt;
  SmallVector<Extent> shape = elements.extents(collapse.getSrc());
  for (const ReassociationIndices &group : collapse.getReassociationIndices()) {
    std::optional<LaneIndex> index =
        math.linearize(indices.slice(group.front(), group.size()),
                       ArrayRef(shape).slice(group.front(), group.size()));
    if (!index)
      return std::nullopt;
    result.push_back(*index);
  }
  return result;
}

std::optional<Lanes> fuse::forwardIndices(Elements &elements, Value from,
                                          Value to,
                                          ArrayRef<LaneIndex> indices) {
  SmallVector<ElementSource> work{{from, Lanes(indices)}};
  llvm::SmallDenseSet<Value> seen;
  while (!work.empty()) {
    ElementSource next = work.pop_back_val();
    if (next.tensor == to)
      return next.indices;
    if (!seen.insert(next.tensor).second)
      continue;
    for (OpOperand &use : next.tensor.getUses()) {
      auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
      for (OpResult result : use.getOwner()->getResults()) {
        std::optional<Lanes> own =
            op ? throughOperator(elements, op, use, result.getResultNumber(),
                                 next.indices)
               : throughReshape(elements, use.getOwner(), next.indices);
        if (own)
          work.push_back({result, *own});
      }
    }
  }
  return std::nullopt;
}
