//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Time of one kernel on a device: compute, memory levels, occupancy, waves.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_COST_KERNELTIME_H
#define FUSE_COST_KERNELTIME_H

#include "fuse/Device/Device.h"

namespace fuse {

/// An A100 reads 5120 B a clock at 1.41 GHz from L2, 4.6 times its memory
/// bandwidth ("NVIDIA A100 Tensor Core GPU Architecture"); taken for all.
constexpr double kCacheToMemoryBandwidth = 4.6;

/// What a kernel does, in whole, and the shape of its launch.
struct KernelWork {
  double flops = 0;           ///< on the vector units, in f32 FLOPs
  double tensorFlops = 0;     ///< on the tensor units, 16-bit inputs
  double transcendentals = 0; ///< evaluated by the special function units
  double dramBytes = 0;       ///< each distinct input once, each output once
  double cacheBytes = 0;      ///< loads that hit the last-level cache
  double sharedBytes = 0;     ///< loads from shared memory
  double blocks = 1;
  double threads = 128;  ///< per block
  double registers = 32; ///< per thread
  double shared = 0;     ///< bytes per block
};

struct KernelEstimate {
  double seconds = 0;   ///< launch included
  double compute = 0;   ///< seconds on the busiest compute unit
  double memory = 0;    ///< seconds on the slowest memory level
  double occupancy = 0; ///< resident threads of an SM / those it can hold
  double waves = 0;     ///< rounds of resident blocks
};

/// Blocks of this shape that are resident on one SM; 0 if not even one fits.
double blocksPerSm(const Device &device, double threads, double registers,
                   double shared);

/// Time of a kernel whose blocks fit (see blocksPerSm). Compute and memory
/// overlap, so the longer counts; the last, partly filled wave of blocks costs
/// as much as a full one; below a quarter of the threads memory latency shows.
KernelEstimate estimateKernel(const Device &device, const KernelWork &work);

} // namespace fuse

#endif // FUSE_COST_KERNELTIME_H
