//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements of arguments; loads and stores.
//
//===----------------------------------------------------------------------===//

#include "GpuElements.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;
using namespace fuse;

Type fuse::memoryType(Type element) {
  if (element.isIndex())
    return IntegerType::get(element.getContext(), 64);
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  return element;
}

std::optional<unsigned> fuse::memoryBytes(Type element) {
  Type memory = memoryType(element);
  bool known = isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(memory);
  if (auto integer = dyn_cast<IntegerType>(memory))
    known = integer.getWidth() >= 8 && integer.getWidth() <= 64 &&
            llvm::isPowerOf2_32(integer.getWidth());
  if (!known)
    return std::nullopt;
  return memory.getIntOrFloatBitWidth() / 8;
}

static bool hasStep(ArrayRef<LaneIndex> indices) {
  return llvm::any_of(indices,
                      [](const LaneIndex &index) { return index.step != 0; });
}

static Type elementOf(Value tensor) {
  return getElementTypeOrSelf(tensor.getType());
}

void Elements::bindTensor(Value tensor, Value pointer,
                          ArrayRef<Extent> extents) {
  arguments[tensor] = {pointer, llvm::to_vector(extents)};
}

void Elements::bindScalar(Value scalar, Value value) {
  scalars[scalar] = value;
}

void Elements::enter() {
  math.enter();
  scopes.emplace_back();
}

void Elements::leave() {
  math.leave();
  scopes.pop_back();
}

Value Elements::fail(Operation *op, StringRef what) {
  if (!failedOp) {
    failedOp = op;
    failure = what.str();
  }
  return nullptr;
}

Value Elements::splat(Value value) {
  if (math.lanes == 1 || isa<VectorType>(value.getType()))
    return value;
  auto type = VectorType::get({int64_t(math.lanes)}, value.getType());
  return vector::BroadcastOp::create(builder, loc, type, value);
}

Type Elements::typeOf(Value tensor, ArrayRef<LaneIndex> indices) {
  Type element = elementOf(tensor);
  if (!hasStep(indices))
    return element;
  return VectorType::get({int64_t(math.lanes)}, element);
}

Elements::Key Elements::keyOf(Value tensor, ArrayRef<LaneIndex> indices) const {
  Key key;
  key.first = tensor.getAsOpaquePointer();
  for (const LaneIndex &index : indices)
    key.second.push_back({index.base.getAsOpaquePointer(), index.step});
  if (hasStep(indices))
    key.second.push_back({nullptr, math.lanes});
  return key;
}

void Elements::preset(Value tensor, ArrayRef<LaneIndex> indices, Value value) {
  scopes.back()[keyOf(tensor, indices)] = value;
}

Value Elements::at(Value tensor, ArrayRef<LaneIndex> indices) {
  Key key = keyOf(tensor, indices);
  for (auto &scope : scopes)
    if (auto found = scope.find(key); found != scope.end())
      return found->second;
  Value value = compute(tensor, indices);
  if (!value && !failedOp && hasStep(indices))
    value = lanesApart(tensor, indices);
  if (!value && !failedOp)
    return fail(tensor.getDefiningOp()
                    ? tensor.getDefiningOp()
                    : tensor.getParentRegion()->getParentOp(),
                "this indexing");
  return scopes.back()[key] = value;
}

Value Elements::lanesApart(Value tensor, ArrayRef<LaneIndex> indices) {
  SmallVector<Value> values;
  for (unsigned lane = 0; lane < math.lanes; ++lane) {
    Lanes alone;
    for (const LaneIndex &index : indices)
      alone.push_back(math.lane(index, lane));
    values.push_back(at(tensor, alone));
    if (!values.back())
      return nullptr;
  }
  return vector::FromElementsOp::create(
      builder, loc, VectorType::get({int64_t(math.lanes)}, elementOf(tensor)),
      values);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value Elements::address(Value pointer, LaneIndex number, Type memory) {
  Value offset = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                            number.base);
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), memory, pointer,
                             ArrayRef<LLVM::GEPArg>{offset},
                             LLVM::GEPNoWrapFlags::inbounds);
}

