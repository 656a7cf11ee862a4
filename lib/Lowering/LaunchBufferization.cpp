//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How fuse.launch becomes one on buffers: it reads its inputs and overwrites
// its outputs, which become its results.
//
//===----------------------------------------------------------------------===//

#include "fuse/Lowering/GpuPipeline.h"
#include "fuse/Lowering/Passes.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"

using namespace mlir;
using namespace mlir::bufferization;

namespace {
struct LaunchModel
    : DstBufferizableOpInterfaceExternalModel<LaunchModel, fuse::LaunchOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return cast<fuse::LaunchOp>(op).isDpsInput(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto launch = cast<fuse::LaunchOp>(op);
    auto buffersOf = [&](ValueRange values,
                         SmallVector<Value> &buffers) -> LogicalResult {
      for (Value value : values) {
        if (!isa<TensorType>(value.getType())) {
          buffers.push_back(value);
          continue;
        }
        FailureOr<Value> buffer = getBuffer(rewriter, value, options, state);
        if (failed(buffer))
          return failure();
        buffers.push_back(*buffer);
      }
      return success();
    };
    SmallVector<Value> inputs, outputs;
    rewriter.setInsertionPoint(launch);
    if (failed(buffersOf(launch.getInputs(), inputs)) ||
        failed(buffersOf(launch.getOutputs(), outputs)))
      return failure();
    fuse::LaunchOp::create(rewriter, launch.getLoc(), TypeRange(),
                           launch.getKernel(), inputs, outputs);
    replaceOpWithBufferizedValues(rewriter, op, outputs);
    return success();
  }
};
} // namespace

void fuse::registerLaunchBufferization(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, FuseDialect *) {
    LaunchOp::attachInterface<LaunchModel>(*context);
  });
}
