//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What counts as an operator, as glue, and as an initial value.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_ANALYSIS_OPERATORS_H
#define FUSE_ANALYSIS_OPERATORS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <string>

namespace fuse {

/// The part an operator can play in a kernel.
enum class Role {
  Elementwise, ///< parallel loops only
  Reduction,   ///< reduction loops, neither contraction nor window
  Contraction, ///< matmul, batch matmul, matvec, dot
  Convolution, ///< sliding window with a reduction over input channels
  Depthwise,   ///< convolution without a reduction over channels
  Window,      ///< pooling
};

llvm::StringRef stringifyRole(Role role);

/// True for a contraction or convolution with its own reduction loop over
/// channels: the loop nests that a kernel can hold one of.
bool isHeavy(Role role);

/// Role of a structured operator, from its maps and iterators.
Role roleOf(mlir::linalg::LinalgOp op);

/// True if `op` is a structured operator that computes: any linalg operation,
/// but for those that only move or initialise data on tensors.
bool isOperator(mlir::Operation *op);

/// True if `op` only moves data and is looked through: on tensors pad, reshape,
/// slice, concat, cast, transpose, broadcast, copy; on memrefs views.
bool isGlue(mlir::Operation *op);

/// The operands whose data a glue operation passes on (both the source and the
/// destination of an insert_slice; every part of a concat).
llvm::SmallVector<mlir::Value> glueSources(mlir::Operation *glue);

/// True if `value` can be made again at no cost: `tensor.empty`, a fill, a
/// splat or other constant. As an `outs` operand it is no hazard.
bool isFreeInit(mlir::Value value);

/// True for a constant tensor of more than one value: it is read like an
/// argument, where scalars and splats cost nothing to make again.
bool holdsData(mlir::Operation *constant);

/// Values that `op` and its regions use from outside of it.
llvm::SmallVector<mlir::Value> usedValues(mlir::Operation *op);

/// True if `operand` is an `outs` whose incoming data the body reads and which
/// is not a fill, an empty tensor or a splat, so that reading it costs bytes.
bool carriesData(mlir::linalg::LinalgOp op, mlir::OpOperand *init);

/// Name and kind of an operation for a table: `conv_2d_nchw_fchw`,
/// `generic(addf)`, `generic(mulf, addf)`; without the dialect's prefix.
std::string describe(mlir::Operation *op);

} // namespace fuse

#endif // FUSE_ANALYSIS_OPERATORS_H
