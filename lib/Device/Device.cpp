//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Device models by name, from JSON files, and of the CPU this runs on.
//
//===----------------------------------------------------------------------===//

#include "fuse/Device/Device.h"
#include "Presets.h"
#include "fuse/Support/Json.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Host.h"
#include <thread>

using namespace fuse;
using namespace llvm;

ArrayRef<DeviceField> fuse::deviceFields() {
  static const DeviceField fields[] = {
      {"peak_f32", &Device::peakF32},
      {"peak_f64", &Device::peakF64},
      {"peak_f16", &Device::peakF16},
      {"tensor_f16", &Device::tensorF16},
      {"tensor_tf32", &Device::tensorTf32},
      {"bandwidth", &Device::bandwidth},
      {"launch", &Device::launch},
      {"memory", &Device::memory},
      {"cache", &Device::cache},
      {"shared_per_block", &Device::sharedPerBlock},
      {"shared_per_sm", &Device::sharedPerSm},
      {"shared_bandwidth", &Device::sharedBandwidth},
      {"registers_per_thread", &Device::registersPerThread},
      {"registers_per_sm", &Device::registersPerSm},
      {"sm_count", &Device::smCount},
      {"max_threads_per_sm", &Device::maxThreadsPerSm},
      {"max_threads_per_block", &Device::maxThreadsPerBlock},
      {"warp_size", &Device::warpSize},
      {"max_blocks_per_sm", &Device::maxBlocksPerSm, /*optional=*/true},
      {"special", &Device::special, /*optional=*/true},
  };
  return fields;
}

/// The machine this process runs on: vector width and core count are probed,
/// the rest is scaled from x86-avx512 by core count (a CPU does not tell its
/// bandwidth; measure and pass a JSON file for more).
static Device probedCpu() {
  Device d = cantFail(loadDevice("x86-avx512"));
  double cores = std::max(1u, std::thread::hardware_concurrency());
  StringMap<bool> features = sys::getHostCPUFeatures();
  double lanes = features.lookup("avx512f") ? 16
                 : features.lookup("avx2")  ? 8
                                            : 4;
  double perCoreScale = lanes / d.warpSize;
  d.name = "cpu";
  for (double Device::*rate :
       {&Device::peakF32, &Device::peakF64, &Device::peakF16,
        &Device::tensorF16, &Device::tensorTf32, &Device::special})
    d.*rate *= cores / d.smCount * perCoreScale;
  d.bandwidth *= cores / d.smCount;
  d.sharedBandwidth *= cores / d.smCount * perCoreScale;
  d.registersPerThread = d.registersPerSm = lanes == 16 ? 32 : 16;
  d.smCount = cores;
  d.warpSize = lanes;
  return d;
}

/// Reads the fields of `object` into a device; errors name the key.
static Expected<Device> fromJson(StringRef path, const json::Object &object) {
  auto fail = [&](const Twine &what) {
    return createStringError(path + ": " + what);
  };
  Device device;
  std::optional<StringRef> name = object.getString("name");
  if (!name || name->empty())
    return fail("key 'name': expected a non-empty string");
  device.name = name->str();
  for (const DeviceField &field : deviceFields()) {
    const json::Value *value = object.get(field.key);
    if (!value && field.optional)
      continue;
    if (!value)
      return fail("key '" + field.key + "' is missing");
    std::optional<double> number = value->getAsNumber();
    if (!number || !(*number > 0))
      return fail("key '" + field.key +
                  "': expected a positive number, found " +
                  formatv("{0}", *value).str());
    device.*field.member = *number;
  }
  device.completeOptional();
  for (const auto &entry : object) {
    StringRef key = entry.first;
    bool known = key == "name" || key == "source" ||
                 any_of(deviceFields(), [&](const DeviceField &field) {
                   return field.key == key;
                 });
    if (!known)
      return fail("unknown key '" + key + "'");
  }
  return device;
}

static Expected<Device> loadJson(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return createStringError("cannot read device file '" + path +
                             "': " + buffer.getError().message());
  Expected<json::Value> value = parseJson(path, (*buffer)->getBuffer());
  if (!value)
    return value.takeError();
  if (const json::Object *object = value->getAsObject())
    return fromJson(path, *object);
  return createStringError(path + ":1: expected a JSON object");
}

ArrayRef<StringRef> fuse::presetNames() {
  static const std::vector<StringRef> names = [] {
    std::vector<StringRef> result;
    for (const DevicePreset &preset : devicePresets())
      result.push_back(preset.name);
    result.push_back("cpu");
    return result;
  }();
  return names;
}

Expected<Device> fuse::loadDevice(StringRef target) {
  for (const DevicePreset &preset : devicePresets())
    if (target == preset.name)
      return preset.make();
  if (target == "cpu")
    return probedCpu();
  if (target.ends_with(".json"))
    return loadJson(target);
  return createStringError("unknown target '" + target +
                           "', known targets are " + join(presetNames(), ", ") +
                           ", and a device file NAME.json");
}
