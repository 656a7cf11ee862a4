//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fuse/Plan/StrictPolicy.h"
#include "gtest/gtest.h"

using namespace fuse;

static StrictLimits textbookLimits() {
  StrictLimits limits;
  limits.deviceMemory = 2048;
  limits.peakFlops = 1000;
  limits.bandwidth = 100;
  limits.registerLimit = 192;
  return limits;
}

static OperatorDescription make(std::vector<std::string> reads,
                                std::vector<std::string> writes, double flops,
                                double bytes) {
  OperatorDescription op;
  op.reads = std::move(reads);
  op.writes = std::move(writes);
  op.flops = flops;
  op.bytes = bytes;
  return op;
}

TEST(StrictPolicy, TextbookPairsMismatchInIntensity) {
  OperatorDescription conv = make({"x", "w"}, {"y"}, 4096, 512);
  OperatorDescription bn = make({"y"}, {"z"}, 2048, 384);
  OperatorDescription relu = make({"z"}, {"out"}, 256, 256);
  for (auto [a, b] :
       {std::pair(conv, bn), std::pair(bn, relu), std::pair(relu, conv)}) {
    Decision decision = decide(a, b, textbookLimits());
    EXPECT_EQ(decision.verdict, VerdictKind::Keep);
    EXPECT_EQ(stringifyReason(decision.reason),
              "profile: compute intensity mismatch");
  }
}

TEST(StrictPolicy, WriteAfterReadAndWriteAfterWriteRefuse) {
  OperatorDescription first = make({"x"}, {"y"}, 8, 1),
                      writesInput = make({"y"}, {"x"}, 8, 1);
  EXPECT_EQ(decide(first, writesInput, textbookLimits()).reason,
            Reason::AntiOutput);
  EXPECT_EQ(decide(first, make({"z"}, {"y"}, 8, 1), textbookLimits()).reason,
            Reason::AntiOutput);
  EXPECT_EQ(decide(first, make({"y"}, {"z"}, 8, 1), textbookLimits()).reason,
            Reason::CanFuse);
}

TEST(StrictPolicy, MemoryComesBeforeMemoryBoundComesBeforeRegisters) {
  StrictLimits limits = textbookLimits();
  EXPECT_EQ(strictResourceGate(2000, 49, 1, 1, 500, limits)->reason,
            Reason::Memory);
  EXPECT_EQ(strictResourceGate(1000, 49, 1, 1, 500, limits)->reason,
            Reason::MemoryBound);
  EXPECT_EQ(strictResourceGate(1000, 49, 5, 5, 193, limits)->reason,
            Reason::Registers);
  EXPECT_FALSE(strictResourceGate(1000, 49, 5, 5, 192, limits));
}

TEST(StrictPolicy, ToleranceIsRelativeToTheLargerIntensity) {
  StrictLimits limits = textbookLimits();
  EXPECT_FALSE(strictProfileGate(10, 7.01, limits));
  EXPECT_TRUE(strictProfileGate(10, 6.99, limits));
  // Below one FLOP per byte the difference is absolute.
  EXPECT_FALSE(strictProfileGate(0.5, 0.25, limits));
}

TEST(StrictPolicy, SideEffectsAndSeveralConsumers) {
  OperatorDescription a = make({"x"}, {"y"}, 8, 1),
                      b = make({"y"}, {"z"}, 8, 1);
  a.consumers = 2;
  Decision decision = decide(a, b, textbookLimits());
  EXPECT_EQ(decision.verdict, VerdictKind::Conditional);
  EXPECT_EQ(decision.reason, Reason::MultiConsumer);
  b.sideEffect = true;
  EXPECT_EQ(decide(a, b, textbookLimits()).reason, Reason::SideEffect);
}
