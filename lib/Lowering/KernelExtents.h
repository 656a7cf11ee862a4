//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Extents of a kernel's results, from its inputs.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_LOWERING_KERNELEXTENTS_H
#define FUSE_LIB_LOWERING_KERNELEXTENTS_H

#include "fuse/Dialect/FuseDialect.h"

namespace fuse {

/// Computes the dynamic extents of each result before `kernel`, from extents of
/// its inputs and from scalars. Reports those that depend on elements.
mlir::FailureOr<llvm::SmallVector<llvm::SmallVector<mlir::Value>>>
extentsOutside(KernelOp kernel);

} // namespace fuse

#endif // FUSE_LIB_LOWERING_KERNELEXTENTS_H
