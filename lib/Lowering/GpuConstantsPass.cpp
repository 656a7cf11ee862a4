//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-gpu-constants: data of constants goes to the device.
//
//   c = memref.get_global @data   ==>   c = alloc; gpu.memcpy c, get_global
//
// In host functions; runs before buffers are freed.
//
//===----------------------------------------------------------------------===//

#include "fuse/Lowering/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace fuse {
#define GEN_PASS_DEF_GPUCONSTANTS
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;

namespace {
struct GpuConstantsPass : fuse::impl::GpuConstantsBase<GpuConstantsPass> {
  void runOnOperation() override {
    SmallVector<memref::GetGlobalOp> constants;
    getOperation()->walk(
        [&](memref::GetGlobalOp op) { constants.push_back(op); });
    for (memref::GetGlobalOp constant : constants) {
      OpBuilder builder(&getContext());
      builder.setInsertionPointAfter(constant);
      MemRefType type = constant.getType();
      auto buffer = memref::AllocOp::create(
          builder, constant.getLoc(),
          MemRefType::get(type.getShape(), type.getElementType()));
      constant.getResult().replaceAllUsesWith(buffer);
      gpu::MemcpyOp::create(builder, constant.getLoc(), TypeRange(),
                            ValueRange(), buffer, constant.getResult());
    }
  }
};
} // namespace
