//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How far the elements of a kernel's arguments are apart that neighbouring
// elements of a value are computed from.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_LOWERING_GPUACCESS_H
#define FUSE_LIB_LOWERING_GPUACCESS_H

#include "GpuSchedule.h"

namespace fuse {

/// Elements of a kernel to ask about: what is made is deleted with it.
class GpuScratch {
public:
  explicit GpuScratch(GpuFrame &frame);
  ~GpuScratch();

  /// A value that stands for any index.
  LaneIndex standIn();
  /// The stand-ins that `indices` depend on.
  llvm::SmallDenseSet<mlir::Value> dependsOn(llvm::ArrayRef<LaneIndex> indices);

  Elements elements;

private:
  GpuFrame &frame;
  llvm::SmallVector<mlir::Operation *> standIns;
};

/// The elements of arguments that `tensor` at `indices` is computed from.
/// Nothing where lanes would part.
std::optional<llvm::SmallVector<ElementSource>>
loadsOf(Elements &elements, mlir::Value tensor,
        llvm::ArrayRef<LaneIndex> indices);

/// Steps between lanes, in elements, of the loads that `tensor` at `indices`
/// leads to. Nothing where lanes would part or a step is not known.
std::optional<llvm::SmallVector<int64_t>>
loadSteps(Elements &elements, mlir::Value tensor,
          llvm::ArrayRef<LaneIndex> indices);

/// Where in `wanted` the element is that `tensor` at `indices` is computed
/// from, element by element. Nothing if it is from none.
std::optional<Lanes> indicesBehind(Elements &elements, mlir::Value tensor,
                                   llvm::ArrayRef<LaneIndex> indices,
                                   mlir::Value wanted);

/// True if `value` is an argument whose elements are only moved, or `padded`
/// with zeros: no code is needed for them.
bool isMoved(mlir::Value value, bool &padded);

/// True if each access that `tensor` at `indices` leads to is aligned to all of
/// its lanes.
bool areAligned(Elements &elements, mlir::Value tensor,
                llvm::ArrayRef<LaneIndex> indices);

/// Where the element at `indices` of `from` is in `to`, which is computed from
/// it element by element. Nothing where it is not, or where lanes would part.
std::optional<Lanes> forwardIndices(Elements &elements, mlir::Value from,
                                    mlir::Value to,
                                    llvm::ArrayRef<LaneIndex> indices);

} // namespace fuse

#endif // FUSE_LIB_LOWERING_GPUACCESS_H
