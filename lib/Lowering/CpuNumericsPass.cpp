//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-cpu-numerics: f64 islands in f32, where that was asked for.
//
//   extf; sum : f64; truncf   ==>   sum : f32, compensated
//
// Only kernels whose arguments and results hold no f64, and whose f64 sums run
// along neighbours, which are what can be compensated. Strict changes nothing.
//
//===----------------------------------------------------------------------===//

#include "fuse/Lowering/Passes.h"

namespace fuse {
#define GEN_PASS_DEF_CPUNUMERICS
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;

static bool isDouble(Type type) { return getElementTypeOrSelf(type).isF64(); }

static bool touchesDouble(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), isDouble) ||
         llvm::any_of(op->getResultTypes(), isDouble);
}

/// True if every sum of `op` is along the last dimension of an input.
static bool sumsNeighbours(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0)
    return true;
  SmallVector<unsigned> loops;
  op.getReductionDims(loops);
  if (loops.size() != 1 || op->getNumResults() != 1 ||
      !isa<arith::AddFOp>(
          op.getBlock()->getTerminator()->getOperand(0).getDefiningOp()))
    return false;
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    return map.getNumResults() != 0 &&
           map.getResult(map.getNumResults() - 1) ==
               getAffineDimExpr(loops[0], op.getContext());
  });
}

/// True if `op` has the same meaning on f32, but for rounding.
static bool mayNarrow(Operation *op) {
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return sumsNeighbours(structured);
  if (isa<arith::BitcastOp>(op))
    return false;
  return isa<tensor::EmptyOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
             tensor::ExtractSliceOp, tensor::InsertSliceOp, linalg::YieldOp,
             arith::ConstantOp>(op) ||
         OpTrait::hasElementwiseMappableTraits(op);
}

static bool isIsland(func::FuncOp function) {
  if (llvm::any_of(function.getArgumentTypes(), isDouble) ||
      llvm::any_of(function.getResultTypes(), isDouble))
    return false;
  return !function
              ->walk([](Operation *op) {
                return touchesDouble(op) && !mayNarrow(op)
                           ? WalkResult::interrupt()
                           : WalkResult::advance();
              })
              .wasInterrupted();
}

static Type narrowType(Type type) {
  Type single = Float32Type::get(type.getContext());
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? Type(shaped.clone(single)) : single;
}

static void narrowConstant(arith::ConstantOp constant) {
  Type type = narrowType(constant.getType());
  auto single = [](const APFloat &value) {
    APFloat result = value;
    bool losesInfo;
    result.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    return result;
  };
  if (auto scalar = dyn_cast<FloatAttr>(constant.getValue()))
    constant.setValueAttr(FloatAttr::get(type, single(scalar.getValue())));
  else if (auto dense = dyn_cast<DenseFPElementsAttr>(constant.getValue()))
    constant.setValueAttr(dense.mapValues(
        Float32Type::get(type.getContext()),
        [&](const APFloat &value) { return single(value).bitcastToAPInt(); }));
}

static void narrow(func::FuncOp function) {
  SmallVector<Operation *> casts;
  function->walk([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        if (isDouble(argument.getType()))
          argument.setType(narrowType(argument.getType()));
    if (auto structured = dyn_cast<linalg::LinalgOp>(op))
      if (structured.getNumReductionLoops() != 0 &&
          llvm::any_of(op->getResultTypes(), isDouble))
        op->setAttr(fuse::kCompensatedAttr, UnitAttr::get(op->getContext()));
    if (auto constant = dyn_cast<arith::ConstantOp>(op);
        constant && isDouble(constant.getType()))
      narrowConstant(constant);
    for (OpResult result : op->getResults())
      if (isDouble(result.getType()))
        result.setType(narrowType(result.getType()));
    if (isa<arith::ExtFOp, arith::TruncFOp>(op))
      casts.push_back(op);
  });
  for (Operation *cast : casts)
    if (cast->getOperand(0).getType() == cast->getResult(0).getType()) {
      cast->getResult(0).replaceAllUsesWith(cast->getOperand(0));
      cast->erase();
    }
}

namespace {
struct CpuNumericsPass : fuse::impl::CpuNumericsBase<CpuNumericsPass> {
  using CpuNumericsBase::CpuNumericsBase;

  void runOnOperation() override {
    if (numerics != "strict" && numerics != "relaxed") {
      getOperation()->emitError("fuse-cpu-numerics: unknown numerics '")
          << numerics << "', known are strict, relaxed";
      return signalPassFailure();
    }
    if (numerics == "relaxed" &&
        getOperation()->hasAttr(fuse::kKernelClassAttr) &&
        isIsland(getOperation()))
      narrow(getOperation());
  }
};
} // namespace
