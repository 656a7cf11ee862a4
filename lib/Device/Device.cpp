//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Device presets, the probed CPU, and device models read from JSON files.
//
//===----------------------------------------------------------------------===//

#include "fuse/Device/Device.h"
#include "llvm/Support/JSON.h"
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
      {"registers_per_thread", &Device::registersPerThread},
      {"registers_per_sm", &Device::registersPerSm},
      {"sm_count", &Device::smCount},
      {"max_threads_per_sm", &Device::maxThreadsPerSm},
      {"max_threads_per_block", &Device::maxThreadsPerBlock},
      {"warp_size", &Device::warpSize},
  };
  return fields;
}

ArrayRef<StringRef> fuse::presetNames() {
  static const StringRef names[] = {"sm_80", "sm_90", "cpu", "x86-avx512"};
  return names;
}

/// NVIDIA A100-SXM4-40GB.
/// [1] "NVIDIA A100 Tensor Core GPU Architecture" white paper, table 2: peak
///     rates, memory size and bandwidth, L2, SM count.
/// [2] "CUDA C++ Programming Guide", Compute Capabilities, "Technical
///     Specifications per Compute Capability": shared memory, registers,
///     threads, warp size.
/// [3] NVIDIA developer blog "Getting Started with CUDA Graphs": 3.8 us per
///     kernel of which 2.9 us run, so 0.9 us between kernels in one stream.
static Device sm80() {
  Device d;
  d.name = "sm_80";
  d.peakF32 = 19.5e12;               // [1]
  d.peakF64 = 9.7e12;                // [1]
  d.peakF16 = 78e12;                 // [1]
  d.tensorF16 = 312e12;              // [1]
  d.tensorTf32 = 156e12;             // [1]
  d.bandwidth = 1555e9;              // [1]
  d.launch = 0.9e-6;                 // [3]
  d.memory = 40e9;                   // [1]
  d.cache = 40.0 * 1024 * 1024;      // [1]
  d.sharedPerBlock = 163.0 * 1024;   // [2]
  d.sharedPerSm = 164.0 * 1024;      // [2]
  d.registersPerThread = 255;        // [2]
  d.registersPerSm = 65536;          // [2]
  d.smCount = 108;                   // [1]
  d.maxThreadsPerSm = 2048;          // [2]
  d.maxThreadsPerBlock = 1024;       // [2]
  d.warpSize = 32;                   // [2]
  return d;
}

/// NVIDIA H100-SXM5-80GB.
/// [1] "NVIDIA H100 Tensor Core GPU Architecture" white paper, table 3 (rates
///     without sparsity). [2], [3]: as for sm_80.
static Device sm90() {
  Device d = sm80();
  d.name = "sm_90";
  d.peakF32 = 66.9e12;               // [1]
  d.peakF64 = 33.5e12;               // [1]
  d.peakF16 = 133.8e12;              // [1]
  d.tensorF16 = 989.4e12;            // [1]
  d.tensorTf32 = 494.7e12;           // [1]
  d.bandwidth = 3352e9;              // [1]
  d.memory = 80e9;                   // [1]
  d.cache = 50.0 * 1024 * 1024;      // [1]
  d.sharedPerBlock = 227.0 * 1024;   // [2]
  d.sharedPerSm = 228.0 * 1024;      // [2]
  d.smCount = 132;                   // [1]
  return d;
}

