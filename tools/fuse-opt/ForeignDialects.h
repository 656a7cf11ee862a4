//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dialects of front ends, known to fuse-opt only to say how to lower them.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_TOOLS_FOREIGNDIALECTS_H
#define FUSE_TOOLS_FOREIGNDIALECTS_H

namespace mlir {
class DialectRegistry;
}

namespace fuse {
/// Registers stand-ins for torch, stablehlo, chlo, mhlo and onnx. Parsing an
/// operation or a type of one fails with the conversion to run; operations in
/// the generic form are accepted as unknown ones.
void registerForeignDialects(mlir::DialectRegistry &registry);
} // namespace fuse

#endif // FUSE_TOOLS_FOREIGNDIALECTS_H
