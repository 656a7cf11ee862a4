//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles of attention kernels on GPUs: what the plan counts and the code uses.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_KERNEL_ATTENTIONTILE_H
#define FUSE_KERNEL_ATTENTIONTILE_H

#include "fuse/Kernel/GemmTile.h"
#include <algorithm>

namespace fuse {

/// Threads side by side along a row of scores in the schedule without tensor
/// cores: half a warp.
constexpr int64_t kAttentionThreadsX = 16;
/// Rows of a warp in the schedule with them: those of mma.m16n8k16.
constexpr int64_t kAttentionWarpRows = 16;
/// On a CPU: bytes of the scores of a tile, which stay in the second cache
/// beside what they are multiplied with, and the rows that must share the keys,
/// which each tile brings into order again, for that to pay: by
/// fuse-run --compare on test/tools/attention_program.py with 256 to 16384
/// keys.
constexpr int64_t kScoreBytes = 256 * 1024, kRowsThatPay = 128;

/// A block's part of `q k^T` and `p v`.
struct AttentionTile {
  int64_t rows, keys;     ///< of a block, and of those at a time
  int64_t depth, columns; ///< elements of a row of q and k, of one of v
  int64_t elementBytes;   ///< of all inputs and of p
  bool tensorCores;

  /// Extents of the tiles, filled with zeros: steps of mma, or as many columns
  /// for each thread.
  static constexpr int64_t padded(int64_t extent) {
    return (extent + 15) / 16 * 16;
  }
  /// Elements between lines of q, of k and of v, in shared memory.
  constexpr int64_t depthPitch() const {
    return padded(depth) + 16 / elementBytes;
  }
  constexpr int64_t columnPitch() const {
    return padded(columns) + 16 / elementBytes;
  }
  constexpr int64_t keyPitch() const { return keys + 16 / elementBytes; }

  /// Bytes of shared memory: q, k, v and, without tensor cores, p.
  constexpr int64_t sharedBytes() const {
    int64_t elements = (rows + keys) * depthPitch() + keys * columnPitch();
    return (elements + (tensorCores ? 0 : rows * keyPitch())) * elementBytes;
  }
};

} // namespace fuse

#endif // FUSE_KERNEL_ATTENTIONTILE_H
