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

double fuse::kernelTime(const Device &device, double flops, double bytes) {
  return device.launch + std::max(flops / device.peakF32, bytes / device.bandwidth);
}

double fuse::fusionGain(const Device &device, const FusionChange &change) {
  double saved = change.bytesRemoved / device.bandwidth + change.kernelsRemoved * device.launch;
  double again = change.extraFlops / device.peakF32 + change.extraBytes / device.bandwidth;
  return saved - again;
}
