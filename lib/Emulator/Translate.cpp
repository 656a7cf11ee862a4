//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From an NVVM module to one that runs on the host.
//
//   define ptx_kernel void @k(ptr %a)     define void @k(ptr %thread, ptr %a)
//     call i32 @llvm.nvvm...tid.x()   =>    load of a field of %thread
//     @tile (addrspace 3)                   load of %thread's table of them
//                                         define void @entry.k(ptr %thread,
//                                                              ptr %params)
//
//===----------------------------------------------------------------------===//

#include "Translate.h"
#include "ThreadState.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Support/MathExtras.h"

using namespace fuse::emulator;
using namespace llvm;

static Error invalid(const Twine &what) {
  return createStringError("CUDA_ERROR_INVALID_IMAGE: " + what);
}

Value *fuse::emulator::loadField(IRBuilderBase &builder, Value *thread,
                                 size_t offset, Type *type) {
  Value *at =
      builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), thread, offset);
  LoadInst *load = builder.CreateLoad(type, at);
  load->setMetadata(LLVMContext::MD_invariant_load,
                    MDNode::get(builder.getContext(), {}));
  return load;
}

/// Functions that must be called by name, and with a body in the module.
static Error checkCalls(Module &module) {
  for (Function &function : module)
    for (Instruction &inst : instructions(function)) {
      auto *call = dyn_cast<CallBase>(&inst);
      if (!call)
        continue;
      if (auto *assembly = dyn_cast<InlineAsm>(call->getCalledOperand()))
        return invalid("inline assembly '" + assembly->getAsmString() +
                       "' in '" + function.getName() + "' is not emulated");
      Function *callee = call->getCalledFunction();
      if (!callee)
        return invalid("indirect call in '" + function.getName() +
                       "' is not emulated");
      if (callee->isDeclaration() && !callee->isIntrinsic())
        return invalid("'" + function.getName() + "' calls '" +
                       callee->getName() + "', which the module lacks");
    }
  return Error::success();
}

/// What a translated module cannot have, beside calls.
static Error checkContents(const Module &module) {
  if (!module.alias_empty() || !module.ifunc_empty())
    return invalid("aliases are not emulated");
  for (const Function &function : module)
    for (const Argument &argument : function.args())
      if (argument.hasByValAttr() && !function.isDeclaration())
        return invalid("'" + function.getName() + "' takes argument " +
                       Twine(argument.getArgNo()) +
                       " by value in memory, which is not emulated");
  for (const GlobalVariable &variable : module.globals())
    if (variable.isDeclaration() && variable.getAddressSpace() != 3)
      return invalid("variable '" + variable.getName() +
                     "' is declared, but the module lacks it");
  return Error::success();
}

/// The product of up to three numbers in a kernel's attribute.
static uint64_t threadsOf(const Function &function, StringRef attribute) {
  if (!function.hasFnAttribute(attribute))
    return 0;
  SmallVector<StringRef> parts;
  function.getFnAttribute(attribute).getValueAsString().split(parts, ',');
  uint64_t product = 1;
  for (StringRef part : parts) {
    uint64_t value = 1;
    if (!part.trim().getAsInteger(10, value))
      product *= value;
  }
  return product;
}

namespace {
/// Gives each function the thread's state as its first parameter.
class Threading {
public:
  explicit Threading(Module &module) : module(module) {}

  Error run() {
    std::vector<Function *> defined;
    for (Function &function : module)
      if (!function.isDeclaration())
        defined.push_back(&function);
    for (Function *function : defined)
      clone(*function);
    for (auto [from, to] : functions)
      for (User *user : make_early_inc_range(from->users())) {
        auto *call = dyn_cast<CallInst>(user);
        if (!call || call->getCalledOperand() != from)
          return invalid("the address of '" + deviceName(*to) +
                         "' is taken, which is not emulated");
        redirect(*call, *to);
      }
    for (auto [from, to] : functions)
      from->eraseFromParent();
    return Error::success();
  }

private:
  void clone(Function &from) {
    SmallVector<Type *> types = {PointerType::get(module.getContext(), 0)};
    append_range(types, from.getFunctionType()->params());
    auto *type = FunctionType::get(from.getReturnType(), types, false);
    // Not internal: no pass then changes the parameters. Renamed: nothing of
    // the host is called so.
    Function *to = Function::Create(type, GlobalValue::ExternalLinkage,
                                    devicePrefix + from.getName(), module);
    if (from.getCallingConv() == CallingConv::PTX_Kernel)
      to->addFnAttr(Attribute::NoInline); // apart from its entry
    to->splice(to->begin(), &from);
    for (Argument &argument : from.args())
      argument.replaceAllUsesWith(to->getArg(argument.getArgNo() + 1));
    to->addFnAttr(Attribute::NoUnwind);
    functions.push_back({&from, to});
  }

