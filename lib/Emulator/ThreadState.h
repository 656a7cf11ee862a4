//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of one emulated thread, as compiled kernels see it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_EMULATOR_THREADSTATE_H
#define FUSE_EMULATOR_THREADSTATE_H

#include <cstdint>
#include <vector>

namespace fuse::emulator {

class Block;

/// Where an access was found legal last: the first byte, and the distance from
/// it up to which this access may begin.
struct SiteRange {
  uint64_t base = 0;
  uint64_t span = 0;
};

/// A copy that cp.async has begun.
struct AsyncCopy {
  uint8_t *to;
  const uint8_t *from;
  uint32_t bytes, sourceBytes;
};

/// What a thread waits for.
enum class Wait : uint8_t { Nothing, Barrier, Warp, ActiveMask, Exited };

/// Kernels read the first fields at their offsets (Translate.cpp).
struct ThreadState {
  uint32_t tid[3], ntid[3], ctaid[3], nctaid[3];
  uint32_t lane, warp, warps, dynamicShared;
  uint8_t *shared; ///< Start of the block's shared memory.
  uint64_t sharedSize;
  uint8_t **sharedTable; ///< Address of each shared variable of the module.
  SiteRange *sites;      ///< One for each checked access of the module.
  const void *stackEnd;  ///< Lowest address of the stack, which grows down.

  // Only the emulator reads the rest.
  Block *block;
  Wait wait;
  uint32_t waitId, waitMask; ///< Barrier or operation, and its member mask.
  uint32_t result;           ///< Of a barrier with a reduction.
  uint32_t index;            ///< Within the block.
  std::vector<AsyncCopy> copies;
  std::vector<size_t> groups; ///< Copies in each committed group.
};

} // namespace fuse::emulator

#endif // FUSE_EMULATOR_THREADSTATE_H
