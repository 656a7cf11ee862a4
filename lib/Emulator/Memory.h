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

#ifndef FUSE_EMULATOR_MEMORY_H
#define FUSE_EMULATOR_MEMORY_H

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace fuse::emulator {

struct Allocation {
  uint64_t base = 0, bytes = 0;
  unsigned uses = 1; ///< Host memory may be registered more than once.
};

class Memory {
public:
  static Memory &get();

  void add(uint64_t base, uint64_t bytes);
  bool remove(uint64_t base);
  /// The allocation that holds all the bytes from `address` on.
  std::optional<Allocation> find(uint64_t address, uint64_t bytes = 1);
  /// Where `address` is, in words that are the same in each run.
  std::string describe(uint64_t address);

private:
  std::optional<Allocation> atOrBefore(uint64_t address);

  std::mutex mutex;
  std::map<uint64_t, Allocation> ranges; ///< By base.
};

} // namespace fuse::emulator

#endif // FUSE_EMULATOR_MEMORY_H
