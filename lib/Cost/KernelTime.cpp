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

/// Resident blocks per SM ("CUDA C++ Programming Guide", Technical
/// Specifications per Compute Capability: 32 for 8.0 and 9.0).
static constexpr double kMostBlocksPerSm = 32;

/// Share of the threads that hides memory latency: V. Volkov, "Better
/// Performance at Lower Occupancy" (GTC 2010), saturates bandwidth from about a
/// quarter on, with some instruction-level parallelism.
static constexpr double kLatencyHidingOccupancy = 0.25;

/// Results a clock per SM of the special function units over those of an f32
/// multiply ("CUDA C++ Programming Guide", arithmetic instructions: 16 over
/// 64), against a peak that counts an FMA as two.
static constexpr double kSpecialShareOfPeak = 16.0 / (2 * 64);


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
  double byShared =
      shared > 0 ? std::floor(device.sharedPerSm / shared) : byThreads;
  // A CPU core runs one worker, whose registers are its own.
  if (device.maxThreadsPerSm == 1)
    return 1;
  return std::max(
      0.0, std::min({byThreads, byRegisters, byShared, kMostBlocksPerSm}));
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
  double special =
      work.transcendentals / (device.peakF32 * kSpecialShareOfPeak);
  double onChip = work.sharedBytes / device.sharedBandwidth;
  result.compute =
      std::max({work.flops / device.peakF32,
                work.tensorFlops / device.tensorF16, special, onChip}) /
      used;
  double latency = std::min(1.0, result.occupancy / kLatencyHidingOccupancy);
  double dram = work.dramBytes / (device.bandwidth * latency);
  double cache = work.cacheBytes / (device.bandwidth * kCacheToMemoryBandwidth);
  // One SM cannot draw the whole memory bandwidth; a few can. Bandwidth
  // saturates with about half of them busy.
  double busy =
      std::min(1.0, 2 * std::min(work.blocks, device.smCount) / device.smCount);
  result.memory = std::max(dram, cache) / busy;
  result.seconds = device.launch + std::max(result.compute, result.memory);
  return result;
}
