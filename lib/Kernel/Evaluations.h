//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How often a kernel evaluates its elementwise operators. Private to
// lib/Kernel.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_KERNEL_EVALUATIONS_H
#define FUSE_LIB_KERNEL_EVALUATIONS_H

#include "Follow.h"

namespace fuse {

/// An evaluation of an operator per element of the kernel: at which element of
/// the operator, and how many of them.
struct Evaluation {
  unsigned position; ///< as interned
  double times;
};

/// Evaluations of operators that are read at several elements for each element
/// of a kernel: `y = x + shift(x)` needs x at two, and in a chain of k such
/// operators the first is needed at k + 1.
class Evaluations {
public:
  explicit Evaluations(const Group &group) : group(group) {}
  /// `id` is evaluated at its own element, once.
  void addOwn(unsigned id);
  /// `producer` is evaluated `times` for each element, where operand `operand`
  /// of a heavy operator reads it.
  void addRead(unsigned producer, unsigned operand, double times);
  /// Carries the evaluations of `id` to the operators of the group that it
  /// reads. To be called on consumers before producers.
  void carry(unsigned id);
  /// Of each element of `id`; 0 if nothing reads it.
  double of(unsigned id) const;

private:
  /// Elements that are not known to be the same have another `key`.
  struct Position {
    size_t key;
    Origins loops;
  };
  unsigned intern(Position position);
  unsigned across(const GraphInput &input, unsigned consumer,
                  unsigned position);
  void add(unsigned id, Evaluation evaluation);

  const Group &group;
  llvm::SmallVector<Position> positions;
  llvm::SmallDenseMap<unsigned, llvm::SmallVector<Evaluation, 1>> found;
};

} // namespace fuse

#endif // FUSE_LIB_KERNEL_EVALUATIONS_H
