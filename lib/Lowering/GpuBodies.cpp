//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements of operators: bodies inlined at a point of their loops.
//
//===----------------------------------------------------------------------===//

#include "GpuElements.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace fuse;

SmallVector<Extent> Elements::loopExtents(linalg::LinalgOp op) {
  SmallVector<Extent> result(op.getNumLoops(), {1, nullptr});
  llvm::SmallBitVector known(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop || known[loop.getPosition()])
        continue;
      result[loop.getPosition()] = extent(operand.get(), dim);
      known.set(loop.getPosition());
    }
  }
  if (!known.all())
    fail(op, "loops whose extents no operand states");
  return result;
}

std::optional<Lanes> Elements::parallelLoops(linalg::LinalgOp op,
                                             unsigned result,
                                             ArrayRef<LaneIndex> indices) {
  Lanes loops(op.getNumLoops(), LaneIndex{});
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  for (auto [expr, index] : llvm::zip_equal(map.getResults(), indices)) {
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      loops[loop.getPosition()] = index;
    else if (!isa<AffineConstantExpr>(expr))
      return std::nullopt;
  }
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::parallel && !loops[loop].base) {
      // A loop of extent 1 may have a constant in its place.
      SmallVector<int64_t> ranges = op.getStaticLoopRanges();
      if (ranges[loop] != 1)
        return std::nullopt;
      loops[loop] = math.constant(0);
    }
  return loops;
}

std::optional<SmallVector<std::optional<ElementSource>>>
Elements::operandsAt(linalg::LinalgOp op, ArrayRef<LaneIndex> loops) {
  SmallVector<std::optional<ElementSource>> sources;
  for (OpOperand &operand : op->getOpOperands()) {
    sources.emplace_back();
    if (!isa<RankedTensorType>(operand.get().getType()) ||
        op.getMatchingBlockArgument(&operand).use_empty())
      continue;
    std::optional<Lanes> indices =
        math.apply(op.getMatchingIndexingMap(&operand), loops);
    if (!indices)
      return std::nullopt;
    sources.back() = ElementSource{operand.get(), *indices};
  }
  return sources;
}

/// True if the body works on vectors as it does on scalars.
static bool isLaneable(linalg::LinalgOp op) {
  return llvm::all_of(op.getBlock()->without_terminator(), [](Operation &own) {
    return isa<linalg::IndexOp, arith::ConstantOp>(own) ||
           OpTrait::hasElementwiseMappableTraits(&own);
  });
}

Value Elements::inlineOp(Operation *op, IRMapping &mapping,
                         ArrayRef<LaneIndex> loops) {
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    LaneIndex own = loops[index.getDim()];
    if (own.step == 0)
      return own.base;
    SmallVector<int64_t> distances;
    for (unsigned lane = 0; lane < math.lanes; ++lane)
      distances.push_back(own.step * lane);
    auto type = VectorType::get({int64_t(math.lanes)}, builder.getIndexType());
    Value steps = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(
            type, llvm::map_to_vector(distances, [&](int64_t value) {
              return builder.getIndexAttr(value).getValue();
            })));
    return arith::AddIOp::create(builder, loc, splat(own.base), steps);
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    Lanes indices;
    for (Value index : extract.getIndices())
      indices.push_back({mapping.lookup(index), 0, 1});
    return at(extract.getTensor(), indices);
  }
  bool wide = llvm::any_of(op->getOperands(), [&](Value operand) {
    return isa<VectorType>(mapping.lookup(operand).getType());
  });
  IRMapping own(mapping);
  if (wide)
    for (Value operand : op->getOperands())
      own.map(operand, splat(mapping.lookup(operand)));
  Operation *copy = builder.clone(*op, own);
  if (wide)
    for (Value result : copy->getResults())
      result.setType(VectorType::get({int64_t(math.lanes)}, result.getType()));
  for (auto [from, to] : llvm::zip_equal(op->getResults(), copy->getResults()))
    mapping.map(from, to);
  return copy->getNumResults() ? copy->getResult(0) : nullptr;
}

