//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registration of everything that fuse brings.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_PIPELINE_REGISTER_H
#define FUSE_PIPELINE_REGISTER_H

namespace mlir {
class DialectRegistry;
}

namespace fuse {

/// Registers the dialect with `registry`.
void registerFuseDialect(mlir::DialectRegistry &registry);

/// Registers all passes with the global pass registry.
void registerFusePasses();

} // namespace fuse

#endif // FUSE_PIPELINE_REGISTER_H
