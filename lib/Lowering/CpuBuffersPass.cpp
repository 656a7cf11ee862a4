//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-cpu-buffers: where the buffers of a kernel live.
//
//   for { alloc row }   ==>   alloca row; for { }
//
// A buffer stays inside of the parallel loop around it: each iteration has its
// own.
//
//===----------------------------------------------------------------------===//

#include "fuse/Lowering/Passes.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace fuse {
#define GEN_PASS_DEF_CPUBUFFERS
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;

/// Cache lines, and the widest vectors, of current CPUs.
constexpr int64_t kAlignment = 64;

/// The block that the buffer can be made once in: the body of the parallel loop
/// around it, or of the function.
static Block *homeOf(memref::AllocOp alloc) {
  Operation *parent = alloc->getParentOp();
  while (!isa<func::FuncOp, scf::ForallOp, scf::ParallelOp>(parent))
    parent = parent->getParentOp();
  return &parent->getRegion(0).front();
}

/// True if the buffer, or a view of it, leaves the block through a terminator:
/// it may be needed after the next iteration made its own.
static bool escapes(memref::AllocOp alloc) {
  SmallVector<Value> worklist{alloc.getResult()};
  llvm::DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (Operation *user : value.getUsers()) {
      if (isa<ViewLikeOpInterface>(user)) {
        llvm::append_range(worklist, user->getResults());
        continue;
      }
      if (user->hasTrait<OpTrait::IsTerminator>() ||
          isa<func::CallOp, arith::SelectOp, LoopLikeOpInterface>(user) ||
          llvm::any_of(user->getResultTypes(), llvm::IsaPred<BaseMemRefType>))
        return true;
    }
  }
  return false;
}

static int64_t bytesOf(MemRefType type) {
  int64_t bits =
      type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth();
  return type.getNumElements() * llvm::divideCeil(bits, 8);
}

/// Moves `alloc` into its home. Returns the bytes that it takes on the stack.
static int64_t place(memref::AllocOp alloc, int64_t stackBytes) {
  MemRefType type = alloc.getType();
  Block *home = homeOf(alloc);
  OpBuilder builder = OpBuilder::atBlockBegin(home);
  int64_t bytes = llvm::alignTo(bytesOf(type), kAlignment);
  if (bytes > stackBytes) {
    alloc->moveBefore(home, home->begin());
    return 0;
  }
  auto local = memref::AllocaOp::create(builder, alloc.getLoc(), type,
                                        builder.getI64IntegerAttr(kAlignment));
  alloc->replaceAllUsesWith(local);
  alloc->erase();
  return bytes;
}

namespace {
struct CpuBuffersPass : fuse::impl::CpuBuffersBase<CpuBuffersPass> {
  using CpuBuffersBase::CpuBuffersBase;

  void copiesToLoops() {
    SmallVector<memref::CopyOp> copies;
    getOperation()->walk([&](memref::CopyOp copy) { copies.push_back(copy); });
    for (memref::CopyOp copy : copies) {
      if (!isa<MemRefType>(copy.getSource().getType()) ||
          !isa<MemRefType>(copy.getTarget().getType()))
        continue;
      OpBuilder builder(copy);
      linalg::makeMemRefCopyOp(builder, copy.getLoc(), copy.getSource(),
                               copy.getTarget());
      copy->erase();
    }
  }

  void runOnOperation() override {
    copiesToLoops();
    if (!getOperation()->hasAttr(fuse::kKernelClassAttr))
      return;
    SmallVector<memref::AllocOp> allocs;
    getOperation()->walk([&](memref::AllocOp alloc) {
      if (alloc.getType().hasStaticShape() && !escapes(alloc))
        allocs.push_back(alloc);
    });
    int64_t left = stackBytes;
    for (memref::AllocOp alloc : allocs)
      left -= place(alloc, left);
  }
};
} // namespace
