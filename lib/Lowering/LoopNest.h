//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A structured operation on buffers as a loop nest with linear addresses, and
// the register tile that it is computed in.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_LOWERING_LOOPNEST_H
#define FUSE_LIB_LOWERING_LOOPNEST_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace fuse {

/// An operand: element number `sum(strides[d] * iv[d])` from its start.
struct NestOperand {
  mlir::OpOperand *operand;
  llvm::SmallVector<int64_t, 6> strides; ///< per loop, in elements
  bool isBuffer; ///< else a scalar, the same for all points
};

/// Loops of static extents around a body of elementwise operations.
struct LoopNest {
  mutable mlir::linalg::LinalgOp op; ///< a handle: its methods are not const
  llvm::SmallVector<int64_t, 6> extents;
  llvm::SmallVector<bool, 6> reduces;
  llvm::SmallVector<NestOperand> operands; ///< inputs, then outputs

  llvm::ArrayRef<NestOperand> inputs() const;
  llvm::ArrayRef<NestOperand> outputs() const;

  /// Nothing where an extent or a stride is dynamic, a map is not linear, or
  /// the body is not elementwise on numbers.
  static std::optional<LoopNest> of(mlir::linalg::LinalgOp op);
};

/// The CPU's vector unit.
struct VectorUnit {
  unsigned bytes;     ///< of a register
  unsigned registers; ///< how many
};

/// How a nest is computed: vectors along one loop, several of them along that
/// and along a second one held in registers at a time.
struct RegisterTile {
  unsigned vectorLoop;
  bool horizontal = false; ///< the vectors lie along a reduction loop
  std::optional<unsigned> rowLoop;
  unsigned lanes;   ///< of one vector
  unsigned vectors; ///< along the vector loop
  unsigned rows = 1;

  static std::optional<RegisterTile> choose(const LoopNest &nest,
                                            const VectorUnit &unit);
};

/// The kind of reduction that makes output `number` of `op`: its last
/// operation, if that alone reads the old value and may be reordered.
mlir::Operation *combinerOf(mlir::linalg::LinalgOp op, unsigned number);

/// The order of the terms of the sums of `op`, and of the factors of its
/// products, is free from here on.
void allowReordering(mlir::linalg::LinalgOp op);

} // namespace fuse

#endif // FUSE_LIB_LOWERING_LOOPNEST_H
