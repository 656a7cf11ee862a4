//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Along which loops the last operator of a kernel can be cut, and into what
// tiles.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_LOWERING_TILESIZES_H
#define FUSE_LIB_LOWERING_TILESIZES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SmallBitVector.h"

namespace fuse {

constexpr int kNoLoop = -1; ///< a dimension that no loop of the root cuts

/// Along which loops of the last operator a kernel can be cut: those that index
/// one dimension of each value, the same wherever the value is read.
class FreeLoops {
public:
  /// With `until`, what that reads does not matter.
  explicit FreeLoops(mlir::linalg::LinalgOp root,
                     mlir::Operation *until = nullptr);

  bool isFree(unsigned loop) const { return !bound.test(loop); }
  /// True if a reduction reads neighbours along the loop.
  bool isColumn(unsigned loop) const { return columns.test(loop); }
  /// Per dimension of `value`: the loop of the root that cuts it, or kNoLoop.
  llvm::ArrayRef<int> loopsOf(mlir::Value value) const;

private:
  void bind(int loop) {
    if (loop != kNoLoop)
      bound.set(loop);
  }
  void require(mlir::Value value, llvm::ArrayRef<int> dims);
  void visit(mlir::linalg::LinalgOp op);
  void visitPad(mlir::Operation *pad);
  void visitOperands(mlir::linalg::LinalgOp op, llvm::ArrayRef<int> loops);

  llvm::SmallBitVector bound, columns;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int>> cut;
};

/// Sizes of tiles per loop of the root, 0 for no cut.
struct TileSizes {
  llvm::SmallVector<int64_t> outer; ///< with everything that the root reads
  /// Within those, with the operators behind the contraction, so that its
  /// result goes through registers and the nearest cache.
  llvm::SmallVector<int64_t> inner;
};

/// The tiles of a kernel that ends in `root`. `heavy` is its contraction, if it
/// has one; `reduces` says whether anything in it reduces.
TileSizes chooseTiles(mlir::linalg::LinalgOp root, mlir::linalg::LinalgOp heavy,
                      bool reduces);

/// The tiles of a kernel that ends in `root` and has a contraction of what
/// comes of the results of `first`, another one: outer ones of a batch, inner
/// ones of rows of scores. Nothing if they cannot be cut so.
std::optional<TileSizes> chooseAttentionTiles(mlir::linalg::LinalgOp root,
                                              mlir::linalg::LinalgOp first);

} // namespace fuse

#endif // FUSE_LIB_LOWERING_TILESIZES_H
