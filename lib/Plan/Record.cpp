//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One decision record, two printers: attributes and remarks. Writes discardable
// attributes, edits no compute operation.
//
//===----------------------------------------------------------------------===//

#include "Record.h"
#include "fuse/Support/RemarkHelpers.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include <cmath>

using namespace mlir;
using namespace fuse;

static Attribute countAttr(Builder &builder, const Count &count) {
  if (std::optional<int64_t> value = count.value())
    return builder.getI64IntegerAttr(*value);
  return builder.getStringAttr(count.str());
}

/// The counts that `fuse.dim_hint` leads to, where they differ from `counted`.
static DictionaryAttr hintAttr(Builder &b, const Footprint &counted,
                               const Footprint &stated) {
  if (counted.points.isStatic() || !stated.points.isStatic())
    return {};
  return b.getDictionaryAttr(
      {b.getNamedAttr("flops", countAttr(b, stated.flops)),
       b.getNamedAttr("read", countAttr(b, stated.read)),
       b.getNamedAttr("written", countAttr(b, stated.written)),
       b.getNamedAttr("points", countAttr(b, stated.points))});
}

/// `counted` as the program has it; the intensity, and whatever `overridden`
/// names, as the user states it.
static Attribute costAttr(Builder &b, const Footprint &counted,
                          const Footprint &stated) {
  std::optional<double> intensity = stated.intensity();
  SmallVector<StringRef> overridden(stated.overridden.begin(),
                                    stated.overridden.end());
  auto pick = [&](StringRef key, const Count &own, const Count &users) {
    return countAttr(b, llvm::is_contained(overridden, key) ? users : own);
  };
  return CostAttr::get(
      b.getContext(), pick("flops", counted.flops, stated.flops),
      pick("read", counted.read, stated.read),
      pick("written", counted.written, stated.written),
      countAttr(b, counted.points), countAttr(b, counted.parallel),
      countAttr(b, counted.reduction), countAttr(b, counted.transcendentals),
      intensity ? b.getF64FloatAttr(*intensity) : FloatAttr(),
      hintAttr(b, counted, stated),
      overridden.empty() ? ArrayAttr() : b.getStrArrayAttr(overridden));
}

namespace {
/// Collects the `#fuse.dep` entries of each operation before they are written.
using DepLists = llvm::MapVector<Operation *, SmallVector<Attribute>>;
} // namespace

static void addDependences(const FunctionFacts &facts, DepLists &lists) {
  MLIRContext *context = facts.function->getContext();
  llvm::DenseSet<std::tuple<unsigned, unsigned, unsigned>> seen;
  for (const Edge &edge : facts.edges)
    if (seen.insert({edge.producer, edge.consumer, edge.operand}).second)
      lists[facts.operators[edge.consumer].op].push_back(
          DepAttr::get(context, DepKind::RAW, edge.producer, edge.operand,
                       std::nullopt, {}));
  for (const Dependence &dependence : facts.dependences)
    if (dependence.kind != DepKind::RAW)
      lists[facts.operators[dependence.to].op].push_back(
          DepAttr::get(context, dependence.kind, dependence.from,
                       dependence.operand, std::nullopt, {}));
  for (const CopyNeeded &copy : facts.copies)
    lists[copy.operand->getOwner()].push_back(DepAttr::get(
        context, DepKind::Copy, std::nullopt, copy.operand->getOperandNumber(),
        std::nullopt, StringAttr::get(context, copy.why)));
}

static void addOwnFacts(const FunctionFacts &facts, DepLists &lists) {
  MLIRContext *context = facts.function->getContext();
  for (const OperatorFacts &op : facts.operators) {
    if (!op.effect.empty())
      lists[op.op].push_back(
          DepAttr::get(context, DepKind::Effect, std::nullopt, std::nullopt,
                       std::nullopt, StringAttr::get(context, op.effect)));
    for (auto [result, consumers] : llvm::enumerate(op.consumers))
      lists[op.op].push_back(DepAttr::get(context, DepKind::Consumers,
                                          std::nullopt, result,
                                          consumers.count(), {}));
  }
}

