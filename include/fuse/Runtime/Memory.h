//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory of compiled programs: buffers that are freed are kept and given out
// again, so that a run after the first asks the system for nothing.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_RUNTIME_MEMORY_H
#define FUSE_RUNTIME_MEMORY_H

#include <cstddef>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace fuse {

class MemoryPool {
public:
  MemoryPool() = default;
  MemoryPool(const MemoryPool &) = delete;
  ~MemoryPool();

  /// Memory aligned to 64 bytes; null if the system has none.
  void *allocate(size_t bytes);
  /// Takes memory back; ignores null and what it did not give out.
  void release(void *pointer);
  /// True if the pointer was given out and not taken back.
  bool owns(void *pointer);

  /// Bytes in use now, and at most since the last `resetPeak`.
  size_t used();
  size_t peak();
  void resetPeak();

private:
  std::mutex mutex;
  std::map<size_t, std::vector<void *>> idle; ///< by size
  std::unordered_map<void *, size_t> live;
  size_t usedBytes = 0, peakBytes = 0;
};

/// The pool that compiled programs of this process use.
MemoryPool &programMemory();

} // namespace fuse

#endif // FUSE_RUNTIME_MEMORY_H
