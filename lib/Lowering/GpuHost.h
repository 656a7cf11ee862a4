//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a host function does on its stream.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_LOWERING_GPUHOST_H
#define FUSE_LIB_LOWERING_GPUHOST_H

#include "fuse/Lowering/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace fuse {

/// Makes a stream at the start of a function, and work on it.
class GpuHost {
public:
  explicit GpuHost(mlir::func::FuncOp function);

  /// Launches before `launch`, which stays. Reports what the kernel cannot
  /// take.
  mlir::LogicalResult launch(LaunchOp launch);
  /// Copies between buffers before `op`. Reports one that is not contiguous.
  mlir::LogicalResult copy(mlir::Operation *op, mlir::Value to,
                           mlir::Value from);
  /// Waits before `op` for what the stream does.
  void wait(mlir::Operation *op);
  /// Gives the stream up before `op`.
  void end(mlir::Operation *op);

private:
  mlir::Value call(llvm::StringRef name, mlir::TypeRange types,
                   mlir::Type result, mlir::ValueRange operands);
  mlir::Value constant(int64_t value);
  mlir::Value toInteger(mlir::Value value);
  /// The address of the first element, as i64.
  mlir::FailureOr<mlir::Value> address(mlir::Operation *op, mlir::Value buffer);
  mlir::Value bytesOf(mlir::Value buffer);
  mlir::LogicalResult arguments(LaunchOp launch,
                                llvm::SmallVectorImpl<mlir::Value> &values,
                                llvm::SmallVectorImpl<mlir::Value> &extents);
  /// Blocks in x, y, z. Null where the kernel states no grid.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  grid(LaunchOp launch, mlir::gpu::GPUFuncOp kernel, mlir::ValueRange extents);

  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::ModuleOp module;
  mlir::Type pointer, integer;
  mlir::Value stream;
};

} // namespace fuse

#endif // FUSE_LIB_LOWERING_GPUHOST_H
