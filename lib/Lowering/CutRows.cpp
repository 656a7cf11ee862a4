//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel with slices and reshapes inside, row by row.
//
//   y = scale x; s = slice y; z = insert s; r = add y, z
//     ==>   for each row { the same on tensors of extent 1 along the row }
//
// Rows are the dimensions of the result along which every operator can be cut.
// What does not depend on the row is computed once before the loop.
//
//===----------------------------------------------------------------------===//

#include "CutRows.h"
#include "RowDims.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"

using namespace mlir;
using namespace fuse;

/// Results of this many elements are enough for a row: shorter ones cost more
/// in loops than they compute.
constexpr int64_t kRowElements = 256;

/// The value that is returned, before reshapes; null if there are several or it
/// is not computed here.
static Value findResult(func::FuncOp function) {
  auto end = cast<func::ReturnOp>(function.getBody().front().getTerminator());
  if (end.getNumOperands() != 1)
    return nullptr;
  Value value = end.getOperand(0);
  while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
             value.getDefiningOp()) &&
         value.hasOneUse())
    value = value.getDefiningOp()->getOperand(0);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && value.getDefiningOp() ? value
                                                                : nullptr;
}

/// True if an operator reads a slice or a reshape of another one's result.
static bool hasViewsInside(func::FuncOp function, Value result) {
  return llvm::any_of(function.getBody().front(), [&](Operation &op) {
    return RowDims::isView(&op) && op.getOperand(0).getDefiningOp() &&
           op.getOperand(0) != result &&
           !result.getDefiningOp()->isBeforeInBlock(&op);
  });
}

/// Dimensions of the result to cut, outer ones first, as long as a row has
/// enough elements.
static std::optional<RowDims> chooseRows(Value result) {
  auto type = cast<RankedTensorType>(result.getType());
  int64_t left = type.getNumElements();
  SmallVector<int> chosen;
  std::optional<RowDims> best;
  for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
    if (extent == 1 || (left / extent < kRowElements && best))
      continue;
    chosen.push_back(int(dim));
    if (std::optional<RowDims> rows = RowDims::of(result, chosen)) {
      best = std::move(rows);
      left /= extent;
    } else {
      chosen.pop_back();
    }
  }
  return best;
}

namespace {
/// Makes the loop.
class Cutter {
public:
  Cutter(RowDims rows, Value result) : rows(std::move(rows)), result(result) {}
  void run();

private:
  using Sizes = SmallVector<OpFoldResult>;
  Value sliceOf(OpBuilder &builder, Value value, ArrayRef<int> dims);
  Value makeEmpty(OpBuilder &builder, Value value, ArrayRef<int> dims);
  void place(ArrayRef<int> dims, Sizes &offsets, Sizes &sizes);
  void cut(OpBuilder &builder, Operation *op);
  void cloneOp(OpBuilder &builder, Operation *op, ValueRange operands);

  RowDims rows;
  Value result;
  SmallVector<Value> ivs;
  IRMapping mapping; ///< of what is computed in the loop
};
} // namespace

/// Offsets and sizes of a row in a tensor that is otherwise whole.
void Cutter::place(ArrayRef<int> dims, Sizes &offsets, Sizes &sizes) {
  for (auto [loop, dim] : llvm::enumerate(dims))
    if (dim != RowDims::kWhole) {
      offsets[dim] = ivs[loop];
      sizes[dim] = getAsIndexOpFoldResult(ivs[loop].getContext(), 1);
    }
}

/// Each operator starts from an empty tensor of its own.
Value Cutter::makeEmpty(OpBuilder &builder, Value value, ArrayRef<int> dims) {
  RankedTensorType type =
      RowDims::rowType(cast<RankedTensorType>(value.getType()), dims);
  return tensor::EmptyOp::create(builder, value.getLoc(), type.getShape(),
                                 type.getElementType());
}

Value Cutter::sliceOf(OpBuilder &builder, Value value, ArrayRef<int> dims) {
  if (llvm::all_of(dims, [](int dim) { return dim == RowDims::kWhole; }))
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  MLIRContext *context = builder.getContext();
  Sizes sizes = getAsIndexOpFoldResult(context, type.getShape());
  Sizes offsets(type.getRank(), builder.getIndexAttr(0)),
      strides(type.getRank(), builder.getIndexAttr(1));
  place(dims, offsets, sizes);
  return tensor::ExtractSliceOp::create(builder, value.getLoc(), value, offsets,
                                        sizes, strides);
}

