//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What this machine can do at most, measured.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_RUNTIME_LIMITS_H
#define FUSE_RUNTIME_LIMITS_H

#include <utility>
#include <vector>

namespace fuse {

/// Rates that plain loops reach with a number of threads.
struct Limits {
  double flops = 0; ///< per second, f32 multiply-adds in registers
  /// Bytes that a loop goes over again and again, and bytes per second: data
  /// in a near cache comes faster. Sizes grow.
  std::vector<std::pair<double, double>> bandwidth;

  /// Bytes per second for a working set of this size.
  double bandwidthFor(double bytes) const;
  /// Least seconds for a kernel.
  double bound(double bytes, double flops) const;

  /// Takes some tens of milliseconds.
  static Limits measure(unsigned threads);
};

} // namespace fuse

#endif // FUSE_RUNTIME_LIMITS_H
