//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Percentiles and the comparison rule.
//
//===----------------------------------------------------------------------===//

#include "fuse/Runtime/Statistics.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>

using namespace llvm;
using namespace fuse;

static double percentile(ArrayRef<double> sorted, double share) {
  size_t rank = size_t(std::ceil(share * double(sorted.size())));
  return sorted[std::clamp<size_t>(rank, 1, sorted.size()) - 1];
}

Timing fuse::summarize(std::vector<double> seconds) {
  if (seconds.empty())
    return {};
  llvm::sort(seconds);
  return {percentile(seconds, 0.5), percentile(seconds, 0.99), seconds.front(),
          seconds.size()};
}

static double relativeTolerance(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return 1e-12;
  case ElementType::F16:
    return 1e-3;
  case ElementType::BF16:
    return 1e-2;
  default:
    return 1e-5;
  }
}

static Difference compareIntegers(const HostTensor &reference,
                                  const HostTensor &other) {
  Difference result;
  for (int64_t i = 0, count = reference.elements(); i < count; ++i) {
    int64_t a = reference.integerAt(i), b = other.integerAt(i);
    result.largest = std::max(result.largest, std::fabs(double(a)));
    if (a == b)
      continue;
    result.distance =
        std::max(result.distance, std::fabs(double(a) - double(b)));
    result.used = std::numeric_limits<double>::infinity();
  }
  return result;
}

Difference fuse::compare(const HostTensor &reference, const HostTensor &other,
                         int64_t longestReduction, bool tf32) {
  if (!isFloat(reference.type()))
    return compareIntegers(reference, other);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double unscaled = 1024; // the reduction up to which rtol holds
  Difference result;
  int64_t count = reference.elements();
  for (int64_t i = 0; i < count; ++i) {
    double value = std::fabs(reference.at(i));
    result.finite &= std::isfinite(value);
    if (std::isfinite(value))
      result.largest = std::max(result.largest, value);
  }
  bool rounds = tf32 && reference.type() == ElementType::F32;
  double rtol =
      relativeTolerance(rounds ? ElementType::F16 : reference.type()) *
      std::sqrt(std::max(1.0, double(longestReduction) / unscaled));
  for (int64_t i = 0; i < count; ++i) {
    double a = reference.at(i), b = other.at(i);
    if (a == b || (std::isnan(a) && std::isnan(b)))
      continue;
    bool bothFinite = std::isfinite(a) && std::isfinite(b);
    double distance = bothFinite ? std::fabs(a - b) : infinity;
    double tolerance = rtol * (std::fabs(a) + result.largest);
    result.distance = std::max(result.distance, distance);
    result.used =
        std::max(result.used,
                 bothFinite && tolerance > 0 ? distance / tolerance : infinity);
  }
  return result;
}
