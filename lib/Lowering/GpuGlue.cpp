//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements of glue: the same elements by other indices, or a choice of them.
//
//===----------------------------------------------------------------------===//

#include "GpuElements.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace fuse;

/// The source's index that a slice's index stands for, all its dimensions.
static Lanes sliceIndices(Elements &elements, ArrayRef<LaneIndex> indices,
                          ArrayRef<Extent> offsets, ArrayRef<Extent> strides,
                          const llvm::SmallBitVector &dropped) {
  Lanes result;
  unsigned next = 0;
  for (unsigned dim = 0; dim < offsets.size(); ++dim) {
    LaneIndex index =
        dropped[dim] ? elements.math.constant(0) : indices[next++];
    result.push_back(elements.math.add(elements.math.scale(index, strides[dim]),
                                       elements.math.of(offsets[dim])));
  }
  return result;
}

std::optional<SmallVector<ElementSource, 2>>
Elements::glueSources(Operation *glue, ArrayRef<LaneIndex> indices) {
  using Sources = SmallVector<ElementSource, 2>;
  if (auto cast = dyn_cast<tensor::CastOp>(glue))
    return Sources{{cast.getSource(), llvm::to_vector<4>(indices)}};
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(glue)) {
    ElementSource source{expand.getSrc(), {}};
    SmallVector<Extent> shape = extents(expand.getResult());
    for (const ReassociationIndices &group : expand.getReassociationIndices()) {
      std::optional<LaneIndex> index =
          math.linearize(indices.slice(group.front(), group.size()),
                         ArrayRef(shape).slice(group.front(), group.size()));
      if (!index)
        return std::nullopt;
      source.indices.push_back(*index);
    }
    return Sources{source};
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(glue)) {
    ElementSource source{collapse.getSrc(), {}};
    SmallVector<Extent> shape = extents(collapse.getSrc());
    for (auto [index, group] :
         llvm::zip_equal(indices, collapse.getReassociationIndices())) {
      std::optional<Lanes> parts = math.delinearize(
          index, ArrayRef(shape).slice(group.front(), group.size()));
      if (!parts)
        return std::nullopt;
      source.indices.append(*parts);
    }
    // All extents are 1: nothing stands for them.
    while (source.indices.size() < shape.size())
      source.indices.push_back(math.constant(0));
    return Sources{source};
  }
  auto extentsOf = [&](ArrayRef<OpFoldResult> sizes) {
    return llvm::map_to_vector(
        sizes, [&](OpFoldResult size) { return extentOf(size); });
  };
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(glue))
    return Sources{
        {slice.getSource(),
         sliceIndices(*this, indices, extentsOf(slice.getMixedOffsets()),
                      extentsOf(slice.getMixedStrides()),
                      slice.getDroppedDims())}};
  Sources sources;
  if (auto pad = dyn_cast<tensor::PadOp>(glue)) {
    sources.push_back({pad.getSource(), {}});
    for (auto [index, low] : llvm::zip_equal(indices, pad.getMixedLowPad()))
      sources.back().indices.push_back(math.sub(index, math.of(extentOf(low))));
    return sources;
  }
  if (auto concat = dyn_cast<tensor::ConcatOp>(glue)) {
    LaneIndex start = math.constant(0);
    for (Value part : concat.getInputs()) {
      sources.push_back({part, llvm::to_vector<4>(indices)});
      LaneIndex &index = sources.back().indices[concat.getDim()];
      index = math.sub(index, start);
      start = math.add(start, math.of(extent(part, concat.getDim())));
    }
    return sources;
  }
  return std::nullopt;
}

