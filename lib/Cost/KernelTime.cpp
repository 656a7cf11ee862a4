//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Occupancy, waves and the roofline of one kernel.
//
//===----------------------------------------------------------------------===//

#include "fuse/Cost/KernelTime.h"
#include <algorithm>
#include <cmath>

using namespace fuse;

/// Registers are given out per warp in units of 256 ("CUDA C++ Programming
/// Guide", Hardware Multithreading).
static constexpr double kRegisterUnit = 256;

/// Most shared memory of a block that the system keeps: 1 KB from compute
/// capability 8.0 on ("CUDA C++ Programming Guide", Shared Memory), by which a
/// block may use less than an SM has.
static constexpr double kSystemShared = 1024;

/// Share of the threads that hides memory latency: an assumption. Little's law
/// asks for bytes in flight; with several independent loads a thread, bandwidth
/// saturates at lower occupancies (V. Volkov, "Better Performance at Lower
/// Occupancy", GTC 2010).
static constexpr double kLatencyHidingOccupancy = 0.25;

double fuse::blocksPerSm(const Device &device, double threads, double registers,
                         double shared) {
  if (threads > device.maxThreadsPerBlock ||
      registers > device.registersPerThread || shared > device.sharedPerBlock)
    return 0;
  double byThreads = std::floor(device.maxThreadsPerSm / threads);
  double warps = std::ceil(threads / device.warpSize);
  double perWarp =
      std::ceil(registers * device.warpSize / kRegisterUnit) * kRegisterUnit;
  double byRegisters = std::floor(device.registersPerSm / (warps * perWarp));
  double kept =
      std::min(kSystemShared, device.sharedPerSm - device.sharedPerBlock);
  double byShared =
      shared > 0 ? std::floor(device.sharedPerSm / (shared + kept)) : byThreads;
  // A CPU core runs one worker, whose registers are its own.
  if (device.maxThreadsPerSm == 1)
    return 1;
  return std::max(
      0.0, std::min({byThreads, byRegisters, byShared, device.maxBlocksPerSm}));
}

KernelEstimate fuse::estimateKernel(const Device &device,
                                    const KernelWork &work) {
  KernelEstimate result;
  double resident = std::max(
      1.0, blocksPerSm(device, work.threads, work.registers, work.shared));
  double slots = resident * device.smCount;
  result.waves = std::max(1.0, std::ceil(work.blocks / slots));
  result.occupancy =
      std::min(1.0, resident * work.threads / device.maxThreadsPerSm);
  // Blocks of the last wave leave slots empty; fewer blocks than SMs leave SMs
  // empty.
  double used = std::min(
      1.0, work.blocks / (work.blocks < slots ? std::min(slots, device.smCount)
                                              : result.waves * slots));
  double special = work.transcendentals / device.special;
  double onChip = work.sharedBytes / device.sharedBandwidth;
  result.compute =
      std::max({work.flops / device.peakF32,
                work.tensorFlops / device.tensorF16, special, onChip}) /
      used;
  double latency = std::min(1.0, result.occupancy / kLatencyHidingOccupancy);
  double dram = work.dramBytes / (device.bandwidth * latency);
  double cache = work.cacheBytes / (device.bandwidth * kCacheToMemoryBandwidth);
  // One SM cannot draw the whole memory bandwidth. That half of them can is an
  // assumption.
  double busy =
      std::min(1.0, 2 * std::min(work.blocks, device.smCount) / device.smCount);
  result.memory = std::max(dram, cache) / busy;
  result.seconds = device.launch + std::max(result.compute, result.memory);
  return result;
}
