//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles of kernels with slices, concatenations and reshapes between operators.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_LOWERING_CUTROWS_H
#define FUSE_LIB_LOWERING_CUTROWS_H

#include "fuse/Lowering/Passes.h"

namespace fuse {

/// Computes all of an outlined kernel row by row, if operators read reshaped or
/// sliced results of others and everything can be cut along the same
/// dimensions. False, and nothing done, otherwise.
bool cutRows(mlir::func::FuncOp function);

} // namespace fuse

#endif // FUSE_LIB_LOWERING_CUTROWS_H
