//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions of tensor cores ("PTX ISA": ldmatrix, mma.m16n8k16 of 16-bit
// floats, mma.m16n8k8 of tf32).
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_LOWERING_GPUMMA_H
#define FUSE_LIB_LOWERING_GPUMMA_H

#include "fuse/Kernel/GemmTile.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace fuse {

/// Elements of a 16-byte chunk, the unit of ldmatrix and cp.async.
constexpr int64_t kMmaChunk = 8;

/// Elements of 16 bytes of the inputs of `op`; mma.sync takes two such of k.
int64_t mmaChunk(mlir::linalg::LinalgOp op);

/// Four 8 x 8 matrices of `element`, 16-bit floats, one after the other: lane l
/// gives in `from` the address, in shared memory, of line l % 8 of matrix
/// l / 8. A word of each for this lane: its elements 2 (l % 4) and the next of
/// line l / 4, or of that column if `transposed`. Of f32 8 x 4 matrices, not
/// transposed: element l % 4 of line l / 4, as tf32.
llvm::SmallVector<mlir::Value, 4>
loadMatrices(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value from,
             mlir::Type element, bool transposed);

/// sums + rows * columns, of f32: `rows` four words, `columns` two, as
/// loadMatrices gives them; `sums` four, two neighbours of row l / 4 and two
/// eight rows on.
llvm::SmallVector<mlir::Value, 4>
multiplyMatrices(mlir::OpBuilder &builder, mlir::Location loc,
                 mlir::Type element, llvm::ArrayRef<mlir::Value> rows,
                 llvm::ArrayRef<mlir::Value> columns,
                 llvm::ArrayRef<mlir::Value> sums);

/// An f32 rounded to the 10 bits of tf32's mantissa, to nearest.
mlir::Value toTf32(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Value value);

/// True if the body of `op` is `sum + extend(a) * extend(b)` of 16-bit floats,
/// in f32; with `tf32` also if it is `sum + a * b` of f32.
bool isMma(mlir::linalg::LinalgOp op, bool tf32 = false);

} // namespace fuse

#endif // FUSE_LIB_LOWERING_GPUMMA_H
