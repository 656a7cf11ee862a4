//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constructors and registration of the passes that state facts and verdicts.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_PLAN_PASSES_H
#define FUSE_PLAN_PASSES_H

#include "fuse/Dialect/FuseDialect.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Pass/Pass.h"

namespace fuse {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fuse/Plan/Passes.h.inc"
} // namespace fuse

#endif // FUSE_PLAN_PASSES_H
