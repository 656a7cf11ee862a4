//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fuse/Support/Count.h"
#include "gtest/gtest.h"

using fuse::Count;

TEST(Count, ArithmeticIsExact) {
  EXPECT_EQ((Count(3) * Count(4) + Count(5)).value(), 17);
  EXPECT_TRUE((Count(0) * Count::symbol("arg0.0")).isZero());
}

TEST(Count, OverflowIsStickyAndNeverAValue) {
  Count big(int64_t(1) << 62);
  EXPECT_EQ((big + Count(1)).value(), (int64_t(1) << 62) + 1);
  Count product = big * Count(2);
  EXPECT_TRUE(product.overflowed());
  EXPECT_FALSE(product.value());
  EXPECT_TRUE((product + Count(1)).overflowed());
  EXPECT_TRUE((Count(0) * product).overflowed());
}

TEST(Count, PolynomialsCompareByValueNotByOrder) {
  Count a = Count::symbol("arg0.0"), b = Count::symbol("arg1.0");
  EXPECT_EQ(a * b, b * a);
  EXPECT_NE(a * b, a * a);
  EXPECT_EQ((Count(2) * a * b + a + Count(7)).str(),
            "arg0.0 + 2*arg0.0*arg1.0 + 7");
  EXPECT_FALSE((a + Count(1)).value());
}

TEST(Count, CancelledTermsLeaveAStaticCount) {
  Count a = Count::symbol("n");
  EXPECT_EQ((a + Count(-1) * a + Count(4)).value(), 4);
}
