//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Threads that work on one row together.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_LOWERING_GPUTEAM_H
#define FUSE_LIB_LOWERING_GPUTEAM_H

#include "GpuSchedule.h"

namespace fuse {

/// A team: a warp or the whole block, or, where neighbouring rows are
/// neighbours in memory, the threads of one column of a block.
struct GpuTeam {
  enum Kind { Warp, Block, Column } kind;
  int64_t threads; ///< of the block
  int64_t members; ///< threads of a team
  int64_t teams;   ///< of the block, one row each

  mlir::Value member; ///< number of this thread in its team
  mlir::Value team;   ///< number of its team in the block

  static GpuTeam create(GpuFrame &frame, Kind kind, int64_t threads);

  /// The values of all members combined; the same for all of them. All threads
  /// of the block come here.
  mlir::Value combine(GpuFrame &frame, mlir::Value value,
                      mlir::Operation *combiner) const;
};

/// The value of the lane of the warp whose number differs by `distance` in its
/// bits.
mlir::Value shuffle(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value value, int64_t distance);

/// `combiner` on two values.
mlir::Value combineValues(mlir::OpBuilder &builder, mlir::Operation *combiner,
                          mlir::Value a, mlir::Value b);

} // namespace fuse

#endif // FUSE_LIB_LOWERING_GPUTEAM_H
