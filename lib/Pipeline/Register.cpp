//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers dialect and passes.
//
//===----------------------------------------------------------------------===//

#include "fuse/Pipeline/Register.h"
#include "fuse/Lowering/CpuPipeline.h"
#include "fuse/Lowering/GpuPipeline.h"
#include "fuse/Lowering/Passes.h"
#include "fuse/Pipeline/Passes.h"
#include "fuse/Plan/Passes.h"
#include "fuse/Rewrite/Passes.h"
#include "mlir/IR/DialectRegistry.h"

void fuse::registerFuseDialect(mlir::DialectRegistry &registry) {
  registry.insert<FuseDialect>();
  registerLaunchBufferization(registry);
}

void fuse::registerFusePasses() {
  registerFusePlanPasses();
  registerFuseRewritePasses();
  registerFuseLoweringPasses();
  registerFusePipelinePasses();
  registerCpuPipeline();
  registerGpuPipeline();
}
