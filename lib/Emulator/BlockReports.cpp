//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a block reports: illegal accesses and deadlocks, with kernel, block and
// thread, in words that are the same in each run.
//
//===----------------------------------------------------------------------===//

#include "Block.h"
#include "Memory.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace fuse::emulator;
using llvm::formatv;

static std::string triple(const uint32_t (&value)[3]) {
  return formatv("({0},{1},{2})", value[0], value[1], value[2]).str();
}

std::string Block::place(const ThreadState &thread) const {
  return formatv("kernel '{0}', block {1}, thread {2}", plan->kernel,
                 triple(thread.ctaid), triple(thread.tid))
      .str();
}

std::string Block::describeWait(const ThreadState &thread) const {
  std::string who = "thread " + triple(thread.tid);
  switch (thread.wait) {
  case Wait::Barrier: {
    const Barrier &barrier = barriers[thread.waitId];
    return formatv("{0} waits at barrier {1} ({2} of {3} threads have come)",
                   who, thread.waitId, barrier.arrived, barrier.count)
        .str();
  }
  case Wait::Warp:
    return formatv("{0} waits in {1} for the lanes of mask {2:x}", who,
                   nameOf(thread.waitId), thread.waitMask)
        .str();
  case Wait::Exited:
    return who + " has exited";
  default:
    return who + " is ready";
  }
}

/// Names the first thread of each kind of wait: that tells them apart.
std::string Block::deadlock() const {
  std::vector<std::string> seen;
  std::string list;
  const ThreadState *first = nullptr;
  for (uint32_t index = 0; index < count; ++index) {
    const ThreadState &thread = *threads[index];
    std::string kind = formatv("{0} {1} {2}", int(thread.wait), thread.waitId,
                               thread.waitMask);
    if (llvm::is_contained(seen, kind))
      continue;
    seen.push_back(kind);
    if (!first && thread.wait != Wait::Exited)
      first = &thread;
    list += (list.empty() ? "" : ", ") + describeWait(thread);
  }
  return place(*first) + ": deadlock: " + list;
}

bool Block::ownsStack(const ThreadState &thread, uint64_t address) const {
  return fibers[thread.index]->owns(reinterpret_cast<void *>(address));
}

/// Whether the bytes are all in one memory that the thread may touch.
bool Block::isInMemory(ThreadState &thread, uint64_t address, uint64_t bytes,
                       SiteRange *keep) {
  if (ownsStack(thread, address))
    return true;
  uint64_t base = reinterpret_cast<uint64_t>(thread.shared);
  uint64_t size = thread.sharedSize;
  if (address - base >= size) {
    std::optional<Allocation> range = Memory::get().find(address, bytes);
    if (!range)
      return false;
    base = range->base;
    size = range->bytes;
  }
  if (bytes > size || address - base > size - bytes)
    return false;
  if (keep)
    *keep = {base, size - bytes};
  return true;
}

void Block::check(ThreadState &thread, uint64_t address, uint64_t bytes,
                  uint64_t align, const char *what, SiteRange *keep) {
  if (address % align != 0)
    fail(thread, formatv("CUDA_ERROR_MISALIGNED_ADDRESS: {0} of {1} bytes at "
                         "an address that is {2} modulo {3}, expected 0",
                         what, bytes, address % align, align));
  if (bytes == 0 || isInMemory(thread, address, bytes, keep))
    return;
  uint64_t offset = address - reinterpret_cast<uint64_t>(thread.shared);
  bool isNearShared =
      thread.sharedSize > 0 && int64_t(offset) >= -int64_t(thread.sharedSize) &&
      int64_t(offset) < int64_t(thread.sharedSize + (1 << 16)) &&
      !Memory::get().find(address);
  std::string where =
      isNearShared ? formatv("at byte {0} of the block's {1} bytes of shared "
                             "memory",
                             int64_t(offset), thread.sharedSize)
                         .str()
                   : Memory::get().describe(address);
  fail(thread, formatv("CUDA_ERROR_ILLEGAL_ADDRESS: {0} of {1} bytes {2}", what,
                       bytes, where));
}
