//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fuse/Analysis/Footprint.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <set>

using namespace mlir;
using fuse::Count;

/// Distinct values of a*i + b*j by enumeration.
static int64_t enumerate(int64_t a, int64_t i, int64_t b, int64_t j) {
  std::set<int64_t> values;
  for (int64_t x = 0; x < i; ++x)
    for (int64_t y = 0; y < j; ++y)
      values.insert(a * x + b * y);
  return values.size();
}

TEST(Footprint, WindowElementsEqualEnumeration) {
  MLIRContext context;
  AffineExpr d0 = getAffineDimExpr(0, &context),
             d1 = getAffineDimExpr(1, &context);
  for (int64_t stride = 1; stride <= 6; ++stride)
    for (int64_t dilation = 1; dilation <= 6; ++dilation)
      for (int64_t out = 1; out <= 9; ++out)
        for (int64_t kernel = 1; kernel <= 7; ++kernel) {
          AffineMap map = AffineMap::get(2, 0, d0 * stride + d1 * dilation);
          EXPECT_EQ(
              fuse::touchedElements(map, {Count(out), Count(kernel)}).value(),
              enumerate(stride, out, dilation, kernel))
              << stride << " " << out << " " << dilation << " " << kernel;
        }
}

TEST(Footprint, BroadcastConstantAndDiagonal) {
  MLIRContext context;
  AffineExpr d0 = getAffineDimExpr(0, &context),
             d1 = getAffineDimExpr(1, &context);
  AffineExpr zero = getAffineConstantExpr(0, &context);
  llvm::SmallVector<Count> extents{Count(6), Count(7)};
  auto touched = [&](llvm::ArrayRef<AffineExpr> results) {
    return fuse::touchedElements(AffineMap::get(2, 0, results, &context),
                                 extents)
        .value();
  };
  EXPECT_EQ(touched({d0, d1}), 42);
  EXPECT_EQ(touched({d1}), 7);
  EXPECT_EQ(touched({d0, zero}), 6);
  EXPECT_EQ(touched({d0, d0}), 6);
  EXPECT_EQ(touched({}), 1);
}

TEST(Footprint, ZeroExtentTouchesNothing) {
  MLIRContext context;
  AffineExpr d0 = getAffineDimExpr(0, &context),
             d1 = getAffineDimExpr(1, &context);
  EXPECT_EQ(
      fuse::touchedElements(AffineMap::get(2, 0, d0 + d1), {Count(0), Count(3)})
          .value(),
      0);
}

TEST(Footprint, ElementSizes) {
  MLIRContext context;
  EXPECT_EQ(fuse::elementBytes(IntegerType::get(&context, 1)), 1);
  EXPECT_EQ(fuse::elementBytes(IndexType::get(&context)), 8);
  EXPECT_EQ(fuse::elementBytes(ComplexType::get(Float32Type::get(&context))),
            8);
  EXPECT_FALSE(fuse::elementBytes(NoneType::get(&context)));
}
