//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-gpu-memory: buffers of the host functions are memory of the device.
//
//   _mlir_memref_to_llvm_aligned_alloc(align, bytes)
//     ==>   mgpuMemAlloc(bytes, null, false)
//   _mlir_memref_to_llvm_free(p)   ==>   mgpuMemFree(p, null)
//
// The device gives memory out aligned to more than any buffer asks for. Runs
// after memrefs became LLVM's.
//
//===----------------------------------------------------------------------===//

#include "fuse/Lowering/Passes.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace fuse {
#define GEN_PASS_DEF_GPUMEMORY
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;

namespace {
struct GpuMemoryPass : fuse::impl::GpuMemoryBase<GpuMemoryPass> {
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    Type pointer = LLVM::LLVMPointerType::get(&getContext());
    Type bytes = builder.getI64Type(), flag = builder.getI1Type();
    auto declare = [&](StringRef name, ArrayRef<Type> types, Type result) {
      return LLVM::lookupOrCreateFn(builder, getOperation(), name, types,
                                    result);
    };
    auto replaceCalls = [&](StringRef from, auto replace) {
      auto function = getOperation().lookupSymbol<LLVM::LLVMFuncOp>(from);
      if (!function)
        return;
      getOperation()->walk([&](LLVM::CallOp call) {
        if (call.getCallee() != from)
          return;
        builder.setInsertionPoint(call);
        replace(call);
        call.erase();
      });
      function.erase();
    };
    auto allocate = [&](LLVM::CallOp call) {
      auto function = declare("mgpuMemAlloc", {bytes, pointer, flag}, pointer);
      Location loc = call.getLoc();
      Value stream = LLVM::ZeroOp::create(builder, loc, pointer);
      Value shared = LLVM::ConstantOp::create(builder, loc, flag, false);
      auto memory = LLVM::CallOp::create(
          builder, loc, *function,
          ValueRange{call.getOperands().back(), stream, shared});
      call->replaceAllUsesWith(memory.getResults());
    };
    replaceCalls("_mlir_memref_to_llvm_alloc", allocate);
    replaceCalls("_mlir_memref_to_llvm_aligned_alloc", allocate);
    replaceCalls("_mlir_memref_to_llvm_free", [&](LLVM::CallOp call) {
      auto function = declare("mgpuMemFree", {pointer, pointer},
                              LLVM::LLVMVoidType::get(&getContext()));
      Value stream = LLVM::ZeroOp::create(builder, call.getLoc(), pointer);
      LLVM::CallOp::create(builder, call.getLoc(), *function,
                           ValueRange{call.getOperand(0), stream});
    });
  }
};
} // namespace
