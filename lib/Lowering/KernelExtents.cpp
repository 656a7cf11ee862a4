//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel's results by the extents of its inputs: a copy of the kernel that
// yields the extents alone, simplified until it reads no element.
//
//===----------------------------------------------------------------------===//

#include "KernelExtents.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

/// Lets the copy yield its results' dynamic extents, in order.
static void yieldExtents(fuse::KernelOp copy) {
  auto yield = cast<fuse::YieldOp>(copy.getBody().front().getTerminator());
  OpBuilder builder(yield);
  SmallVector<Value> extents;
  for (Value value : yield.getValues()) {
    auto type = cast<RankedTensorType>(value.getType());
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim))
        extents.push_back(
            tensor::DimOp::create(builder, copy.getLoc(), value, dim));
  }
  yield.getValuesMutable().assign(extents);
}

static void simplify(fuse::KernelOp copy) {
  MLIRContext *context = copy.getContext();
  RewritePatternSet patterns(context);
  memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
  memref::populateResolveShapedTypeResultDimsPatterns(patterns);
  tensor::DimOp::getCanonicalizationPatterns(patterns, context);
  affine::AffineApplyOp::getCanonicalizationPatterns(patterns, context);
  // What does not converge is refused for what it still reads.
  (void)applyPatternsGreedily(copy.getBody(), std::move(patterns));
}

/// True if `op` is one on scalars, or takes an extent of an input.
static bool runsOutside(Operation *op) {
  if (!isMemoryEffectFree(op) || op->getNumRegions())
    return false;
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    return isa<BlockArgument>(dim.getSource());
  return llvm::none_of(op->getOperandTypes(), llvm::IsaPred<ShapedType>);
}

/// The value outside of the kernel that `value` inside of the copy becomes;
/// null if it depends on elements.
static Value cloneOutside(Value value, OpBuilder &builder, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op || !runsOutside(op))
    return nullptr;
  for (Value operand : op->getOperands())
    if (!cloneOutside(operand, builder, mapping))
      return nullptr;
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

FailureOr<SmallVector<SmallVector<Value>>>
fuse::extentsOutside(KernelOp kernel) {
  OpBuilder builder(kernel);
  auto copy = cast<KernelOp>(builder.clone(*kernel));
  llvm::scope_exit dropCopy([&] { copy.erase(); });
  yieldExtents(copy);
  simplify(copy);
  Block &body = copy.getBody().front();
  IRMapping mapping;
  mapping.map(body.getArguments(), kernel.getInputs());
  ValueRange yielded = body.getTerminator()->getOperands();
  SmallVector<SmallVector<Value>> extents;
  for (auto [number, type] : llvm::enumerate(kernel.getOutputs().getTypes())) {
    extents.emplace_back();
    auto tensor = cast<RankedTensorType>(type);
    for (int64_t dim = 0; dim < tensor.getRank(); ++dim) {
      if (!tensor.isDynamicDim(dim))
        continue;
      Value extent = cloneOutside(yielded.front(), builder, mapping);
      if (!extent)
        return kernel.emitError()
               << "extent " << dim << " of result " << number
               << " depends on elements of a tensor, expected one that follows "
                  "from the extents of the kernel's inputs";
      extents.back().push_back(extent);
      yielded = yielded.drop_front();
    }
  }
  return extents;
}
