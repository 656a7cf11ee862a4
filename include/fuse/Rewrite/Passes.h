//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constructors and registration of the passes that rewrite the program.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_REWRITE_PASSES_H
#define FUSE_REWRITE_PASSES_H

#include "fuse/Dialect/FuseDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

namespace fuse {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fuse/Rewrite/Passes.h.inc"
} // namespace fuse

#endif // FUSE_REWRITE_PASSES_H