void fuse::writeFacts(const FunctionFacts &facts) {
  walkProgram(facts.function, [](Operation *op) {
    if (op->getDiscardableAttrDictionary().empty())
      return;
    for (StringRef name :
         {names::kId, names::kCost, names::kDep, names::kBoundary})
      op->removeDiscardableAttr(name);
  });
  Builder builder(facts.function->getContext());
  for (auto [id, op] : llvm::enumerate(facts.operators)) {
    op.op->setDiscardableAttr(names::kId, builder.getI64IntegerAttr(id));
    op.op->setDiscardableAttr(names::kCost,
                              costAttr(builder, op.counted, op.footprint));
  }
  for (const auto &[op, footprint] : facts.movers)
    op->setDiscardableAttr(names::kCost,
                           costAttr(builder, footprint, footprint));
  DepLists lists;
  addDependences(facts, lists);
  addOwnFacts(facts, lists);
  for (auto &[op, list] : lists)
    op->setDiscardableAttr(names::kDep, builder.getArrayAttr(list));
}

/// Integers as i64, other numbers as f64 with the 6 digits that the tables
/// show.
static Attribute numberAttr(Builder &b, double value) {
  if (std::floor(value) == value && std::fabs(value) < 1e15)
    return b.getI64IntegerAttr(static_cast<int64_t>(value));
  return b.getF64FloatAttr(std::stod(formatNumber(value)));
}

DictionaryAttr fuse::numbersAttr(Builder &b, const Decision &decision) {
  SmallVector<NamedAttribute> numbers;
  for (const auto &[name, value] : decision.numbers)
    numbers.push_back(b.getNamedAttr(name, numberAttr(b, value)));
  return numbers.empty() ? DictionaryAttr() : b.getDictionaryAttr(numbers);
}

static Attribute boundaryAttr(Builder &b, const Edge &edge,
                              const Decision &decision) {
  auto text = [&](const std::string &value) {
    return value.empty() ? StringAttr() : b.getStringAttr(value);
  };
  SmallVector<Attribute> via;
  for (Operation *glue : edge.glue)
    via.push_back(b.getStringAttr(glue->getName().stripDialect()));
  std::optional<NumericClass> numeric;
  if (decision.verdict != VerdictKind::Keep)
    numeric = decision.numeric;
  return BoundaryAttr::get(
      b.getContext(), decision.verdict, edge.producer, edge.operand,
      decision.gate(), decision.reason, text(decision.when),
      via.empty() ? ArrayAttr() : b.getArrayAttr(via), numbersAttr(b, decision),
      text(decision.flip), numeric, text(decision.plan));
}

void fuse::writeVerdicts(const FunctionFacts &facts,
                         ArrayRef<Decision> decisions) {
  Builder builder(facts.function->getContext());
  DepLists lists;
  for (auto [edge, decision] : llvm::zip_equal(facts.edges, decisions))
    lists[facts.operators[edge.consumer].op].push_back(
        boundaryAttr(builder, edge, decision));
  for (auto &[op, list] : lists)
    op->setDiscardableAttr(names::kBoundary, builder.getArrayAttr(list));
}

void fuse::readPlanNotes(const FunctionFacts &facts,
                         MutableArrayRef<Decision> decisions) {
  for (auto [edge, decision] : llvm::zip_equal(facts.edges, decisions)) {
    auto entries = facts.operators[edge.consumer].op->getAttrOfType<ArrayAttr>(
        names::kBoundary);
    auto id = facts.operators[edge.producer].op->getAttrOfType<IntegerAttr>(
        names::kId);
    if (!entries || !id)
      continue;
    for (auto entry : entries.getAsRange<BoundaryAttr>())
      if (entry.getPlan() && entry.getProducer() == id.getInt() &&
          entry.getOperand() == edge.operand)
        decision.plan = entry.getPlan().getValue().str();
  }
}

/// What became of an edge, and the answers to the four questions.
static void addPlanArguments(remark::detail::InFlightRemark &remark,
                             const Decision &decision) {
  using Arg = remark::detail::Remark::Arg;
  const Answers &answers = decision.answers;
  remark << Arg("Plan", decision.plan)
         << Arg("Gate", stringifyGate(decision.gate()))
         << Arg("MemoryBound", answers.memoryBound)
         << Arg("SoleReader", answers.soleReader) << Arg("Fits", answers.fits)
         << Arg("ParallelismLost", formatNumber(answers.lostParallelism));
  if (decision.verdict != VerdictKind::Keep)
    remark << Arg("Numeric", stringifyNumericClass(decision.numeric));
}

