//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch: the limits of the device, then blocks on host threads.
//
// FUSE_EMULATOR_DEVICE names the device whose limits hold (sm_80 if it is not
// set), FUSE_EMULATOR_THREADS the number of host threads.
//
//===----------------------------------------------------------------------===//

#include "Module.h"
#include "fuse/Device/Device.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <atomic>
#include <mutex>
#include <thread>

using namespace fuse;
using namespace fuse::emulator;
using namespace llvm;

/// "CUDA C++ Programming Guide", Technical Specifications per Compute
/// Capability: the same from 5.0 on.
static constexpr Dim3 gridLimits = {0x7fffffff, 65535, 65535};
static constexpr Dim3 blockLimits = {1024, 1024, 64};
constexpr uint64_t mostThreads = 1024;
/// Static shared memory that ptxas accepts.
constexpr uint64_t staticSharedLimit = 48 * 1024;
/// Each host thread that runs blocks keeps the stacks of 1024 threads.
constexpr unsigned maxWorkers = 16;

template <typename... Ts>
static Error invalidValue(const char *format, Ts &&...values) {
  return createStringError("CUDA_ERROR_INVALID_VALUE: " +
                           formatv(format, std::forward<Ts>(values)...).str());
}

static Expected<Device> device() {
  const char *name = std::getenv("FUSE_EMULATOR_DEVICE");
  Expected<Device> device = loadDevice(name ? name : "sm_80");
  if (device && device->warpSize != warpSize)
    return createStringError("device %s has warps of %d threads, %d are "
                             "emulated",
                             device->name.c_str(), int(device->warpSize),
                             int(warpSize));
  return device;
}

static Error checkDimensions(const Kernel &kernel, const LaunchShape &shape,
                             const Device &device) {
  for (unsigned d = 0; d < 3; ++d) {
    if (shape.grid[d] == 0 || shape.grid[d] > gridLimits[d])
      return invalidValue("kernel '{0}' launched with {1} blocks in {2}, "
                          "expected 1 to {3}",
                          kernel.name, shape.grid[d], "xyz"[d], gridLimits[d]);
    if (shape.block[d] == 0 || shape.block[d] > blockLimits[d])
      return invalidValue("kernel '{0}' launched with {1} threads in {2}, "
                          "expected 1 to {3}",
                          kernel.name, shape.block[d], "xyz"[d],
                          blockLimits[d]);
  }
  uint64_t threads = shape.block[0] * shape.block[1] * shape.block[2];
  uint64_t limit = std::min<uint64_t>(device.maxThreadsPerBlock, mostThreads);
  if (threads > limit)
    return invalidValue("kernel '{0}' launched with {1} threads a block, "
                        "device {2} has at most {3}",
                        kernel.name, threads, device.name, limit);
  if (kernel.maxThreads && threads > kernel.maxThreads)
    return invalidValue("kernel '{0}' launched with {1} threads a block, it "
                        "states at most {2}",
                        kernel.name, threads, kernel.maxThreads);
  return Error::success();
}

static Error checkShared(const Kernel &kernel, const LaunchShape &shape,
                         const Device &device) {
  if (kernel.staticShared > staticSharedLimit)
    return invalidValue("kernel '{0}' has {1} bytes of static shared memory, "
                        "at most {2} are allowed",
                        kernel.name, kernel.staticShared, staticSharedLimit);
  uint64_t bytes = kernel.staticShared + shape.dynamicShared;
  uint64_t limit = device.sharedPerBlock;
  if (bytes > limit)
    return invalidValue("kernel '{0}' needs {1} bytes of shared memory, device "
                        "{2} has {3} per block",
                        kernel.name, bytes, device.name, limit);
  return Error::success();
}

static Expected<unsigned> workerCount(uint64_t blocks) {
  uint64_t count = std::max(1u, std::thread::hardware_concurrency());
  if (const char *text = std::getenv("FUSE_EMULATOR_THREADS"))
    if (StringRef(text).getAsInteger(10, count) || count == 0)
      return createStringError("FUSE_EMULATOR_THREADS is '%s', expected a "
                               "number of at least 1",
                               text);
  return std::min<uint64_t>({count, maxWorkers, blocks});
}

static LaunchPlan planOf(const Kernel &kernel, const LaunchShape &shape,
                         void **params) {
  LaunchPlan plan;
  plan.kernel = kernel.name;
  plan.entry = kernel.entry;
  plan.params = params;
  for (unsigned d = 0; d < 3; ++d) {
    plan.grid[d] = shape.grid[d];
    plan.block[d] = shape.block[d];
  }
  plan.sharedOffsets = kernel.sharedOffsets;
  plan.sharedBytes = kernel.staticShared;
  if (shape.dynamicShared) // begins where the dynamic variables do
    plan.sharedBytes = alignTo(kernel.staticShared, 16) + shape.dynamicShared;
  plan.dynamicShared = shape.dynamicShared;
  plan.sites = kernel.sites;
  return plan;
}

namespace {
/// Hands out blocks in order, and keeps the report of the first that failed:
/// those before it are done when all workers have stopped.
struct Progress {
  std::atomic<uint64_t> next{0};
  std::atomic<uint64_t> failed{~uint64_t(0)};
  std::mutex mutex;
  std::string report;

  void runBlocks(Block &worker, uint64_t blocks) {
    for (uint64_t index = next++; index < blocks && index < failed;
         index = next++)
      if (std::optional<std::string> error = worker.run(index)) {
        std::lock_guard<std::mutex> lock(mutex);
        if (index < failed) {
          failed = index;
          report = *error;
        }
        return;
      }
  }
};
} // namespace

static void runOnWorkers(const LaunchPlan &plan, uint64_t blocks,
                         unsigned count, Progress &progress) {
  // They live as long as the process.
  static auto *workers = new std::vector<std::unique_ptr<Block>>;
  while (workers->size() < count)
    workers->push_back(std::make_unique<Block>());
  for (unsigned index = 0; index < count; ++index)
    (*workers)[index]->setUp(plan);
  std::vector<std::thread> threads;
  for (unsigned index = 1; index < count; ++index)
    threads.emplace_back(
        [&, index] { progress.runBlocks(*(*workers)[index], blocks); });
  progress.runBlocks(*(*workers)[0], blocks);
  for (std::thread &thread : threads)
    thread.join();
}

Error fuse::emulator::launch(const Kernel &kernel, const LaunchShape &shape,
                             void **params) {
  static std::mutex launching; // one launch at a time
  std::lock_guard<std::mutex> lock(launching);
  Expected<Device> limits = device();
  if (!limits)
    return limits.takeError();
  if (Error error = checkDimensions(kernel, shape, *limits))
    return error;
  if (Error error = checkShared(kernel, shape, *limits))
    return error;
  uint64_t blocks = shape.grid[0] * shape.grid[1] * shape.grid[2];
  Expected<unsigned> count = workerCount(blocks);
  if (!count)
    return count.takeError();
  Progress progress;
  runOnWorkers(planOf(kernel, shape, params), blocks, *count, progress);
  if (progress.report.empty())
    return Error::success();
  return createStringError(progress.report);
}
