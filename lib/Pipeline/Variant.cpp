//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One form of a program: planned, lowered, compiled and bound to its arguments.
//
//===----------------------------------------------------------------------===//

#include "Variant.h"
#include "fuse/Lowering/CpuPipeline.h"
#include "fuse/Lowering/GpuPipeline.h"
#include "fuse/Lowering/Passes.h"
#include "fuse/Plan/Passes.h"
#include "fuse/Rewrite/Passes.h"
#include "fuse/Runtime/Memory.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace fuse;

llvm::Expected<Signature> fuse::signatureOf(func::FuncOp function) {
  Signature signature;
  auto add = [&](TypeRange types, const char *what,
                 std::vector<ValueType> &to) -> llvm::Error {
    for (auto [number, type] : llvm::enumerate(types)) {
      llvm::Expected<ValueType> known = ValueType::of(type);
      if (!known)
        return llvm::createStringError(
            llvm::Twine(what) + " " + llvm::Twine(number) + " of '" +
            function.getName() + "': " + llvm::toString(known.takeError()));
      to.push_back(*known);
    }
    return llvm::Error::success();
  };
  if (llvm::Error error =
          add(function.getArgumentTypes(), "argument", signature.arguments))
    return std::move(error);
  if (llvm::Error error =
          add(function.getResultTypes(), "result", signature.results))
    return std::move(error);
  return signature;
}

static HostTensor copyOf(const HostTensor &tensor) {
  HostTensor copy(tensor.type(), tensor.shape());
  std::memcpy(copy.data(), tensor.data(), tensor.bytes());
  return copy;
}

static llvm::Error runPasses(PassManager &pm, ModuleOp module,
                             const char *what) {
  if (succeeded(pm.run(module)))
    return llvm::Error::success();
  return llvm::createStringError(llvm::Twine(what) + " failed");
}

llvm::Error Variant::plan(ModuleOp module, const RunOptions &options,
                          RunMode mode) {
  PassManager pm(module.getContext());
  if (!options.params.empty()) {
    MarkParamsOptions mark;
    SmallVector<StringRef> parts;
    StringRef(options.params).split(parts, ',');
    for (StringRef part : parts)
      mark.args.push_back(part.str());
    mark.functionName = options.entry;
    pm.addPass(createMarkParams(mark));
  }
  if (mode != RunMode::Off) {
    BoundaryOptions boundary;
    boundary.mode = mode == RunMode::Full ? "full" : "fold-only";
    std::optional<GpuTarget> gpu = parseGpuTarget(options.target);
    boundary.target = gpu ? gpu->chip : options.target;
    pm.addPass(createBoundary(boundary));
    pm.addPass(createConvBn());
    GreedyOptions greedy;
    greedy.pack = !gpu; // panels are for caches
    pm.addPass(createGreedy(greedy));
  }
  return runPasses(pm, module, "planning");
}

namespace {
/// What code for a CPU target may use: a level of the x86-64 psABI. Other
/// targets only plan; their code is for this machine.
struct CpuLevel {
  StringLiteral target, processor, feature;
  unsigned vectorBytes;
};
} // namespace

static llvm::Expected<CpuLevel> levelOf(StringRef target) {
  static constexpr CpuLevel levels[] = {
      {"x86-avx2", "x86-64-v3", "avx2", 32},
      {"x86-avx512", "x86-64-v4", "avx512f", 64}};
  const CpuLevel *level = llvm::find_if(
      levels, [&](const CpuLevel &one) { return one.target == target; });
  if (level == std::end(levels))
    return CpuLevel{"", "", "", 0};
  if (!llvm::sys::getHostCPUFeatures().lookup(level->feature))
    return llvm::createStringError("code for " + target + " needs " +
                                   level->feature +
                                   ", which this machine does not have");
  return *level;
}

llvm::Error Variant::compile(ModuleOp module, const RunOptions &options) {
  llvm::Expected<CpuLevel> level = levelOf(options.target);
  if (!level)
    return level.takeError();
  PassManager pm(module.getContext());
  CpuOptions cpu;
  cpu.vectorBytes = level->vectorBytes;
  cpu.threads = options.threads;
  cpu.hooks = body.name;
  if (relaxes)
    cpu.numerics = "relaxed";
  buildCpuPipeline(pm, cpu);
  if (llvm::Error error = runPasses(pm, module, "lowering to the CPU"))
    return error;
  readKernels(module);
  constexpr unsigned optLevel = 3;
  auto compiled =
      Program::compile(module, optLevel, options.sharedLibs, level->processor);
  if (!compiled)
    return compiled.takeError();
  program = std::move(*compiled);
  return llvm::Error::success();
}

