//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The softmax between the two contractions of an attention, as operators spell
// it.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_KERNEL_SOFTMAX_H
#define FUSE_KERNEL_SOFTMAX_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace fuse {

/// Rows that are normalised while they are computed, some elements at a time:
///
///   max = max of x; e = exp(x - max); sum = sum of e; p = e / sum
///
/// with x computed from the scores, p converted or not, and p multiplied into
/// the second contraction. What was summed for an earlier maximum is brought to
/// a later one by exp(earlier - later): Milakov and Gimelshein, "Online
/// normalizer calculation for softmax" (2018). Without a maximum e is anything.
struct OnlineSoftmax {
  mlir::linalg::LinalgOp first, second; ///< the contractions
  unsigned operand = 0;                 ///< of the second one, what p is
  mlir::OpResult max, sum;              ///< no max where none is subtracted
  mlir::Operation *exp = nullptr;       ///< the function behind the maximum

  /// True if rows of the first contraction's inputs, and of what p is
  /// multiplied with, have static extents.
  bool hasKnownLengths() const;
};

/// The softmax whose result is an input of `second`. Nothing if it is none, if
/// its sums do not start from 0 or are not f32, or if the contractions do not
/// multiply two inputs of one element type.
std::optional<OnlineSoftmax> onlineSoftmax(mlir::linalg::LinalgOp first,
                                           mlir::linalg::LinalgOp second);

} // namespace fuse

#endif // FUSE_KERNEL_SOFTMAX_H
