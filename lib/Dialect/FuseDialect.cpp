//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect's registration, parsing helpers and form verifiers. A verifier
// here checks form only (kinds of attributes, ranges of values): stock passes
// drop operands and keep attributes, and must not fail because of it.
//
//===----------------------------------------------------------------------===//

#include "fuse/Dialect/FuseDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

#include "fuse/Dialect/FuseDialect.cpp.inc"
#include "fuse/Dialect/FuseEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "fuse/Dialect/FuseAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "fuse/Dialect/FuseOps.cpp.inc"

namespace fuse {

void FuseDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "fuse/Dialect/FuseAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "fuse/Dialect/FuseOps.cpp.inc"
      >();
}

Gate gateOf(Reason reason) {
  StringRef prefix = stringifyReason(reason).split(':').first;
  return symbolizeGate(prefix).value_or(Gate::None);
}

FailureOr<Reason> parseReason(AsmParser &parser) {
  std::string text;
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseString(&text)))
    return failure();
  if (std::optional<Reason> reason = symbolizeReason(text))
    return *reason;
  parser.emitError(loc) << "unknown reason \"" << text
                        << "\"; docs/Reasons.md lists the known ones";
  return failure();
}

FailureOr<Attribute> parseCount(AsmParser &parser) {
  std::string text;
  if (succeeded(parser.parseOptionalString(&text)))
    return Attribute(parser.getBuilder().getStringAttr(text));
  int64_t value;
  SMLoc loc = parser.getCurrentLocation();
  OptionalParseResult result = parser.parseOptionalInteger(value);
  if (!result.has_value()) {
    parser.emitError(loc) << "expected a count: an integer or a string";
    return failure();
  }
  if (failed(*result))
    return failure();
  return Attribute(parser.getBuilder().getI64IntegerAttr(value));
}

void printCount(AsmPrinter &printer, Attribute count) {
  if (auto integer = dyn_cast<IntegerAttr>(count))
    printer << integer.getValue();
  else
    printer << count;
}

/// Fails unless `count` is a non-negative i64 or a non-empty string.
static LogicalResult verifyCount(function_ref<InFlightDiagnostic()> emitError,
                                 StringRef name, Attribute count) {
  if (auto text = dyn_cast_or_null<StringAttr>(count)) {
    if (!text.getValue().empty())
      return success();
    return emitError() << "'" << name
                       << "' is an empty string, expected a polynomial in the "
                          "dynamic extents";
  }
  auto integer = dyn_cast_or_null<IntegerAttr>(count);
  if (!integer || !integer.getType().isSignlessInteger(64))
    return emitError() << "'" << name << "' is neither an integer nor a string";
  if (integer.getInt() < 0)
    return emitError() << "'" << name << "' is " << integer.getInt()
                       << ", expected a count of at least 0";
  return success();
}

LogicalResult CostAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               Attribute flops, Attribute read,
                               Attribute written, Attribute points,
                               Attribute parallel, Attribute reduction,
                               Attribute transcendentals, FloatAttr intensity,
                               DictionaryAttr hint, ArrayAttr overridden) {
  std::pair<StringRef, Attribute> counts[] = {
      {"flops", flops},
      {"read", read},
      {"written", written},
      {"points", points},
      {"parallel", parallel},
      {"reduction", reduction},
      {"transcendentals", transcendentals}};
  for (auto [name, count] : counts)
    if (failed(verifyCount(emitError, name, count)))
      return failure();
  if (!intensity)
    return success();
  double value = intensity.getValueAsDouble();
  if (!std::isfinite(value) || value < 0)
    return emitError() << "'intensity' is " << value
                       << ", expected a finite number of at least 0";
  return success();
}

LogicalResult DepAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              DepKind kind, std::optional<int64_t> op,
                              std::optional<int64_t> operand,
                              std::optional<int64_t> count, StringAttr detail) {
  for (auto [name, value] :
       {std::pair<StringRef, std::optional<int64_t>>{"op", op},
        {"operand", operand},
        {"count", count}})
    if (value && *value < 0)
      return emitError() << "'" << name << "' is " << *value
                         << ", expected at least 0";
  bool isDependence =
      kind == DepKind::RAW || kind == DepKind::WAR || kind == DepKind::WAW;
  if (isDependence && !op)
    return emitError() << "'" << stringifyDepKind(kind)
                       << "' needs 'op', the earlier operator's fuse.id";
  if (kind == DepKind::Consumers && !count)
    return emitError() << "'consumers' needs 'count'";
  return success();
}