Value Elements::choose(Value condition, Type type,
                       llvm::function_ref<Value()> yes,
                       llvm::function_ref<Value()> no) {
  auto branch =
      scf::IfOp::create(builder, loc, type, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  bool fine = true;
  auto fill = [&](Block *block, llvm::function_ref<Value()> make) {
    builder.setInsertionPointToStart(block);
    enter();
    Value value = make();
    if (value && isa<VectorType>(type))
      value = splat(value);
    fine &= bool(value);
    if (value)
      scf::YieldOp::create(builder, loc, value);
    leave();
  };
  fill(branch.thenBlock(), yes);
  fill(branch.elseBlock(), no);
  return fine ? branch.getResult(0) : nullptr;
}

std::optional<Lanes> Elements::insidePad(tensor::PadOp pad,
                                         ArrayRef<LaneIndex> indices,
                                         Value &inside) {
  Lanes source = glueSources(pad, indices)->front().indices;
  for (auto [dim, index] : llvm::enumerate(source)) {
    auto isZero = [](OpFoldResult size) { return isConstantIntValue(size, 0); };
    bool low = !isZero(pad.getMixedLowPad()[dim]),
         high = !isZero(pad.getMixedHighPad()[dim]);
    if (!low && !high)
      continue;
    if (index.step != 0)
      return std::nullopt;
    LaneIndex end = math.of(extent(pad.getSource(), dim)),
              zero = math.constant(0);
    auto require = [&](Value condition) {
      inside =
          inside ? Value(arith::AndIOp::create(builder, loc, inside, condition))
                 : condition;
    };
    LaneIndex clamped = index;
    if (low) {
      require(math.less(math.constant(-1), index));
      clamped = math.max(clamped, zero);
    }
    if (high) {
      require(math.less(index, end));
      clamped = math.min(clamped, math.sub(end, math.constant(1)));
    }
    index = clamped;
  }
  return source;
}

Value Elements::computePad(tensor::PadOp pad, ArrayRef<LaneIndex> indices) {
  Value outside = pad.getConstantPaddingValue();
  if (!outside)
    return fail(pad, "padding that depends on the index");
  outside = scalar(outside);
  Value inside;
  std::optional<Lanes> source = insidePad(pad, indices, inside);
  if (!source)
    return nullptr;
  if (!inside)
    return at(pad.getSource(), *source);
  Type type = typeOf(pad, indices);
  bool mayBeEmpty =
      llvm::any_of(extents(pad.getSource()), [](const Extent &extent) {
        return !extent.isStatic() || extent.size == 0;
      });
  // The clamped element exists, so it may be read and not be used.
  if (mayBeEmpty)
    return choose(
        inside, type, [&] { return at(pad.getSource(), *source); },
        [&] { return outside; });
  Value value = at(pad.getSource(), *source);
  if (!value)
    return nullptr;
  if (isa<VectorType>(value.getType()))
    outside = splat(outside);
  return arith::SelectOp::create(builder, loc, inside, value, outside);
}

Value Elements::computeConcat(tensor::ConcatOp concat,
                              ArrayRef<LaneIndex> indices) {
  LaneIndex index = indices[concat.getDim()];
  SmallVector<ElementSource, 2> sources = *glueSources(concat, indices);
  Lanes ends;
  LaneIndex end = math.constant(0);
  for (Value part : concat.getInputs()) {
    end = math.add(end, math.of(extent(part, concat.getDim())));
    ends.push_back(end);
    // Lanes are in the same part only if no part ends between them.
    int64_t span = index.step * math.lanes;
    if (span && (end.multiple % span || index.multiple % span))
      return nullptr;
  }
  Type type = typeOf(concat, indices);
  std::function<Value(unsigned)> from = [&](unsigned part) -> Value {
    auto own = [&] { return at(sources[part].tensor, sources[part].indices); };
    if (part + 1 == sources.size())
      return own();
    return choose(math.less(index, ends[part]), type, own,
                  [&] { return from(part + 1); });
  };
  return from(0);
}

Value Elements::computeInsert(tensor::InsertSliceOp insert,
                              ArrayRef<LaneIndex> indices) {
  llvm::SmallBitVector dropped = insert.getDroppedDims();
  Lanes source;
  Value inside;
  auto require = [&](Value condition) {
    inside = inside
                 ? Value(arith::AndIOp::create(builder, loc, inside, condition))
                 : condition;
  };
  for (auto [dim, index] : llvm::enumerate(indices)) {
    Extent offset = extentOf(insert.getMixedOffsets()[dim]),
           size = extentOf(insert.getMixedSizes()[dim]),
           stride = extentOf(insert.getMixedStrides()[dim]);
    LaneIndex own = index;
    bool whole = offset == Extent{0, nullptr} && stride == Extent{1, nullptr} &&
                 size == extent(insert.getDest(), dim);
    if (!whole) {
      if (index.step != 0)
        return nullptr;
      LaneIndex distance = math.sub(index, math.of(offset));
      require(math.less(math.constant(-1), distance));
      // Not below 0, so that the division is right for what is not used.
      distance = math.max(distance, math.constant(0));
      if (!(stride == Extent{1, nullptr}))
        require(math.less(*math.rem(distance, stride), math.constant(1)));
      own = *math.div(distance, stride);
      require(math.less(own, math.of(size)));
    }
    if (!dropped[dim])
      source.push_back(own);
  }
  if (!inside)
    return at(insert.getSource(), source);
  return choose(
      inside, typeOf(insert, indices),
      [&] { return at(insert.getSource(), source); },
      [&] { return at(insert.getDest(), indices); });
}

Value Elements::computeGlue(Operation *op, ArrayRef<LaneIndex> indices) {
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return computePad(pad, indices);
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return computeConcat(concat, indices);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return computeInsert(insert, indices);
  if (!isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
           tensor::ExtractSliceOp>(op))
    return fail(op, ("'" + op->getName().getStringRef() + "'").str());
  std::optional<SmallVector<ElementSource, 2>> sources =
      glueSources(op, indices);
  if (!sources)
    return nullptr;
  return at(sources->front().tensor, sources->front().indices);
}
