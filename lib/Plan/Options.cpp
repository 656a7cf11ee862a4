//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The options of `fuse-boundary` as a module attribute, and back.
//
//===----------------------------------------------------------------------===//

#include "fuse/Plan/Boundary.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace fuse;

static TargetAttr deviceToAttr(Builder &b, const Device &device) {
  SmallVector<NamedAttribute> numbers;
  for (const DeviceField &field : deviceFields())
    numbers.push_back(b.getNamedAttr(field.key, b.getF64FloatAttr(device.*field.member)));
  return TargetAttr::get(b.getContext(), b.getStringAttr(device.name), b.getDictionaryAttr(numbers));
}

static std::optional<Device> deviceFromAttr(TargetAttr target) {
  Device device;
  device.name = target.getName().getValue().str();
  for (const DeviceField &field : deviceFields()) {
    auto number = dyn_cast_or_null<FloatAttr>(target.getNumbers().get(field.key));
    if (!number)
      return std::nullopt;
    device.*field.member = number.getValueAsDouble();
  }
  return device;
}

DictionaryAttr fuse::optionsToAttr(MLIRContext *context, const VerdictOptions &options) {
  Builder b(context);
  return b.getDictionaryAttr({
      b.getNamedAttr("attrs", b.getBoolAttr(options.emitAttributes)),
      b.getNamedAttr("boundary", b.getF64FloatAttr(options.boundary)),
      b.getNamedAttr("device_mem", b.getF64FloatAttr(options.deviceMemory)),
      b.getNamedAttr("policy", b.getStringAttr(options.policy == Policy::Cost ? "cost" : "strict")),
      b.getNamedAttr("register_limit", b.getF64FloatAttr(options.registerLimit)),
      b.getNamedAttr("target", deviceToAttr(b, options.device)),
      b.getNamedAttr("tolerance", b.getF64FloatAttr(options.tolerance)),
  });
}

std::optional<VerdictOptions> fuse::optionsFromAttr(Attribute attr) {
  auto dictionary = dyn_cast_or_null<DictionaryAttr>(attr);
  if (!dictionary)
    return std::nullopt;
  auto attrs = dictionary.getAs<BoolAttr>("attrs");
  auto policy = dictionary.getAs<StringAttr>("policy");
  auto target = dictionary.getAs<TargetAttr>("target");
  std::optional<Device> device = target ? deviceFromAttr(target) : std::nullopt;
  if (!attrs || !policy || !device)
    return std::nullopt;
  VerdictOptions options;
  options.emitAttributes = attrs.getValue();
  options.policy = policy.getValue() == "strict" ? Policy::Strict : Policy::Cost;
  options.device = *device;
  std::pair<StringRef, double *> numbers[] = {{"boundary", &options.boundary},
                                              {"device_mem", &options.deviceMemory},
                                              {"register_limit", &options.registerLimit},
                                              {"tolerance", &options.tolerance}};
  for (auto [name, slot] : numbers) {
    auto number = dictionary.getAs<FloatAttr>(name);
    if (!number)
      return std::nullopt;
    *slot = number.getValueAsDouble();
  }
  return options;
}

void fuse::refreshVerdicts(Operation *module) {
  std::optional<VerdictOptions> options = optionsFromAttr(module->getDiscardableAttr(names::kOptions));
  if (!options)
    return;
  for (FunctionOpInterface function : functionsOf(module)) {
    FunctionFacts facts(function);
    std::vector<Decision> decisions = decideEdges(facts, *options);
    if (!options->emitAttributes)
      continue;
    writeFacts(facts);
    writeVerdicts(facts, decisions);
  }
}
