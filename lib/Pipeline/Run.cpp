//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a model: parses it, makes its inputs, measures, compares.
//
//===----------------------------------------------------------------------===//

#include "fuse/Pipeline/Run.h"
#include "Variant.h"
#include "fuse/Pipeline/Register.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace fuse;

void fuse::registerRunDialects(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllToLLVMIRTranslations(registry);
  registerFuseDialect(registry);
}

bool RunResult::passed() const {
  return llvm::all_of(differences, [](const Difference &difference) {
    return difference.passed();
  });
}

/// The entry function; the error lists those that exist.
static llvm::Expected<func::FuncOp> findEntry(ModuleOp module, StringRef name) {
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (function && !function.isExternal())
    return function;
  std::vector<std::string> known;
  for (auto other : module.getOps<func::FuncOp>())
    if (!other.isExternal())
      known.push_back(other.getName().str());
  return llvm::createStringError(
      "no function '" + name + "' with a body, known are " +
      (known.empty() ? "none" : llvm::join(known, ", ")));
}

/// The longest reduction of an operator: what the tolerance depends on.
static int64_t longestReduction(ModuleOp module) {
  uint64_t longest = 1;
  module->walk([&](linalg::LinalgOp op) {
    uint64_t length = 1;
    for (auto [kind, range] :
         llvm::zip_equal(op.getIteratorTypesArray(), op.getStaticLoopRanges()))
      if (kind == utils::IteratorType::reduction &&
          !ShapedType::isDynamic(range))
        length = llvm::SaturatingMultiply<uint64_t>(length, range);
    longest = std::max(longest, length);
  });
  return int64_t(std::min<uint64_t>(longest, INT64_MAX));
}

static llvm::Expected<HostTensor> makeArgument(const RunOptions &options,
                                               const ValueType &type,
                                               unsigned number) {
  std::string what = "argument " + std::to_string(number);
  if (!options.inputs.empty()) {
    const std::string &path = options.inputs[number];
    llvm::Expected<HostTensor> tensor = readNpy(path);
    if (tensor && !type.accepts(*tensor))
      return llvm::createStringError(path + ": holds " + tensor->typeString() +
                                     ", " + what + " is " + type.str());
    return tensor;
  }
  if (llvm::any_of(type.shape, ShapedType::isDynamic))
    return llvm::createStringError(
        what + " has the type " + type.str() +
        ": its extents come from a file, give --inputs");
  HostTensor tensor(type.element, type.shape);
  fillSeeded(tensor, options.seed + number);
  return std::move(tensor);
}

static llvm::Expected<Arguments> makeArguments(const RunOptions &options,
                                               func::FuncOp entry) {
  llvm::Expected<Signature> signature = signatureOf(entry);
  if (!signature)
    return signature.takeError();
  Arguments arguments;
  arguments.signature = *signature;
  size_t count = signature->arguments.size();
  if (!options.inputs.empty() && options.inputs.size() != count)
    return llvm::createStringError(
        "'" + entry.getName() + "' has " + llvm::Twine(count) +
        " arguments, --inputs names " + llvm::Twine(options.inputs.size()) +
        " files");
  for (unsigned i = 0; i < count; ++i) {
    llvm::Expected<HostTensor> value =
        makeArgument(options, signature->arguments[i], i);
    if (!value)
      return value.takeError();
    arguments.values.push_back(std::move(*value));
    if (isa<MemRefType>(entry.getArgumentTypes()[i]))
      arguments.buffers.push_back(i);
  }
  return std::move(arguments);
}

static llvm::Error saveOutputs(const std::string &directory,
                               const std::vector<HostTensor> &results) {
  if (directory.empty())
    return llvm::Error::success();
  if (std::error_code error = llvm::sys::fs::create_directories(directory))
    return llvm::createStringError("cannot make " + directory + ": " +
                                   error.message());
  for (auto [number, tensor] : llvm::enumerate(results))
    if (llvm::Error error = writeNpy(
            directory + "/result" + std::to_string(number) + ".npy", tensor))
      return error;
  return llvm::Error::success();
}

