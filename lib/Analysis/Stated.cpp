//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the user states about costs and dynamic extents: `fuse.cost_override` on
// an operator, `fuse.dim_hint` on a function. It wins over what is counted.
//
//===----------------------------------------------------------------------===//

#include "fuse/Analysis/Facts.h"
#include <cmath>

using namespace mlir;
using namespace fuse;

static constexpr StringLiteral kCostKeys[] = {"flops", "bytes", "read",
                                              "written", "registers"};

/// A finite number of at least 0, from an integer or a float attribute.
static std::optional<double> statedNumber(Attribute attr) {
  double value;
  if (auto integer = dyn_cast<IntegerAttr>(attr);
      integer && integer.getValue().getBitWidth() <= 64)
    value = static_cast<double>(integer.getValue().getSExtValue());
  else if (auto number = dyn_cast<FloatAttr>(attr))
    value = number.getValueAsDouble();
  else
    return std::nullopt;
  // 2^62: everything the counts can hold with room for a sum.
  if (!std::isfinite(value) || value < 0 || value > 4.6e18)
    return std::nullopt;
  return value;
}

std::map<std::string, int64_t> fuse::dimHints(FunctionOpInterface function) {
  std::map<std::string, int64_t> hints;
  auto dictionary = function->getAttrOfType<DictionaryAttr>(names::kDimHint);
  if (!dictionary)
    return hints;
  for (NamedAttribute entry : dictionary)
    if (std::optional<double> value = statedNumber(entry.getValue()))
      hints[entry.getName().str()] = static_cast<int64_t>(*value);
  return hints;
}

/// Every count of `footprint` under `hints`.
static void evaluate(Footprint &footprint,
                     const std::map<std::string, int64_t> &hints) {
  for (Count *count : {&footprint.flops, &footprint.read, &footprint.written,
                       &footprint.points, &footprint.parallel,
                       &footprint.reduction, &footprint.transcendentals})
    *count = count->evaluate(hints);
}

void fuse::applyStated(Operation *op, FunctionOpInterface function,
                       Footprint &footprint) {
  if (std::map<std::string, int64_t> hints = dimHints(function); !hints.empty())
    evaluate(footprint, hints);
  auto dictionary = op->getAttrOfType<DictionaryAttr>(names::kCostOverride);
  if (!dictionary)
    return;
  for (StringRef key : kCostKeys) {
    Attribute attr = dictionary.get(key);
    std::optional<double> value = attr ? statedNumber(attr) : std::nullopt;
    if (!value)
      continue;
    Count count(static_cast<int64_t>(*value));
    if (key == "flops")
      footprint.flops = count;
    else if (key == "bytes")
      footprint.statedBytes = static_cast<int64_t>(*value);
    else if (key == "read")
      footprint.read = count;
    else if (key == "written")
      footprint.written = count;
    else
      footprint.registers = *value;
    footprint.overridden.push_back(key.str());
  }
}

void fuse::diagnoseStated(const FunctionFacts &facts) {
  for (const OperatorFacts &op : facts.operators) {
    Attribute attr = op.op->getAttr(names::kCostOverride);
    if (!attr)
      continue;
    auto dictionary = dyn_cast<DictionaryAttr>(attr);
    if (!dictionary) {
      emitWarning(op.op.getLoc()) << "'fuse.cost_override' is " << attr
                                  << ", expected a dictionary; it is ignored";
      continue;
    }
    for (NamedAttribute entry : dictionary) {
      if (!llvm::is_contained(kCostKeys, entry.getName().strref()))
        emitWarning(op.op.getLoc())
            << "'fuse.cost_override' has the unknown key '"
            << entry.getName().strref()
            << "', known are flops, bytes, read, written, "
               "registers; it is ignored";
      else if (!statedNumber(entry.getValue()))
        emitWarning(op.op.getLoc())
            << "'fuse.cost_override' states " << entry.getName().strref()
            << " = " << entry.getValue()
            << ", expected a finite number of at least 0; it is ignored";
    }
  }
  Attribute attr = facts.function->getAttr(names::kDimHint);
  if (!attr)
    return;
  auto dictionary = dyn_cast<DictionaryAttr>(attr);
  if (!dictionary) {
    emitWarning(facts.function->getLoc())
        << "'fuse.dim_hint' is " << attr
        << ", expected a dictionary; it is ignored";
    return;
  }
  // What formed kernels hold is not counted; a hint may be theirs.
  bool hasKernels =
      facts.function->walk([](KernelOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  std::set<std::string> symbols;
  for (const OperatorFacts &op : facts.operators)
    op.counted.points.collectSymbols(symbols);
  for (NamedAttribute entry : dictionary) {
    if (!statedNumber(entry.getValue()))
      emitWarning(facts.function->getLoc())
          << "'fuse.dim_hint' gives " << entry.getName().strref() << " = "
          << entry.getValue()
          << ", expected a number of at least 0; it is ignored";
    else if (!hasKernels && !symbols.count(entry.getName().str()))
      emitWarning(facts.function->getLoc())
          << "'fuse.dim_hint' names '" << entry.getName().strref()
          << "', which is no dynamic extent of an operator of this function";
  }
}
