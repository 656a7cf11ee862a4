//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks before the accesses of a translated module.
//
//   %v = load float, ptr %p     =>   if (%p - base > span || %p % 4)
//                                      call fuse_access(...)
//                                    %v = load float, ptr %p
//
// base and span are what the last access at this place of the program was
// found to be within (SiteRange): one comparison for nearly all accesses.
// Shared memory needs no such memory, and no call where it is in bounds.
//
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "ThreadState.h"
#include "Translate.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace fuse::emulator;
using namespace llvm;

namespace {
struct Place {
  Instruction *inst;
  Value *pointer;
  uint64_t bytes;
  uint64_t align;
  Access kind;
};
} // namespace

/// The base of an address, and the constant offset from it.
static std::pair<const Value *, uint64_t> split(const Value *pointer,
                                                const DataLayout &dl) {
  APInt offset(dl.getIndexTypeSizeInBits(pointer->getType()), 0);
  const Value *base = pointer->stripAndAccumulateConstantOffsets(
      dl, offset, /*AllowNonInbounds=*/true);
  return {base, offset.getZExtValue()};
}

/// Whether `value` is the thread's table of shared variables: read from its
/// state, also on several ways that meet.
static bool isTable(const Value *value, const Value *thread,
                    const DataLayout &dl,
                    SmallPtrSetImpl<const Value *> &seen) {
  if (!seen.insert(value).second)
    return true;
  if (auto *load = dyn_cast<LoadInst>(value))
    return split(load->getPointerOperand(), dl) ==
           std::make_pair(thread, uint64_t(offsetof(ThreadState, sharedTable)));
  auto *phi = dyn_cast<PHINode>(value);
  return phi && all_of(phi->incoming_values(), [&](const Use &incoming) {
           return isTable(incoming, thread, dl, seen);
         });
}

/// Whether a load reads the thread's state or its table of shared variables.
static bool isOfThread(const LoadInst &load, const DataLayout &dl) {
  const Value *thread = load.getFunction()->getArg(0);
  const Value *base = split(load.getPointerOperand(), dl).first;
  SmallPtrSet<const Value *, 4> seen;
  return base == thread || isTable(base, thread, dl, seen);
}

static std::optional<Place> placeOf(Instruction &inst, const DataLayout &dl) {
  // The hardware needs no more than the size of the access, at most 16 bytes.
  auto make = [&](Value *pointer, Type *type, Align align, Access kind) {
    uint64_t bytes = dl.getTypeStoreSize(type).getFixedValue();
    uint64_t most = std::min<uint64_t>(16, bit_ceil(bytes));
    return Place{&inst, pointer, bytes, std::min(align.value(), most), kind};
  };
  if (auto *load = dyn_cast<LoadInst>(&inst)) {
    if (isOfThread(*load, dl))
      return std::nullopt;
    return make(load->getPointerOperand(), load->getType(), load->getAlign(),
                Access::Read);
  }
  if (auto *store = dyn_cast<StoreInst>(&inst))
    return make(store->getPointerOperand(), store->getValueOperand()->getType(),
                store->getAlign(), Access::Write);
  if (auto *atomic = dyn_cast<AtomicRMWInst>(&inst))
    return make(atomic->getPointerOperand(), atomic->getType(),
                atomic->getAlign(), Access::Atomic);
  if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&inst))
    return make(exchange->getPointerOperand(),
                exchange->getNewValOperand()->getType(), exchange->getAlign(),
                Access::Atomic);
  return std::nullopt;
}

namespace {
class Instrumenter {
public:
  explicit Instrumenter(Module &module)
      : module(module), dl(module.getDataLayout()) {}

  size_t run() {
    for (Function &function : module)
      if (!function.isDeclaration() &&
          !function.getName().starts_with(entryPrefix))
        runOn(function);
    return sites;
  }

private:
  void runOn(Function &function) {
    std::vector<Place> places;
    std::vector<MemIntrinsic *> copies;
    std::vector<BinaryOperator *> divisions;
    for (Instruction &inst : instructions(function)) {
      if (auto *copy = dyn_cast<MemIntrinsic>(&inst))
        copies.push_back(copy);
      if (inst.isIntDivRem() && inst.getType()->isIntegerTy() &&
          !isa<ConstantInt>(inst.getOperand(1)))
        divisions.push_back(cast<BinaryOperator>(&inst));
      if (std::optional<Place> place = placeOf(inst, dl))
        if (!isa<AllocaInst>(getUnderlyingObject(place->pointer)))
          places.push_back(*place);
    }
    thread = function.getArg(0);
    if (!function.hasFnAttribute(Attribute::NoInline)) // no kernel
      checkStack(function);
    for (MemIntrinsic *copy : copies)
      checkCopy(*copy);
    for (BinaryOperator *division : divisions)
      checkDivision(*division);
    for (const Place &place : places)
      check(place);
  }

