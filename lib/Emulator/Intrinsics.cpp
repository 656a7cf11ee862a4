//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NVVM intrinsics of threads, barriers, warps and memory: loads from the
// thread's state, or calls into the emulator.
//
// The calls have none of the intrinsics' attributes (no memory, speculatable),
// since LLVM would move them past accesses of other threads. What has several
// results gives them in memory.
//
//===----------------------------------------------------------------------===//

#include "Calls.h"
#include "ThreadState.h"
#include "Translate.h"
#include "WarpOps.h"
#include "llvm/ADT/StringSwitch.h"

using namespace fuse::emulator;
using namespace llvm;

IntrinsicCall::IntrinsicCall(CallInst &call, uint32_t site)
    : call(call), name(call.getCalledFunction()->getName()), builder(&call),
      thread(call.getFunction()->getArg(0)), site(site) {
  name.consume_front("llvm.nvvm.");
}

bool IntrinsicCall::replace() {
  Value *result = lower();
  if (!result)
    return false;
  if (!call.getType()->isVoidTy())
    call.replaceAllUsesWith(result);
  call.eraseFromParent();
  return true;
}

Value *IntrinsicCall::done() { return builder.getTrue(); }

Value *IntrinsicCall::field(size_t offset, Type *type) {
  return loadField(builder, thread, offset, type);
}

CallInst *IntrinsicCall::callRuntime(StringRef callee, Type *result,
                                     ArrayRef<Value *> operands) {
  SmallVector<Value *> all = {thread};
  append_range(all, operands);
  SmallVector<Type *> types;
  for (Value *operand : all)
    types.push_back(operand->getType());
  Module &module = *call.getModule();
  FunctionCallee function = module.getOrInsertFunction(
      callee, FunctionType::get(result, types, false));
  CallInst *made = builder.CreateCall(function, all);
  made->setConvergent();
  made->setDoesNotThrow();
  return made;
}

Value *IntrinsicCall::lower() {
  if (name.consume_front("read.ptx.sreg."))
    return specialRegister(name);
  if (name.consume_front("barrier.cta."))
    return barrier(name);
  if (name == "barrier0") // where nothing has upgraded it
    return barrier("sync.aligned.all");
  if (name.starts_with("cp.async."))
    return asyncCopy(name);
  if (std::optional<uint32_t> op = warpOpOf(name))
    return warp(*op);
  for (auto family : {&IntrinsicCall::memoryRelated, &IntrinsicCall::math,
                      &IntrinsicCall::conversion, &IntrinsicCall::integerMath})
    if (Value *result = (this->*family)())
      return result;
  return nullptr;
}

/// `tid.x` and its like: the offset of the dimension in a field.
static std::optional<size_t> dimensionOffset(StringRef name) {
  auto [what, dimension] = name.split('.');
  if (dimension.size() != 1 || dimension[0] < 'x' || dimension[0] > 'z')
    return std::nullopt;
  size_t none = ~size_t(0);
  size_t base = StringSwitch<size_t>(what)
                    .Case("tid", offsetof(ThreadState, tid))
                    .Case("ntid", offsetof(ThreadState, ntid))
                    .Case("ctaid", offsetof(ThreadState, ctaid))
                    .Case("nctaid", offsetof(ThreadState, nctaid))
                    .Default(none);
  if (base == none)
    return std::nullopt;
  return base + 4 * (dimension[0] - 'x');
}

Value *IntrinsicCall::specialRegister(StringRef which) {
  Type *type = builder.getInt32Ty();
  if (std::optional<size_t> offset = dimensionOffset(which))
    return field(*offset, type);
  Value *lane = field(offsetof(ThreadState, lane), type);
  Value *self = builder.CreateShl(i32(1), lane);
  if (which == "laneid")
    return lane;
  if (which == "warpsize")
    return i32(warpSize);
  if (which == "warpid")
    return field(offsetof(ThreadState, warp), type);
  if (which == "nwarpid")
    return field(offsetof(ThreadState, warps), type);
  if (which == "dynamic_smem_size" || which == "dynamic.smem.size")
    return field(offsetof(ThreadState, dynamicShared), type);
  if (which == "total_smem_size")
    return builder.CreateTrunc(
        field(offsetof(ThreadState, sharedSize), builder.getInt64Ty()), type);
  if (which == "smid")
    return i32(0);
  if (which == "nsmid")
    return i32(1);
  if (which == "lanemask.eq")
    return self;
  if (which == "lanemask.lt")
    return builder.CreateSub(self, i32(1));
  if (which == "lanemask.le")
    return builder.CreateOr(self, builder.CreateSub(self, i32(1)));
  if (which == "lanemask.ge")
    return builder.CreateNeg(self);
  if (which == "lanemask.gt")
    return builder.CreateNot(
        builder.CreateOr(self, builder.CreateSub(self, i32(1))));
  if (which == "clock" || which == "clock64" || which == "globaltimer")
    return builder.CreateTrunc(
        builder.CreateIntrinsic(Intrinsic::readcyclecounter, {}),
        call.getType());
  return nullptr;
}

/// `sync.aligned.all` and its like: operands are the barrier, the count unless
/// `all`, and the vote of a reduction.
Value *IntrinsicCall::barrier(StringRef which) {
  SmallVector<StringRef> parts;
  which.split(parts, '.');
  bool isReduction = parts[0] == "red", isAll = parts.back() == "all";
  uint32_t flags = is_contained(parts, "aligned") ? BarrierAligned : 0;
  if (parts[0] != "arrive")
    flags |= BarrierWaits;
  Value *count = isAll ? i32(0) : arg(1);
  Value *vote = i32(0);
  if (isReduction)
    vote = builder.CreateZExt(arg(call.arg_size() - 1), builder.getInt32Ty());
  if (!isReduction && parts[0] != "sync" && parts[0] != "arrive")
    return nullptr;
  Value *result = callRuntime("fuse_barrier", builder.getInt32Ty(),
                              {arg(0), count, vote, i32(site), i32(flags)});
  if (!isReduction)
    return done();
  Value *votes = builder.CreateAnd(result, 0xffff);
  Value *voters = builder.CreateLShr(result, 16);
  if (parts[1] == "popc")
    return votes;
  return parts[1] == "and" ? builder.CreateICmpEQ(votes, voters)
                           : builder.CreateICmpNE(votes, i32(0));
}

