//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-cpu-deallocate: buffers are freed after their last use.
//
// By upstream's ownership-based deallocation. Where several buffers may be one,
// upstream writes lists of addresses to memory; here each is freed alone:
//
//   dealloc (a, b) if (p, q) retain (r)
//     ==>   dealloc (a) if (p and a != r)
//           dealloc (b) if (q and not (p and a == b) and b != r)
//
// A comparison whose outcome is known is left out. A module that frees buffers
// itself is left alone: the two do not mix.
//
//===----------------------------------------------------------------------===//

#include "fuse/Lowering/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace fuse {
#define GEN_PASS_DEF_CPUDEALLOCATE
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;

/// The value that `buffer` is a view of.
static Value rootOf(Value buffer) {
  while (Operation *op = buffer.getDefiningOp()) {
    if (auto parts = dyn_cast<memref::ExtractStridedMetadataOp>(op))
      buffer = parts.getSource();
    else if (auto view = dyn_cast<ViewLikeOpInterface>(op))
      buffer = view.getViewSource();
    else
      break;
  }
  return buffer;
}

/// True if results `a` and `b` of `call` are different allocations of a known
/// function.
static bool returnsApart(func::CallOp call, unsigned a, unsigned b) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  if (!callee || callee.isExternal())
    return false;
  return llvm::all_of(callee.getOps<func::ReturnOp>(), [&](func::ReturnOp end) {
    Value first = rootOf(end.getOperand(a)), second = rootOf(end.getOperand(b));
    return first != second && first.getDefiningOp<memref::AllocOp>() &&
           second.getDefiningOp<memref::AllocOp>();
  });
}

/// True if the two buffers surely are different allocations. What a call
/// returns is none of its arguments, and the caller's.
static bool areApart(Value a, Value b) {
  Value first = rootOf(a), second = rootOf(b);
  if (first == second)
    return false;
  auto call = first.getDefiningOp<func::CallOp>();
  if (call && call == second.getDefiningOp())
    return returnsApart(call, cast<OpResult>(first).getResultNumber(),
                        cast<OpResult>(second).getResultNumber());
  auto isNew = [](Value root) {
    return isa_and_nonnull<memref::AllocOp, func::CallOp>(root.getDefiningOp());
  };
  auto isOld = [](Value root) {
    auto argument = dyn_cast<BlockArgument>(root);
    return root.getDefiningOp<memref::GetGlobalOp>() ||
           (argument && isa<func::FuncOp>(argument.getOwner()->getParentOp()) &&
            argument.getOwner()->isEntryBlock());
  };
  return (isNew(first) && (isNew(second) || isOld(second))) ||
         (isOld(first) && isNew(second));
}

namespace {
/// Conditions of one deallocation of several buffers.
class Split {
public:
  explicit Split(bufferization::DeallocOp op)
      : op(op), builder(op), loc(op.getLoc()) {}
  void apply();

private:
  Value address(Value buffer) {
    return memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
  }
  /// Nothing if the two surely differ.
  Value same(Value a, Value b) {
    if (areApart(a, b))
      return nullptr;
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                 address(a), address(b));
  }
  Value both(Value a, Value b) {
    return arith::AndIOp::create(builder, loc, a, b);
  }
  Value butNot(Value a, Value b) {
    Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
    return both(a, arith::XOrIOp::create(builder, loc, b, yes));
  }

  bufferization::DeallocOp op;
  OpBuilder builder;
  Location loc;
};
} // namespace

void Split::apply() {
  auto buffers =
      llvm::to_vector(llvm::zip(op.getMemrefs(), op.getConditions()));
  // Who owned a buffer before owns what is retained of it.
  for (auto [kept, owned] :
       llvm::zip_equal(op.getRetained(), op.getUpdatedConditions())) {
    Value now = arith::ConstantIntOp::create(builder, loc, 0, 1);
    for (auto [buffer, owns] : buffers)
      if (Value equal = same(buffer, kept))
        now = arith::OrIOp::create(builder, loc, now, both(owns, equal));
    owned.replaceAllUsesWith(now);
  }
  SmallVector<Value> frees;
  for (auto [number, entry] : llvm::enumerate(buffers)) {
    auto [buffer, owns] = entry;
    Value free = owns;
    for (auto [other, otherOwns] : ArrayRef(buffers).take_front(number))
      if (Value equal = same(other, buffer))
        free = butNot(free, both(otherOwns, equal));
    for (Value kept : op.getRetained())
      if (Value equal = same(buffer, kept))
        free = butNot(free, equal);
    frees.push_back(free);
  }
  for (auto [entry, free] : llvm::zip_equal(buffers, frees))
    bufferization::DeallocOp::create(builder, loc, std::get<0>(entry), free,
                                     ValueRange());
  op.erase();
}

/// Deallocations of one buffer that is not retained.
static void split(ModuleOp module) {
  SmallVector<bufferization::DeallocOp> work;
  module->walk([&](bufferization::DeallocOp op) {
    if (op.getMemrefs().size() > 1 || !op.getRetained().empty())
      work.push_back(op);
  });
  for (bufferization::DeallocOp op : work)
    Split(op).apply();
}

/// Moves each release behind the last use of its buffer. Unlike upstream's pass
/// it leaves one alone whose buffer the terminator may use: the result of a
/// call counts as a view of the arguments.
static void releaseEarly(func::FuncOp function) {
  BufferViewFlowAnalysis views(function);
  SmallVector<memref::DeallocOp> releases;
  function->walk([&](memref::DeallocOp op) { releases.push_back(op); });
  for (memref::DeallocOp release : releases) {
    Block *block = release->getBlock();
    auto alloc = release.getMemref().getDefiningOp<memref::AllocOp>();
    if (!alloc || alloc->getBlock() != block)
      continue;
    Operation *last = alloc;
    for (Value view : views.resolve(alloc))
      for (Operation *user : view.getUsers()) {
        Operation *own = block->findAncestorOpInBlock(*user);
        if (!own)
          own = block->getTerminator();
        if (own != release && last->isBeforeInBlock(own))
          last = own;
      }
    if (last->isBeforeInBlock(release))
      release->moveAfter(last);
  }
}

namespace {
struct CpuDeallocatePass : fuse::impl::CpuDeallocateBase<CpuDeallocatePass> {
  void runOnOperation() override {
    bool freesItself =
        getOperation()
            ->walk([](memref::DeallocOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    if (freesItself)
      return;
    OpPassManager find(ModuleOp::getOperationName()),
        lower(ModuleOp::getOperationName());
    find.addPass(memref::createExpandReallocPass());
    find.addPass(bufferization::createOwnershipBasedBufferDeallocationPass());
    find.addPass(createCanonicalizerPass());
    find.addPass(bufferization::createBufferDeallocationSimplificationPass());
    lower.addPass(bufferization::createLowerDeallocationsPass());
    lower.addPass(createCSEPass());
    lower.addPass(createCanonicalizerPass());
    if (failed(runPipeline(find, getOperation())))
      return signalPassFailure();
    split(getOperation());
    if (failed(runPipeline(lower, getOperation())))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      releaseEarly(function);
  }
};
} // namespace
