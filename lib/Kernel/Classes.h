//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel classes, and what they share. Private to lib/Kernel.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_KERNEL_CLASSES_H
#define FUSE_LIB_KERNEL_CLASSES_H

#include "fuse/Kernel/GemmTile.h"
#include "fuse/Kernel/KernelClass.h"

namespace fuse {

const KernelClass &pointwiseClass();
const KernelClass &rowClass();
const KernelClass &contractionClass();
const KernelClass &windowClass();
const KernelClass &attentionClass();
const KernelClass &chainClass();
const KernelClass &siblingsClass();

/// Registers that pointers, indices and bounds of a kernel take besides values:
/// on a GPU 3 64-bit pointers, 4 indices, 2 bounds and 4 temporaries; a CPU
/// keeps those in scalar registers.
inline double addressRegisters(const Device &device) {
  return device.maxThreadsPerBlock > 1 ? 16 : 0;
}

/// Registers per lane that the longest mathematical function of the group takes
/// on a GPU besides its argument and result: what is live in the arithmetic
/// that it is expanded to. 0 on a CPU.
double functionRegisters(const Group &group, const Device &device);

/// Launches the tile of `cost`, whose registers, shared memory and work are
/// known, in `blocks` blocks: states the launch and estimates its time.
void launch(TileCost &cost, double blocks, const Device &device);

/// Loads of each element of `operand` by a contraction kernel with tiles of
/// `tileN` outputs: once per tile along the parallel loops that do not index
/// it, and once per filter point that covers it. Dynamic extents count as
/// kAssumedExtent.
double loadsPerElement(mlir::linalg::LinalgOp op, unsigned operand,
                       int64_t tileN);

/// The GEMM that a contraction or convolution is: batch times m x n x k.
struct Gemm {
  double batch = 1, m = 1, n = 1, k = 1;
  double elementBytes = 4;
};

/// Dynamic extents count as kAssumedExtent.
Gemm gemmOf(mlir::linalg::LinalgOp op);

/// The inputs of the product as GPU code sees them: y times x, where the result
/// lies along x.
struct GemmInputs {
  GemmInput y, x;
  bool xIsM; ///< x is the plan's m, else its n
  int64_t sumBytes;
};
GemmInputs gemmInputsOf(const Group &group, unsigned anchor);

/// Operators of `group` in front of its last contraction or convolution that
/// sum or compare several elements: what a chain holds on chip.
llvm::SmallVector<unsigned> stagesOf(const Group &group);

/// True if contraction `second` sums along whole rows of the results of
/// contraction `first`, the rows of its own first operand, and elementwise
/// operators alone are between.
bool keepsRows(const Group &group, unsigned first, unsigned second);

/// Operators of `group` that `id` reads, directly or not, `id` left out.
llvm::SmallVector<unsigned> upstreamOf(const Group &group, unsigned id);

/// Nothing if the operators of `group` besides `anchor` are prologues (before
/// it), epilogues over its output tile, or elementwise neighbours of those.
std::optional<Decision> matchAroundAnchor(const Group &group, unsigned anchor);

/// FLOPs and transcendentals of the group; prologues of `anchor` as often as
/// `evaluations` says for each of its operands.
void addWork(const Group &group, unsigned anchor,
             llvm::function_ref<double(unsigned operand)> evaluations,
             const Device &device, KernelWork &work);

} // namespace fuse

#endif // FUSE_LIB_KERNEL_CLASSES_H
