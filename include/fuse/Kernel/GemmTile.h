//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles of matrix products: how a block shares one, what it takes of shared
// memory and registers. The plan counts by it, the code is made by it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_KERNEL_GEMMTILE_H
#define FUSE_KERNEL_GEMMTILE_H

#include <cstdint>
#include <optional>

namespace fuse {

/// Bytes of shared memory that a kernel may have without asking for more when
/// it is launched ("CUDA C++ Programming Guide", Shared Memory).
constexpr int64_t kStaticShared = 48 * 1024;

/// Tiles of each input that a tensor core kernel has in flight and in use.
constexpr int64_t kTensorCoreStages = 3;

/// Elements of a tile of `rows` by `k` of a SIMT kernel. A line of k is 16
/// bytes longer than it holds, so that neighbouring rows are in different
/// banks.
constexpr int64_t gemmTileElements(int64_t rows, int64_t k,
                                   int64_t elementBytes) {
  return rows * (k + 16 / elementBytes);
}

/// Blocks of y by x, k steps of `k`; threads of y by x with as many elements
/// each.
struct GemmBlock {
  int64_t y, x, k;
  int64_t threadsY, threadsX;
  int64_t perThreadY, perThreadX;

  int64_t threads() const { return threadsY * threadsX; }
  /// The split of a tile of y by x among `threads` that is closest to a square
  /// per thread; nothing if there is none.
  static std::optional<GemmBlock> split(int64_t y, int64_t x, int64_t k,
                                        int64_t threads);
};

/// Neighbours among `count` elements of a thread that are one access: 16 bytes
/// of f32.
constexpr int64_t gemmNeighbours(int64_t count) {
  return count % 4 == 0 ? 4 : count % 2 == 0 ? 2 : 1;
}

/// Rounds of a SIMT kernel's k that one access of a line along k brings.
constexpr int64_t gemmSteps(int64_t k) { return k % 4 ? 1 : 4; }

/// A block's tile of y by x among warps of a tensor core kernel.
struct WarpTiles {
  int64_t y, x;           ///< elements of a warp
  int64_t warpsY, warpsX; ///< of the block
  /// The split closest to squares; nothing if there is none.
  static std::optional<WarpTiles> split(int64_t y, int64_t x, int64_t threads);
};

/// Rows, columns and depth of mma.sync on 16-bit floats.
constexpr int64_t kMmaY = 16, kMmaX = 8, kMmaK = 16;

/// One input of a matrix product, as its tile is loaded and read.
struct GemmInput {
  bool alongK = false; ///< k is contiguous in memory, else the rows
  double extent = 0;   ///< rows in all; infinite if not known
  int64_t bytes = 4;   ///< of an element
};

/// 32-bit registers of values that a thread holds while it multiplies, counted
/// from the code of the schedules:
///
/// SIMT: the sums; of each input what is multiplied between two loads of shared
/// memory (one k, or `gemmSteps` where lines are along k); for each element of
/// the next tile one: itself on its way to shared memory, or its part of the
/// 64-bit address of a cp.async of 1 to 4 elements (2 to 1/2, taken as 1).
/// `ptxas` removes rows of a tile that the product does not have.
///
/// Tensor cores: the sums; the fragments of all k of a tile, whose ldmatrix
/// `ptxas` issues before the first mma.sync; a 64-bit address for each copy of
/// 16 bytes, since cp.async has no room for the distance between lines.
double gemmRegisters(const GemmBlock &block, const GemmInput &y,
                     const GemmInput &x, int64_t sumBytes);
double gemmRegisters(const WarpTiles &warps, int64_t k, const GemmInput &y,
                     const GemmInput &x);

} // namespace fuse

#endif // FUSE_KERNEL_GEMMTILE_H