  void redirect(CallInst &call, Function &to) {
    SmallVector<Value *> operands = {call.getFunction()->getArg(0)};
    append_range(operands, call.args());
    CallInst *made = CallInst::Create(&to, operands, "", call.getIterator());
    call.replaceAllUsesWith(made);
    call.eraseFromParent();
  }

  Module &module;
  std::vector<std::pair<Function *, Function *>> functions;
};
} // namespace

/// Variables in shared memory, in the module's order.
static std::vector<GlobalVariable *> sharedVariables(Module &module) {
  std::vector<GlobalVariable *> shared;
  for (GlobalVariable &variable : module.globals())
    if (variable.getAddressSpace() == 3)
      shared.push_back(&variable);
  return shared;
}

/// What `kernel` reaches through calls and operands.
static SmallPtrSet<const Value *, 16> reachable(Function &kernel) {
  SmallPtrSet<const Value *, 16> seen;
  SmallVector<const Value *> work = {&kernel};
  while (!work.empty()) {
    const Value *value = work.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (auto *function = dyn_cast<Function>(value))
      for (const Instruction &inst : instructions(*function))
        for (const Value *operand : inst.operand_values())
          if (isa<Constant>(operand))
            work.push_back(operand);
    if (auto *constant = dyn_cast<Constant>(value))
      if (!isa<GlobalValue>(constant))
        append_range(work, constant->operand_values());
  }
  return seen;
}

/// Static variables first, then the dynamic ones, which all start at one place.
static void layOut(TranslatedKernel &kernel, Function &function,
                   ArrayRef<GlobalVariable *> shared, const DataLayout &dl) {
  constexpr uint64_t alignment = 16;
  SmallPtrSet<const Value *, 16> used = reachable(function);
  kernel.sharedOffsets.assign(shared.size(), 0);
  for (auto [index, variable] : enumerate(shared)) {
    uint64_t bytes = dl.getTypeAllocSize(variable->getValueType());
    if (!used.contains(variable) || bytes == 0)
      continue;
    uint64_t align =
        std::max(alignment, dl.getPreferredAlign(variable).value());
    kernel.sharedOffsets[index] = alignTo(kernel.staticShared, align);
    kernel.staticShared = kernel.sharedOffsets[index] + bytes;
  }
  for (auto [index, variable] : enumerate(shared))
    if (dl.getTypeAllocSize(variable->getValueType()) == 0)
      kernel.sharedOffsets[index] = alignTo(kernel.staticShared, alignment);
}

static Error replaceShared(Module &module, ArrayRef<GlobalVariable *> shared) {
  SmallVector<Constant *> constants(shared.begin(), shared.end());
  convertUsersOfConstantsToInstructions(constants);
  auto *pointer = PointerType::get(module.getContext(), 0);
  for (auto [index, variable] : enumerate(shared)) {
    for (Use &use : make_early_inc_range(variable->uses())) {
      auto *inst = dyn_cast<Instruction>(use.getUser());
      if (!inst)
        return invalid("the address of shared '" + variable->getName() +
                       "' is in a constant");
      auto *phi = dyn_cast<PHINode>(inst);
      IRBuilder<> builder(phi ? phi->getIncomingBlock(use)->getTerminator()
                              : inst);
      Value *thread = inst->getFunction()->getArg(0);
      Value *table = loadField(builder, thread,
                               offsetof(ThreadState, sharedTable), pointer);
      Value *address = loadField(builder, table, index * 8, pointer);
      Value *cast = builder.CreateAddrSpaceCast(address, variable->getType());
      if (!phi) {
        use.set(cast);
        continue;
      }
      for (unsigned at = 0; at < phi->getNumIncomingValues(); ++at)
        if (phi->getIncomingBlock(at) == phi->getIncomingBlock(use) &&
            phi->getIncomingValue(at) == variable)
          phi->setIncomingValue(at, cast);
    }
    variable->eraseFromParent();
  }
  return Error::success();
}

