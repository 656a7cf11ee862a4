//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constructors and registration of the passes that use several layers.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_PIPELINE_PASSES_H
#define FUSE_PIPELINE_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace fuse {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fuse/Pipeline/Passes.h.inc"
} // namespace fuse

#endif // FUSE_PIPELINE_PASSES_H