/// Bytes that an access of `lanes` elements is aligned to.
static unsigned alignment(LaneIndex number, unsigned lanes, unsigned bytes) {
  constexpr unsigned most = 16; // bytes of the widest access
  unsigned elements = std::gcd<int64_t>(number.multiple, lanes);
  return std::min(most, elements * bytes);
}

Value Elements::load(Value pointer, LaneIndex number, Type element) {
  if (number.step != 0 && number.step != 1)
    return nullptr;
  Type memory = memoryType(element);
  unsigned lanes = number.step ? math.lanes : 1;
  Type type = lanes > 1 ? VectorType::get({int64_t(lanes)}, memory) : memory;
  Value value = LLVM::LoadOp::create(
      builder, loc, type, address(pointer, number, memory),
      alignment(number, lanes, *memoryBytes(element)), /*isVolatile=*/false,
      /*isNonTemporal=*/false, /*isInvariant=*/true);
  return fromMemory(value, element);
}

/// `element`, as wide as `value`.
static Type likeOf(Value value, Type element) {
  auto vector = dyn_cast<VectorType>(value.getType());
  return vector ? Type(vector.clone(element)) : element;
}

Value Elements::toMemory(Value value, Type element) {
  Type type = likeOf(value, memoryType(element));
  if (element.isIndex())
    return arith::IndexCastOp::create(builder, loc, type, value);
  if (element.isInteger(1))
    return arith::ExtUIOp::create(builder, loc, type, value);
  return value;
}

Value Elements::fromMemory(Value value, Type element) {
  Type type = likeOf(value, element);
  if (element.isIndex())
    return arith::IndexCastOp::create(builder, loc, type, value);
  if (element.isInteger(1))
    return arith::TruncIOp::create(builder, loc, type, value);
  return value;
}

void Elements::store(Value value, Value pointer, LaneIndex number,
                     Type element) {
  unsigned lanes = number.step ? math.lanes : 1;
  if (lanes > 1)
    value = splat(value);
  if (lanes > 1 && number.step != 1) {
    for (unsigned lane = 0; lane < lanes; ++lane)
      store(vector::ExtractOp::create(builder, loc, value, lane), pointer,
            math.lane(number, lane), element);
    return;
  }
  LLVM::StoreOp::create(builder, loc, toMemory(value, element),
                        address(pointer, number, memoryType(element)),
                        alignment(number, lanes, *memoryBytes(element)));
}

void Elements::storeIf(Value condition, Value value, Value pointer,
                       LaneIndex number, Type element) {
  OpBuilder::InsertionGuard guard(builder);
  if (condition) {
    auto branch = scf::IfOp::create(builder, loc, condition,
                                    /*withElseRegion=*/false);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  enter();
  store(value, pointer, number, element);
  leave();
}

//===----------------------------------------------------------------------===//
// Extents and scalars
//===----------------------------------------------------------------------===//

Extent Elements::extentOf(OpFoldResult size) {
  if (std::optional<int64_t> known = getConstantIntValue(size))
    return {*known, nullptr};
  return {ShapedType::kDynamic, scalar(cast<Value>(size))};
}

Extent Elements::extent(Value tensor, unsigned dim) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return {type.getDimSize(dim), nullptr};
  if (auto argument = arguments.find(tensor); argument != arguments.end())
    return argument->second.extents[dim];
  Operation *op = tensor.getDefiningOp();
  if (auto style = dyn_cast_or_null<DestinationStyleOpInterface>(op))
    return extent(style.getTiedOpOperand(cast<OpResult>(tensor))->get(), dim);
  if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(op))
    return extentOf(empty.getMixedSizes()[dim]);
  if (auto cast = dyn_cast_or_null<tensor::CastOp>(op))
    return extent(cast.getSource(), dim);
  if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(op))
    return extentOf(expand.getMixedOutputShape()[dim]);
  if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(op)) {
    SmallVector<Extent> group;
    for (int64_t source : collapse.getReassociationIndices()[dim])
      group.push_back(extent(collapse.getSrc(), source));
    return math.product(group);
  }
  SmallVector<LaneIndex> terms;
  if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op)) {
    SmallVector<OpFoldResult> kept;
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    for (auto [number, size] : llvm::enumerate(slice.getMixedSizes()))
      if (!dropped[number])
        kept.push_back(size);
    return extentOf(kept[dim]);
  }
  if (auto pad = dyn_cast_or_null<tensor::PadOp>(op)) {
    terms = {math.of(extent(pad.getSource(), dim)),
             math.of(extentOf(pad.getMixedLowPad()[dim])),
             math.of(extentOf(pad.getMixedHighPad()[dim]))};
  } else if (auto concat = dyn_cast_or_null<tensor::ConcatOp>(op)) {
    if (concat.getDim() != dim)
      return extent(concat.getInputs().front(), dim);
    for (Value part : concat.getInputs())
      terms.push_back(math.of(extent(part, dim)));
  } else {
    fail(op ? op : tensor.getParentRegion()->getParentOp(),
         "this dynamic extent");
    return {1, nullptr};
  }
  LaneIndex sum = math.constant(0);
  for (LaneIndex term : terms)
    sum = math.add(sum, term);
  return {ShapedType::kDynamic, sum.base};
}

