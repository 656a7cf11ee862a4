//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Times each function of kernel_classes.mlir, fused and compiled for this
// machine, beside what the machine reaches with plain loops in the same
// process. It takes the options of Google Benchmark.
//
//===----------------------------------------------------------------------===//

#include "Variant.h"
#include "fuse/Pipeline/Run.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include <benchmark/benchmark.h>

using namespace mlir;
using namespace fuse;

namespace {
struct Work {
  double flops = 0, bytes = 0;
  double least = 0; ///< seconds that the machine's limits allow
};
} // namespace

static std::unique_ptr<Variant>
compileEntry(ModuleOp module, func::FuncOp entry, unsigned threads) {
  RunOptions options;
  options.entry = entry.getName().str();
  options.params = "1-";
  options.threads = threads;
  Arguments arguments;
  arguments.signature = llvm::cantFail(signatureOf(entry));
  for (const ValueType &type : arguments.signature.arguments) {
    arguments.values.emplace_back(type.element, type.shape);
    fillSeeded(arguments.values.back(), arguments.values.size());
  }
  return llvm::cantFail(
      Variant::create(module, options, RunMode::Full, arguments));
}

static Work workOf(const Variant &variant, const Limits &limits) {
  Work work;
  for (const KernelInfo &kernel : variant.kernels) {
    double flops = double(kernel.flops.value_or(0));
    double bytes = double(kernel.bytes.value_or(0));
    work.flops += flops;
    work.bytes += bytes;
    work.least += limits.bound(bytes, flops);
  }
  return work;
}

/// FLOP/s and bytes/s, each with its share of what plain loops reach, and the
/// share of the time that both allow.
static void setCounters(benchmark::State &state, const Work &work,
                        const Limits &limits, double seconds) {
  double runs = double(state.iterations()) / seconds;
  state.counters["FLOP/s"] = work.flops * runs;
  state.counters["of_peak"] = work.flops * runs / limits.flops;
  state.counters["B/s"] = work.bytes * runs;
  state.counters["of_bandwidth"] =
      work.bytes * runs / limits.bandwidthFor(work.bytes);
  state.counters["of_bound"] = work.least * runs;
}

namespace {
/// A function on a number of threads. It is compiled when it first runs: Google
/// Benchmark calls it several times until it knows how many runs it wants.
struct Case {
  ModuleOp module;
  func::FuncOp entry;
  unsigned threads;
  std::unique_ptr<Variant> variant = nullptr;
  Limits limits = {};

  void run(benchmark::State &state) {
    if (!variant) {
      variant = compileEntry(module, entry, threads);
      limits = Limits::measure(threads);
      variant->run();
    }
    double start = now();
    for (auto _ : state)
      variant->run();
    double seconds = now() - start;
    auto classes =
        llvm::map_range(variant->kernels, [](const KernelInfo &kernel) {
          return kernel.kernelClass;
        });
    state.SetLabel(llvm::join(classes, " "));
    setCounters(state, workOf(*variant, limits), limits, seconds);
  }
};
} // namespace

int main(int argc, char **argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 2;
  DialectRegistry registry;
  registerRunDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(FUSE_KERNEL_CLASSES, &context);
  if (!module)
    return 1;
  for (auto entry : module->getOps<func::FuncOp>())
    for (unsigned threads : {1u, 2u}) {
      auto one = std::make_shared<Case>(Case{*module, entry, threads});
      std::string name =
          (entry.getName() + "/" + llvm::Twine(threads) + "_threads").str();
      benchmark::RegisterBenchmark(
          name.c_str(), [one](benchmark::State &state) { one->run(state); })
          ->UseRealTime()
          ->Unit(benchmark::kMicrosecond);
    }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::ClearRegisteredBenchmarks();
}
