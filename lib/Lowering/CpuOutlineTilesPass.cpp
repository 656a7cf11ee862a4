//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-cpu-outline-tiles: the body of a parallel loop becomes a function.
//
//   scf.parallel (%i) { ... }   ==>   scf.parallel (%i) { call
//   @kernel_0_tile(%i) }
//
// So what is known of the kernel's pointers is known in each thread too, and
// buffers on the stack are freed after each tile.
//
//===----------------------------------------------------------------------===//

#include "fuse/Lowering/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

namespace fuse {
#define GEN_PASS_DEF_CPUOUTLINETILES
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;

/// Views and constants are made again in the tile: what is passed are buffers.
static void sinkViews(scf::ParallelOp loop) {
  Block *body = loop.getBody();
  while (true) {
    llvm::SetVector<Value> used;
    getUsedValuesDefinedAbove(loop.getRegion(), used);
    bool changed = false;
    for (Value value : used) {
      Operation *def = value.getDefiningOp();
      if (!def || !isMemoryEffectFree(def) || def->getNumRegions() ||
          (!isa<ViewLikeOpInterface>(def) &&
           !def->hasTrait<OpTrait::ConstantLike>()))
        continue;
      OpBuilder builder = OpBuilder::atBlockBegin(body);
      Operation *copy = builder.clone(*def);
      for (auto [old, now] :
           llvm::zip_equal(def->getResults(), copy->getResults()))
        old.replaceUsesWithIf(now, [&](OpOperand &use) {
          return use.getOwner() != copy &&
                 loop.getRegion().isAncestor(use.getOwner()->getParentRegion());
        });
      changed = true;
    }
    if (!changed)
      return;
  }
}

/// Each pointer is a different buffer: arguments of the kernel that are, and
/// what the kernel allocated.
static void markPointers(func::FuncOp kernel, func::FuncOp tile) {
  bool plain = llvm::all_of(tile.getArgumentTypes(), [](Type type) {
    auto memref = dyn_cast<MemRefType>(type);
    return !memref ||
           (memref.hasStaticShape() && memref.getLayout().isIdentity());
  });
  if (!plain || !kernel->hasAttr("llvm.bareptr"))
    return;
  tile->setAttr("llvm.bareptr", UnitAttr::get(tile.getContext()));
  StringRef noAlias = LLVM::LLVMDialect::getNoAliasAttrName();
  if (kernel.getNumArguments() && !kernel.getArgAttr(0, noAlias))
    return;
  for (unsigned i = 0; i < tile.getNumArguments(); ++i)
    if (isa<MemRefType>(tile.getArgumentTypes()[i]))
      tile.setArgAttr(i, noAlias, UnitAttr::get(tile.getContext()));
}

static void outline(func::FuncOp kernel, scf::ParallelOp loop,
                    SymbolTable &symbols) {
  sinkViews(loop);
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(loop.getRegion(), captured);
  SmallVector<Value> operands(loop.getInductionVars());
  llvm::append_range(operands, captured);
  OpBuilder builder(kernel);
  auto tile = func::FuncOp::create(
      builder, loop.getLoc(), (kernel.getName() + "_tile").str(),
      builder.getFunctionType(ValueRange(operands).getTypes(), {}));
  tile.setPrivate();
  tile->setAttr("no_inline", builder.getUnitAttr());
  symbols.insert(tile);
  Block *body = tile.addEntryBlock();
  IRMapping mapping;
  mapping.map(operands, body->getArguments());
  builder.setInsertionPointToStart(body);
  for (Operation &op : loop.getBody()->without_terminator())
    builder.clone(op, mapping);
  func::ReturnOp::create(builder, loop.getLoc());
  markPointers(kernel, tile);
  SmallVector<Operation *> moved;
  for (Operation &op : loop.getBody()->without_terminator())
    moved.push_back(&op);
  for (Operation *op : llvm::reverse(moved))
    op->erase();
  builder.setInsertionPointToStart(loop.getBody());
  func::CallOp::create(builder, loop.getLoc(), tile, operands);
}

namespace {
struct CpuOutlineTilesPass
    : fuse::impl::CpuOutlineTilesBase<CpuOutlineTilesPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<std::pair<func::FuncOp, scf::ParallelOp>> work;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(fuse::kKernelClassAttr))
        function->walk<WalkOrder::PreOrder>([&](scf::ParallelOp loop) {
          if (loop.getInitVals().empty())
            work.push_back({function, loop});
          return WalkResult::skip();
        });
    for (auto [function, loop] : work)
      outline(function, loop, symbols);
  }
};
} // namespace
