//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which dimensions of a kernel's results are its rows, found by asking which
// reductions each element of a result needs.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_LOWERING_GPUROWSPACE_H
#define FUSE_LIB_LOWERING_GPUROWSPACE_H

#include "GpuSchedule.h"

namespace fuse {

/// A reduction that an element needs: its loops, those of the reduction open.
struct RowReduction {
  mlir::linalg::LinalgOp op;
  unsigned result;
  Lanes loops;
};

/// The reductions that the element at `indices` of `tensor` needs, each after
/// those that it needs itself. `along` stands for where in a row it is. Nothing
/// where an index has no form.
std::optional<llvm::SmallVector<RowReduction>>
reductionsOf(Elements &elements, mlir::Value tensor,
             llvm::ArrayRef<LaneIndex> indices,
             llvm::function_ref<LaneIndex(const Extent &)> along);

/// How the results of a kernel lie in rows.
struct GpuRowSpace {
  llvm::SmallVector<Extent> rows; ///< extents
  /// Per result: the dimensions that are rows, in the order of `rows`, and the
  /// ones along a row.
  struct Result {
    llvm::SmallVector<unsigned> rows, along;
  };
  llvm::SmallVector<Result> results;
  /// Neighbouring elements in memory are in neighbouring rows.
  bool acrossRows = false;

  static std::optional<GpuRowSpace> of(GpuFrame &frame, std::string &why);
};

} // namespace fuse

#endif // FUSE_LIB_LOWERING_GPUROWSPACE_H
