//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Block: the threads of one block, as fibers, and what they wait for.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_EMULATOR_BLOCK_H
#define FUSE_EMULATOR_BLOCK_H

#include "Fiber.h"
#include "ThreadState.h"
#include "WarpOps.h"
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace fuse::emulator {

/// A kernel's entry in compiled code.
using Entry = void (*)(ThreadState *, void **);

/// What one launch runs.
struct LaunchPlan {
  std::string kernel;
  Entry entry = nullptr;
  void **params = nullptr;
  std::array<uint32_t, 3> grid{}, block{};
  std::vector<uint64_t> sharedOffsets; ///< Of each shared variable.
  uint64_t sharedBytes = 0;
  uint32_t dynamicShared = 0;
  size_t sites = 0; ///< Checked accesses in the module.
};

/// One barrier of `barrier.cta`: a thread's arrival.
struct Arrival {
  uint32_t barrier, site;
  uint32_t count = 0; ///< 0: all threads of the block.
  bool aligned = true, waits = true, vote = false;
};

/// Runs blocks one after another; used by one host thread at a time.
class Block {
public:
  /// Prepares for a launch.
  void setUp(const LaunchPlan &plan);
  /// Runs one block. The report of what a thread did wrong, if one did.
  std::optional<std::string> run(uint64_t index);

  // Called by the threads.
  /// Waits at a barrier; afterwards `result` counts the votes, and the
  /// threads that gave one in the upper half.
  void arrive(ThreadState &thread, const Arrival &arrival);
  void warpOp(ThreadState &thread, uint32_t op, uint32_t mask, uint32_t site,
              uint32_t *words);
  /// Lets other threads run.
  void pause(ThreadState &thread);
  [[noreturn]] void fail(ThreadState &thread, const std::string &what);
  /// Fails unless the thread may access these bytes; keeps what it found for
  /// the next access at the same place of the program.
  void check(ThreadState &thread, uint64_t address, uint64_t bytes,
             uint64_t align, const char *what, SiteRange *keep = nullptr);

private:
  struct Barrier {
    uint32_t count = 0, arrived = 0, votes = 0, voters = 0;
    std::vector<uint32_t> waiting;
    std::array<uint32_t, warpSize> siteOfWarp{};
  };
  /// Lanes that came to one operation with one mask.
  struct Collective {
    uint32_t op, mask, site, arrived = 0;
    Lanes lanes{};
  };
  struct Warp {
    uint32_t exists = 0;
    std::vector<Collective> open;
  };

  static void threadBody(void *argument);
  void startThreads();
  bool ownsStack(const ThreadState &thread, uint64_t address) const;
  bool isInMemory(ThreadState &thread, uint64_t address, uint64_t bytes,
                  SiteRange *keep);
  void block(ThreadState &thread, Wait wait, uint32_t id, uint32_t mask);
  void makeReady(uint32_t index);
  void complete(Barrier &barrier);
  void completeWarp(Warp &warp, size_t at, uint32_t warpIndex,
                    uint32_t current);
  uint32_t takeReady();
  bool wakePaused();
  bool resolveActiveMasks();
  std::string deadlock() const;
  std::string describeWait(const ThreadState &thread) const;
  std::string place(const ThreadState &thread) const;

  const LaunchPlan *plan = nullptr;
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<std::unique_ptr<ThreadState>> threads;
  std::vector<uint8_t *> sharedTable;
  std::unique_ptr<uint8_t, void (*)(void *)> shared{nullptr, std::free};
  uint64_t sharedCapacity = 0;
  std::vector<SiteRange> sites;
  uint32_t count = 0;      ///< Threads of the block.
  uint32_t readyWarps = 0; ///< A bit for each warp that has a ready thread.
  std::array<uint32_t, warpSize> ready{}; ///< Per warp, a bit for each lane.
  std::vector<uint32_t> paused;           ///< Run when nothing else can.
  bool isReversed = false;                ///< Last warp and last lane first.
  std::array<Barrier, 16> barriers;
  std::vector<Warp> warps;
  uint32_t live = 0;
  std::optional<std::string> error;
};

} // namespace fuse::emulator

#endif // FUSE_EMULATOR_BLOCK_H
