//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fuse/Cost/KernelTime.h"
#include "gtest/gtest.h"

using namespace fuse;

static Device a100() { return llvm::cantFail(loadDevice("sm_80")); }

TEST(KernelTime, BlocksPerSmByThreadsRegistersAndSharedMemory) {
  Device device = a100();
  EXPECT_EQ(blocksPerSm(device, 256, 32, 0), 8);          // 2048 threads
  EXPECT_EQ(blocksPerSm(device, 256, 128, 0), 2);         // 65536 registers
  EXPECT_EQ(blocksPerSm(device, 256, 255, 0), 1);         // 8 warps of 8192
  EXPECT_EQ(blocksPerSm(device, 64, 32, 80.0 * 1024), 2); // 164 KB
  EXPECT_EQ(blocksPerSm(device, 64, 32, 81.0 * 1024), 2); // and 1 KB each
  EXPECT_EQ(blocksPerSm(device, 64, 32, 82.0 * 1024), 1);
  EXPECT_EQ(blocksPerSm(device, 32, 16, 0), 32);           // not 64: 32 blocks
  EXPECT_EQ(blocksPerSm(device, 64, 32, 164.0 * 1024), 0); // 163 KB a block
  EXPECT_EQ(blocksPerSm(device, 2048, 32, 0), 0);          // 1024 a block
}

TEST(KernelTime, BlocksPerSmOfTuring) {
  Device device = llvm::cantFail(loadDevice("sm_75"));
  EXPECT_EQ(blocksPerSm(device, 32, 16, 0), 16);
  EXPECT_EQ(blocksPerSm(device, 64, 32, 32.0 * 1024), 2); // all 64 KB
}

TEST(KernelTime, AWaveMoreCostsAWholeWave) {
  Device device = a100();
  KernelWork work;
  work.threads = 1024;
  work.registers = 64; // one block per SM
  work.flops = 1e12;
  work.blocks = 108;
  double full = estimateKernel(device, work).compute;
  EXPECT_EQ(estimateKernel(device, work).waves, 1);
  work.blocks = 109;
  EXPECT_EQ(estimateKernel(device, work).waves, 2);
  EXPECT_NEAR(estimateKernel(device, work).compute / full, 2.0 * 108 / 109,
              1e-9);
}

/// An upsample by `factor`: alone, the producer writes n elements and the copy
/// reads them; fused, the producer is evaluated for each of its uses.
static double gainOfUpsample(double flopsPerElement, double factor) {
  Device device = a100();
  double n = 1 << 22;
  KernelWork producer, copy, fused;
  producer.threads = copy.threads = fused.threads = 256;
  producer.blocks = n / 256;
  copy.blocks = fused.blocks = factor * n / 256;
  producer.flops = flopsPerElement * n;
  producer.dramBytes = 8 * n;
  copy.dramBytes = 4 * n + 4 * n * factor;
  fused.flops = flopsPerElement * n * factor;
  fused.dramBytes = 4 * n + 4 * n * factor;
  return estimateKernel(device, producer).seconds +
         estimateKernel(device, copy).seconds -
         estimateKernel(device, fused).seconds;
}

TEST(KernelTime, UpsampleOfACheapProducerWinsOfACostlyOneLoses) {
  EXPECT_GT(gainOfUpsample(10, 16), 0);
  EXPECT_LT(gainOfUpsample(500, 16), 0);
}

/// Rows that are read across memory fetch a sector of 32 bytes for 4: fused,
/// the reduction reads its transposed input so; alone, the transpose pays once
/// in tiles and the reduction reads in order, as often as it has passes.
static double gainOfTransposeIntoReduction(double passes) {
  Device device = a100();
  double bytes = 4.0 * (1 << 24), sector = 8;
  KernelWork transpose, reduction, fused;
  transpose.threads = reduction.threads = fused.threads = 256;
  transpose.blocks = reduction.blocks = fused.blocks = 1 << 16;
  transpose.dramBytes = 2 * bytes;
  reduction.dramBytes = passes * bytes;
  fused.dramBytes = passes * bytes * sector;
  return estimateKernel(device, transpose).seconds +
         estimateKernel(device, reduction).seconds -
         estimateKernel(device, fused).seconds;
}

TEST(KernelTime, ATransposeThatIsReadInSectorsIsBetterDoneFirst) {
  EXPECT_LT(gainOfTransposeIntoReduction(1), 0);
  EXPECT_LT(gainOfTransposeIntoReduction(2), gainOfTransposeIntoReduction(1));
}
