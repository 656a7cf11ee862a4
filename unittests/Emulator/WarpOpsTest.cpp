//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Warp operations whose member masks the tests of programs do not reach.
//
//===----------------------------------------------------------------------===//

#include "WarpOps.h"
#include "gtest/gtest.h"

using namespace fuse::emulator;

namespace {
/// Runs an operation for the lanes of a mask; lane i starts with words[i].
struct Warp {
  uint32_t words[warpSize][maxWords] = {};

  void run(uint32_t op, uint32_t mask) {
    Lanes lanes{};
    for (unsigned lane = 0; lane < warpSize; ++lane)
      if (mask >> lane & 1)
        lanes[lane] = words[lane];
    runWarpOp(op, mask, lanes);
  }
};
} // namespace

TEST(WarpOps, shufflesLeaveOtherLanesAlone) {
  Warp warp;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    warp.words[lane][0] = 100 + lane;
    warp.words[lane][1] = 1;
    warp.words[lane][2] = 31; // one segment of 32
  }
  warp.run(ShuffleDown, 0x0000ffff);
  EXPECT_EQ(warp.words[3][0], 104u);
  EXPECT_EQ(warp.words[3][1], 1u);
  EXPECT_EQ(warp.words[16][0], 116u);
  // The source of lane 15 is not in the mask: undefined, here not a number.
  EXPECT_EQ(warp.words[15][0], 0x7fffdeadu);
}

TEST(WarpOps, shuffleKeepsToItsSegment) {
  for (unsigned width : {4u, 8u, 16u}) {
    Warp warp;
    uint32_t segment = (32 - width) << 8;
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      warp.words[lane][0] = lane;
      warp.words[lane][1] = width - 1;
      warp.words[lane][2] = segment | 31;
    }
    warp.run(ShuffleIdx, ~0u);
    for (unsigned lane = 0; lane < warpSize; ++lane)
      EXPECT_EQ(warp.words[lane][0], lane / width * width + width - 1);
  }
}

TEST(WarpOps, matchKnowsHalvesOfWideValues) {
  Warp warp;
  for (unsigned lane = 0; lane < warpSize; ++lane) {
    warp.words[lane][0] = 7;
    warp.words[lane][1] = lane % 2;
  }
  warp.run(MatchAny64, 0xff);
  EXPECT_EQ(warp.words[0][0], 0x55u);
  EXPECT_EQ(warp.words[1][0], 0xaau);
}

TEST(WarpOps, namesAreFoundWithTheirTypes) {
  EXPECT_EQ(warpOpOf("shfl.sync.bfly.f32p"), uint32_t(ShuffleBfly));
  EXPECT_EQ(warpOpOf("shfl.sync.bfly.f16"), std::nullopt);
  EXPECT_EQ(warpOpOf("shfl.bfly.f32"), std::nullopt);
  EXPECT_TRUE(warpOpOf("ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3"));
  EXPECT_FALSE(warpOpOf("ldmatrix.sync.aligned.m16n16.x1.trans.b8.p3"));
  EXPECT_FALSE(warpOpOf("mma.m16n8k32.row.col.s8"));
}