/// Measures; with an unfused variant the runs alternate, so that both see the
/// same machine.
static void measure(const RunOptions &options, Variant &main,
                    Variant *unfused) {
  auto each = [&](auto body) {
    body(main);
    if (unfused)
      body(*unfused);
  };
  bool shows = llvm::errs().is_displayed();
  for (unsigned i = 0; i < options.warmup; ++i)
    each([](Variant &variant) { variant.run(); });
  for (unsigned i = 0; i < options.repeat; ++i) {
    if (shows)
      llvm::errs() << "\rrun " << i + 1 << " of " << options.repeat;
    each([](Variant &variant) { variant.seconds.push_back(variant.run()); });
  }
  for (unsigned i = 0; i < options.repeat; ++i)
    each([](Variant &variant) { variant.runTimed(); });
  if (shows)
    llvm::errs() << "\r\33[K";
}

static llvm::Error checkResults(RunResult &result,
                                const std::vector<HostTensor> &values,
                                int64_t reduction) {
  result.unfused->run();
  std::vector<HostTensor> reference = result.unfused->results();
  for (auto [number, pair] :
       llvm::enumerate(llvm::zip_equal(reference, values))) {
    auto &[ref, other] = pair;
    if (ref.shape() != other.shape())
      return llvm::createStringError("result " + llvm::Twine(number) + " is " +
                                     other.typeString() + ", unfused " +
                                     ref.typeString());
    result.differences.push_back(
        compare(ref, other, reduction, result.options.allowTf32));
  }
  return llvm::Error::success();
}

static llvm::Expected<bool> runParsed(const RunOptions &options,
                                      ModuleOp module, llvm::raw_ostream &out) {
  llvm::Expected<func::FuncOp> entry = findEntry(module, options.entry);
  if (!entry)
    return entry.takeError();
  std::optional<GpuTarget> gpu = parseGpuTarget(options.target);
  if (options.compare && gpu && launchesKernels(module))
    return llvm::createStringError(
        "--compare has nothing to compare with: a program for --target=" +
        options.target + " holds its kernels already");
  llvm::Expected<Arguments> arguments = makeArguments(options, *entry);
  if (!arguments)
    return arguments.takeError();
  auto main = Variant::create(module, options, options.mode, *arguments);
  if (!main)
    return main.takeError();
  (*main)->run();
  std::vector<HostTensor> values = (*main)->results();
  if (llvm::Error error = saveOutputs(options.saveOutputs, values))
    return std::move(error);
  RunResult result{options, **main, nullptr, {}, {}};
  std::unique_ptr<Variant> unfused;
  if (options.compare) {
    RunOptions reference = options;
    if (gpu)
      reference.target = "cpu";
    auto other = Variant::create(module, reference, RunMode::Off, *arguments);
    if (!other)
      return other.takeError();
    unfused = std::move(*other);
    result.unfused = unfused.get();
    if (llvm::Error error =
            checkResults(result, values, longestReduction(module)))
      return std::move(error);
  }
  if (options.repeat) {
    measure(options, **main, unfused.get());
    result.limits = Limits::measure(options.threads);
  }
  printTable(result, out);
  if (llvm::Error error = writeReports(result))
    return std::move(error);
  return result.passed();
}

int fuse::runModel(const RunOptions &options, llvm::raw_ostream &out) {
  DialectRegistry registry;
  registerRunDialects(registry);
  MLIRContext context(registry);
  context.disableMultithreading();
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(options.model, sources, &context);
  if (!module)
    return 1;
  llvm::Expected<bool> passed = runParsed(options, *module, out);
  if (!passed) {
    llvm::WithColor::error(llvm::errs(), "fuse-run")
        << llvm::toString(passed.takeError()) << '\n';
    return 1;
  }
  return *passed ? 0 : 1;
}
