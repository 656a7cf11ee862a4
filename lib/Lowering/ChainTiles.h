//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles of kernels in which a contraction reads what another loop nest with a
// reduction or a window computes.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_LOWERING_CHAINTILES_H
#define FUSE_LIB_LOWERING_CHAINTILES_H

#include "fuse/Lowering/Passes.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"

namespace fuse {

/// Tiles `root` into loops of these sizes per loop (0: no cut), with those of
/// its producers that `control` lets in. Returns the root in the tile: itself
/// if nothing is cut, null if it cannot be tiled.
mlir::linalg::LinalgOp
tileOperator(mlir::linalg::LinalgOp root, llvm::ArrayRef<int64_t> sizes,
             bool parallel, mlir::scf::SCFTileAndFuseOptions::ControlFnTy);

/// Tiles a chain kernel that ends in `root`: rows of pixels, so many that what
/// they need of some channels stays in a cache of `cacheBytes`, and at least a
/// tile for each of `threads`. False, and nothing done, if its last contraction
/// has no rows that can be cut.
bool tileChain(mlir::func::FuncOp function, mlir::linalg::LinalgOp root,
               int64_t cacheBytes, int64_t threads);

} // namespace fuse

#endif // FUSE_LIB_LOWERING_CHAINTILES_H
