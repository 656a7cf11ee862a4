//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-cpu-normalize: few generic loops for what a kernel computes.
//
//   sub; exp; (d0, d1) -> (d0, 0)   ==>   one generic of both; (d0, d1) -> (d0)
//
// Pointwise operators go into their only reader. An operator that reads what it
// writes is never fused: through a broadcast it would accumulate twice.
//
//===----------------------------------------------------------------------===//

#include "CpuErf.h"
#include "fuse/Analysis/Operators.h"
#include "fuse/Kernel/KernelClass.h"
#include "fuse/Lowering/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace fuse {
#define GEN_PASS_DEF_CPUNORMALIZE
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;

static bool isIn(Operation *op, StringRef kernelClass) {
  auto kernel =
      op->getParentOp()->getAttrOfType<StringAttr>(fuse::kKernelClassAttr);
  return kernel && kernel == kernelClass;
}

/// True for what stays a named operation: its lowering knows the name. Between
/// two contractions, and in a chain, reshapes go only if all is generic.
static bool keepsName(linalg::LinalgOp op) {
  if (isIn(op, fuse::attentionClassName()) &&
      linalg::isaContractionOpInterface(op))
    return false;
  if (isIn(op, fuse::chainClassName()))
    return isa<linalg::FillOp>(op.getOperation());
  return isa<linalg::FillOp>(op.getOperation()) ||
         linalg::isaContractionOpInterface(op) ||
         linalg::isaConvolutionOpInterface(op);
}

/// True if each element of the larger operand is used once: nothing is gained
/// by bringing it into another order first.
static bool isOneRow(linalg::LinalgOp op) {
  if (!linalg::isaContractionOpInterface(op) ||
      llvm::any_of(op.getStaticLoopRanges(), ShapedType::isDynamic))
    return false;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    for (auto [loop, range] : llvm::enumerate(ranges))
      if (range != 1 && !map.isFunctionOfDim(loop))
        return false;
    return true;
  });
}

static LogicalResult generalize(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  SmallVector<Operation *> work;
  function->walk([&](Operation *op) {
    if (isa<linalg::LinalgOp, linalg::SoftmaxOp>(op))
      work.push_back(op);
  });
  for (Operation *op : work) {
    rewriter.setInsertionPoint(op);
    if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op)) {
      FailureOr<SmallVector<Value>> parts =
          softmax.decomposeOperation(rewriter);
      if (failed(parts))
        return failure();
      rewriter.replaceOp(op, *parts);
      continue;
    }
    auto structured = cast<linalg::LinalgOp>(op);
    if (isa<linalg::GenericOp>(op) ||
        (keepsName(structured) && !isOneRow(structured)) ||
        !structured.hasPureTensorSemantics())
      continue;
    if (failed(linalg::generalizeNamedOp(rewriter, structured)))
      return failure();
  }
  return success();
}

/// True for an operator that only moves its input's elements.
static bool isCopy(linalg::GenericOp op) {
  return op.getNumDpsInputs() == 1 &&
         op.getBlock()->getTerminator()->getOperand(0) ==
             op.getRegionInputArgs()[0];
}

/// Functions that a point of `op` evaluates as polynomials.
static unsigned countFunctions(linalg::GenericOp op) {
  return llvm::count_if(*op.getBlock(), [](Operation &nested) {
    return fuse::isApproximated(nested.getName().getStringRef());
  });
}

/// True if a loop over both would be so long that the processor does not begin
/// the next points before it ends these: two loops over a tile in the nearest
/// cache are faster.
static bool isLong(linalg::GenericOp producer, linalg::GenericOp consumer) {
  return countFunctions(producer) && countFunctions(consumer) &&
         llvm::none_of(consumer.getStaticLoopRanges(), ShapedType::isDynamic);
}

