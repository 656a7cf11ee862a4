//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the bytes of a module to host code: parse, translate, optimise,
// instrument, compile.
//
//===----------------------------------------------------------------------===//

#include "Module.h"
#include "Calls.h"
#include "HalfFloat.h"
#include "Translate.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Scalar/ScalarizeMaskedMemIntrin.h"
#include <mutex>
#include <optional>

using namespace fuse::emulator;
using namespace llvm;

static Error failure(StringRef name, const Twine &what) {
  return createStringError(name + ": " + what);
}

/// What an image that is not bitcode is.
static StringRef kindOf(StringRef image) {
  if (image.starts_with("\x7f"
                        "ELF"))
    return "a cubin";
  if (image.starts_with("\x50\xed\x55\xba"))
    return "a fatbin";
  if (image.contains(".version") && image.contains(".target"))
    return "PTX";
  return "something unknown";
}

static Expected<std::unique_ptr<Module>> parse(StringRef image,
                                               LLVMContext &context) {
  if (!isBitcode(image.bytes_begin(), image.bytes_end()))
    return failure("CUDA_ERROR_INVALID_IMAGE",
                   "found " + kindOf(image) +
                       ", expected LLVM bitcode (cubin-format=llvm)");
  Expected<std::unique_ptr<Module>> module =
      parseBitcodeFile(MemoryBufferRef(image, "device module"), context);
  if (!module)
    return failure("CUDA_ERROR_INVALID_IMAGE",
                   "corrupt bitcode: " + toString(module.takeError()));
  const Triple &triple = (*module)->getTargetTriple();
  if (!triple.isNVPTX() || !triple.isArch64Bit())
    return failure("CUDA_ERROR_NO_BINARY_FOR_GPU",
                   "found bitcode for '" + triple.str() +
                       "', expected nvptx64-nvidia-cuda");
  std::string problem;
  raw_string_ostream stream(problem);
  if (verifyModule(**module, &stream))
    return failure("CUDA_ERROR_INVALID_IMAGE", "corrupt bitcode: " + problem);
  return module;
}

static void retarget(Module &module, const TargetMachine &machine) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
  }
}

/// Drops what optimisation found out of functions without checks: that they
/// write nothing, say.
static void forgetAttributes(Module &module) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    AttributeList old = function.getAttributes();
    function.setAttributes(AttributeList());
    for (StringRef kept : {"target-cpu", "target-features"})
      function.addFnAttr(old.getFnAttr(kept));
    function.addFnAttr(Attribute::NoUnwind);
    if (old.hasFnAttr(Attribute::NoInline))
      function.addFnAttr(Attribute::NoInline);
    for (Instruction &inst : instructions(function))
      if (auto *call = dyn_cast<CallInst>(&inst))
        if (call->getCalledFunction() &&
            !call->getCalledFunction()->isIntrinsic())
          call->setAttributes(AttributeList());
  }
}

namespace {
/// The analyses that passes need, for a machine or for none.
struct Analyses {
  explicit Analyses(PassBuilder &builder) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
  }
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
};
} // namespace

/// Masked accesses become branches around single ones, which can be checked:
/// with no machine known, none has instructions for them.
static void splitMasked(Module &module) {
  PassBuilder builder;
  Analyses analyses(builder);
  ModulePassManager passes;
  passes.addPass(
      createModuleToFunctionPassAdaptor(ScalarizeMaskedMemIntrinPass()));
  passes.run(module, analyses.modules);
}

/// As -O2 is but for the vectorisers: lanes are threads already, and masked
/// accesses would come of them.
static void optimize(Module &module, TargetMachine &machine,
                     OptimizationLevel level) {
  PipelineTuningOptions options;
  options.LoopVectorization = false;
  options.SLPVectorization = false;
  options.LoopInterleaving = false;
  PassBuilder builder(&machine, options);
  Analyses analyses(builder);
  builder.buildPerModuleDefaultPipeline(level).run(module, analyses.modules);
}