static Error replaceIntrinsics(Module &module) {
  uint32_t site = 0;
  for (Function &function : make_early_inc_range(module)) {
    bool isTrap = function.getIntrinsicID() == Intrinsic::trap ||
                  function.getIntrinsicID() == Intrinsic::debugtrap;
    if (!isTrap && !function.getName().starts_with("llvm.nvvm."))
      continue;
    for (User *user : make_early_inc_range(function.users())) {
      auto *call = dyn_cast<CallInst>(user);
      if (!call || !IntrinsicCall(*call, site++).replace())
        return invalid("intrinsic '" + function.getName() +
                       "' is not emulated");
    }
    function.eraseFromParent();
  }
  return Error::success();
}

/// void @entry.<name>(ptr %thread, ptr %params): %params is an array of
/// pointers to the arguments.
static void addEntry(Function &kernel, StringRef name) {
  LLVMContext &context = kernel.getContext();
  auto *pointer = PointerType::get(context, 0);
  auto *type =
      FunctionType::get(Type::getVoidTy(context), {pointer, pointer}, false);
  Function *entry = Function::Create(type, GlobalValue::ExternalLinkage, name,
                                     *kernel.getParent());
  entry->addFnAttr(Attribute::NoUnwind);
  IRBuilder<> builder(BasicBlock::Create(context, "", entry));
  SmallVector<Value *> operands = {entry->getArg(0)};
  for (Argument &argument : drop_begin(kernel.args())) {
    Value *slot = builder.CreateConstGEP1_64(pointer, entry->getArg(1),
                                             argument.getArgNo() - 1);
    operands.push_back(builder.CreateLoad(argument.getType(),
                                          builder.CreateLoad(pointer, slot)));
  }
  builder.CreateCall(&kernel, operands);
  builder.CreateRetVoid();
}

/// Device variables get names by which they are found after compilation.
static void exportGlobals(Module &module, Translation &result) {
  for (auto [index, variable] : enumerate(module.globals())) {
    if (variable.getName().starts_with("llvm."))
      continue;
    variable.setName(devicePrefix + "variable" + Twine(index));
    variable.setLinkage(GlobalValue::ExternalLinkage);
    variable.setVisibility(GlobalValue::DefaultVisibility);
    result.globals.push_back(variable.getName().str());
  }
}

Expected<Translation> fuse::emulator::translate(Module &module) {
  Translation result;
  StripDebugInfo(module);
  if (Error error = checkCalls(module))
    return std::move(error);
  if (Error error = checkContents(module))
    return std::move(error);
  std::vector<GlobalVariable *> shared = sharedVariables(module);
  for (Function &function : module) {
    if (function.getCallingConv() != CallingConv::PTX_Kernel)
      continue;
    TranslatedKernel kernel;
    kernel.name = function.getName().str();
    kernel.entry = (entryPrefix + kernel.name).str();
    kernel.maxThreads = std::max(threadsOf(function, "nvvm.reqntid"),
                                 threadsOf(function, "nvvm.maxntid"));
    layOut(kernel, function, shared, module.getDataLayout());
    result.kernels.push_back(kernel);
  }
  if (Error error = Threading(module).run())
    return std::move(error);
  if (Error error = replaceShared(module, shared))
    return std::move(error);
  if (Error error = replaceIntrinsics(module))
    return std::move(error);
  for (const TranslatedKernel &kernel : result.kernels)
    addEntry(*module.getFunction((devicePrefix + kernel.name).str()),
             kernel.entry);
  exportGlobals(module, result);
  return result;
}
