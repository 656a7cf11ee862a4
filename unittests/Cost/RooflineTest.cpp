//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fuse/Cost/Roofline.h"
#include "gtest/gtest.h"

using namespace fuse;

static Device device() {
  Device d;
  d.peakF32 = 1000;
  d.bandwidth = 100;
  d.launch = 1;
  return d;
}

TEST(Roofline, TheSlowerOfComputeAndMemoryCounts) {
  EXPECT_DOUBLE_EQ(kernelTime(device(), 2000, 100), 1 + 2); // compute bound
  EXPECT_DOUBLE_EQ(kernelTime(device(), 500, 400), 1 + 4);  // memory bound
  EXPECT_DOUBLE_EQ(device().ridge(), 10);
}

TEST(Roofline, BothSavedTermsAreAdded) {
  FusionChange change;
  change.bytesRemoved = 200;
  EXPECT_DOUBLE_EQ(fusionGain(device(), change), 2 + 1);
}

TEST(Roofline, RecomputationCanOutweighTheSaving) {
  FusionChange pays;
  pays.bytesRemoved = 200;
  pays.extraFlops = 2900;
  EXPECT_GT(fusionGain(device(), pays), 0);
  FusionChange loses = pays;
  loses.extraFlops = 3100;
  EXPECT_LT(fusionGain(device(), loses), 0);
}

TEST(Roofline, RecomputationIsFreeWhileMemoryIsTheLimit) {
  FusionChange hidden;
  hidden.bytesRemoved = 200;
  hidden.fusedBytes = 1000; // 10 s of memory
  hidden.fusedFlops = 5000; // 5 s of compute
  hidden.extraFlops = 5000;
  EXPECT_DOUBLE_EQ(fusionGain(device(), hidden), 3);
  FusionChange exposed = hidden;
  exposed.extraFlops = 9000; // 14 s of compute
  EXPECT_DOUBLE_EQ(fusionGain(device(), exposed), 3 - 4);
}
