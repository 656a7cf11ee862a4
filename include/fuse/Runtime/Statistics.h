//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Percentiles of measured times, and the comparison of results.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_RUNTIME_STATISTICS_H
#define FUSE_RUNTIME_STATISTICS_H

#include "fuse/Runtime/HostTensor.h"
#include <vector>

namespace fuse {

/// Times of repeated runs, in seconds.
struct Timing {
  double p50 = 0, p99 = 0, min = 0;
  size_t runs = 0;
};

/// Nearest-rank percentiles.
Timing summarize(std::vector<double> seconds);

/// How two tensors of equal type and shape differ.
struct Difference {
  double distance = 0; ///< largest |a - b|; infinite where one is not finite
  double used = 0;     ///< largest share of the tolerance; above 1 fails
  double largest = 0;  ///< max |ref|
  bool finite = true;  ///< whether the whole reference is
  bool passed() const { return finite && used <= 1; }
};

/// |a - b| <= rtol * (|ref| + max|ref|), rtol by type, times sqrt(K / 1024) for
/// reductions of K > 1024 elements; integers are exact. With `tf32`, f32 has
/// the rtol of f16: both have 10 bits of mantissa.
Difference compare(const HostTensor &reference, const HostTensor &other,
                   int64_t longestReduction, bool tf32 = false);

} // namespace fuse

#endif // FUSE_RUNTIME_STATISTICS_H
