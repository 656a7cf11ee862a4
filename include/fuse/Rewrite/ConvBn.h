//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conv-BN folding, the rewrite: carries out a chain that lib/Plan/ConvBn found.
// Decides nothing.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_REWRITE_CONVBN_H
#define FUSE_REWRITE_CONVBN_H

#include "fuse/Plan/ConvBn.h"
#include "llvm/ADT/SetVector.h"

namespace fuse {

/// Replaces the result of `chain` by a convolution with scaled weights, whose
/// accumulator starts from the shift. The old operations stay, unused, and are
/// added to `old`, so that other chains keep what they refer to. Chains of one
/// function must be folded with the last one first.
void foldChain(const BnChain &chain, llvm::SetVector<mlir::Operation *> &old);

/// Lets the convolution read what the chain in front of it reads, with scaled
/// weights and a shifted initial value. The chain stays, unused, and is added
/// to `old`.
void foldInput(const BnInput &input, llvm::SetVector<mlir::Operation *> &old);

/// Erases those of `ops` that nothing needs, and what they alone needed.
void eraseUnused(llvm::SetVector<mlir::Operation *> ops);

} // namespace fuse

#endif // FUSE_REWRITE_CONVBN_H