llvm::Error Variant::compileLaunching(ModuleOp module,
                                      const GpuTarget &target) {
  return lowerGpuProgram(module, body.name, target);
}

llvm::Error Variant::compileForGpu(ModuleOp module, const RunOptions &options,
                                   const GpuTarget &target) {
  onDevice = true;
  // The limits that kernels are made for.
  if (target.emulated)
    setenv("FUSE_EMULATOR_DEVICE", target.chip.c_str(), /*overwrite=*/0);
  GpuOptions gpu;
  gpu.chip = target.chip;
  gpu.format = target.emulated ? "llvm" : "isa";
  if (relaxes)
    gpu.numerics = "relaxed";
  gpu.allowTf32 = options.allowTf32;
  PassManager kernels(module.getContext()), code(module.getContext());
  buildGpuFunctions(kernels, gpu);
  buildGpuLaunches(kernels, gpu);
  if (llvm::Error error = runPasses(kernels, module, "lowering to the GPU"))
    return error;
  readGpuKernels(module);
  if (!options.profile.empty())
    if (llvm::Error error = readResources(module, target))
      return error;
  buildGpuCode(code, gpu);
  return runPasses(code, module, "lowering to the GPU");
}

llvm::Error Variant::loadForGpu(ModuleOp module, const RunOptions &options,
                                const GpuTarget &target) {
  std::string library = runtimeLibrary(target);
  std::vector<std::string> libraries = options.sharedLibs;
  libraries.push_back(library);
  constexpr unsigned optLevel = 2;
  auto compiled = Program::compile(module, optLevel, libraries);
  if (!compiled)
    return compiled.takeError();
  program = std::move(*compiled);
  program->initialize();
  if (!onDevice)
    return llvm::Error::success();
  llvm::Expected<DeviceMemory> memory = DeviceMemory::load(library);
  if (!memory)
    return memory.takeError();
  program->useDevice(*memory);
  return llvm::Error::success();
}

/// What ptxas says of the kernels, where there is one.
llvm::Error Variant::readResources(ModuleOp lowered, const GpuTarget &target) {
  OwningOpRef<ModuleOp> copy = lowered.clone();
  std::vector<KernelReport> reports = reportsOf(*copy);
  GpuOptions gpu;
  gpu.chip = target.chip;
  PassManager pm(lowered.getContext());
  buildGpuCode(pm, gpu);
  if (llvm::Error error = runPasses(pm, *copy, "lowering to PTX"))
    return error;
  llvm::Expected<bool> isActual = addActual(*copy, target.chip, reports);
  if (!isActual)
    return isActual.takeError();
  for (const KernelReport &report : reports)
    for (KernelInfo &kernel : kernels)
      if (kernel.name == report.name)
        kernel.resources = report.actual;
  return llvm::Error::success();
}

static KernelInfo infoOf(Operation *function, StringRef name) {
  KernelInfo info;
  info.name = name.str();
  auto text = [&](StringRef name) {
    auto attr = function->getAttrOfType<StringAttr>(name);
    return attr ? attr.str() : std::string();
  };
  auto number = [&](StringRef name) -> std::optional<int64_t> {
    auto attr = function->getAttrOfType<IntegerAttr>(name);
    return attr ? std::optional<int64_t>(attr.getInt()) : std::nullopt;
  };
  info.kernelClass = text(kKernelClassAttr);
  info.key = text(kKernelKeyAttr);
  info.flops = number(kKernelFlopsAttr);
  info.bytes = number(kKernelBytesAttr);
  if (function->hasAttr(kPlainAttr))
    info.plain = text(kPlainAttr);
  if (function->hasAttr(kSplitAttr))
    info.split = text(kSplitAttr);
  return info;
}

void Variant::readGpuKernels(ModuleOp lowered) {
  auto function = lowered.lookupSymbol<func::FuncOp>(body.name);
  llvm::MapVector<SymbolRefAttr, unsigned> launches;
  function->walk(
      [&](gpu::LaunchFuncOp launch) { ++launches[launch.getKernelAttr()]; });
  for (auto [symbol, count] : launches) {
    Operation *kernel = SymbolTable::lookupSymbolIn(lowered, symbol);
    kernels.push_back(infoOf(kernel, symbol.getLeafReference()));
    kernels.back().launches = count;
  }
}

void Variant::readKernels(ModuleOp lowered) {
  auto calls = lowered->getAttrOfType<ArrayAttr>(kKernelCallsAttr);
  if (!calls)
    return;
  for (auto symbol : calls.getAsRange<FlatSymbolRefAttr>()) {
    Operation *function = lowered.lookupSymbol(symbol.getValue());
    kernels.push_back(infoOf(function, symbol.getValue()));
  }
}

