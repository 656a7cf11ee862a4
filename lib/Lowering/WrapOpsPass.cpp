//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-wrap: a kernel for each operator that is in none.
//
//   y = linalg.exp x   ==>   y = fuse.kernel "op" (x) { yield linalg.exp x }
//
// Changes no value; fills and empty tensors are copied into the kernel.
//
//===----------------------------------------------------------------------===//

#include "fuse/Analysis/Operators.h"
#include "fuse/Lowering/Passes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

namespace fuse {
#define GEN_PASS_DEF_WRAPOPS
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;

/// True for what becomes a kernel: it computes or moves data on tensors. Slices
/// move data only where they are no views.
static bool isWork(Operation *op, bool slices) {
  if (isa<tensor::PadOp, tensor::ConcatOp, linalg::SoftmaxOp>(op))
    return true;
  if (slices && isa<tensor::ExtractSliceOp, tensor::InsertSliceOp>(op))
    return true;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return structured && structured.hasPureTensorSemantics();
}

static bool hasTensorOperand(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>);
}

/// True for what the kernel makes for itself.
static bool belongsInside(Operation *op, Block *block) {
  if (op->hasTrait<OpTrait::ConstantLike>())
    return !fuse::holdsData(op);
  return op->getBlock() == block && isMemoryEffectFree(op) &&
         llvm::any_of(op->getResults(), fuse::isFreeInit) &&
         !isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(
             op);
}

/// `root` and what belongs inside with it, in an order of evaluation.
static SmallVector<Operation *> collect(Operation *root) {
  llvm::SetVector<Operation *> inside;
  SmallVector<Operation *> worklist{root};
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    // A later visit moves it further to the front.
    inside.remove(op);
    inside.insert(op);
    for (Value value : fuse::usedValues(op))
      if (Operation *def = value.getDefiningOp();
          def && belongsInside(def, root->getBlock()))
        worklist.push_back(def);
  }
  SmallVector<Operation *> order = inside.takeVector();
  std::reverse(order.begin(), order.end());
  return order;
}

static void wrap(Operation *root) {
  SmallVector<Operation *> cloned = collect(root);
  llvm::SmallPtrSet<Operation *, 8> inside(cloned.begin(), cloned.end());
  llvm::SetVector<Value> inputs;
  for (Operation *op : cloned)
    for (Value value : fuse::usedValues(op))
      if (!value.getDefiningOp() || !inside.contains(value.getDefiningOp()))
        inputs.insert(value);
  // What nobody reads is not computed.
  SmallVector<Value> results;
  for (Value result : root->getResults())
    if (!result.use_empty())
      results.push_back(result);
  OpBuilder builder(root);
  auto kernel = fuse::KernelOp::create(
      builder, root->getLoc(), ValueRange(results).getTypes(),
      inputs.getArrayRef(), builder.getStringAttr("op"), fuse::TileAttr());
  Block *body = builder.createBlock(&kernel.getBody());
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, body->addArgument(input.getType(), input.getLoc()));
  for (Operation *op : cloned)
    builder.clone(*op, mapping);
  SmallVector<Value> yielded;
  for (Value result : results)
    yielded.push_back(mapping.lookup(result));
  fuse::YieldOp::create(builder, root->getLoc(), yielded);
  for (auto [result, output] : llvm::zip_equal(results, kernel.getOutputs()))
    result.replaceAllUsesWith(output);
  root->erase();
  for (Operation *op : llvm::reverse(cloned))
    if (op != root && op->use_empty())
      op->erase();
}

namespace {
struct WrapOpsPass : fuse::impl::WrapOpsBase<WrapOpsPass> {
  using WrapOpsBase::WrapOpsBase;

  /// Fills that are only the start of an operator are part of its kernel.
  void wrapAll(bool fills) {
    SmallVector<Operation *> work;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<fuse::KernelOp>(op))
        return WalkResult::skip();
      if (!isWork(op, slices) || !op->getNumResults())
        return WalkResult::advance();
      if (fills == fuse::isFreeInit(op->getResult(0)) && hasTensorOperand(op))
        work.push_back(op);
      return WalkResult::skip();
    });
    for (Operation *op : work)
      wrap(op);
  }

  void runOnOperation() override {
    wrapAll(/*fills=*/false);
    wrapAll(/*fills=*/true);
  }
};
} // namespace
