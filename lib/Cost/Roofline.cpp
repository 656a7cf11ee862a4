//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Roofline times and the gain of a fusion.
//
//===----------------------------------------------------------------------===//

#include "fuse/Cost/Roofline.h"
#include <algorithm>

using namespace fuse;

/// Seconds of compute and memory, whichever takes longer.
static double roofline(const Device &device, double flops, double bytes) {
  return std::max(flops / device.peakF32, bytes / device.bandwidth);
}

double fuse::kernelTime(const Device &device, double flops, double bytes) {
  return device.launch + roofline(device, flops, bytes);
}

double fuse::fusionGain(const Device &device, const FusionChange &change) {
  double saved = change.bytesRemoved / device.bandwidth +
                 change.kernelsRemoved * device.launch;
  double without = roofline(device, change.fusedFlops, change.fusedBytes);
  double with = roofline(device, change.fusedFlops + change.extraFlops,
                         change.fusedBytes + change.extraBytes);
  return saved - (with - without);
}
