//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of a run, and its JSON files.
//
//===----------------------------------------------------------------------===//

#include "Variant.h"
#include "fuse/Runtime/Limits.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;
using namespace fuse;

namespace {
constexpr double kMicro = 1e6, kGiga = 1e9, kMega = 1e6;

/// Sums over the kernels of a program.
struct Totals {
  double flops = 0, bytes = 0;
  unsigned kernels = 0;
};
} // namespace

/// Kernels that ran in the body (the others belong to the preparation).
static bool ran(const KernelInfo &kernel) {
  return llvm::any_of(kernel.seconds, [](double taken) { return taken > 0; });
}

static Totals totalsOf(const Variant &variant) {
  Totals totals;
  for (const KernelInfo &kernel : variant.kernels) {
    if (!ran(kernel))
      continue;
    ++totals.kernels;
    totals.flops += double(kernel.flops.value_or(0));
    totals.bytes += double(kernel.bytes.value_or(0));
  }
  return totals;
}

static void printRow(raw_ostream &out, StringRef name, const Timing &timing,
                     double bytes, double flops, double bound) {
  double rate = timing.p50 > 0 ? 1 / timing.p50 : 0;
  out << left_justify(name, 28)
      << format("%10.1f %10.1f %10.1f %9.2f %8.1f %8.1f", timing.p50 * kMicro,
                timing.p99 * kMicro, timing.min * kMicro, bytes / kMega,
                bytes * rate / kGiga, flops * rate / kGiga);
  out << format(" %6.0f%%", timing.p50 > 0 ? 100 * bound / timing.p50 : 0.0);
  out << '\n';
}

static void printVariant(raw_ostream &out, StringRef title, Variant &variant,
                         const Limits &limits) {
  out << title << '\n'
      << left_justify("kernel", 28)
      << "    p50 us     p99 us     min us        MB     GB/s  GFLOP/s "
         "roofline\n";
  double sum = 0;
  for (const KernelInfo &kernel : variant.kernels)
    if (ran(kernel)) {
      double bytes = double(kernel.bytes.value_or(0));
      double flops = double(kernel.flops.value_or(0));
      double bound = limits.bound(bytes, flops);
      printRow(out, kernel.name, summarize(kernel.seconds), bytes, flops,
               bound);
      sum += bound;
    }
  Totals totals = totalsOf(variant);
  Timing timing = summarize(variant.seconds);
  printRow(out, "program", timing, totals.bytes, totals.flops, sum);
  out << format("%u kernels, %.1f runs/s, peak memory %.2f MB, prepared in "
                "%.1f ms, compiled in %.2f s\n",
                totals.kernels, timing.p50 > 0 ? 1 / timing.p50 : 0.0,
                double(variant.peakBytes) / kMega, variant.prepareSeconds * 1e3,
                variant.compileSeconds);
}

/// The GPU's kernels: what is launched, not how long it takes.
static void printLaunches(raw_ostream &out, const Variant &variant) {
  if (llvm::none_of(variant.kernels,
                    [](const KernelInfo &kernel) { return kernel.launches; }))
    return;
  out << left_justify("kernel", 28) << "launches class           MB\n";
  for (const KernelInfo &kernel : variant.kernels) {
    out << left_justify(kernel.name, 28) << format("%8u ", kernel.launches)
        << left_justify(kernel.kernelClass, 12)
        << format("%6.2f", double(kernel.bytes.value_or(0)) / kMega);
    if (kernel.plain)
      out << "  plain: " << *kernel.plain;
    if (kernel.split)
      out << "  part of a chain: " << *kernel.split;
    out << '\n';
  }
}

static double speedup(const RunResult &result) {
  double fused = summarize(result.main.seconds).p50;
  return fused > 0 ? summarize(result.unfused->seconds).p50 / fused : 0;
}

static StringRef titleOf(const RunOptions &options) {
  if (std::optional<GpuTarget> gpu = parseGpuTarget(options.target))
    return gpu->emulated ? "emulated: wall time of the emulation, not a GPU's"
                         : "on the GPU, with the copies that the program makes";
  static constexpr StringLiteral titles[] = {"unfused", "folded", "fused"};
  return titles[unsigned(options.mode)];
}

