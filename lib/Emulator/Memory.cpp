//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory: the allocations that kernels may touch.
//
//===----------------------------------------------------------------------===//

#include "Memory.h"
#include "fuse/Emulator/Emulator.h"
#include <cstdlib>
#include <cstring>

using namespace fuse::emulator;

Memory &Memory::get() {
  static Memory *memory = new Memory; // outlives the destructors of modules
  return *memory;
}

void Memory::add(uint64_t base, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  auto [at, isNew] = ranges.try_emplace(base, Allocation{base, bytes, 1});
  if (isNew)
    return;
  ++at->second.uses;
  at->second.bytes = std::max(at->second.bytes, bytes);
}

bool Memory::remove(uint64_t base) {
  std::lock_guard<std::mutex> lock(mutex);
  auto at = ranges.find(base);
  if (at == ranges.end())
    return false;
  if (--at->second.uses == 0)
    ranges.erase(at);
  return true;
}

std::optional<Allocation> Memory::atOrBefore(uint64_t address) {
  std::lock_guard<std::mutex> lock(mutex);
  auto at = ranges.upper_bound(address);
  if (at == ranges.begin())
    return std::nullopt;
  return std::prev(at)->second;
}

/// Registered memory may be inside of other registered memory.
std::optional<Allocation> Memory::find(uint64_t address, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  for (auto at = ranges.upper_bound(address); at != ranges.begin();) {
    --at;
    uint64_t offset = address - at->second.base, size = at->second.bytes;
    if (bytes <= size && offset <= size - bytes)
      return at->second;
  }
  return std::nullopt;
}

std::string Memory::describe(uint64_t address) {
  if (address == 0)
    return "at a null pointer";
  std::optional<Allocation> range = atOrBefore(address);
  constexpr uint64_t near = uint64_t(1) << 20;
  if (!range || address - range->base >= range->bytes + near)
    return "in no allocation";
  return "at byte " + std::to_string(address - range->base) +
         " of an allocation of " + std::to_string(range->bytes) + " bytes";
}

void *fuse::emulator::allocate(uint64_t bytes) {
  constexpr uint64_t alignment = 256; // as cuMemAlloc gives it
  uint64_t padded = (bytes + alignment) / alignment * alignment;
  if (padded < bytes)
    return nullptr;
  void *memory = std::aligned_alloc(alignment, padded);
  if (!memory)
    return nullptr;
  // Not a number in every floating point type: nothing reads zeros by luck.
  std::memset(memory, 0xff, padded);
  Memory::get().add(reinterpret_cast<uint64_t>(memory), bytes);
  return memory;
}

bool fuse::emulator::deallocate(void *address) {
  if (!address)
    return true;
  if (!Memory::get().remove(reinterpret_cast<uint64_t>(address)))
    return false;
  std::free(address);
  return true;
}

void fuse::emulator::registerHost(void *address, uint64_t bytes) {
  Memory::get().add(reinterpret_cast<uint64_t>(address), bytes);
}

bool fuse::emulator::unregisterHost(void *address) {
  return Memory::get().remove(reinterpret_cast<uint64_t>(address));
}

int64_t fuse::emulator::bytesToEnd(const void *address) {
  uint64_t at = reinterpret_cast<uint64_t>(address);
  std::optional<Allocation> range = Memory::get().find(at);
  return range ? int64_t(range->base + range->bytes - at) : -1;
}
