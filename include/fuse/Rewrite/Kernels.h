//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Forming and dissolving fuse.kernel.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_REWRITE_KERNELS_H
#define FUSE_REWRITE_KERNELS_H

#include "fuse/Plan/VerifyPlan.h"

namespace fuse {

/// Forms a kernel of each group of the plan in the attributes of `module`. A
/// group that cannot become one is named in a warning and left as it is.
void applyPlan(mlir::Operation *module);

/// Inlines `kernel` before itself and erases it.
void inlineKernel(KernelOp kernel);

} // namespace fuse

#endif // FUSE_REWRITE_KERNELS_H
