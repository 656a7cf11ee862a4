//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 16-bit floating point numbers against LLVM's APFloat.
//
//===----------------------------------------------------------------------===//

#include "HalfFloat.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"

using namespace fuse::emulator;
using llvm::APFloat;
using llvm::APInt;

static uint32_t bitsOf(float value) { return llvm::bit_cast<uint32_t>(value); }

static uint32_t convert(uint32_t bits, const llvm::fltSemantics &from,
                        const llvm::fltSemantics &to) {
  APFloat value(from, APInt(APFloat::getSizeInBits(from), bits));
  bool losesInfo;
  value.convert(to, APFloat::rmNearestTiesToEven, &losesInfo);
  return value.bitcastToAPInt().getZExtValue();
}

TEST(HalfFloat, everyHalf) {
  for (uint32_t half = 0; half <= 0xffff; ++half) {
    float value = fromHalf(half);
    if (value != value) {
      EXPECT_GT(half & 0x7fff, 0x7c00u);
      continue;
    }
    ASSERT_EQ(bitsOf(value),
              convert(half, APFloat::IEEEhalf(), APFloat::IEEEsingle()));
    ASSERT_EQ(toHalf(value), half);
  }
}

TEST(HalfFloat, roundsToNearestEven) {
  // Every value of the upper 19 bits, with the lower ones just below, at and
  // just above where f16 or bf16 rounds.
  for (uint32_t upper = 0; upper < 1u << 19; ++upper)
    for (uint32_t lower : {0x0u, 0x1u, 0xfffu, 0x1000u, 0x1001u, 0x1fffu}) {
      uint32_t bits = upper << 13 | lower;
      float value = llvm::bit_cast<float>(bits);
      if (value != value)
        continue;
      ASSERT_EQ(toHalf(value),
                convert(bits, APFloat::IEEEsingle(), APFloat::IEEEhalf()));
      ASSERT_EQ(toBfloat(value),
                convert(bits, APFloat::IEEEsingle(), APFloat::BFloat()));
    }
}

TEST(HalfFloat, keepsNotANumber) {
  for (uint32_t bits : {0x7f800001u, 0x7fc00000u, 0xffffffffu}) {
    float value = llvm::bit_cast<float>(bits);
    EXPECT_NE(fromHalf(toHalf(value)), fromHalf(toHalf(value)));
    float again = llvm::bit_cast<float>(toBfloat(value) << 16);
    EXPECT_NE(again, again);
  }
}
