//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Entry points of the plugin for stock mlir-opt:
//   mlir-opt --load-dialect-plugin=FusePlugin.so
//   --load-pass-plugin=FusePlugin.so
//            --pass-pipeline='builtin.module(fuse-boundary,fuse-conv-bn)'
//
//===----------------------------------------------------------------------===//

#include "fuse/Pipeline/Register.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Fuse", "0.1.0",
          [](mlir::DialectRegistry *registry) {
            fuse::registerFuseDialect(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Fuse", "0.1.0",
          []() { fuse::registerFusePasses(); }};
}