/// One socket of Intel Xeon Platinum 8380 (Ice Lake).
/// [1] Intel ARK, Xeon Platinum 8380: 40 cores, 2.3 GHz base, 60 MB L3, 8
///     channels of DDR4-3200, 2 AVX-512 FMA units.
/// [2] Intel 64 and IA-32 Architectures Optimization Reference Manual, Ice Lake
///     server: 1.25 MB L2 per core; 32 vector registers of 512 bit.
/// Derived: peak = cores * GHz * units * lanes * 2; bandwidth = 8 * 8 B * 3.2 GT/s.
static Device avx512() {
  Device d;
  d.name = "x86-avx512";
  d.peakF32 = 40 * 2.3e9 * 2 * 16 * 2; // [1]
  d.peakF64 = d.peakF32 / 2;
  d.peakF16 = d.peakF32;               // f16 is computed in f32 before AVX512-FP16
  d.tensorF16 = d.peakF32;             // no tensor unit
  d.tensorTf32 = d.peakF32;
  d.bandwidth = 8 * 8 * 3.2e9;         // [1]
  d.launch = 2e-6;                     // an OpenMP fork-join; EPCC OpenMP micro-benchmarks, PARALLEL
  d.memory = 256e9;                    // 8 x 32 GB, the common configuration
  d.cache = 60.0 * 1024 * 1024;        // [1]
  d.sharedPerBlock = 1280.0 * 1024;    // [2]
  d.sharedPerSm = 1280.0 * 1024;       // [2]
  d.registersPerThread = 32;           // [2]
  d.registersPerSm = 32;               // [2]
  d.smCount = 40;                      // [1]
  d.maxThreadsPerSm = 1;               // one worker per core
  d.maxThreadsPerBlock = 1;
  d.warpSize = 16;                     // [2]
  return d;
}

/// The machine this process runs on: vector width and core count are probed,
/// the rest is scaled from x86-avx512 by core count (a CPU does not tell its
/// bandwidth; measure and pass a JSON file for more).
static Device probedCpu() {
  Device d = avx512();
  double cores = std::max(1u, std::thread::hardware_concurrency());
  StringMap<bool> features = sys::getHostCPUFeatures();
  double lanes = features.lookup("avx512f") ? 16 : features.lookup("avx2") ? 8 : 4;
  double perCoreScale = lanes / d.warpSize;
  d.name = "cpu";
  for (double Device::*rate : {&Device::peakF32, &Device::peakF64, &Device::peakF16, &Device::tensorF16,
                               &Device::tensorTf32})
    d.*rate *= cores / d.smCount * perCoreScale;
  d.bandwidth *= cores / d.smCount;
  d.registersPerThread = d.registersPerSm = lanes == 16 ? 32 : 16;
  d.smCount = cores;
  d.warpSize = lanes;
  return d;
}

/// Reads the fields of `object` into a device; errors name the key.
static Expected<Device> fromJson(StringRef path, const json::Object &object) {
  auto fail = [&](const Twine &what) { return createStringError(path + ": " + what); };
  Device device;
  std::optional<StringRef> name = object.getString("name");
  if (!name || name->empty())
    return fail("key 'name': expected a non-empty string");
  device.name = name->str();
  for (const DeviceField &field : deviceFields()) {
    const json::Value *value = object.get(field.key);
    if (!value)
      return fail("key '" + field.key + "' is missing");
    std::optional<double> number = value->getAsNumber();
    if (!number || !(*number > 0))
      return fail("key '" + field.key + "': expected a positive number, found " + formatv("{0}", *value).str());
    device.*field.member = *number;
  }
  for (const auto &entry : object) {
    StringRef key = entry.first;
    bool known = key == "name" || key == "source" ||
                 any_of(deviceFields(), [&](const DeviceField &field) { return field.key == key; });
    if (!known)
      return fail("unknown key '" + key + "'");
  }
  return device;
}

static Expected<Device> loadJson(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return createStringError("cannot read device file '" + path + "': " + buffer.getError().message());
  Expected<json::Value> value = json::parse((*buffer)->getBuffer());
  if (!value) {
    // The message of llvm::json is "[line:column, byte=n]: text".
    std::string text = toString(value.takeError());
    StringRef rest(text);
    StringRef position = rest.split(',').first.ltrim('[');
    return createStringError(path + ":" + position + ": malformed JSON:" + rest.split("]:").second);
  }
  if (const json::Object *object = value->getAsObject())
    return fromJson(path, *object);
  return createStringError(path + ":1: expected a JSON object");
}

Expected<Device> fuse::loadDevice(StringRef target) {
  if (target == "sm_80")
    return sm80();
  if (target == "sm_90")
    return sm90();
  if (target == "x86-avx512")
    return avx512();
  if (target == "cpu")
    return probedCpu();
  if (target.ends_with(".json"))
    return loadJson(target);
  return createStringError("unknown target '" + target + "', known targets are " + join(presetNames(), ", ") +
                           ", and a device file NAME.json");
}
