//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-cpu-destinations: a kernel computes into what its caller gave it.
//
//   r = generic outs(empty); materialize r in dest   ==>   r = generic
//   outs(dest)
//
// Where the start of a result cannot be replaced the copy stays.
//
//===----------------------------------------------------------------------===//

#include "fuse/Analysis/Operators.h"
#include "fuse/Lowering/Passes.h"
#include "mlir/IR/PatternMatch.h"

namespace fuse {
#define GEN_PASS_DEF_CPUDESTINATIONS
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;

/// `dest` with the shape that the source of `reshape` has.
static Value undoReshape(OpBuilder &builder, Operation *reshape, Value dest) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(reshape))
    return tensor::CollapseShapeOp::create(builder, reshape->getLoc(),
                                           expand.getSrcType(), dest,
                                           expand.getReassociationIndices());
  auto collapse = cast<tensor::CollapseShapeOp>(reshape);
  return tensor::ExpandShapeOp::create(builder, reshape->getLoc(),
                                       collapse.getSrcType(), dest,
                                       collapse.getReassociationIndices());
}

/// Lets `value` be computed into `dest`. False, and nothing done, if it starts
/// from something else than an empty tensor or a fill of one.
static bool computeInto(Value value, Value dest) {
  SmallVector<OpOperand *> starts;
  SmallVector<Operation *> reshapes;
  while (true) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return false;
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op) &&
        starts.empty()) {
      reshapes.push_back(op);
      value = op->getOperand(0);
      continue;
    }
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (!structured || !structured.hasPureTensorSemantics())
      return false;
    OpOperand *init = structured.getTiedOpOperand(cast<OpResult>(value));
    starts.push_back(init);
    value = init->get();
    if (value.getDefiningOp<tensor::EmptyOp>())
      break;
    if (!fuse::isFreeInit(value))
      return false;
  }
  OpBuilder builder(dest.getContext());
  builder.setInsertionPointToStart(dest.getParentBlock());
  for (Operation *reshape : reshapes)
    dest = undoReshape(builder, reshape, dest);
  // A fill may start other operators too: this one gets its own.
  for (OpOperand *start : llvm::drop_end(starts)) {
    auto result = cast<OpResult>(start->get());
    builder.setInsertionPoint(result.getOwner());
    Operation *own = builder.clone(*result.getOwner());
    start->set(own->getResult(result.getResultNumber()));
    auto structured = cast<linalg::LinalgOp>(own);
    *std::next(llvm::find(starts, start)) =
        structured.getTiedOpOperand(own->getResult(result.getResultNumber()));
  }
  starts.back()->set(dest);
  return true;
}

namespace {
struct CpuDestinationsPass
    : fuse::impl::CpuDestinationsBase<CpuDestinationsPass> {
  void runOnOperation() override {
    if (!getOperation()->hasAttr(fuse::kKernelClassAttr))
      return;
    SmallVector<bufferization::MaterializeInDestinationOp> ends;
    getOperation()->walk([&](bufferization::MaterializeInDestinationOp op) {
      ends.push_back(op);
    });
    for (bufferization::MaterializeInDestinationOp end : ends) {
      if (!end->getNumResults() || !computeInto(end.getSource(), end.getDest()))
        continue;
      end->getResult(0).replaceAllUsesWith(end.getSource());
      end->erase();
    }
  }
};
} // namespace
