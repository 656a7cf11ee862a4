//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-cpu-im2col: a convolution becomes a contraction of packed windows.
//
//   y[f, h, w] += k[f, c, i, j] * x[c, h + i, w + j]
//     ==>   p[c, i, j, h, w] = x[c, h + i, w + j];  y += k * p
//
// The packed windows are as large as a tile after tiling. Any layout, stride
// and dilation; not depthwise ones, which would not reuse what was packed.
//
//===----------------------------------------------------------------------===//

#include "fuse/Analysis/Operators.h"
#include "fuse/Lowering/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"

namespace fuse {
#define GEN_PASS_DEF_CPUIM2COL
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;

/// The input that a window moves over: the one whose map adds loops.
static OpOperand *movingInput(linalg::LinalgOp op) {
  for (OpOperand *input : op.getDpsInputOperands())
    if (!op.getMatchingIndexingMap(input).isProjectedPermutation())
      return input;
  return nullptr;
}

/// Loops that the packed windows have, in the order of their dimensions: those
/// that stay along memory last.
static SmallVector<unsigned> packedLoops(linalg::LinalgOp op, AffineMap map) {
  SmallVector<unsigned> outer, reduced, moving;
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    if (!map.isFunctionOfDim(loop))
      continue;
    bool alone = llvm::any_of(map.getResults(), [&](AffineExpr expr) {
      return expr == getAffineDimExpr(loop, op.getContext());
    });
    if (kinds[loop] != utils::IteratorType::parallel)
      reduced.push_back(loop);
    else
      (alone ? outer : moving).push_back(loop);
  }
  llvm::append_range(outer, reduced);
  llvm::append_range(outer, moving);
  return outer;
}

/// Makes the packed windows of `input`.
static Value pack(OpBuilder &builder, linalg::LinalgOp op, OpOperand *input,
                  ArrayRef<unsigned> loops) {
  MLIRContext *context = op.getContext();
  SmallVector<int64_t> extents;
  SmallVector<AffineExpr> renamed(op.getNumLoops(),
                                  getAffineConstantExpr(0, context));
  for (auto [position, loop] : llvm::enumerate(loops)) {
    renamed[loop] = getAffineDimExpr(position, context);
    extents.push_back(op.getStaticLoopRanges()[loop]);
  }
  AffineMap from = op.getMatchingIndexingMap(input).replaceDimsAndSymbols(
      renamed, {}, loops.size(), 0);
  AffineMap to = AffineMap::getMultiDimIdentityMap(loops.size(), context);
  Type element = getElementTypeOrSelf(input->get().getType());
  Value empty = tensor::EmptyOp::create(builder, op.getLoc(), extents, element);
  SmallVector<utils::IteratorType> kinds(loops.size(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, op.getLoc(), empty.getType(), input->get(), empty,
             ArrayRef<AffineMap>{from, to}, kinds,
             [](OpBuilder &inner, Location loc, ValueRange arguments) {
               linalg::YieldOp::create(inner, loc, arguments.front());
             })
      .getResult(0);
}

static void rewrite(IRRewriter &rewriter, linalg::LinalgOp op) {
  OpOperand *input = movingInput(op);
  if (!input || llvm::any_of(op.getStaticLoopRanges(), ShapedType::isDynamic))
    return;
  rewriter.setInsertionPoint(op);
  SmallVector<unsigned> loops =
      packedLoops(op, op.getMatchingIndexingMap(input));
  Value packed = pack(rewriter, op, input, loops);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<AffineExpr> exprs;
  for (unsigned loop : loops)
    exprs.push_back(rewriter.getAffineDimExpr(loop));
  unsigned number = input->getOperandNumber();
  maps[number] = AffineMap::get(op.getNumLoops(), 0, exprs, op.getContext());
  SmallVector<Value> inputs = op.getDpsInputs();
  inputs[number] = packed;
  auto contraction = linalg::GenericOp::create(
      rewriter, op.getLoc(), op->getResultTypes(), inputs, op.getDpsInits(),
      maps, op.getIteratorTypesArray());
  rewriter.cloneRegionBefore(op->getRegion(0), contraction.getRegion(),
                             contraction.getRegion().begin());
  rewriter.replaceOp(op, contraction.getResults());
}

namespace {
struct CpuIm2colPass : fuse::impl::CpuIm2colBase<CpuIm2colPass> {
  void runOnOperation() override {
    if (!getOperation()->hasAttr(fuse::kKernelClassAttr))
      return;
    SmallVector<linalg::LinalgOp> work;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (op.hasPureTensorSemantics() &&
          fuse::roleOf(op) == fuse::Role::Convolution)
        work.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : work)
      rewrite(rewriter, op);
  }
};
} // namespace
