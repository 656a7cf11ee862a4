//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-cpu-arena: one allocation for the buffers between kernels.
//
//   a = alloc; f(a); b = alloc; g(a, b); free a; c = alloc; h(b, c); ...
//     ==>   arena = alloc; a = view 0; b = view 64; c = view 0; ...
//
// Two buffers share bytes only if one is freed before the other is allocated.
// Buffers of dynamic shape, and those that leave the function, stay as they
// are; kernels place their own.
//
//===----------------------------------------------------------------------===//

#include "fuse/Lowering/Passes.h"
#include "mlir/IR/Builders.h"

namespace fuse {
#define GEN_PASS_DEF_CPUARENA
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;

/// Cache lines, and the widest vectors, of current CPUs.
constexpr int64_t kAlignment = 64;

namespace {
/// A buffer, from its allocation to its release.
struct Buffer {
  memref::AllocOp alloc;
  memref::DeallocOp release;
  unsigned from, to; ///< numbers of the two in the block
  int64_t bytes;     ///< a multiple of the alignment
  int64_t offset = 0;
};
} // namespace

/// The one release of `alloc`, if it is in the same block.
static memref::DeallocOp releaseOf(memref::AllocOp alloc) {
  memref::DeallocOp release;
  for (Operation *user : alloc->getUsers())
    if (auto found = dyn_cast<memref::DeallocOp>(user)) {
      if (release || found->getBlock() != alloc->getBlock())
        return nullptr;
      release = found;
    }
  return release;
}

static int64_t bytesOf(MemRefType type) {
  int64_t bits =
      type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth();
  return llvm::alignTo(type.getNumElements() * llvm::divideCeil(bits, 8),
                       kAlignment);
}

static SmallVector<Buffer> collect(Block &block) {
  llvm::DenseMap<Operation *, unsigned> numbers;
  for (Operation &op : block)
    numbers.try_emplace(&op, unsigned(numbers.size()));
  SmallVector<Buffer> buffers;
  for (auto alloc : block.getOps<memref::AllocOp>()) {
    MemRefType type = alloc.getType();
    Type element = type.getElementType();
    memref::DeallocOp release = releaseOf(alloc);
    if (!release || !type.hasStaticShape() || !type.getLayout().isIdentity() ||
        type.getMemorySpace() || !(element.isIntOrFloat() || element.isIndex()))
      continue;
    buffers.push_back({alloc, release, numbers.lookup(alloc),
                       numbers.lookup(release), bytesOf(type)});
  }
  return buffers;
}

/// Gives each buffer the lowest offset that is free all its life, large ones
/// first. Returns the size of the arena.
static int64_t place(MutableArrayRef<Buffer> buffers) {
  SmallVector<Buffer *> order;
  for (Buffer &buffer : buffers)
    order.push_back(&buffer);
  llvm::sort(order, [](const Buffer *a, const Buffer *b) {
    return std::tie(b->bytes, a->from) < std::tie(a->bytes, b->from);
  });
  int64_t size = 0;
  SmallVector<const Buffer *> placed; ///< by offset
  for (Buffer *buffer : order) {
    int64_t offset = 0;
    for (const Buffer *other : placed) {
      bool together = buffer->from < other->to && other->from < buffer->to;
      if (together && offset < other->offset + other->bytes &&
          other->offset < offset + buffer->bytes)
        offset = other->offset + other->bytes;
    }
    buffer->offset = offset;
    size = std::max(size, offset + buffer->bytes);
    auto *after = llvm::find_if(
        placed, [&](const Buffer *other) { return other->offset > offset; });
    placed.insert(after, buffer);
  }
  return size;
}

static void rewrite(ArrayRef<Buffer> buffers, int64_t size) {
  memref::AllocOp first = buffers.front().alloc;
  memref::DeallocOp last = buffers.front().release;
  for (const Buffer &buffer : buffers)
    if (last->isBeforeInBlock(buffer.release))
      last = buffer.release;
  OpBuilder builder(first);
  auto arena = memref::AllocOp::create(
      builder, first.getLoc(), MemRefType::get({size}, builder.getI8Type()),
      builder.getI64IntegerAttr(kAlignment));
  builder.setInsertionPoint(last);
  memref::DeallocOp::create(builder, last.getLoc(), arena);
  for (Buffer buffer : buffers) {
    builder.setInsertionPoint(buffer.alloc);
    Location loc = buffer.alloc.getLoc();
    Value offset = arith::ConstantIndexOp::create(builder, loc, buffer.offset);
    Value view = memref::ViewOp::create(builder, loc, buffer.alloc.getType(),
                                        arena, offset, ValueRange());
    buffer.release->erase();
    buffer.alloc->replaceAllUsesWith(ValueRange{view});
    buffer.alloc->erase();
  }
}

namespace {
struct CpuArenaPass : fuse::impl::CpuArenaBase<CpuArenaPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || function->hasAttr(fuse::kKernelClassAttr))
      return;
    for (Block &block : function.getBody()) {
      SmallVector<Buffer> buffers = collect(block);
      if (buffers.size() < 2)
        continue;
      int64_t size = place(buffers);
      rewrite(buffers, size);
    }
  }
};
} // namespace