static LogicalResult verifyVerdict(function_ref<InFlightDiagnostic()> emitError,
                                   VerdictKind verdict, Gate gate,
                                   Reason reason) {
  if (gateOf(reason) != gate)
    return emitError() << "gate '" << stringifyGate(gate)
                       << "' does not match the reason \""
                       << stringifyReason(reason) << "\"";
  bool reasonFuses = reason == Reason::CanFuse ||
                     reason == Reason::HintAlways ||
                     reason == Reason::AllowListed;
  if ((verdict == VerdictKind::Fuse) != reasonFuses)
    return emitError() << "verdict '" << stringifyVerdictKind(verdict)
                       << "' does not match the reason \""
                       << stringifyReason(reason) << "\"";
  return success();
}

LogicalResult BoundaryAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   VerdictKind verdict, int64_t producer,
                                   int64_t operand, Gate gate, Reason reason,
                                   StringAttr when, ArrayAttr via,
                                   DictionaryAttr numbers, StringAttr flip,
                                   std::optional<NumericClass> numeric,
                                   StringAttr plan) {
  if (producer < 0 || operand < 0)
    return emitError() << "'producer' and 'operand' are " << producer << " and "
                       << operand << ", expected at least 0";
  return verifyVerdict(emitError, verdict, gate, reason);
}

LogicalResult SiblingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  VerdictKind verdict, int64_t with, Gate gate,
                                  Reason reason, DictionaryAttr numbers,
                                  StringAttr flip) {
  if (with < 0)
    return emitError() << "'with' is " << with << ", expected at least 0";
  return verifyVerdict(emitError, verdict, gate, reason);
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringAttr name, DictionaryAttr numbers) {
  if (name.getValue().empty())
    return emitError() << "the target's name is empty";
  for (NamedAttribute entry : numbers) {
    auto number = dyn_cast<FloatAttr>(entry.getValue());
    if (!number || !(number.getValueAsDouble() > 0) ||
        !std::isfinite(number.getValueAsDouble()))
      return emitError() << "'" << entry.getName().getValue() << "' is "
                         << entry.getValue() << ", expected a positive f64";
  }
  return success();
}

/// Fails unless `attr` is an array whose elements are all `T`.
template <typename T> static bool isArrayOf(Attribute attr) {
  auto array = dyn_cast<ArrayAttr>(attr);
  return array &&
         llvm::all_of(array, [](Attribute element) { return isa<T>(element); });
}

LogicalResult FuseDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  StringRef name = attribute.getName().getValue();
  Attribute value = attribute.getValue();
  auto mismatch = [&](StringRef expected) {
    return op->emitError() << "'" << name << "' is " << value << ", expected "
                           << expected;
  };
  if (name == names::kCost && !isa<CostAttr>(value))
    return mismatch("#fuse.cost");
  if (name == names::kDep && !isArrayOf<DepAttr>(value))
    return mismatch("an array of #fuse.dep");
  if (name == names::kBoundary && !isArrayOf<BoundaryAttr>(value))
    return mismatch("an array of #fuse.boundary");
  if (name == names::kSiblings && !isArrayOf<SiblingAttr>(value))
    return mismatch("an array of #fuse.sibling");
  if (name == names::kId) {
    auto id = dyn_cast<IntegerAttr>(value);
    if (!id || !id.getType().isSignlessInteger(64) || id.getInt() < 0)
      return mismatch("an i64 of at least 0");
  }
  if (name == names::kGroup && !isa<GroupAttr>(value))
    return mismatch("#fuse.group");
  if (name == names::kRecompute && !isa<UnitAttr>(value))
    return mismatch("a unit attribute");
  if (name == names::kTile && !isa<TileAttr>(value))
    return mismatch("#fuse.tile");
  if (name == names::kOptions && !isa<DictionaryAttr>(value))
    return mismatch("a dictionary");
  if ((name == names::kFolded || name == names::kFoldedInput ||
       name == names::kWeights) &&
      !isa<StringAttr>(value))
    return mismatch("a string");
  return success();
}

LogicalResult FuseDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                    unsigned argIndex,
                                                    NamedAttribute attribute) {
  if (attribute.getName() == names::kParam &&
      !isa<UnitAttr>(attribute.getValue()))
    return op->emitError() << "'fuse.param' on argument " << argIndex << " is "
                           << attribute.getValue()
                           << ", expected a unit attribute";
  return success();
}

} // namespace fuse