  /// On entry to a function that others call: what it needs must be left.
  void checkStack(Function &function) {
    constexpr uint64_t spare = 32 * 1024; // for registers and the emulator
    IRBuilder<> builder(
        &*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    Type *i64 = builder.getInt64Ty();
    Value *frame = builder.CreateIntrinsic(
        Intrinsic::frameaddress, {builder.getPtrTy()}, {builder.getInt32(0)});
    Value *end =
        loadField(builder, thread, offsetof(ThreadState, stackEnd), i64);
    Value *left = builder.CreateSub(builder.CreatePtrToInt(frame, i64), end);
    Value *isBad = builder.CreateICmpULT(
        left, builder.getInt64(localBytes(function) + spare));
    builder.SetInsertPoint(unlikely(isBad, *builder.GetInsertPoint()));
    callRuntime(builder, "fuse_overflow", {thread});
  }

  void checkDivision(BinaryOperator &division) {
    IRBuilder<> builder(&division);
    Type *type = division.getType();
    Value *dividend = division.getOperand(0);
    Value *divisor = division.getOperand(1);
    Value *isBad = builder.CreateIsNull(divisor);
    if (division.getOpcode() == Instruction::SDiv ||
        division.getOpcode() == Instruction::SRem) {
      APInt least = APInt::getSignedMinValue(type->getIntegerBitWidth());
      Value *overflows = builder.CreateAnd(
          builder.CreateICmpEQ(dividend, ConstantInt::get(type, least)),
          builder.CreateICmpEQ(divisor, Constant::getAllOnesValue(type)));
      isBad = builder.CreateOr(isBad, overflows);
    }
    builder.SetInsertPoint(unlikely(isBad, division));
    callRuntime(builder, "fuse_divide", {thread});
  }

  /// The end of a new block that runs if the condition holds.
  Instruction *unlikely(Value *condition, Instruction &before) {
    return SplitBlockAndInsertIfThen(
        condition, before.getIterator(), false,
        MDBuilder(module.getContext()).createBranchWeights(1, 1 << 20));
  }

  void checkCopy(MemIntrinsic &copy) {
    IRBuilder<> builder(&copy);
    checkRange(builder, copy.getRawDest(), copy.getLength(), Access::Write);
    if (auto *transfer = dyn_cast<MemTransferInst>(&copy))
      checkRange(builder, transfer->getRawSource(), copy.getLength(),
                 Access::Read);
  }

  void checkRange(IRBuilder<> &builder, Value *pointer, Value *length,
                  Access kind) {
    if (isa<AllocaInst>(getUnderlyingObject(pointer)))
      return;
    callRuntime(builder, "fuse_range",
                {thread, builder.CreatePtrToInt(pointer, builder.getInt64Ty()),
                 builder.CreateZExtOrTrunc(length, builder.getInt64Ty()),
                 builder.getInt32(uint32_t(kind))});
  }

  void callRuntime(IRBuilder<> &builder, StringRef name,
                   ArrayRef<Value *> operands) {
    SmallVector<Type *> types;
    for (Value *operand : operands)
      types.push_back(operand->getType());
    auto *type = FunctionType::get(builder.getVoidTy(), types, false);
    builder.CreateCall(module.getOrInsertFunction(name, type), operands)
        ->setDoesNotThrow();
  }

  Value *isOutsideShared(IRBuilder<> &builder, Value *address, uint64_t bytes) {
    Type *i64 = builder.getInt64Ty();
    Value *base =
        loadField(builder, thread, offsetof(ThreadState, shared), i64);
    Value *size =
        loadField(builder, thread, offsetof(ThreadState, sharedSize), i64);
    Value *offset = builder.CreateSub(address, base);
    Value *end = builder.CreateAdd(offset, builder.getInt64(bytes));
    return builder.CreateOr(builder.CreateICmpUGE(offset, size),
                            builder.CreateICmpUGT(end, size));
  }

  /// The range was never set where it is all zero: no address is then inside,
  /// since the null page is not mapped and a null access must be reported.
  Value *isOutsideKnown(IRBuilder<> &builder, Value *address) {
    Type *i64 = builder.getInt64Ty();
    Value *table = loadField(builder, thread, offsetof(ThreadState, sites),
                             builder.getPtrTy());
    Value *at = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), table,
                                                   sites * sizeof(SiteRange));
    Value *base = builder.CreateLoad(i64, at);
    Value *span = builder.CreateLoad(
        i64, builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), at,
                                                offsetof(SiteRange, span)));
    Value *isOutside =
        builder.CreateICmpUGT(builder.CreateSub(address, base), span);
    return builder.CreateOr(isOutside,
                            builder.CreateICmpEQ(address, builder.getInt64(0)));
  }

  void check(const Place &place) {
    IRBuilder<> builder(place.inst);
    Value *address =
        builder.CreatePtrToInt(place.pointer, builder.getInt64Ty());
    Value *isBad = place.pointer->getType()->getPointerAddressSpace() == 3
                       ? isOutsideShared(builder, address, place.bytes)
                       : isOutsideKnown(builder, address);
    if (place.align > 1) {
      Value *rest = builder.CreateAnd(address, place.align - 1);
      isBad = builder.CreateOr(isBad, builder.CreateIsNotNull(rest));
    }
    builder.SetInsertPoint(unlikely(isBad, *place.inst));
    callRuntime(builder, "fuse_access",
                {thread, address, builder.getInt64(place.bytes),
                 builder.getInt32(place.align),
                 builder.getInt32(uint32_t(place.kind)),
                 builder.getInt32(sites)});
    ++sites;
  }

  Module &module;
  const DataLayout &dl;
  Value *thread = nullptr;
  size_t sites = 0;
};
} // namespace

uint64_t fuse::emulator::localBytes(const Function &function) {
  uint64_t bytes = 0;
  const DataLayout &dl = function.getParent()->getDataLayout();
  for (const Instruction &inst : instructions(function))
    if (auto *local = dyn_cast<AllocaInst>(&inst))
      if (auto size = local->getAllocationSize(dl))
        bytes += size->getFixedValue();
  return bytes;
}

size_t fuse::emulator::instrument(Module &module) {
  return Instrumenter(module).run();
}
