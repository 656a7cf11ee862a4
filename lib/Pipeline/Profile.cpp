//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// profile.json: measured times by structural key (docs/Profile.md). A file that
// exists is added to: entries of the same key, device and threads are replaced.
//
//===----------------------------------------------------------------------===//

#include "Variant.h"
#include "fuse/Support/Json.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Host.h"
#include <map>
#include <tuple>

using namespace llvm;
using namespace fuse;

constexpr int64_t kProfileVersion = 1;
constexpr double kMicro = 1e6;

namespace {
/// What tells entries apart: key, device, threads.
using EntryId = std::tuple<std::string, std::string, int64_t>;
using Entries = std::map<EntryId, json::Value>;
} // namespace

static EntryId idOf(const json::Object &entry) {
  return {entry.getString("key").value_or("").str(),
          entry.getString("device").value_or("").str(),
          entry.getInteger("threads").value_or(1)};
}

/// The entries of an existing file; none if there is no file.
static Expected<Entries> readEntries(StringRef path) {
  Entries entries;
  if (!sys::fs::exists(path))
    return entries;
  auto buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return createStringError("cannot read " + path + ": " +
                             buffer.getError().message());
  Expected<json::Value> parsed = parseJson(path, (*buffer)->getBuffer());
  if (!parsed)
    return parsed.takeError();
  const json::Object *root = parsed->getAsObject();
  std::optional<int64_t> version =
      root ? root->getInteger("version") : std::nullopt;
  if (!version || *version != kProfileVersion)
    return createStringError(path + ": expected a profile of version " +
                             Twine(kProfileVersion));
  if (const json::Array *kernels = root->getArray("kernels"))
    for (const json::Value &value : *kernels)
      if (const json::Object *entry = value.getAsObject())
        entries.insert_or_assign(idOf(*entry), value);
  return entries;
}

static void addKernels(const RunResult &result, const Variant &variant,
                       Entries &entries) {
  std::string device = sys::getHostCPUName().str();
  for (const KernelInfo &kernel : variant.kernels) {
    Timing timing = summarize(kernel.seconds);
    if (timing.p50 <= 0)
      continue;
    json::Object entry{{"key", kernel.key},
                       {"device", device},
                       {"threads", int64_t(result.options.threads)},
                       {"class", kernel.kernelClass},
                       {"p50_us", timing.p50 * kMicro},
                       {"p99_us", timing.p99 * kMicro},
                       {"min_us", timing.min * kMicro},
                       {"runs", int64_t(timing.runs)}};
    if (kernel.bytes)
      entry["bytes"] = *kernel.bytes;
    if (kernel.flops)
      entry["flops"] = *kernel.flops;
    EntryId id = idOf(entry);
    entries.insert_or_assign(std::move(id), json::Value(std::move(entry)));
  }
}

/// What ptxas said of GPU kernels.
static void addResources(StringRef chip, const Variant &variant,
                         Entries &entries) {
  for (const KernelInfo &kernel : variant.kernels) {
    if (!kernel.resources)
      continue;
    const KernelResources &resources = *kernel.resources;
    json::Object entry{{"key", kernel.key},
                       {"device", chip},
                       {"threads", 1},
                       {"class", kernel.kernelClass},
                       {"registers", resources.registers},
                       {"shared", resources.shared},
                       {"stack", resources.stack},
                       {"spill_stores", resources.spillStores},
                       {"spill_loads", resources.spillLoads}};
    EntryId id = idOf(entry);
    entries.insert_or_assign(std::move(id), json::Value(std::move(entry)));
  }
}

Error fuse::writeProfile(const RunResult &result) {
  const std::string &path = result.options.profile;
  if (path.empty())
    return Error::success();
  Expected<Entries> entries = readEntries(path);
  if (!entries)
    return entries.takeError();
  if (std::optional<GpuTarget> gpu = parseGpuTarget(result.options.target))
    addResources(gpu->chip, result.main, *entries);
  else
    addKernels(result, result.main, *entries);
  if (result.unfused)
    addKernels(result, *result.unfused, *entries);
  json::Array kernels;
  for (auto &[id, entry] : *entries)
    kernels.push_back(std::move(entry));
  json::Object root{{"version", kProfileVersion},
                    {"kernels", std::move(kernels)}};
  return writeToOutput(path, [&](raw_ostream &out) -> Error {
    out << formatv("{0:2}", json::Value(std::move(root))) << '\n';
    return Error::success();
  });
}
