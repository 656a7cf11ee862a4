//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How tiles of a matrix product come to shared memory beside the threads'
// arithmetic.
//
//   an argument as it is, or padded with zeros   ==>   cp.async
//
// What is out of range or padding is filled with zeros by the copy itself. What
// is computed on the way, and elements of less than 4 bytes that are not
// neighbours, go through registers: that is up to the schedules.
//
//===----------------------------------------------------------------------===//

#include "GpuAccess.h"
#include "GpuGemmSchedule.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace fuse;

void GemmSchedule::chooseCopies(InputRows &input) {
  // Sizes that cp.async copies ("PTX ISA", cp.async).
  constexpr int64_t sizes[] = {4, 8, 16};
  bool padded;
  int64_t bytes = bytesOf(input);
  input.async =
      frame.features.ampere && llvm::is_contained(sizes, bytes) &&
      isMoved(gemm.op.getDpsInputOperand(input.operand)->get(), padded) &&
      isAligned(input);
  if (input.async && !padded)
    input.kStride = strideAlong(input.operand, gemm.k, tileK);
}

Value GemmSchedule::sharedArray(const Twine &name, Type element,
                                int64_t count) {
  auto module = frame.kernel->getParentOfType<gpu::GPUModuleOp>();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  auto type = LLVM::LLVMArrayType::get(memoryType(element), count);
  auto global = LLVM::GlobalOp::create(builder, loc, type, /*isConstant=*/false,
                                       LLVM::Linkage::Internal,
                                       (frame.source.getName() + name).str(),
                                       /*value=*/Attribute(), /*alignment=*/16,
                                       unsigned(NVVM::NVVMMemorySpace::Shared));
  builder.setInsertionPointToStart(&frame.kernel.getBody().front());
  return LLVM::AddressOfOp::create(builder, loc, global);
}

Value GemmSchedule::sharedMemory(const InputRows &input, int64_t elements) {
  return sharedArray("_tile_" + Twine(input.operand), input.element, elements);
}

Value GemmSchedule::offset(Value pointer, Value elements, Type element) {
  bool shared =
      cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace() ==
      unsigned(NVVM::NVVMMemorySpace::Shared);
  Type wide = builder.getIntegerType(shared ? 32 : 64);
  Value by = arith::IndexCastOp::create(builder, loc, wide, elements);
  return LLVM::GEPOp::create(builder, loc, pointer.getType(),
                             memoryType(element), pointer,
                             ArrayRef<LLVM::GEPArg>{by});
}

void GemmSchedule::groupAt(const InputRows &input, int64_t number,
                           LaneIndex &row, LaneIndex &k) {
  int64_t lanes = input.lanes,
          perLine = (input.alongK ? tileK : input.rows) / lanes;
  LaneIndex within, line;
  if (number * threads % perLine == 0) {
    within = *math.rem(thread, {perLine, nullptr});
    line = math.add(*math.div(thread, {perLine, nullptr}),
                    math.constant(number * threads / perLine));
  } else {
    LaneIndex group = math.add(thread, math.constant(number * threads));
    within = *math.rem(group, {perLine, nullptr});
    line = *math.div(group, {perLine, nullptr});
  }
  within = math.scale(within, {lanes, nullptr});
  within.step = lanes > 1 ? 1 : 0;
  row = input.alongK ? line : within;
  k = input.alongK ? within : line;
}

Value GemmSchedule::sourceAddress(const InputRows &input, LaneIndex row,
                                  LaneIndex k, LaneIndex start, bool anyRow,
                                  Value &inside) {
  LaneIndex origin = input.kStride ? math.constant(0) : start;
  auto source = inputAt(input, row, math.add(origin, k), anyRow, inside);
  Value from = source
                   ? elements.addressOf(source->tensor, source->indices, inside)
                   : nullptr;
  // The address of the first k is kept from round to round.
  if (from && input.kStride)
    from = offset(from, math.scale(start, {*input.kStride, nullptr}).base,
                  input.element);
  return from;
}

void GemmSchedule::startCopy(int32_t bytes, Value to, Value from,
                             Value inside) {
  Value count;
  if (inside) {
    Value all = arith::ConstantIntOp::create(builder, loc, bytes, 32),
          none = arith::ConstantIntOp::create(builder, loc, 0, 32);
    count = arith::SelectOp::create(builder, loc, inside, all, none);
  }
  // Copies of 16 bytes may leave the first cache out.
  auto cache = bytes == 16 ? NVVM::LoadCacheModifierKind::CG
                           : NVVM::LoadCacheModifierKind::CA;
  NVVM::CpAsyncOp::create(builder, loc, to, from, bytes, cache, count);
}

void GemmSchedule::waitForCopies(int64_t pending) {
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, int32_t(pending));
}