SmallVector<Value> Elements::inlineBody(linalg::LinalgOp op,
                                        ArrayRef<Value> values,
                                        ArrayRef<LaneIndex> loops) {
  IRMapping mapping;
  Block *body = op.getBlock();
  for (auto [argument, value] : llvm::zip_equal(body->getArguments(), values))
    if (value)
      mapping.map(argument, value);
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    if (!isa<ShapedType>(value.getType())) {
      Value own = scalar(value);
      if (!own)
        return {};
      mapping.map(value, own);
    }
  for (Operation &own : body->without_terminator()) {
    Value value = inlineOp(&own, mapping, loops);
    if (failedOp || !value)
      return {};
    mapping.map(own.getResult(0), value);
  }
  return llvm::map_to_vector(
      body->getTerminator()->getOperands(),
      [&](Value value) { return mapping.lookup(value); });
}

/// Values of the block arguments of `op`: those that it reads at `loops`, and
/// scalars; nothing for what it does not use.
static SmallVector<Value>
readOperands(Elements &elements, linalg::LinalgOp op,
             ArrayRef<std::optional<ElementSource>> sources) {
  SmallVector<Value> values;
  for (auto [operand, source] : llvm::zip_equal(op->getOperands(), sources)) {
    values.push_back(nullptr);
    if (source)
      values.back() = elements.at(source->tensor, source->indices);
    else if (!isa<ShapedType>(operand.getType()))
      values.back() = elements.scalar(operand);
  }
  return values;
}

Value Elements::computeOperator(linalg::LinalgOp op, unsigned result,
                                ArrayRef<LaneIndex> indices) {
  bool wide = llvm::any_of(
      indices, [](const LaneIndex &index) { return index.step != 0; });
  if (wide && !isLaneable(op))
    return nullptr;
  std::optional<Lanes> loops = parallelLoops(op, result, indices);
  if (!loops)
    return fail(op, "a result that is not written element by element");
  if (op.getNumReductionLoops())
    return reduce ? reduce(op, result, *loops)
                  : reduceSerially(op, result, *loops);
  auto sources = operandsAt(op, *loops);
  if (!sources)
    return nullptr;
  SmallVector<Value> values = readOperands(*this, op, *sources);
  if (failedOp)
    return nullptr;
  SmallVector<Value> results = inlineBody(op, values, *loops);
  return results.empty() ? nullptr : results[result];
}

SmallVector<Value> Elements::loops(
    ArrayRef<Extent> extents, ArrayRef<Value> start,
    llvm::function_ref<SmallVector<Value>(ArrayRef<LaneIndex>, ArrayRef<Value>)>
        body) {
  OpBuilder::InsertionGuard guard(builder);
  Lanes indices(extents.size(), math.constant(0));
  SmallVector<Value> values(start), results;
  SmallVector<scf::ForOp> nest;
  for (auto [number, extent] : llvm::enumerate(extents)) {
    if (extent.isStatic() && extent.size == 1)
      continue;
    Value zero = math.constant(0).base, one = math.constant(1).base,
          end = math.of(extent).base;
    auto loop = scf::ForOp::create(builder, loc, zero, end, one, values);
    enter();
    builder.setInsertionPointToStart(loop.getBody());
    indices[number] = {loop.getInductionVar(), 0, 1};
    values.assign(loop.getRegionIterArgs().begin(),
                  loop.getRegionIterArgs().end());
    nest.push_back(loop);
  }
  results = body(indices, values);
  for (scf::ForOp loop : llvm::reverse(nest)) {
    if (!failedOp && !results.empty())
      scf::YieldOp::create(builder, loc, results);
    leave();
    results = loop.getResults();
    builder.setInsertionPointAfter(loop);
  }
  return results;
}

