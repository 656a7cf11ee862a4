//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small helpers for MLIR remarks.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_SUPPORT_REMARKHELPERS_H
#define FUSE_SUPPORT_REMARKHELPERS_H

#include "mlir/IR/Location.h"

namespace fuse {

/// The first file location inside `loc`. The remark streamer prints bare file
/// locations only, so fused, name and call-site locations are unwrapped; a
/// location without a file is returned as it is.
mlir::Location remarkLocation(mlir::Location loc);

/// `name` as text that lives as long as the context: a remark refers to its
/// name, and with `--remark-policy=final` it is printed when the context ends.
llvm::StringRef remarkName(mlir::MLIRContext *context, const llvm::Twine &name);

} // namespace fuse

#endif // FUSE_SUPPORT_REMARKHELPERS_H
