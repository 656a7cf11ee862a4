//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Buffers of a kernel one after the other, as ptxas would place them.
//
//===----------------------------------------------------------------------===//

#include "GpuSharedLayout.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fuse;

int64_t SharedLayout::place(Type element, int64_t count, int64_t alignment) {
  int64_t elementBytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  int64_t start = llvm::alignTo(bytes, std::max(alignment, elementBytes));
  bytes = start + count * elementBytes;
  return start;
}

/// The global that `address` is of, if it has room of its own in shared memory.
static LLVM::GlobalOp sharedGlobal(LLVM::AddressOfOp address) {
  auto global = SymbolTable::lookupNearestSymbolFrom<LLVM::GlobalOp>(
      address, address.getGlobalNameAttr());
  auto array =
      global ? dyn_cast<LLVM::LLVMArrayType>(global.getGlobalType()) : nullptr;
  bool isShared =
      array && array.getNumElements() &&
      global.getAddrSpace() == unsigned(NVVM::NVVMMemorySpace::Shared);
  return isShared ? global : nullptr;
}

SharedLayout SharedLayout::of(gpu::GPUFuncOp kernel) {
  SharedLayout layout;
  for (auto [number, argument] :
       llvm::enumerate(kernel.getWorkgroupAttributions())) {
    auto type = cast<MemRefType>(argument.getType());
    auto alignment =
        dyn_cast_or_null<IntegerAttr>(kernel.getWorkgroupAttributionAttr(
            number, LLVM::LLVMDialect::getAlignAttrName()));
    layout.attributions.push_back(
        {argument, layout.place(type.getElementType(), type.getNumElements(),
                                alignment ? alignment.getInt() : 1)});
  }
  kernel.walk([&](LLVM::AddressOfOp address) {
    LLVM::GlobalOp global = sharedGlobal(address);
    if (!global || layout.globals.count(global.getSymNameAttr()))
      return;
    auto array = cast<LLVM::LLVMArrayType>(global.getGlobalType());
    layout.globals[global.getSymNameAttr()] =
        layout.place(array.getElementType(), array.getNumElements(),
                     global.getAlignment().value_or(1));
  });
  return layout;
}

bool fuse::isSharedAccess(Operation *op) {
  return isa<memref::LoadOp, memref::StoreOp, vector::LoadOp, vector::StoreOp>(
      op);
}

void fuse::rewriteAccess(Operation *op, Value start) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  bool loads = isa<memref::LoadOp, vector::LoadOp>(op);
  Value index = op->getOperands().back();
  Type type = loads ? op->getResult(0).getType() : op->getOperand(0).getType(),
       element = getElementTypeOrSelf(type);
  unsigned alignment = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  if (auto load = dyn_cast<vector::LoadOp>(op))
    alignment = load.getAlignment().value_or(alignment);
  if (auto store = dyn_cast<vector::StoreOp>(op))
    alignment = store.getAlignment().value_or(alignment);
  // Shared memory is less than 4 GiB.
  index = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index);
  Value at = LLVM::GEPOp::create(builder, loc, start.getType(), element, start,
                                 ArrayRef<LLVM::GEPArg>{index});
  if (loads)
    op->getResult(0).replaceAllUsesWith(
        LLVM::LoadOp::create(builder, loc, type, at, alignment));
  else
    LLVM::StoreOp::create(builder, loc, op->getOperand(0), at, alignment);
  op->erase();
}
