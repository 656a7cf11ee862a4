//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-opt with the fuse dialect and passes.
//
//===----------------------------------------------------------------------===//

#include "ForeignDialects.h"
#include "fuse/Pipeline/Register.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  fuse::registerFuseDialect(registry);
  fuse::registerForeignDialects(registry);
  fuse::registerFusePasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "fuse: operator fusion for linalg\n", registry));
}
