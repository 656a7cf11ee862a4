//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows, from the result back to the inputs.
//
//===----------------------------------------------------------------------===//

#include "RowDims.h"

using namespace mlir;
using namespace fuse;

bool RowDims::isView(Operation *op) {
  return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
             tensor::ExtractSliceOp, tensor::InsertSliceOp>(op);
}

Value RowDims::destinationOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto structured = dyn_cast<linalg::LinalgOp>(op))
      value = structured.getTiedOpOperand(cast<OpResult>(value))->get();
    else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      value = insert.getDest();
    else
      break;
  }
  return value;
}

static bool isWhole(ArrayRef<int> dims) {
  return llvm::all_of(dims, [](int dim) { return dim == RowDims::kWhole; });
}

bool RowDims::isCut(Operation *op) const {
  return op->getNumResults() && !isWhole(dimsOf(op->getResult(0)));
}

ArrayRef<int> RowDims::dimsOf(Value value) const {
  auto known = values.find(value);
  return known == values.end() ? ArrayRef<int>() : ArrayRef<int>(known->second);
}

ArrayRef<int> RowDims::dimsOf(OpOperand &operand) const {
  auto known = operands.find(&operand);
  return known == operands.end() ? ArrayRef<int>()
                                 : ArrayRef<int>(known->second);
}

ArrayRef<int> RowDims::loopsOf(Operation *op) const {
  auto known = loops.find(op);
  return known == loops.end() ? ArrayRef<int>() : ArrayRef<int>(known->second);
}

RankedTensorType RowDims::rowType(RankedTensorType type, ArrayRef<int> dims) {
  SmallVector<int64_t> shape(type.getShape());
  for (int dim : dims)
    if (dim != kWhole)
      shape[dim] = 1;
  return type.clone(shape);
}

/// False if a computed value would be needed in two forms. Arguments and empty
/// tensors may be: each reader cuts them by itself.
bool RowDims::require(OpOperand &operand, Dims dims) {
  Value value = operand.get();
  auto [known, isNew] = values.try_emplace(value, dims);
  bool same = isNew || known->second == dims;
  operands[&operand] = std::move(dims);
  return same || isa<BlockArgument>(value) ||
         value.getDefiningOp<tensor::EmptyOp>();
}

bool RowDims::visitStructured(linalg::LinalgOp op) {
  ArrayRef<int> first = dimsOf(op->getResult(0));
  Dims mine(first.size(), kWhole);
  for (OpResult result : op->getResults()) {
    AffineMap map = op.getIndexingMapMatchingResult(result);
    if (!values.contains(result) || !map.isProjectedPermutation())
      return false;
    for (auto [row, dim] : llvm::enumerate(dimsOf(result))) {
      int loop = dim == kWhole ? kWhole : int(map.getDimPosition(dim));
      if (result.getResultNumber() != 0 && mine[row] != loop)
        return false;
      mine[row] = loop;
    }
  }
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    Dims dims(mine.size(), kWhole);
    for (auto [row, loop] : llvm::enumerate(mine))
      for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
        if (loop == kWhole || !expr.isFunctionOfDim(loop))
          continue;
        if (!isa<AffineDimExpr>(expr) || dims[row] != kWhole)
          return false;
        dims[row] = int(dim);
      }
    if (!require(operand, std::move(dims)))
      return false;
  }
  loops[op] = std::move(mine);
  return true;
}

/// A row must be the only extent of its group that is not 1.
bool RowDims::visitReshape(Operation *op, RankedTensorType wide,
                           ArrayRef<ReassociationIndices> groups,
                           bool expands) {
  Dims dims;
  for (int dim : dimsOf(op->getResult(0))) {
    int source = kWhole;
    for (auto [number, group] : llvm::enumerate(groups)) {
      bool isMine = expands ? llvm::is_contained(group, int64_t(dim))
                            : int(number) == dim;
      if (dim == kWhole || !isMine)
        continue;
      int64_t row = -1;
      for (int64_t one : group)
        if (wide.getDimSize(one) != 1) {
          if (row >= 0)
            return false;
          row = one;
        }
      if (row < 0 || (expands && row != dim))
        return false;
      source = expands ? int(number) : int(row);
    }
    dims.push_back(source);
  }
  return require(op->getOpOperand(0), std::move(dims));
}