/// True if the producer of `operand` may be evaluated where its only reader is.
static bool mayFuse(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  if (!producer || producer.getNumParallelLoops() != producer.getNumLoops() ||
      producer->getNumResults() != 1 || !producer->hasOneUse())
    return false;
  for (OpOperand &init : producer.getDpsInitsMutable())
    if (!producer.getMatchingBlockArgument(&init).use_empty())
      return false;
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!consumer || !consumer.isDpsInput(operand) || isLong(producer, consumer))
    return false;
  // Evaluated once for each point of the reader: never more often than before.
  AffineMap map = consumer.getMatchingIndexingMap(operand);
  if (map.getNumDims() == producer.getNumLoops() && map.isPermutation())
    return true;
  // What a contraction of one row reads in another order it reads as it is.
  return isCopy(producer) && map.isProjectedPermutation() &&
         isOneRow(consumer) &&
         llvm::all_of(llvm::enumerate(consumer.getStaticLoopRanges()),
                      [&](auto loop) {
                        return loop.value() == 1 ||
                               map.isFunctionOfDim(unsigned(loop.index()));
                      });
}

static LogicalResult simplify(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  RewritePatternSet patterns(context);
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  linalg::populateElementwiseOpsFusionPatterns(patterns, mayFuse);
  linalg::populateInlineConstantOperandsPatterns(patterns);
  tensor::populateDecomposeTensorConcatPatterns(patterns);
  tensor::EmptyOp::getCanonicalizationPatterns(patterns, context);
  linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
  return applyPatternsGreedily(function, std::move(patterns));
}

static LogicalResult foldUnitExtents(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  linalg::ControlDropUnitDims options;
  options.controlFn = [](Operation *op) -> SmallVector<unsigned> {
    if (auto generic = dyn_cast_or_null<linalg::GenericOp>(op))
      return llvm::to_vector(llvm::seq<unsigned>(0, generic.getNumLoops()));
    if (auto pad = dyn_cast_or_null<tensor::PadOp>(op);
        pad && isIn(op, fuse::chainClassName()))
      return llvm::to_vector(
          llvm::seq<unsigned>(0, pad.getResultType().getRank()));
    return {};
  };
  RewritePatternSet patterns(context);
  linalg::populateFoldUnitExtentDimsPatterns(patterns, options);
  walkAndApplyPatterns(function, std::move(patterns));
  RewritePatternSet cleanup(context);
  linalg::populateFoldUnitExtentDimsCanonicalizationPatterns(cleanup, options);
  return applyPatternsGreedily(function, std::move(cleanup));
}

/// True if a reshape does more than to add or drop extents of 1.
static bool changesExtents(Operation *reshape) {
  auto realExtents = [](Type type) {
    return llvm::to_vector(llvm::make_filter_range(
        cast<ShapedType>(type).getShape(), [](int64_t n) { return n != 1; }));
  };
  return realExtents(reshape->getOperand(0).getType()) !=
         realExtents(reshape->getResult(0).getType());
}

/// Reshapes move through the pointwise operators and reductions to the kernel's
/// arguments and results.
static LogicalResult foldReshapes(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  RewritePatternSet patterns(context);
  linalg::populateFoldReshapeOpsByExpansionPatterns(
      patterns, [](OpOperand *operand) {
        Operation *producer = operand->get().getDefiningOp();
        Operation *user = operand->getOwner();
        if (!producer || !producer->hasOneUse())
          return false;
        Operation *reshape = isa<linalg::GenericOp>(user) ? producer : user;
        return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(reshape) &&
               changesExtents(reshape);
      });
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::EmptyOp::getCanonicalizationPatterns(patterns, context);
  linalg::FillOp::getCanonicalizationPatterns(patterns, context);
  tensor::populateFoldTensorEmptyPatterns(patterns);
  return applyPatternsGreedily(function, std::move(patterns));
}

namespace {
struct CpuNormalizePass : fuse::impl::CpuNormalizeBase<CpuNormalizePass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(fuse::kKernelClassAttr))
      return;
    if (failed(generalize(function)) || failed(simplify(function)) ||
        failed(foldReshapes(function)) || failed(foldUnitExtents(function)) ||
        // Extents of 1 were in the way of some.
        failed(foldReshapes(function)) || failed(simplify(function)))
      return signalPassFailure();
  }
};
} // namespace
