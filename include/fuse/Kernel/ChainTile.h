//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How a chain kernel of a GPU is cut: what the plan counts and the code uses.
//
//   e = conv 1x1 x; d = depthwise e; y = conv 1x1 d
//     a block: some pixels and columns of y; of d those pixels, of e their
//     halo, some of the channels between at a time
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_KERNEL_CHAINTILE_H
#define FUSE_KERNEL_CHAINTILE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>

namespace fuse {

/// Channels between two contractions that a block has at a time.
constexpr int64_t kChainChunk = 32;
/// Columns that are summed at a time where a block has all channels.
constexpr int64_t kChainColumns = 64;
/// Sums of a thread of a GPU at most: with more, ptxas spills.
constexpr int64_t kChainSums = 144;

/// The operators of a chain that sum, and how the last one reads the others.
struct ChainOps {
  /// The last contraction, the window or reduction that it reads, and the
  /// contraction in front of that or of the last one; the last two are handles
  /// to nothing where there is none. Mutable: their methods are not const.
  mutable mlir::linalg::LinalgOp anchor, window, expand;
  unsigned rows = 0; ///< number of the input of `anchor` that is held on chip
  unsigned read = 0; ///< number of the input of `window` that is held too
  llvm::SmallVector<unsigned> batch, m, n, k; ///< loops of `anchor`
  /// Of `k`, the one along which channels lie; what is held is cut along it if
  /// there is `expand`.
  std::optional<unsigned> channel;
  /// With `window` and `expand`: for each dimension of the window's result
  /// that of the held input, whose elements are computed from its elements.
  llvm::SmallVector<unsigned> held;

  /// The chain of these operators, in an order of evaluation. Nothing, with the
  /// reason in `why`, for one whose blocks are not known.
  static std::optional<ChainOps> of(llvm::ArrayRef<mlir::Operation *> ops,
                                    std::string &why);
};

/// Elements that `threads` compute of `m` by `n`: threads along each, a power
/// of two, and elements of a thread.
struct ChainSplit {
  int64_t threadsM, threadsN, perM, perN;
  /// The split whose threads have the fewest elements, among those the one that
  /// is closest to a square.
  static ChainSplit of(int64_t m, int64_t n, int64_t threads);
};

/// Elements of a thread that computes `pixels` times `channels` of a stage.
struct ChainGroup {
  int64_t channels, pixels;
  /// The group whose threads are done first.
  static ChainGroup of(int64_t channels, int64_t pixels, int64_t threads);
};

/// One block of a chain.
struct ChainTile {
  llvm::SmallVector<int64_t> m; ///< along each loop of `ChainOps::m`
  int64_t columns;              ///< that are summed at a time
  int64_t depth;                ///< of `k`, of which weights are on chip
  int64_t chunk;                ///< along the channels
  int64_t pitch;                ///< elements of a line of the weights
  ChainSplit split;             ///< of the sums
  /// Elements along each dimension that are held of the input of the last
  /// contraction and of that of the window; the latter is empty where the
  /// window reads memory.
  llvm::SmallVector<int64_t> held, read;

  /// `sizes`: pixels, columns, depth. Dynamic extents may have any value.
  ChainTile(const ChainOps &ops, llvm::ArrayRef<int64_t> sizes,
            int64_t threads);

  /// Weights of a line: whole groups of 4.
  int64_t staged() const { return llvm::alignTo(columns, 4); }
  int64_t heldElements() const { return product(held); }
  int64_t readElements() const { return read.empty() ? 0 : product(read); }
  /// Shared memory of a block.
  int64_t bytes(const ChainOps &ops) const;
  /// Where the held input of the window and the weights begin: each part is
  /// aligned to 16 bytes, the held rows are first.
  int64_t readOffset(const ChainOps &ops) const;
  int64_t weightsOffset(const ChainOps &ops) const;

  static int64_t product(llvm::ArrayRef<int64_t> sizes);
};

/// What each thread of `loops` with `sizes` reads along the dimensions of
/// `map`: the length of that box. Nothing where it is none.
std::optional<llvm::SmallVector<int64_t>> boxOf(mlir::AffineMap map,
                                                llvm::ArrayRef<int64_t> sizes);

} // namespace fuse

#endif // FUSE_KERNEL_CHAINTILE_H
