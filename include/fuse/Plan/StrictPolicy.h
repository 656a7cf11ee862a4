//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// policy=strict: the textbook conjunction, on plain operator descriptions.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_PLAN_STRICTPOLICY_H
#define FUSE_PLAN_STRICTPOLICY_H

#include "fuse/Dialect/Decision.h"
#include <string>
#include <vector>

namespace fuse {

/// A plain operator: what it reads and writes by name, and what it costs.
struct OperatorDescription {
  std::vector<std::string> reads, writes;
  double flops = 0;
  double bytes = 0; ///< read and written together
  double registers = 0;
  bool sideEffect = false;
  int consumers = 1; ///< readers of what it writes

  /// FLOP per byte.
  double intensity() const { return flops / (bytes > 1 ? bytes : 1); }
};

/// Limits of the strict policy. Ridge point is `peakFlops / bandwidth`.
struct StrictLimits {
  double deviceMemory = 0;  ///< bytes
  double peakFlops = 0;     ///< FLOP/s
  double bandwidth = 0;     ///< bytes/s
  double registerLimit = 0; ///< 32-bit registers
  double tolerance = 0.3;

  double ridge() const { return peakFlops / bandwidth; }
};

/// `|ia - ib| / max(ia, ib, 1) > tolerance` refuses.
std::optional<Decision> strictProfileGate(double ia, double ib,
                                          const StrictLimits &limits);

/// Memory, then memory-bound, then registers, in this order. `registers` is
/// the plain sum over the group that the edge would join.
std::optional<Decision> strictResourceGate(double bytesA, double bytesB,
                                           double ia, double ib,
                                           double registers,
                                           const StrictLimits &limits);

/// The verdict on fusing `a` (first in program order) with `b`. The pair need
/// not be an edge: two operators without common data pass the dependency gate.
Decision decide(const OperatorDescription &a, const OperatorDescription &b,
                const StrictLimits &limits);

} // namespace fuse

#endif // FUSE_PLAN_STRICTPOLICY_H
