//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which dimensions of all values of a kernel are those of a row of its result.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_LOWERING_ROWDIMS_H
#define FUSE_LIB_LOWERING_ROWDIMS_H

#include "fuse/Lowering/Passes.h"

namespace fuse {

/// Rows of the result, followed back to everything that it is computed from.
class RowDims {
public:
  static constexpr int kWhole = -1; ///< not cut along this row

  /// Nothing where an operator needs more than one row of an operand.
  static std::optional<RowDims> of(mlir::Value result,
                                   llvm::ArrayRef<int> dims);

  /// The tensor that `value` is computed into.
  static mlir::Value destinationOf(mlir::Value value);
  /// True for reshapes and slices.
  static bool isView(mlir::Operation *op);

  /// True for what is computed anew for each row.
  bool isCut(mlir::Operation *op) const;
  /// Per row: the dimension of the value; of an operand, if it comes from
  /// outside of the loop.
  llvm::ArrayRef<int> dimsOf(mlir::Value value) const;
  llvm::ArrayRef<int> dimsOf(mlir::OpOperand &operand) const;
  /// Per row: the loop of a structured operator.
  llvm::ArrayRef<int> loopsOf(mlir::Operation *op) const;
  /// The type with an extent of 1 in these dimensions.
  static mlir::RankedTensorType rowType(mlir::RankedTensorType type,
                                        llvm::ArrayRef<int> dims);

private:
  using Dims = llvm::SmallVector<int>;
  bool require(mlir::OpOperand &operand, Dims dims);
  bool visit(mlir::Operation *op);
  bool visitStructured(mlir::linalg::LinalgOp op);
  bool visitReshape(mlir::Operation *op, mlir::RankedTensorType wide,
                    llvm::ArrayRef<mlir::ReassociationIndices> groups,
                    bool expands);
  bool visitPad(mlir::tensor::PadOp op);
  bool visitExtract(mlir::tensor::ExtractSliceOp op);
  bool visitInsert(mlir::tensor::InsertSliceOp op);

  llvm::DenseMap<mlir::Value, Dims> values;
  llvm::DenseMap<mlir::OpOperand *, Dims> operands;
  llvm::DenseMap<mlir::Operation *, Dims> loops;
};

} // namespace fuse

#endif // FUSE_LIB_LOWERING_ROWDIMS_H
