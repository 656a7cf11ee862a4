//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-unfuse: kernels back to operators.
//
//===----------------------------------------------------------------------===//

#include "fuse/Rewrite/Kernels.h"
#include "fuse/Rewrite/Passes.h"
#include "mlir/IR/BuiltinOps.h"

namespace fuse {
#define GEN_PASS_DEF_UNFUSE
#include "fuse/Rewrite/Passes.h.inc"
} // namespace fuse

using namespace mlir;

namespace {
struct UnfusePass : fuse::impl::UnfuseBase<UnfusePass> {
  void runOnOperation() override {
    SmallVector<fuse::KernelOp> kernels;
    getOperation()->walk(
        [&](fuse::KernelOp kernel) { kernels.push_back(kernel); });
    for (fuse::KernelOp kernel : kernels)
      fuse::inlineKernel(kernel);
  }
};
} // namespace
