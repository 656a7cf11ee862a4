//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-apply: kernels from the plan in the attributes.
//
//===----------------------------------------------------------------------===//

#include "fuse/Rewrite/Kernels.h"
#include "fuse/Rewrite/Passes.h"
#include "mlir/IR/BuiltinOps.h"

namespace fuse {
#define GEN_PASS_DEF_APPLY
#include "fuse/Rewrite/Passes.h.inc"
} // namespace fuse

namespace {
struct ApplyPass : fuse::impl::ApplyBase<ApplyPass> {
  void runOnOperation() override {
    fuse::applyPlan(getOperation());
    fuse::splitPreparation(getOperation());
    // What no kernel took has other numbers and neighbours now.
    fuse::refreshVerdicts(getOperation());
  }
};
} // namespace
