//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names of dynamic extents, and the extents of an operator's loops. Changes
// nothing.
//
//===----------------------------------------------------------------------===//

#include "fuse/Analysis/Footprint.h"
#include "fuse/Analysis/Operators.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace fuse;

std::string ExtentNamer::nameOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (argument.getOwner()->isEntryBlock() &&
        isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
      return "arg" + std::to_string(argument.getArgNumber());
  return "v" + std::to_string(
                   numbers.try_emplace(value, numbers.size()).first->second);
}

Count ExtentNamer::index(Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return Count(*constant);
  if (auto dim = value.getDefiningOp<tensor::DimOp>())
    if (std::optional<int64_t> position = dim.getConstantIndex())
      return extent(dim.getSource(), *position);
  if (auto dim = value.getDefiningOp<memref::DimOp>())
    if (std::optional<int64_t> position = dim.getConstantIndex())
      return extent(dim.getSource(), *position);
  return Count::symbol(nameOf(value));
}

/// Where the extent `dim` of `value` comes from: another shaped value (with the
/// same extent), an index value, or nothing that is known.
static std::pair<Value, std::optional<int64_t>>
stepToExtentSource(Value value, int64_t dim) {
  Operation *def = value.getDefiningOp();
  if (!def)
    return {};
  if (auto dps = dyn_cast<DestinationStyleOpInterface>(def))
    return {dps.getTiedOpOperand(cast<OpResult>(value))->get(), dim};
  if (auto cast = dyn_cast<tensor::CastOp>(def))
    return {cast.getSource(), dim};
  auto mixed = [&](ArrayRef<OpFoldResult> sizes)
      -> std::pair<Value, std::optional<int64_t>> {
    return {llvm::dyn_cast_if_present<Value>(sizes[dim]), std::nullopt};
  };
  if (auto empty = dyn_cast<tensor::EmptyOp>(def))
    return mixed(empty.getMixedSizes());
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(def))
    return mixed(expand.getMixedOutputShape());
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(def))
    return {insert.getDest(), dim};
  return {};
}

Count ExtentNamer::extent(Value value, int64_t dim) {
  // Each step goes to an earlier definition, so the walk ends.
  while (true) {
    if (auto it = known.find({value, dim}); it != known.end())
      return it->second;
    auto type = dyn_cast<ShapedType>(value.getType());
    if (!type || !type.hasRank() || dim >= type.getRank())
      break;
    if (!type.isDynamicDim(dim))
      return Count(type.getDimSize(dim));
    if (auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>()) {
      Count product(1);
      ReassociationIndices parts = collapse.getReassociationIndices()[dim];
      for (int64_t part : parts)
        product *= extent(collapse.getSrc(), part);
      return product;
    }
    auto [source, sourceDim] = stepToExtentSource(value, dim);
    if (!source)
      break;
    if (!sourceDim)
      return index(source);
    value = source;
    dim = *sourceDim;
  }
  return Count::symbol(nameOf(value) + "." + std::to_string(dim));
}

/// True if `init` is sized by an index that says nothing of other values (no
/// `tensor.dim`, no constant): the extents of the inputs tell more.
static bool hasOpaqueSize(Value init, int64_t dim) {
  auto empty = init.getDefiningOp<tensor::EmptyOp>();
  if (!empty)
    return false;
  auto size = llvm::dyn_cast_if_present<Value>(empty.getMixedSizes()[dim]);
  return size && !size.getDefiningOp<tensor::DimOp>() &&
         !getConstantIntValue(size);
}

SmallVector<Count> fuse::loopExtents(linalg::LinalgOp op, ExtentNamer &namer) {
  SmallVector<std::optional<Count>> extents(op.getNumLoops());
  // Outputs first: their extents trace back to what sized the destination. A
  // static extent wins over a dynamic one, and any over an opaque size.
  SmallVector<OpOperand *> operands;
  for (OpOperand &init : op.getDpsInitsMutable())
    operands.push_back(&init);
  for (OpOperand *input : op.getDpsInputOperands())
    operands.push_back(input);
  llvm::SmallBitVector opaque(op.getNumLoops());
  auto isKnown = [&](unsigned loop) {
    return extents[loop] && extents[loop]->isStatic() && !opaque.test(loop);
  };
  for (OpOperand *operand : operands) {
    if (llvm::all_of(llvm::seq(op.getNumLoops()), isKnown))
      break;
    for (auto [dim, expr] :
         llvm::enumerate(op.getMatchingIndexingMap(operand).getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop)
        continue;
      unsigned position = loop.getPosition();
      std::optional<Count> &slot = extents[position];
      auto type = cast<ShapedType>(operand->get().getType());
      bool better = slot && !slot->isStatic() && !type.isDynamicDim(dim);
      if (slot && !better && !opaque.test(position))
        continue;
      slot = namer.extent(operand->get(), dim);
      opaque[position] = hasOpaqueSize(operand->get(), dim);
    }
  }
  SmallVector<Count> result;
  for (auto [loop, extent] : llvm::enumerate(extents))
    result.push_back(extent ? *extent
                            : Count::symbol("loop" + std::to_string(loop)));
  return result;
}
