//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the loops of one operator come back in others: followed along an edge,
// through its glue, in either direction. Private to lib/Kernel.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_KERNEL_FOLLOW_H
#define FUSE_LIB_KERNEL_FOLLOW_H

#include "fuse/Kernel/Graph.h"

namespace fuse {

/// Part of a loop's index: `index / stride % extent`. A reshape cuts loops into
/// pieces and joins pieces again.
struct Piece {
  unsigned loop; ///< of the operator that is followed
  int64_t stride;
  int64_t extent; ///< may be dynamic for the outermost piece
  bool operator==(const Piece &other) const {
    return loop == other.loop && stride == other.stride &&
           extent == other.extent;
  }
};

/// What a loop of an operator, or a dimension of a tensor, is.
struct Origin {
  enum Kind : char {
    Unknown, ///< not tied to a followed loop, or of extent 1
    Own,     ///< the pieces of followed loops, outermost first
    Along ///< runs inside what one block owns; which element, is all the same
  } kind = Unknown;
  llvm::SmallVector<Piece, 1> pieces = {};
  bool operator==(const Origin &other) const {
    return kind == other.kind && pieces == other.pieces;
  }
  bool operator!=(const Origin &other) const { return !(*this == other); }
};
using Origins = llvm::SmallVector<Origin, 4>;

/// The loop `loop` of `extent` itself; extent 1 is unknown.
Origin ownLoop(unsigned loop, int64_t extent);

/// Loops of an edge's consumer from those of its producer; nothing where an
/// index is no plain loop, or where glue moves or cuts an Own dimension other
/// than by permuting and reshaping.
std::optional<Origins> followForward(const FusionGraph &graph,
                                     unsigned producer, unsigned consumer,
                                     const GraphInput &input,
                                     const Origins &loops);
/// Loops of the producer from those of the consumer.
std::optional<Origins> followBackward(const FusionGraph &graph,
                                      unsigned producer, unsigned consumer,
                                      const GraphInput &input,
                                      const Origins &loops);

/// Adds what `from` knows to `into`; false where they contradict each other.
/// `into` may be empty.
bool mergeOrigins(Origins &into, const Origins &from);

} // namespace fuse

#endif // FUSE_LIB_KERNEL_FOLLOW_H