llvm::Expected<Variant::Entry> Variant::entryOf(ModuleOp planned,
                                                StringRef name) {
  auto function = planned.lookupSymbol<func::FuncOp>(name);
  function.setPublic();
  llvm::Expected<Signature> signature = signatureOf(function);
  if (!signature)
    return signature.takeError();
  return Entry{name.str(), std::move(*signature), {}};
}

/// Sorts the arguments of the entry among preparation and body.
llvm::Error Variant::bind(ModuleOp planned, const RunOptions &options) {
  std::string bodyName = options.entry + ".body";
  bool isSplit = planned.lookupSymbol<func::FuncOp>(bodyName) != nullptr;
  llvm::Expected<Entry> known =
      entryOf(planned, isSplit ? bodyName : options.entry);
  if (!known)
    return known.takeError();
  body = std::move(*known);
  auto entry = planned.lookupSymbol<func::FuncOp>(options.entry);
  if (isSplit) {
    llvm::Expected<Entry> first = entryOf(planned, options.entry + ".prepare");
    if (!first)
      return first.takeError();
    prepare = std::move(*first);
  }
  for (unsigned i = 0; i < arguments.size(); ++i) {
    bool frozen = isSplit && entry.getArgAttr(i, names::kParam);
    (frozen ? *prepare : body).arguments.push_back(&arguments[i]);
  }
  // It is called in two parts: nothing needs the whole.
  if (isSplit && SymbolTable::symbolKnownUseEmpty(entry, planned))
    entry.erase();
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Variant>>
Variant::create(ModuleOp module, const RunOptions &options, RunMode mode,
                const Arguments &arguments) {
  auto variant = std::make_unique<Variant>();
  for (const HostTensor &value : arguments.values)
    variant->arguments.push_back(copyOf(value));
  variant->buffers = arguments.buffers;
  // What is unfused is what the other is compared with.
  variant->relaxes =
      options.numerics == Numerics::Relaxed && mode != RunMode::Off;
  double start = now();
  OwningOpRef<ModuleOp> copy = module.clone();
  std::optional<GpuTarget> gpu = parseGpuTarget(options.target);
  bool launching = gpu && launchesKernels(module);
  if (!launching)
    if (llvm::Error error = variant->plan(*copy, options, mode))
      return std::move(error);
  if (llvm::Error error = variant->bind(*copy, options))
    return std::move(error);
  if (llvm::Error error = launching ? variant->compileLaunching(*copy, *gpu)
                          : gpu ? variant->compileForGpu(*copy, options, *gpu)
                                : variant->compile(*copy, options))
    return std::move(error);
  if (gpu)
    if (llvm::Error error = variant->loadForGpu(*copy, options, *gpu))
      return std::move(error);
  if (llvm::Error error = variant->prepareCalls(/*hasHooks=*/!gpu))
    return std::move(error);
  variant->compileSeconds = now() - start - variant->prepareSeconds;
  return std::move(variant);
}

/// Runs the preparation, and binds the body to its arguments.
llvm::Error Variant::prepareCalls(bool hasHooks) {
  if (prepare) {
    auto first =
        program->prepare(prepare->name, prepare->signature, prepare->arguments);
    if (!first)
      return first.takeError();
    double compiled = now();
    (*first)->run();
    prepared = (*first)->results();
    prepareSeconds = now() - compiled;
    for (HostTensor &value : prepared)
      body.arguments.push_back(&value);
  }
  // Code is made when it is first asked for.
  auto bound = program->prepare(body.name, body.signature, body.arguments);
  if (!bound)
    return bound.takeError();
  call = std::move(*bound);
  if (!hasHooks)
    return llvm::Error::success();
  auto timed =
      program->prepare(body.name + ".timed", body.signature, body.arguments);
  if (!timed)
    return timed.takeError();
  timedCall = std::move(*timed);
  return llvm::Error::success();
}

double Variant::run() {
  call->release();
  programMemory().resetPeak();
  size_t before = programMemory().used();
  double start = now();
  call->run();
  double taken = now() - start;
  peakBytes = programMemory().peak() - before;
  return taken;
}

void Variant::runTimed() {
  if (!timedCall)
    return;
  KernelTimes &times = kernelTimes();
  times.seconds.assign(kernels.size(), 0.0);
  timedCall->run();
  for (auto [kernel, taken] : llvm::zip_equal(kernels, times.seconds))
    kernel.seconds.push_back(taken);
}

std::vector<HostTensor> Variant::results() const {
  std::vector<HostTensor> values = call->results();
  if (!buffers.empty())
    call->fetchArguments();
  for (unsigned i : buffers)
    values.push_back(copyOf(arguments[i]));
  return values;
}
