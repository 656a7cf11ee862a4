//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-split-kernels: siblings to a kernel each.
//
//   q, k = fuse.kernel "siblings" (x, wq, wk) { q = matmul; k = matmul }
//     ==>   q = fuse.kernel "contraction" (x, wq) { q = matmul }
//           k = fuse.kernel "contraction" (x, wk) { k = matmul }
//
// For a machine on which a launch is a call, and where the caches are shared by
// what runs one after the other.
//
//===----------------------------------------------------------------------===//

#include "fuse/Dialect/FuseDialect.h"
#include "fuse/Kernel/KernelClass.h"
#include "fuse/Lowering/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace fuse {
#define GEN_PASS_DEF_SPLITKERNELS
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;

namespace {
/// Operations of a kernel's body that results are computed by, in order.
using Slice = llvm::SetVector<Operation *>;

/// The results of one sibling, by number.
using Results = SmallVector<unsigned, 2>;
} // namespace

static Slice sliceOf(fuse::KernelOp kernel, ArrayRef<unsigned> results) {
  Block *body = &kernel.getBody().front();
  auto yield = cast<fuse::YieldOp>(body->getTerminator());
  SmallVector<Value> worklist;
  for (unsigned result : results)
    worklist.push_back(yield.getValues()[result]);
  llvm::DenseSet<Operation *> found;
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (op && op->getBlock() == body && found.insert(op).second)
      llvm::append_range(worklist, fuse::usedValues(op));
  }
  Slice slice;
  for (Operation &op : *body)
    if (found.contains(&op))
      slice.insert(&op);
  return slice;
}

/// Results that share an operator belong to one sibling; what each sibling
/// evaluates for itself ties none.
static SmallVector<Results> siblingsOf(fuse::KernelOp kernel) {
  unsigned count = kernel.getOutputs().size();
  llvm::EquivalenceClasses<unsigned> classes;
  llvm::DenseMap<Operation *, unsigned> owner;
  for (unsigned result = 0; result < count; ++result) {
    classes.insert(result);
    for (Operation *op : sliceOf(kernel, {result})) {
      if (!fuse::isOperator(op) || op->hasAttr(fuse::names::kRecompute))
        continue;
      auto [known, isNew] = owner.try_emplace(op, result);
      if (!isNew)
        classes.unionSets(known->second, result);
    }
  }
  llvm::MapVector<unsigned, Results> found;
  for (unsigned result = 0; result < count; ++result)
    found[classes.getLeaderValue(result)].push_back(result);
  SmallVector<Results> siblings;
  for (auto &entry : found)
    siblings.push_back(std::move(entry.second));
  return siblings;
}

/// Makes the kernel of one sibling in front of `kernel`.
static void split(fuse::KernelOp kernel, ArrayRef<unsigned> results) {
  OpBuilder builder(kernel);
  Slice slice = sliceOf(kernel, results);
  Block &body = kernel.getBody().front();
  auto yield = cast<fuse::YieldOp>(body.getTerminator());
  llvm::SetVector<Value> arguments;
  SmallVector<fuse::Role> roles;
  for (Operation *op : slice) {
    for (Value value : fuse::usedValues(op))
      if (isa<BlockArgument>(value) && value.getParentBlock() == &body)
        arguments.insert(value);
    if (auto structured = dyn_cast<linalg::LinalgOp>(op);
        structured && fuse::isOperator(op))
      roles.push_back(fuse::roleOf(structured));
  }
  SmallVector<Value> inputs;
  for (Value argument : arguments)
    inputs.push_back(
        kernel.getInputs()[cast<BlockArgument>(argument).getArgNumber()]);
  SmallVector<Type> types;
  for (unsigned result : results)
    types.push_back(kernel.getOutputs()[result].getType());
  auto sibling = fuse::KernelOp::create(
      builder, kernel.getLoc(), types, inputs,
      builder.getStringAttr(fuse::classForRoles(roles).name()),
      kernel.getTileAttr());
  Block *inside = builder.createBlock(&sibling.getBody());
  IRMapping mapping;
  for (Value argument : arguments)
    mapping.map(argument,
                inside->addArgument(argument.getType(), argument.getLoc()));
  for (Operation *op : slice)
    builder.clone(*op, mapping);
  SmallVector<Value> yielded;
  for (unsigned result : results)
    yielded.push_back(mapping.lookupOrDefault(yield.getValues()[result]));
  fuse::YieldOp::create(builder, yield.getLoc(), yielded);
  for (auto [result, value] : llvm::zip_equal(results, sibling.getOutputs()))
    kernel.getOutputs()[result].replaceAllUsesWith(value);
}

namespace {
struct SplitKernelsPass : fuse::impl::SplitKernelsBase<SplitKernelsPass> {
  void runOnOperation() override {
    SmallVector<fuse::KernelOp> kernels;
    getOperation()->walk([&](fuse::KernelOp kernel) {
      if (kernel.getKernelClass() == fuse::siblingsClassName())
        kernels.push_back(kernel);
    });
    for (fuse::KernelOp kernel : kernels) {
      for (const Results &results : siblingsOf(kernel))
        split(kernel, results);
      kernel.erase();
    }
  }
};
} // namespace
