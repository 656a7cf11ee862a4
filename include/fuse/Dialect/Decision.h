//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decision: the one record behind every attribute, remark and table row.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_DIALECT_DECISION_H
#define FUSE_DIALECT_DECISION_H

#include "fuse/Dialect/FuseDialect.h"
#include <string>

namespace fuse {

/// The four questions that every decision answers in its explanation.
struct Answers {
  bool memoryBound = false; ///< would the fused kernel wait for memory?
  bool soleReader = false;  ///< has the intermediate no other reader?
  bool fits = false;        ///< is there a kernel class with a tile that fits?
  double lostParallelism = 0; ///< share of the consumer's blocks that are lost
};

/// A verdict with its gate, its reason, the numbers the gate compared and what
/// would flip it. Every gate returns one of these, never a bool.
struct Decision {
  VerdictKind verdict = VerdictKind::Fuse;
  Reason reason = Reason::CanFuse;
  /// The condition under which a conditional verdict is right.
  std::string when;
  /// What would make the verdict come out the other way.
  std::string flip;
  /// What the gate compared; names carry their unit (`bytes_removed`,
  /// `gain_us`).
  llvm::SmallVector<std::pair<std::string, double>, 4> numbers;
  NumericClass numeric = NumericClass::BitExact;
  Answers answers;
  /// What the planner made of the edge; empty before planning.
  std::string plan;
  bool joined = false; ///< the planner put both into one kernel

  Gate gate() const { return gateOf(reason); }

  static Decision keep(Reason reason, std::string flip);
  static Decision conditional(Reason reason, std::string when,
                              std::string flip);
  Decision &number(llvm::StringRef name, double value);
};

/// Prints a number as the tables do: integers in full, others with 6 digits.
std::string formatNumber(double value);

} // namespace fuse

#endif // FUSE_DIALECT_DECISION_H