void Cutter::cloneOp(OpBuilder &builder, Operation *op, ValueRange operands) {
  Location loc = op->getLoc();
  auto typeOf = [&](Value value) {
    return RowDims::rowType(cast<RankedTensorType>(value.getType()),
                            rows.dimsOf(value));
  };
  Value made;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    SmallVector<Type> types;
    for (Value value : op->getResults())
      types.push_back(typeOf(value));
    Operation *copy = mlir::clone(builder, structured, types, operands);
    SmallVector<OpFoldResult> offsets(structured.getNumLoops());
    for (auto [loop, mine] : llvm::enumerate(rows.loopsOf(op)))
      if (mine != RowDims::kWhole)
        offsets[mine] = ivs[loop];
    linalg::offsetIndices(builder, cast<linalg::LinalgOp>(copy), offsets);
    mapping.map(op->getResults(), copy->getResults());
    return;
  }
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    made =
        tensor::ExpandShapeOp::create(builder, loc, typeOf(expand), operands[0],
                                      expand.getReassociationIndices());
  } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    made = tensor::CollapseShapeOp::create(builder, loc, typeOf(collapse),
                                           operands[0],
                                           collapse.getReassociationIndices());
  } else if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    made = tensor::PadOp::create(builder, loc, typeOf(pad), operands[0],
                                 pad.getMixedLowPad(), pad.getMixedHighPad(),
                                 pad.getConstantPaddingValue());
  } else {
    // The row is whole in the slice: only its extent changes.
    auto slice = cast<OffsetSizeAndStrideOpInterface>(op);
    bool extracts = isa<tensor::ExtractSliceOp>(op);
    Value full = extracts ? op->getOperand(0) : op->getOperand(1);
    Sizes sizes = slice.getMixedSizes();
    for (int dim : rows.dimsOf(full))
      if (dim != RowDims::kWhole)
        sizes[dim] = builder.getIndexAttr(1);
    if (extracts)
      made = tensor::ExtractSliceOp::create(
          builder, loc, typeOf(op->getResult(0)), operands[0],
          slice.getMixedOffsets(), sizes, slice.getMixedStrides());
    else
      made = tensor::InsertSliceOp::create(builder, loc, operands[0],
                                           operands[1], slice.getMixedOffsets(),
                                           sizes, slice.getMixedStrides());
  }
  mapping.map(op->getResult(0), made);
}

void Cutter::cut(OpBuilder &builder, Operation *op) {
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    ArrayRef<int> dims = rows.dimsOf(operand);
    Value known = mapping.lookupOrNull(value);
    if (isa_and_nonnull<tensor::EmptyOp>(value.getDefiningOp()) &&
        (!known || dims != rows.dimsOf(result)))
      known = makeEmpty(builder, value, dims);
    operands.push_back(known ? known : sliceOf(builder, value, dims));
  }
  cloneOp(builder, op, operands);
}

void Cutter::run() {
  Operation *last = result.getDefiningOp();
  Location loc = last->getLoc();
  OpBuilder builder(last);
  builder.setInsertionPointAfter(last);
  Value into = RowDims::destinationOf(result);
  ArrayRef<int> dims = rows.dimsOf(result);
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<OpFoldResult> counts;
  for (int dim : dims)
    counts.push_back(builder.getIndexAttr(type.getDimSize(dim)));
  auto loop = scf::ForallOp::create(builder, loc, counts, ValueRange{into},
                                    std::nullopt);
  ivs = loop.getInductionVars();
  builder.setInsertionPointToStart(loop.getBody());
  Value shared = loop.getRegionIterArgs()[0];
  mapping.map(into, sliceOf(builder, shared, dims));
  for (Operation &op : *last->getBlock()) {
    if (rows.isCut(&op) && !isa<tensor::EmptyOp>(op) && op.getResult(0) != into)
      cut(builder, &op);
    if (&op == last)
      break;
  }
  Sizes sizes = getAsIndexOpFoldResult(type.getContext(), type.getShape());
  Sizes offsets(type.getRank(), builder.getIndexAttr(0)),
      strides(type.getRank(), builder.getIndexAttr(1));
  place(dims, offsets, sizes);
  builder.setInsertionPointToStart(loop.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(builder, loc, mapping.lookup(result),
                                        shared, offsets, sizes, strides);
  result.replaceUsesWithIf(loop.getResult(0), [&](OpOperand &use) {
    return use.getOwner()->getBlock() == loop->getBlock() &&
           loop->isBeforeInBlock(use.getOwner());
  });
  SmallVector<Operation *> dead;
  for (Operation &op : *last->getBlock())
    dead.push_back(&op);
  for (Operation *op : llvm::reverse(dead))
    if (isOpTriviallyDead(op))
      op->erase();
}

bool fuse::cutRows(func::FuncOp function) {
  Value result = findResult(function);
  if (!result || !hasViewsInside(function, result))
    return false;
  std::optional<RowDims> rows = chooseRows(result);
  if (!rows)
    return false;
  Cutter(std::move(*rows), result).run();
  return true;
}