Value Elements::reduceSerially(linalg::LinalgOp op, unsigned result,
                               ArrayRef<LaneIndex> parallel) {
  bool wide = llvm::any_of(
      parallel, [](const LaneIndex &index) { return index.step != 0; });
  auto widen = [&](Value value) {
    return wide && value ? splat(value) : value;
  };
  SmallVector<Extent> all = loopExtents(op), open;
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  for (unsigned loop : reduced)
    open.push_back(all[loop]);
  Lanes point(parallel);
  for (LaneIndex &index : point)
    if (!index.base)
      index = math.constant(0);
  SmallVector<Value> start;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    std::optional<Lanes> indices =
        math.apply(op.getMatchingIndexingMap(&init), point);
    Value value = indices ? at(init.get(), *indices) : nullptr;
    if (!value)
      return failedOp ? nullptr : fail(op, "this initial value");
    start.push_back(widen(value));
  }
  auto body = [&](ArrayRef<LaneIndex> indices, ArrayRef<Value> values) {
    for (auto [loop, index] : llvm::zip_equal(reduced, indices))
      point[loop] = index;
    auto sources = operandsAt(op, point);
    SmallVector<Value> next;
    if (!sources) {
      fail(op, "this indexing");
      return next;
    }
    for (unsigned i = op.getNumDpsInputs(); i < sources->size(); ++i)
      (*sources)[i].reset();
    SmallVector<Value> operands = readOperands(*this, op, *sources);
    if (failedOp)
      return next;
    llvm::copy(values, operands.begin() + op.getNumDpsInputs());
    return llvm::map_to_vector(inlineBody(op, operands, point), widen);
  };
  SmallVector<Value> results = loops(open, start, body);
  return failedOp ? nullptr : results[result];
}

Value Elements::step(linalg::LinalgOp op, unsigned result,
                     ArrayRef<LaneIndex> loops, Value carried) {
  bool wide = isa<VectorType>(carried.getType());
  auto sources = operandsAt(op, loops);
  if (!sources || (wide && !isLaneable(op)))
    return fail(op, "the steps of this reduction");
  for (unsigned i = op.getNumDpsInputs(); i < sources->size(); ++i)
    (*sources)[i].reset();
  SmallVector<Value> operands = readOperands(*this, op, *sources);
  if (failedOp)
    return nullptr;
  // The other results do not reach this one: any value does for them.
  for (auto [number, init] : llvm::enumerate(op.getDpsInits())) {
    Type element = getElementTypeOrSelf(init.getType());
    operands[op.getNumDpsInputs() + number] =
        number == result ? carried
                         : Value(arith::ConstantOp::create(
                               builder, loc, builder.getZeroAttr(element)));
  }
  SmallVector<Value> results = inlineBody(op, operands, loops);
  if (results.empty())
    return nullptr;
  return wide ? splat(results[result]) : results[result];
}

Value Elements::addressOf(Value tensor, ArrayRef<LaneIndex> indices,
                          Value &inside) {
  ElementSource at{tensor, Lanes(indices)};
  while (Operation *op = at.tensor.getDefiningOp()) {
    if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
      auto loops = parallelLoops(structured, 0, at.indices);
      auto sources = loops ? operandsAt(structured, *loops) : std::nullopt;
      if (!sources || !sources->front())
        return nullptr;
      at = *sources->front();
      continue;
    }
    if (auto pad = dyn_cast<tensor::PadOp>(op)) {
      std::optional<Lanes> source = insidePad(pad, at.indices, inside);
      if (!source)
        return nullptr;
      at = {pad.getSource(), *source};
      continue;
    }
    auto sources = glueSources(op, at.indices);
    if (!sources)
      return nullptr;
    at = sources->front();
  }
  auto argument = arguments.find(at.tensor);
  if (argument == arguments.end())
    return nullptr;
  std::optional<LaneIndex> number =
      math.linearize(at.indices, argument->second.extents);
  if (!number || number->step > 1 || number->step < 0)
    return nullptr;
  return address(argument->second.pointer, *number,
                 memoryType(getElementTypeOrSelf(at.tensor.getType())));
}
