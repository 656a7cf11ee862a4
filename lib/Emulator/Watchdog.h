//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Watchdog: does something if it is not destroyed in time.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_EMULATOR_WATCHDOG_H
#define FUSE_EMULATOR_WATCHDOG_H

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace fuse::emulator {

/// Calls `bark`, in a thread of its own, after that many seconds; never if they
/// are 0.
class Watchdog {
public:
  Watchdog(unsigned seconds, std::function<void()> bark) {
    if (seconds == 0)
      return;
    thread = std::thread([this, seconds, bark] {
      std::unique_lock<std::mutex> lock(mutex);
      if (!changed.wait_for(lock, std::chrono::seconds(seconds),
                            [this] { return isDone; }))
        bark();
    });
  }

  ~Watchdog() {
    if (!thread.joinable())
      return;
    {
      std::lock_guard<std::mutex> lock(mutex);
      isDone = true;
    }
    changed.notify_one();
    thread.join();
  }

private:
  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed;
  bool isDone = false;
};

} // namespace fuse::emulator

#endif // FUSE_EMULATOR_WATCHDOG_H
