//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-conv-bn.
//
//===----------------------------------------------------------------------===//

#include "fuse/Rewrite/Passes.h"
#include "mlir/IR/BuiltinOps.h"

namespace fuse {
#define GEN_PASS_DEF_CONVBN
#include "fuse/Rewrite/Passes.h.inc"
} // namespace fuse

namespace {
struct ConvBnPass : fuse::impl::ConvBnBase<ConvBnPass> {
  using ConvBnBase::ConvBnBase;
  void runOnOperation() override {}
};
} // namespace
