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
    numbers.push_back(
        b.getNamedAttr(field.key, b.getF64FloatAttr(device.*field.member)));
  return TargetAttr::get(b.getContext(), b.getStringAttr(device.name),
                         b.getDictionaryAttr(numbers));
}

static std::optional<Device> deviceFromAttr(TargetAttr target) {
  Device device;
  device.name = target.getName().getValue().str();
  for (const DeviceField &field : deviceFields()) {
    auto number =
        dyn_cast_or_null<FloatAttr>(target.getNumbers().get(field.key));
    if (!number && field.optional)
      continue;
    if (!number)
      return std::nullopt;
    device.*field.member = number.getValueAsDouble();
  }
  device.completeOptional();
  return device;
}

/// The optional numbers, by their attribute name.
static SmallVector<std::pair<StringRef, double *>>
numericOptions(VerdictOptions &options) {
  return {{"boundary", &options.boundary},
          {"device_mem", &options.deviceMemory},
          {"register_limit", &options.registerLimit},
          {"tolerance", &options.tolerance}};
}

DictionaryAttr fuse::optionsToAttr(MLIRContext *context,
                                   const VerdictOptions &given) {
  Builder b(context);
  VerdictOptions options = given, defaults;
  // A preset is named; the numbers of any other device are kept in full.
  bool isPreset = llvm::is_contained(presetNames(), options.device.name);
  SmallVector<NamedAttribute> entries{
      b.getNamedAttr(
          "policy",
          b.getStringAttr(options.policy == Policy::Cost ? "cost" : "strict")),
      b.getNamedAttr("target",
                     isPreset ? Attribute(b.getStringAttr(options.device.name))
                              : Attribute(deviceToAttr(b, options.device)))};
  if (options.mode != Mode::Full)
    entries.push_back(b.getNamedAttr(
        "mode",
        b.getStringAttr(options.mode == Mode::Off ? "off" : "fold-only")));
  if (!options.emitAttributes)
    entries.push_back(b.getNamedAttr("attrs", b.getBoolAttr(false)));
  for (auto [option, byDefault] :
       llvm::zip_equal(numericOptions(options), numericOptions(defaults)))
    if (*option.second != *byDefault.second)
      entries.push_back(
          b.getNamedAttr(option.first, b.getF64FloatAttr(*option.second)));
  return b.getDictionaryAttr(entries);
}

std::optional<VerdictOptions> fuse::optionsFromAttr(Attribute attr) {
  auto dictionary = dyn_cast_or_null<DictionaryAttr>(attr);
  if (!dictionary)
    return std::nullopt;
  VerdictOptions options;
  auto policy = dictionary.getAs<StringAttr>("policy");
  std::optional<Device> device;
  if (auto target = dictionary.getAs<TargetAttr>("target"))
    device = deviceFromAttr(target);
  else if (auto name = dictionary.getAs<StringAttr>("target");
           name && llvm::is_contained(presetNames(), name.getValue()))
    device = llvm::cantFail(loadDevice(name));
  if (!policy || !device)
    return std::nullopt;
  options.device = *device;
  options.policy =
      policy.getValue() == "strict" ? Policy::Strict : Policy::Cost;
  if (auto mode = dictionary.getAs<StringAttr>("mode"))
    options.mode = mode == "off"         ? Mode::Off
                   : mode == "fold-only" ? Mode::FoldOnly
                                         : Mode::Full;
  if (auto attrs = dictionary.getAs<BoolAttr>("attrs"))
    options.emitAttributes = attrs.getValue();
  for (auto [name, slot] : numericOptions(options))
    if (auto number = dictionary.getAs<FloatAttr>(name))
      *slot = number.getValueAsDouble();
  return options;
}

/// True if an earlier pass left facts on operators of `facts`.
static bool hasFacts(const FunctionFacts &facts) {
  return llvm::any_of(facts.operators, [](const OperatorFacts &op) {
    return op.op->hasAttr(names::kId);
  });
}

void fuse::refreshVerdicts(Operation *module) {
  std::optional<VerdictOptions> left =
      optionsFromAttr(module->getDiscardableAttr(names::kOptions));
  VerdictOptions options = optionsOrDefault(module);
  for (FunctionOpInterface function : functionsOf(module)) {
    FunctionFacts facts(function);
    if (!(left && left->emitAttributes) && !hasFacts(facts))
      continue;
    std::vector<Decision> decisions = decideEdges(facts, options);
    readPlanNotes(facts, decisions);
    writeFacts(facts);
    writeVerdicts(facts, decisions);
  }
}
