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

/// Moves what depends on constants and `fuse.param` arguments only out of every
/// public function `f` of `module` into `f.prepare`, the rest into `f.body`,
/// and makes `f` call both. A function with nothing to compute once, or whose
/// names are taken, stays as it is.
void splitPreparation(mlir::Operation *module);

/// Brings the weights of linear layers that are parameters into panels of
/// columns, in front of the kernels that read them. Goes before
/// `splitPreparation`, so that it is done once.
void packWeights(mlir::Operation *module);

} // namespace fuse

#endif // FUSE_REWRITE_KERNELS_H