SmallVector<Extent> Elements::extents(Value tensor) {
  SmallVector<Extent> result;
  auto type = cast<RankedTensorType>(tensor.getType());
  for (unsigned dim = 0; dim < type.getRank(); ++dim)
    result.push_back(extent(tensor, dim));
  return result;
}

Value Elements::scalar(Value value) {
  if (auto bound = scalars.find(value); bound != scalars.end())
    return bound->second;
  Key key{value.getAsOpaquePointer(), {}};
  for (auto &scope : scopes)
    if (auto found = scope.find(key); found != scope.end())
      return found->second;
  Operation *op = value.getDefiningOp();
  Value made;
  if (auto dim = dyn_cast_or_null<tensor::DimOp>(op)) {
    std::optional<int64_t> number = dim.getConstantIndex();
    if (!number)
      return fail(op, "the extent of a dimension that is not constant");
    made = math.of(extent(dim.getSource(), *number)).base;
  } else if (auto extract = dyn_cast_or_null<tensor::ExtractOp>(op)) {
    Lanes indices;
    for (Value index : extract.getIndices())
      indices.push_back({scalar(index), 0, 1});
    made = failedOp ? nullptr : at(extract.getTensor(), indices);
  } else if (op && op->getNumResults() == 1 && op->getNumRegions() == 0 &&
             isMemoryEffectFree(op) &&
             llvm::none_of(op->getOperandTypes(), llvm::IsaPred<ShapedType>)) {
    IRMapping mapping;
    for (Value operand : op->getOperands()) {
      Value own = scalar(operand);
      if (!own)
        return nullptr;
      mapping.map(operand, own);
    }
    made = builder.clone(*op, mapping)->getResult(0);
  } else {
    return fail(op ? op : value.getParentRegion()->getParentOp(),
                "this scalar");
  }
  return scopes.back()[key] = made;
}

Value Elements::compute(Value tensor, ArrayRef<LaneIndex> indices) {
  if (auto own = held.find(tensor); own != held.end())
    return own->second(indices);
  if (auto argument = arguments.find(tensor); argument != arguments.end()) {
    std::optional<LaneIndex> number =
        math.linearize(indices, argument->second.extents);
    return number ? load(argument->second.pointer, *number, elementOf(tensor))
                  : nullptr;
  }
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return fail(tensor.getParentRegion()->getParentOp(), "this argument");
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return computeOperator(structured, cast<OpResult>(tensor).getResultNumber(),
                           indices);
  DenseElementsAttr elements;
  if (matchPattern(tensor, m_Constant(&elements)) && elements.isSplat())
    return arith::ConstantOp::create(
        builder, loc, cast<TypedAttr>(elements.getSplatValue<Attribute>()));
  if (isa<tensor::EmptyOp>(op)) // any value would do
    return arith::ConstantOp::create(builder, loc,
                                     builder.getZeroAttr(elementOf(tensor)));
  if (auto made = dyn_cast<tensor::SplatOp>(op))
    return scalar(made.getInput());
  return computeGlue(op, indices);
}
