//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Devices from the module's own `dlti.target_system_spec`. Changes nothing.
//
//===----------------------------------------------------------------------===//

#include "fuse/Plan/Boundary.h"
#include "mlir/Dialect/DLTI/DLTI.h"

using namespace mlir;
using namespace fuse;

/// The device's entry in the system description, by name, or the first.
static TargetDeviceSpecInterface findDevice(Attribute spec, StringRef wanted,
                                            std::string &known) {
  TargetDeviceSpecInterface found;
  auto system = dyn_cast_or_null<TargetSystemSpecInterface>(spec);
  if (!system)
    return found;
  for (DataLayoutEntryInterface entry : system.getEntries()) {
    auto id = dyn_cast_if_present<StringAttr>(entry.getKey());
    auto device =
        dyn_cast_if_present<TargetDeviceSpecInterface>(entry.getValue());
    if (!id || !device)
      continue;
    known += (known.empty() ? "" : ", ") + id.getValue().str();
    if (!found && (wanted.empty() || id.getValue() == wanted))
      found = device;
  }
  return found;
}

/// Sets one field from an entry; the error names key and value.
static llvm::Error setField(Device &device, StringRef key, Attribute value) {
  for (const DeviceField &field : deviceFields()) {
    if (field.key != key)
      continue;
    double number = 0;
    if (auto integer = dyn_cast<IntegerAttr>(value))
      number = integer.getValue().signedRoundToDouble();
    else if (auto real = dyn_cast<FloatAttr>(value))
      number = real.getValueAsDouble();
    if (!(number > 0)) {
      std::string text;
      llvm::raw_string_ostream(text) << value;
      return llvm::createStringError(
          "dlti key '" + key + "': expected a positive number, found " + text);
    }
    device.*field.member = number;
    return llvm::Error::success();
  }
  // Keys of other tools (cache sizes for a tiler, say) are not ours to judge.
  return llvm::Error::success();
}

static llvm::Expected<Device> fromSpec(TargetDeviceSpecInterface spec,
                                       StringRef name) {
  Device device;
  for (DataLayoutEntryInterface entry : spec.getEntries()) {
    auto key = dyn_cast_if_present<StringAttr>(entry.getKey());
    auto base = dyn_cast<StringAttr>(entry.getValue());
    if (!key || key != "base" || !base)
      continue;
    llvm::Expected<Device> preset = loadDevice(base);
    if (!preset)
      return preset.takeError();
    device = *preset;
  }
  device.name = name.str();
  for (DataLayoutEntryInterface entry : spec.getEntries())
    if (auto key = dyn_cast_if_present<StringAttr>(entry.getKey()))
      if (llvm::Error error = setField(device, key, entry.getValue()))
        return std::move(error);
  device.completeOptional();
  for (const DeviceField &field : deviceFields())
    if (!(device.*field.member > 0))
      return llvm::createStringError(
          "dlti.target_system_spec: key '" + field.key +
          "' is missing; a key base = \"sm_80\" fills in the others");
  return device;
}

llvm::Expected<Device> fuse::loadTarget(Operation *module, StringRef target) {
  auto [scheme, wanted] = target.split(':');
  if (scheme != "dlti")
    return loadDevice(target);
  std::string known;
  Attribute spec = module->getAttr("dlti.target_system_spec");
  TargetDeviceSpecInterface device = findDevice(spec, wanted, known);
  if (!device)
    return llvm::createStringError(
        known.empty()
            ? Twine("the module has no dlti.target_system_spec with a device")
                  .str()
            : ("dlti.target_system_spec has no device '" + wanted +
               "', known are " + known)
                  .str());
  return fromSpec(device, target);
}