/// The record's fields as arguments of a remark.
static void addArguments(remark::detail::InFlightRemark &remark,
                         const FunctionFacts &facts, const Edge &edge,
                         const Decision &decision) {
  using Arg = remark::detail::Remark::Arg;
  auto name = [&](unsigned id) {
    return describe(facts.operators[id].op) + " #" + std::to_string(id);
  };
  remark << Arg("Verdict", stringifyVerdictKind(decision.verdict))
         << Arg("Reason", stringifyReason(decision.reason))
         << Arg("Producer", name(edge.producer))
         << Arg("Consumer", name(edge.consumer))
         << Arg("Operand", std::to_string(edge.operand));
  for (const std::pair<std::string, double> &number : decision.numbers)
    remark << Arg(number.first, formatNumber(number.second));
  if (!decision.when.empty())
    remark << Arg("When", decision.when);
  if (!decision.flip.empty())
    remark << Arg("Flip", decision.flip);
  if (!decision.plan.empty())
    addPlanArguments(remark, decision);
}

/// What the planner did with an edge, or else what the gates said.
static VerdictKind outcomeOf(const Decision &decision) {
  if (decision.plan.empty())
    return decision.verdict;
  return decision.joined ? VerdictKind::Fuse : VerdictKind::Keep;
}

/// The edge's key is in the name (`--remark-policy=final` keeps one remark per
/// location, name and category).
static void emitRemark(const FunctionFacts &facts, const Edge &edge,
                       const Decision &decision, StringRef category,
                       StringRef key) {
  StringRef name = remarkName(facts.function->getContext(), "edge " + key);
  auto opts = remark::RemarkOpts::name(name).category(category).function(
      facts.function.getName());
  Location loc = remarkLocation(facts.operators[edge.consumer].op.getLoc());
  VerdictKind outcome = outcomeOf(decision);
  auto emit = [&](remark::detail::InFlightRemark remark) {
    // Otherwise nobody listens.
    if (remark)
      addArguments(remark, facts, edge, decision);
  };
  if (outcome == VerdictKind::Fuse)
    emit(remark::passed(loc, opts));
  else if (outcome == VerdictKind::Conditional)
    emit(remark::analysis(loc, opts));
  else
    emit(remark::missed(loc, opts));
}

void fuse::emitEdgeRemarks(const FunctionFacts &facts,
                           ArrayRef<Decision> decisions, StringRef category,
                           EdgeKeys &keys) {
  if (!facts.function->getContext()->getRemarkEngine())
    return;
  std::vector<std::string> edgeKeys = keys.of(facts);
  for (auto [edge, decision, key] :
       llvm::zip_equal(facts.edges, decisions, edgeKeys))
    emitRemark(facts, edge, decision, category, key);
}

SmallVector<FunctionOpInterface> fuse::functionsOf(Operation *root) {
  SmallVector<FunctionOpInterface> functions;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<gpu::GPUModuleOp>(op))
      return WalkResult::skip();
    auto function = dyn_cast<FunctionOpInterface>(op);
    if (!function)
      return WalkResult::advance();
    if (!function.isExternal())
      functions.push_back(function);
    return WalkResult::skip();
  });
  return functions;
}

//===----------------------------------------------------------------------===//
// Input that has no verdict
//===----------------------------------------------------------------------===//

/// The conversion that lowers operations of a front-end dialect to linalg.
static StringRef conversionFor(StringRef dialect) {
  if (dialect == "torch" || dialect == "torch_c")
    return "torch-mlir-opt "
           "--torch-backend-to-linalg-on-tensors-backend-pipeline";
  if (dialect == "stablehlo" || dialect == "mhlo" || dialect == "chlo")
    return "stablehlo-opt --stablehlo-legalize-to-linalg";
  if (dialect == "tosa")
    return "mlir-opt "
           "--pass-pipeline='builtin.module(func.func(tosa-to-linalg-named,"
           "tosa-to-linalg))'";
  if (dialect == "onnx")
    return "torch-mlir-import-onnx and torch-mlir's ONNX pipeline";
  return "";
}

void fuse::diagnoseInput(const FunctionFacts &facts) {
  for (const OperatorFacts &op : facts.operators)
    if (op.footprint.overflowed())
      emitWarning(op.op.getLoc())
          << "sizes of this operator exceed 64-bit arithmetic: "
             "its edges are kept";
  diagnoseStated(facts);
  llvm::DenseSet<StringRef> named;
  walkProgram(facts.function, [&](Operation *op) {
    StringRef dialect = op->getName().getDialectNamespace();
    StringRef conversion = conversionFor(dialect);
    if (!conversion.empty() && named.insert(dialect).second)
      emitWarning(op->getLoc())
          << "'" << op->getName().getStringRef()
          << "' is not a linalg operation and gets no verdict; run `"
          << conversion << "` first";
  });
}
