//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parts of the conv-BN rewrite. Private to lib/Rewrite.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_REWRITE_CONVBNPARTS_H
#define FUSE_LIB_REWRITE_CONVBNPARTS_H

#include "fuse/Plan/ConvBn.h"
#include "mlir/IR/Builders.h"

namespace fuse {

/// The scaled filter, and what the accumulators start from.
struct FoldedWeights {
  mlir::Value filter, init;
};

/// Builds both: constants where the chain holds them, else operations.
FoldedWeights buildWeights(mlir::OpBuilder &builder, const BnChain &chain);

/// Folded constant weights: a resource of its own where the filter is one, else
/// dense.
mlir::Value buildConstantFilter(mlir::OpBuilder &builder, mlir::Location loc,
                                mlir::Type type,
                                const FoldedConstants &constants);

/// A tensor of what the accumulators start from, for each output channel.
mlir::Value buildStart(mlir::OpBuilder &builder, const BnInput &input);

/// A tensor of the value that `root` has for each input channel.
mlir::Value buildChannelTensor(mlir::OpBuilder &builder, const BnInput &input,
                               ExprId root);

/// An uninitialised tensor of the type and extents of `tensor`.
mlir::Value emptyLike(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value tensor);

} // namespace fuse

#endif // FUSE_LIB_REWRITE_CONVBNPARTS_H
