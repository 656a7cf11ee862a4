//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel around one contraction or convolution, as a matrix multiplication.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_LOWERING_GPUGEMM_H
#define FUSE_LIB_LOWERING_GPUGEMM_H

#include "GpuSchedule.h"
#include "fuse/Kernel/GemmTile.h"

namespace fuse {

/// Loops of the contraction that are one dimension of the matrix product, and
/// their extents.
struct GemmDim {
  llvm::SmallVector<unsigned> loops;
  llvm::SmallVector<Extent> extents;
};

/// out[batch, y, x] = sum over k of lhs[batch, y, k] * rhs[batch, k, x], where
/// x is the dimension along which the result lies in memory.
struct GpuGemm {
  mutable mlir::linalg::LinalgOp op; ///< a handle: its methods are not const
  GemmDim batch, y, x, k;
  unsigned yOperand, xOperand; ///< numbers of the inputs that y and x index
  bool xIsM;                   ///< x is the plan's m, else its n

  /// Nothing, and `why`, if `source` has no such contraction, or more than it.
  static std::optional<GpuGemm> of(GpuFrame &frame, std::string &why);
  /// The same of one of several contractions.
  static std::optional<GpuGemm> of(GpuFrame &frame, mlir::linalg::LinalgOp op,
                                   std::string &why);
};

/// The schedule for cores without matrix instructions: tiles of both inputs in
/// shared memory, twice, an outer product of registers for each k. False, with
/// the reason in `why`, if it does not hold the kernel.
bool emitGemm(GpuFrame &frame, const GpuTile &tile, std::string &why);

/// The schedule for tensor cores: 16-bit floats multiplied by mma.sync, f32
/// sums. False, with the reason in `why`, if it does not hold the kernel.
bool emitTensorCoreGemm(GpuFrame &frame, const GpuTile &tile, std::string &why);

} // namespace fuse

#endif // FUSE_LIB_LOWERING_GPUGEMM_H