static Expected<std::unique_ptr<orc::LLJIT>>
createJit(orc::JITTargetMachineBuilder machine) {
  auto jit = orc::LLJITBuilder()
                 .setJITTargetMachineBuilder(std::move(machine))
                 .create();
  if (!jit)
    return jit.takeError();
  orc::JITDylib &library = (*jit)->getMainJITDylib();
  orc::SymbolMap symbols;
  for (ArrayRef<Call> calls : {runtimeCalls(), halfFloatCalls()})
    for (const Call &call : calls)
      symbols[(*jit)->mangleAndIntern(call.name)] = {
          orc::ExecutorAddr::fromPtr(call.address),
          JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  if (Error error = library.define(orc::absoluteSymbols(std::move(symbols))))
    return std::move(error);
  // For the mathematical functions that optimised code calls.
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  library.addGenerator(std::move(*process));
  return jit;
}

/// Finds the compiled kernels, and registers the device's variables.
static Error lookUp(LoadedModule &loaded, const Translation &translation,
                    ArrayRef<uint64_t> globalBytes, size_t sites) {
  for (const TranslatedKernel &kernel : translation.kernels) {
    auto address = loaded.jit->lookup(kernel.entry);
    if (!address)
      return address.takeError();
    loaded.kernels.push_back({kernel.name, address->toPtr<Entry>(),
                              kernel.sharedOffsets, kernel.staticShared,
                              kernel.maxThreads, sites});
  }
  for (auto [name, bytes] : zip(translation.globals, globalBytes)) {
    auto address = loaded.jit->lookup(name);
    if (!address)
      return address.takeError();
    loaded.globals.push_back(address->toPtr<void *>());
    registerHost(loaded.globals.back(), bytes);
  }
  return Error::success();
}

/// The host, or with FUSE_EMULATOR_CPU the processor of that name, without
/// anything more that the host has.
static Expected<orc::JITTargetMachineBuilder> hostMachine() {
  auto builder = orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  builder->setCodeGenOptLevel(CodeGenOptLevel::Default);
  // These conversions to bf16 flush subnormal numbers.
  builder->getFeatures().AddFeature("avx512bf16", false);
  builder->getFeatures().AddFeature("avxneconvert", false);
  if (const char *name = std::getenv("FUSE_EMULATOR_CPU")) {
    builder->setCPU(name);
    builder->getFeatures() = SubtargetFeatures();
  }
  return builder;
}

/// A thread's stack holds its local memory.
static Error checkLocalMemory(const Module &module) {
  constexpr uint64_t limit = 192 * 1024;
  for (const Function &function : module) {
    uint64_t bytes = localBytes(function);
    if (bytes > limit)
      return createStringError("'" + deviceName(function) + "' needs " +
                               Twine(bytes) +
                               " bytes of local memory a thread, at most " +
                               Twine(limit) + " are emulated");
  }
  return Error::success();
}

/// Takes the module and its context if there is no error.
static Error compile(LoadedModule &loaded, std::unique_ptr<Module> &module,
                     std::unique_ptr<LLVMContext> &context,
                     const Translation &translation) {
  auto builder = hostMachine();
  if (!builder)
    return builder.takeError();
  auto machine = builder->createTargetMachine();
  if (!machine)
    return machine.takeError();
  retarget(*module, **machine);
  splitMasked(*module);
  optimize(*module, **machine, OptimizationLevel::O2);
  if (Error error = checkLocalMemory(*module))
    return error;
  forgetAttributes(*module);
  size_t sites = instrument(*module);
  optimize(*module, **machine, OptimizationLevel::O1);
  std::vector<uint64_t> bytes;
  Translation left = translation;
  left.globals.clear();
  for (const std::string &name : translation.globals)
    if (GlobalVariable *variable = module->getGlobalVariable(name)) {
      left.globals.push_back(name);
      bytes.push_back(
          module->getDataLayout().getTypeAllocSize(variable->getValueType()));
    }
  auto jit = createJit(std::move(*builder));
  if (!jit)
    return jit.takeError();
  loaded.jit = std::move(*jit);
  if (Error error = loaded.jit->addIRModule(
          orc::ThreadSafeModule(std::move(module), std::move(context))))
    return error;
  return lookUp(loaded, left, bytes, sites);
}

static Expected<LoadedModule *> load(StringRef image) {
  auto context = std::make_unique<LLVMContext>();
  auto module = parse(image, *context);
  if (!module)
    return module.takeError();
  Expected<Translation> translation = translate(**module);
  if (!translation)
    return translation.takeError();
  auto loaded = std::make_unique<LoadedModule>();
  if (Error error = compile(*loaded, *module, context, *translation))
    return failure("CUDA_ERROR_INVALID_IMAGE", toString(std::move(error)));
  return loaded.release();
}

Expected<LoadedModule *> fuse::emulator::loadModule(StringRef image) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  // LLVM's reader ends the process on some corrupt modules.
  static std::mutex loading;
  std::lock_guard<std::mutex> lock(loading);
  std::optional<Expected<LoadedModule *>> result;
  CrashRecoveryContext::Enable();
  CrashRecoveryContext recovery;
  bool isDone = recovery.RunSafely([&] { result.emplace(load(image)); });
  CrashRecoveryContext::Disable();
  if (!isDone)
    return failure("CUDA_ERROR_INVALID_IMAGE",
                   "corrupt bitcode: LLVM fails on it");
  return std::move(*result);
}

void fuse::emulator::unloadModule(LoadedModule *module) {
  for (void *variable : module->globals)
    unregisterHost(variable);
  delete module;
}

const Kernel *fuse::emulator::findKernel(const LoadedModule &module,
                                         StringRef name) {
  for (const Kernel &kernel : module.kernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

StringRef fuse::emulator::nameOf(const Kernel &kernel) { return kernel.name; }
