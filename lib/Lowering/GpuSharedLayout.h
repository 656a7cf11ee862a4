//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the shared memory of a kernel is, if it is part of a larger buffer.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_LOWERING_GPUSHAREDLAYOUT_H
#define FUSE_LIB_LOWERING_GPUSHAREDLAYOUT_H

#include "fuse/Lowering/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace fuse {

/// Places of the buffers of one kernel, in bytes.
struct SharedLayout {
  llvm::SmallVector<std::pair<mlir::BlockArgument, int64_t>> attributions;
  llvm::MapVector<mlir::StringAttr, int64_t> globals;
  int64_t bytes = 0;

  static SharedLayout of(mlir::gpu::GPUFuncOp kernel);

private:
  int64_t place(mlir::Type element, int64_t count, int64_t alignment);
};

/// True for a load or store that `rewriteAccess` knows.
bool isSharedAccess(mlir::Operation *op);

/// Makes `op`, which accesses a buffer at one index, an access of `start`.
void rewriteAccess(mlir::Operation *op, mlir::Value start);

} // namespace fuse

#endif // FUSE_LIB_LOWERING_GPUSHAREDLAYOUT_H
