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

/// The operand that `value` starts from: of the operator that computes it.
static OpOperand *startOf(Value value) {
  auto structured = value.getDefiningOp<linalg::LinalgOp>();
  if (!structured || !structured.hasPureTensorSemantics())
    return nullptr;
  return structured.getTiedOpOperand(cast<OpResult>(value));
}

/// The starts of `value`, back to an empty tensor; nothing where another value
/// is in the way that something else reads.
static SmallVector<OpOperand *> startsOf(Value value) {
  SmallVector<OpOperand *> starts;
  while (OpOperand *start = startOf(value)) {
    starts.push_back(start);
    value = start->get();
    if (value.getDefiningOp<tensor::EmptyOp>())
      return starts;
    if (!value.hasOneUse() && !fuse::isFreeInit(value))
      return {};
  }
  return {};
}

/// Lets `value` be computed into `dest`. False, and nothing done, if it starts
/// from something else than an empty tensor.
static bool computeInto(Value value, Value dest) {
  SmallVector<Operation *> reshapes;
  while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
      value.getDefiningOp())) {
    reshapes.push_back(value.getDefiningOp());
    value = value.getDefiningOp()->getOperand(0);
  }
  SmallVector<OpOperand *> starts = startsOf(value);
  if (starts.empty())
    return false;
  OpBuilder builder(dest.getContext());
  builder.setInsertionPointToStart(dest.getParentBlock());
  for (Operation *reshape : reshapes)
    dest = undoReshape(builder, reshape, dest);
  // A fill may start other operators too: this one gets its own.
  OpOperand *last = starts.front();
  while (!last->get().getDefiningOp<tensor::EmptyOp>()) {
    auto result = cast<OpResult>(last->get());
    builder.setInsertionPoint(result.getOwner());
    Operation *own = builder.clone(*result.getOwner());
    last->set(own->getResult(result.getResultNumber()));
    if (result.getOwner()->use_empty())
      result.getOwner()->erase();
    last = startOf(last->get());
  }
  last->set(dest);
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
