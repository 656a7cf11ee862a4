//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pool of buffers.
//
//===----------------------------------------------------------------------===//

#include "fuse/Runtime/Memory.h"
#include "llvm/Support/MathExtras.h"
#include <cstdlib>

using namespace fuse;

constexpr size_t kAlignment = 64;

MemoryPool::~MemoryPool() {
  for (auto &[size, pointers] : idle)
    for (void *pointer : pointers)
      std::free(pointer);
  for (auto &[pointer, size] : live)
    std::free(pointer);
}

void *MemoryPool::allocate(size_t bytes) {
  size_t size = llvm::alignTo(std::max<size_t>(bytes, 1), kAlignment);
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<void *> &free = idle[size];
  void *pointer = nullptr;
  if (!free.empty()) {
    pointer = free.back();
    free.pop_back();
  } else {
    pointer = std::aligned_alloc(kAlignment, size);
  }
  if (!pointer)
    return nullptr;
  live[pointer] = size;
  usedBytes += size;
  peakBytes = std::max(peakBytes, usedBytes);
  return pointer;
}

void MemoryPool::release(void *pointer) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = live.find(pointer);
  if (found == live.end())
    return;
  usedBytes -= found->second;
  idle[found->second].push_back(pointer);
  live.erase(found);
}

bool MemoryPool::owns(void *pointer) {
  std::lock_guard<std::mutex> lock(mutex);
  return live.count(pointer) != 0;
}

size_t MemoryPool::used() {
  std::lock_guard<std::mutex> lock(mutex);
  return usedBytes;
}

size_t MemoryPool::peak() {
  std::lock_guard<std::mutex> lock(mutex);
  return peakBytes;
}

void MemoryPool::resetPeak() {
  std::lock_guard<std::mutex> lock(mutex);
  peakBytes = usedBytes;
}

MemoryPool &fuse::programMemory() {
  static MemoryPool pool;
  return pool;
}