/// What is padded is not cut.
bool RowDims::visitPad(tensor::PadOp op) {
  Dims dims(dimsOf(op.getResult()));
  for (int dim : dims)
    if (dim != kWhole &&
        (op.getStaticLow()[dim] != 0 || op.getStaticHigh()[dim] != 0))
      return false;
  return op.getLow().empty() && op.getHigh().empty() &&
         op.getConstantPaddingValue() &&
         require(op.getSourceMutable(), std::move(dims));
}

/// True if dimension `dim` of `type` is whole in the slice.
static bool spans(OffsetSizeAndStrideOpInterface slice, RankedTensorType type,
                  int dim) {
  return slice.getStaticOffsets()[dim] == 0 &&
         slice.getStaticStrides()[dim] == 1 &&
         slice.getStaticSizes()[dim] == type.getDimSize(dim);
}

/// Dimensions of the full tensor that those of the slice are.
static SmallVector<int> keptDims(const llvm::SmallBitVector &dropped) {
  SmallVector<int> kept;
  for (unsigned dim = 0; dim < dropped.size(); ++dim)
    if (!dropped.test(dim))
      kept.push_back(int(dim));
  return kept;
}

bool RowDims::visitExtract(tensor::ExtractSliceOp op) {
  SmallVector<int> kept = keptDims(op.getDroppedDims());
  Dims dims;
  for (int dim : dimsOf(op.getResult())) {
    dims.push_back(dim == kWhole ? kWhole : kept[dim]);
    if (dim != kWhole && !spans(op, op.getSourceType(), kept[dim]))
      return false;
  }
  return op.getOffsets().empty() && op.getSizes().empty() &&
         op.getStrides().empty() &&
         require(op.getSourceMutable(), std::move(dims));
}

bool RowDims::visitInsert(tensor::InsertSliceOp op) {
  SmallVector<int> kept = keptDims(op.getDroppedDims());
  Dims full(dimsOf(op.getResult())), dims;
  for (int dim : full) {
    auto *found = llvm::find(kept, dim);
    if (dim != kWhole &&
        (found == kept.end() || !spans(op, op.getDestType(), dim)))
      return false;
    dims.push_back(dim == kWhole ? kWhole : int(found - kept.begin()));
  }
  return op.getOffsets().empty() && op.getSizes().empty() &&
         op.getStrides().empty() &&
         require(op.getSourceMutable(), std::move(dims)) &&
         require(op.getDestMutable(), std::move(full));
}

bool RowDims::visit(Operation *op) {
  if (isWhole(dimsOf(op->getResult(0)))) {
    // Computed before the loop, with all that it reads.
    for (OpOperand &operand : op->getOpOperands())
      if (isa<TensorType>(operand.get().getType()) &&
          !require(operand, Dims(dimsOf(op->getResult(0)).size(), kWhole)))
        return false;
    return true;
  }
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.hasStaticShape())
    return false;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return visitStructured(structured);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return visitReshape(op, type, expand.getReassociationIndices(),
                        /*expands=*/true);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return visitReshape(op, collapse.getSrcType(),
                        collapse.getReassociationIndices(),
                        /*expands=*/false);
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return visitPad(pad);
  if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op))
    return visitExtract(extract);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return visitInsert(insert);
  return isa<tensor::EmptyOp>(op);
}

std::optional<RowDims> RowDims::of(Value result, ArrayRef<int> dims) {
  RowDims rows;
  rows.values[result] = Dims(dims);
  Operation *start = destinationOf(result).getDefiningOp();
  for (Operation *op = result.getDefiningOp(); op; op = op->getPrevNode()) {
    auto known = [&](Value value) { return rows.values.contains(value); };
    if (op == start || llvm::none_of(op->getResults(), known))
      continue;
    if (!llvm::all_of(op->getResults(), known))
      return std::nullopt;
    if (rows.visit(op))
      continue;
    // A view of an argument costs nothing: its readers cut it.
    if (!isView(op) || !isa<BlockArgument>(op->getOperand(0)))
      return std::nullopt;
    rows.values[op->getResult(0)].assign(dims.size(), kWhole);
  }
  return rows;
}
