//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cost model: pure functions from counts and a device to times.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_COST_ROOFLINE_H
#define FUSE_COST_ROOFLINE_H

#include "fuse/Device/Device.h"

namespace fuse {

/// Seconds of one kernel: `t_launch + max(flops / peak, bytes / bandwidth)`
/// (SPEC section 4; the roofline of Williams et al., CACM 2009).
double kernelTime(const Device &device, double flops, double bytes);

/// What changes when a producer joins its consumer's kernel.
struct FusionChange {
  double bytesRemoved = 0;   ///< Bytes that no longer cross main memory.
  double kernelsRemoved = 1; ///< Launches saved.
  double extraFlops = 0;     ///< FLOPs evaluated again.
  double extraBytes = 0;     ///< Bytes read again because of recomputation.
  double fusedFlops = 0; ///< FLOPs of the fused kernel without recomputation.
  double fusedBytes = 0; ///< Bytes of the fused kernel without recomputation.
};

/// Seconds saved: `bytes_removed / bandwidth + kernels_removed * t_launch -
/// recomputation`, where recomputation is what it adds to the fused kernel's
/// roofline time: nothing while that kernel waits for memory. Both saved terms
/// are added; a formula in circulation subtracts the launch term, which is a
/// sign error.
double fusionGain(const Device &device, const FusionChange &change);

} // namespace fuse

#endif // FUSE_COST_ROOFLINE_H