/// The value as 32-bit words.
static void appendWords(IRBuilder<> &builder, Value *value,
                        SmallVectorImpl<Value *> &words) {
  Type *type = value->getType(), *i32 = builder.getInt32Ty();
  if (type->isPointerTy())
    value = builder.CreatePtrToInt(value, builder.getInt64Ty());
  else if (type->isIntegerTy(1))
    value = builder.CreateZExt(value, i32);
  else if (!type->isIntegerTy())
    value = builder.CreateBitCast(
        value, builder.getIntNTy(type->getPrimitiveSizeInBits()));
  if (value->getType()->isIntegerTy(32))
    return words.push_back(value);
  words.push_back(builder.CreateTrunc(value, i32));
  words.push_back(builder.CreateTrunc(builder.CreateLShr(value, 32), i32));
}

/// A value of 32 bits or of one bit from a word.
static Value *fromWord(IRBuilder<> &builder, Value *word, Type *type) {
  if (type->isIntegerTy(1))
    return builder.CreateICmpNE(word, builder.getInt32(0));
  return builder.CreateBitCast(word, type);
}

/// Whether the member mask is the first operand, the last, or none (all).
static Value *takeMask(uint32_t op, SmallVectorImpl<Value *> &operands) {
  Value *mask = nullptr;
  if (op >= ReduxAdd && op <= ReduxXor)
    return operands.pop_back_val();
  if (op < ActiveMask) {
    mask = operands.front();
    operands.erase(operands.begin());
  }
  return mask;
}

Value *IntrinsicCall::warp(uint32_t op) {
  SmallVector<Value *> operands(call.args()), words;
  Value *mask = takeMask(op, operands);
  for (Value *operand : operands)
    appendWords(builder, operand, words);
  if (words.size() > maxWords)
    return nullptr;
  Type *i32Type = builder.getInt32Ty();
  BasicBlock &entry = call.getFunction()->getEntryBlock();
  IRBuilder<> atEntry(&entry, entry.begin());
  AllocaInst *buffer = atEntry.CreateAlloca(ArrayType::get(i32Type, maxWords));
  auto word = [&](unsigned index) {
    return builder.CreateConstInBoundsGEP1_64(i32Type, buffer, index);
  };
  for (auto [index, value] : enumerate(words))
    builder.CreateStore(value, word(index));
  callRuntime("fuse_warp", builder.getVoidTy(),
              {i32(op), mask ? mask : i32(~0u), i32(site), buffer});
  if (call.getType()->isVoidTy())
    return done();
  auto *aggregate = dyn_cast<StructType>(call.getType());
  if (!aggregate)
    return fromWord(builder, builder.CreateLoad(i32Type, word(0)),
                    call.getType());
  Value *result = PoisonValue::get(aggregate);
  for (auto [index, type] : enumerate(aggregate->elements()))
    result = builder.CreateInsertValue(
        result,
        fromWord(builder, builder.CreateLoad(i32Type, word(index)), type),
        index);
  return result;
}

Value *IntrinsicCall::asyncCopy(StringRef which) {
  Type *none = builder.getVoidTy();
  if (which == "cp.async.commit.group")
    return callRuntime("fuse_commit_copies", none, {}), done();
  if (which == "cp.async.wait.group")
    return callRuntime("fuse_wait_copies", none, {arg(0)}), done();
  if (which == "cp.async.wait.all")
    return callRuntime("fuse_wait_all_copies", none, {}), done();
  if (!which.consume_front("cp.async.ca.shared.global.") &&
      !which.consume_front("cp.async.cg.shared.global."))
    return nullptr;
  which.consume_back(".s"); // with the number of bytes of the source
  uint32_t bytes = 0;
  if (which.getAsInteger(10, bytes))
    return nullptr;
  auto generic = [&](Value *pointer) {
    return builder.CreateAddrSpaceCast(pointer, builder.getPtrTy());
  };
  callRuntime("fuse_copy_async", none,
              {generic(arg(0)), generic(arg(1)), i32(bytes),
               call.arg_size() > 2 ? arg(2) : i32(bytes)});
  return done();
}

/// Fences, address spaces, hints, traps.
Value *IntrinsicCall::memoryRelated() {
  if (name.starts_with("membar.") || name.starts_with("fence.sc.") ||
      name.starts_with("fence.acq")) {
    builder.CreateFence(AtomicOrdering::SequentiallyConsistent);
    return done();
  }
  if (name.starts_with("prefetch"))
    return done();
  if (name == "llvm.trap" || name == "llvm.debugtrap")
    return callRuntime("fuse_trap", builder.getVoidTy(), {}), done();
  if (name == "nanosleep")
    return callRuntime("fuse_pause", builder.getVoidTy(), {}), done();
  if (name != "isspacep.shared" && name != "isspacep.global")
    return nullptr;
  Value *address = builder.CreatePtrToInt(arg(0), builder.getInt64Ty());
  Value *isShared = builder.CreateIsNotNull(
      callRuntime("fuse_is_shared", builder.getInt32Ty(), {address}));
  return name == "isspacep.shared" ? isShared : builder.CreateNot(isShared);
}