void fuse::printTable(const RunResult &result, raw_ostream &out) {
  std::optional<GpuTarget> gpu = parseGpuTarget(result.options.target);
  printLaunches(out, result.main);
  if (result.unfused && result.options.repeat)
    printVariant(out, "unfused", *result.unfused, result.limits);
  if (result.options.repeat)
    printVariant(out, titleOf(result.options), result.main, result.limits);
  if (!result.unfused)
    return;
  if (result.options.repeat && !gpu)
    out << format("S = %.2f (T_unfused / T_fused, p50)\n", speedup(result));
  for (auto [number, difference] : enumerate(result.differences))
    out << "result " << number << ": "
        << (difference.passed() ? "equal" : "DIFFERENT")
        << format(", d_acc = %.3g, max|ref| = %.3g, %.3g of the tolerance",
                  difference.distance, difference.largest, difference.used)
        << (difference.finite ? "" : ", the reference is not finite") << '\n';
}

static json::Object timesOf(const std::vector<double> &seconds) {
  Timing timing = summarize(seconds);
  return json::Object{{"p50_us", timing.p50 * kMicro},
                      {"p99_us", timing.p99 * kMicro},
                      {"min_us", timing.min * kMicro},
                      {"runs", int64_t(timing.runs)}};
}

static json::Array kernelsOf(const Variant &variant) {
  json::Array kernels;
  for (const KernelInfo &kernel : variant.kernels) {
    if (!ran(kernel))
      continue;
    json::Object object = timesOf(kernel.seconds);
    object["name"] = kernel.name;
    object["class"] = kernel.kernelClass;
    object["key"] = kernel.key;
    if (kernel.bytes)
      object["bytes"] = *kernel.bytes;
    if (kernel.flops)
      object["flops"] = *kernel.flops;
    kernels.push_back(std::move(object));
  }
  return kernels;
}

static json::Object programOf(const Variant &variant) {
  Totals totals = totalsOf(variant);
  json::Object object = timesOf(variant.seconds);
  object["bytes"] = totals.bytes;
  object["flops"] = totals.flops;
  object["peak_bytes"] = int64_t(variant.peakBytes);
  object["prepare_us"] = variant.prepareSeconds * kMicro;
  object["compile_s"] = variant.compileSeconds;
  object["kernels"] = kernelsOf(variant);
  return object;
}

static Error writeJson(StringRef path, json::Value value) {
  if (path.empty())
    return Error::success();
  return writeToOutput(path, [&](raw_ostream &out) -> Error {
    out << formatv("{0:2}", value) << '\n';
    return Error::success();
  });
}

static json::Object contextOf(const RunOptions &options) {
  static constexpr StringLiteral modes[] = {"off", "fold-only", "full"};
  return json::Object{{"version", 1},
                      {"model", options.model},
                      {"entry", options.entry},
                      {"target", options.target},
                      {"cpu", sys::getHostCPUName()},
                      {"threads", int64_t(options.threads)},
                      {"numerics", options.numerics == Numerics::Relaxed
                                       ? "relaxed"
                                       : "strict"},
                      {"allow_tf32", options.allowTf32},
                      {"mode", modes[unsigned(options.mode)]}};
}

static json::Object limitsOf(const Limits &limits) {
  json::Array bandwidth;
  for (auto [bytes, rate] : limits.bandwidth)
    bandwidth.push_back(
        json::Object{{"bytes", bytes}, {"bytes_per_second", rate}});
  return json::Object{{"flops_per_second", limits.flops},
                      {"bandwidth", std::move(bandwidth)}};
}

Error fuse::writeReports(const RunResult &result) {
  if (Error error = writeProfile(result))
    return error;
  json::Object report = contextOf(result.options);
  report["program"] = programOf(result.main);
  if (result.options.repeat)
    report["limits"] = limitsOf(result.limits);
  if (result.unfused) {
    report["unfused"] = programOf(*result.unfused);
    report["speedup"] = speedup(result);
    report["passed"] = result.passed();
    json::Array differences;
    for (const Difference &difference : result.differences)
      differences.push_back(json::Object{{"d_acc", difference.distance},
                                         {"max_ref", difference.largest},
                                         {"used", difference.used},
                                         {"finite", difference.finite}});
    report["results"] = std::move(differences);
  }
  return writeJson(result.options.json, std::move(report));
}
