//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions that compiled kernels call: waits, warp operations, checks and
// asynchronous copies.
//
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "Block.h"
#include <cstring>

using namespace fuse::emulator;

static const char *const accessNames[] = {"read", "write", "atomic access"};

/// Threads that voted for, in the lower half; all threads in the upper.
static uint32_t barrier(ThreadState *thread, uint32_t id, uint32_t count,
                        uint32_t vote, uint32_t site, uint32_t flags) {
  Arrival arrival;
  arrival.barrier = id;
  arrival.count = count;
  arrival.vote = vote != 0;
  arrival.site = site;
  arrival.aligned = flags & BarrierAligned;
  arrival.waits = flags & BarrierWaits;
  thread->block->arrive(*thread, arrival);
  return thread->result;
}

static void warp(ThreadState *thread, uint32_t op, uint32_t mask, uint32_t site,
                 uint32_t *words) {
  if (op >= LoadMatrix && op < Mma && thread->lane < matrixRows(op)) {
    uint64_t address = words[0] | uint64_t(words[1]) << 32;
    thread->block->check(*thread, address, 16, 16, "ldmatrix");
  }
  thread->block->warpOp(*thread, op, mask, site, words);
}

static void access(ThreadState *thread, uint64_t address, uint64_t bytes,
                   uint32_t align, uint32_t kind, uint32_t site) {
  thread->block->check(*thread, address, bytes, align, accessNames[kind],
                       &thread->sites[site]);
}

/// A copy or fill of many bytes, whose number only the run knows.
static void range(ThreadState *thread, uint64_t address, uint64_t bytes,
                  uint32_t kind) {
  thread->block->check(*thread, address, bytes, 1, accessNames[kind]);
}

/// Nothing is copied before the wait for it: what does not wait reads what was
/// there before.
static void copyAsync(ThreadState *thread, uint8_t *to, const uint8_t *from,
                      uint32_t bytes, uint32_t sourceBytes) {
  Block &block = *thread->block;
  if (sourceBytes > bytes)
    block.fail(*thread, "cp.async of " + std::to_string(bytes) +
                            " bytes from a source of " +
                            std::to_string(sourceBytes) + " bytes");
  block.check(*thread, reinterpret_cast<uint64_t>(to), bytes, bytes,
              "cp.async write");
  block.check(*thread, reinterpret_cast<uint64_t>(from), sourceBytes, bytes,
              "cp.async read");
  thread->copies.push_back({to, from, bytes, sourceBytes});
}

static void finishCopies(ThreadState *thread, size_t count) {
  for (size_t at = 0; at < count; ++at) {
    const AsyncCopy &copy = thread->copies[at];
    std::memcpy(copy.to, copy.from, copy.sourceBytes);
    std::memset(copy.to + copy.sourceBytes, 0, copy.bytes - copy.sourceBytes);
  }
  thread->copies.erase(thread->copies.begin(), thread->copies.begin() + count);
}

static void commitCopies(ThreadState *thread) {
  size_t count = thread->copies.size();
  for (size_t group : thread->groups)
    count -= group;
  thread->groups.push_back(count);
}

/// Waits until at most `pending` groups are not done.
static void waitCopies(ThreadState *thread, uint32_t pending) {
  size_t done = 0, count = 0;
  for (; thread->groups.size() - done > pending; ++done)
    count += thread->groups[done];
  finishCopies(thread, count);
  thread->groups.erase(thread->groups.begin(), thread->groups.begin() + done);
}

static void waitAllCopies(ThreadState *thread) {
  finishCopies(thread, thread->copies.size());
  thread->groups.clear();
}

static uint32_t isShared(ThreadState *thread, uint64_t address) {
  return address - reinterpret_cast<uint64_t>(thread->shared) <
         thread->sharedSize;
}

static void pause(ThreadState *thread) { thread->block->pause(*thread); }

static void trap(ThreadState *thread) {
  thread->block->fail(*thread, "CUDA_ERROR_ILLEGAL_INSTRUCTION: trap");
}

static void overflow(ThreadState *thread) {
  thread->block->fail(*thread, "stack overflow: a thread has 256 KB for calls "
                               "and local memory");
}

/// By zero, or of the least number by -1: undefined in LLVM IR, and an
/// exception on some hosts.
static void divide(ThreadState *thread) {
  thread->block->fail(*thread,
                      "division by zero, or of the least number by -1");
}

/// prmt.b32 without a mode: each nibble of the selector picks a byte of
/// {b, a}; its top bit spreads that byte's sign.
static uint32_t permute(ThreadState *, uint32_t a, uint32_t b,
                        uint32_t selector) {
  uint64_t bytes = a | uint64_t(b) << 32;
  uint32_t result = 0;
  for (unsigned at = 0; at < 4; ++at) {
    uint32_t nibble = selector >> (4 * at) & 15;
    uint32_t byte = bytes >> (8 * (nibble & 7)) & 255;
    if (nibble & 8)
      byte = byte & 128 ? 255 : 0;
    result |= byte << (8 * at);
  }
  return result;
}

llvm::ArrayRef<Call> fuse::emulator::runtimeCalls() {
  static const Call calls[] = {
      {"fuse_barrier", reinterpret_cast<void *>(barrier)},
      {"fuse_warp", reinterpret_cast<void *>(warp)},
      {"fuse_access", reinterpret_cast<void *>(access)},
      {"fuse_range", reinterpret_cast<void *>(range)},
      {"fuse_copy_async", reinterpret_cast<void *>(copyAsync)},
      {"fuse_commit_copies", reinterpret_cast<void *>(commitCopies)},
      {"fuse_wait_copies", reinterpret_cast<void *>(waitCopies)},
      {"fuse_wait_all_copies", reinterpret_cast<void *>(waitAllCopies)},
      {"fuse_is_shared", reinterpret_cast<void *>(isShared)},
      {"fuse_pause", reinterpret_cast<void *>(pause)},
      {"fuse_trap", reinterpret_cast<void *>(trap)},
      {"fuse_overflow", reinterpret_cast<void *>(overflow)},
      {"fuse_divide", reinterpret_cast<void *>(divide)},
      {"fuse_permute", reinterpret_cast<void *>(permute)},
  };
  return calls;
}
