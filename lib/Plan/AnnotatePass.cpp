//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-annotate: writes facts as attributes. Gives no verdicts.
//
//===----------------------------------------------------------------------===//

#include "fuse/Plan/Boundary.h"
#include "fuse/Plan/Passes.h"
#include "mlir/IR/BuiltinOps.h"

namespace fuse {
#define GEN_PASS_DEF_ANNOTATE
#include "fuse/Plan/Passes.h.inc"
} // namespace fuse

using namespace mlir;

namespace {
struct AnnotatePass : fuse::impl::AnnotateBase<AnnotatePass> {
  void runOnOperation() override {
    for (FunctionOpInterface function : fuse::functionsOf(getOperation())) {
      fuse::FunctionFacts facts(function);
      fuse::diagnoseInput(facts);
      fuse::writeFacts(facts);
    }
  }
};
} // namespace
