//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints decisions: as a table for people, as JSON for tools. Changes nothing.
//
//===----------------------------------------------------------------------===//

#include "fuse/Plan/Explain.h"
#include "Record.h"
#include "fuse/Plan/ConvBn.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace fuse;
using llvm::formatv;

/// Kernels that are formed (`fuse.kernel`) or planned (`fuse.group`), in order.
static std::vector<KernelRecord> kernelsOf(const FunctionFacts &facts) {
  std::vector<KernelRecord> kernels;
  facts.function->walk([&](KernelOp kernel) {
    KernelRecord record;
    record.kernelClass = kernel.getKernelClass().str();
    record.label = std::to_string(kernels.size()) + " " + record.kernelClass;
    record.formed = true;
    for (Operation &op : kernel.getBody().front())
      if (isOperator(&op))
        record.operators.push_back(describe(&op));
    kernels.push_back(std::move(record));
  });
  std::map<int64_t, KernelRecord> planned;
  for (const OperatorFacts &op : facts.operators) {
    auto group = op.op->getAttrOfType<GroupAttr>(names::kGroup);
    if (!group)
      continue;
    KernelRecord &record = planned[group.getId()];
    record.kernelClass = group.getKernel().getValue().str();
    record.label =
        std::to_string(group.getId()) + " " + record.kernelClass + " (planned)";
    record.operators.push_back(describe(op.op));
  }
  for (auto &[id, record] : planned)
    kernels.push_back(std::move(record));
  return kernels;
}

/// `#3 conv_2d_nchw_fchw`.
static std::string operatorName(const FunctionFacts &facts, unsigned id) {
  return "#" + std::to_string(id) + " " + describe(facts.operators[id].op);
}

/// Adds what was folded into `op`, named `label`.
static void addFolded(Operation *op, std::optional<unsigned> id,
                      const std::string &label,
                      std::vector<FoldRecord> &folds) {
  auto folded = op->getAttrOfType<StringAttr>(names::kFolded);
  if (op->hasAttr(names::kFoldedInput))
    folds.push_back({id, label, true, true, Decision()});
  if (folded && folded.getValue() == "conv-bn")
    folds.push_back({id, label, false, true, Decision()});
}

/// The batch normalisations that were folded, those in formed kernels first,
/// then those that were not.
static std::vector<FoldRecord> foldsOf(const FunctionFacts &facts,
                                       const FoldOptions &options) {
  std::vector<FoldRecord> folds;
  unsigned number = 0;
  facts.function->walk([&](KernelOp kernel) {
    for (Operation &op : kernel.getBody().front())
      if (isOperator(&op))
        addFolded(&op, std::nullopt,
                  describe(&op) + " of kernel " + std::to_string(number),
                  folds);
    ++number;
  });
  for (auto [id, op] : llvm::enumerate(facts.operators))
    addFolded(op.op, id, operatorName(facts, id), folds);
  auto addKept = [&](linalg::LinalgOp conv, bool inFront, Decision decision) {
    std::optional<unsigned> id = facts.idOf(conv);
    folds.push_back(
        {id,
         id ? operatorName(facts, *id) : describe(conv) + " of a formed kernel",
         inFront, false, std::move(decision)});
  };
  for (BnChain &chain : findBnChains(facts.function, options))
    if (!chain.shiftOnly)
      addKept(chain.conv, false, std::move(chain.decision));
  for (BnInput &input : findBnInputs(facts.function, options))
    addKept(input.conv, true, std::move(input.decision));
  return folds;
}

ModuleReport fuse::reportOn(Operation *module, const VerdictOptions &options) {
  ModuleReport report;
  report.options = options;
  EdgeKeys keys;
  FoldOptions folding = foldOptionsFor(module);
  for (FunctionOpInterface function : functionsOf(module)) {
    FunctionReport entry;
    entry.facts = std::make_unique<FunctionFacts>(function);
    entry.decisions = decideEdges(*entry.facts, options);
    readPlanNotes(*entry.facts, entry.decisions);
    entry.keys = keys.of(*entry.facts);
    entry.kernels = kernelsOf(*entry.facts);
    entry.folds = foldsOf(*entry.facts, folding);
    entry.siblings = readSiblings(*entry.facts);
    report.functions.push_back(std::move(entry));
  }
  return report;
}

static std::string viaText(const Edge &edge) {
  std::string text;
  for (Operation *glue : edge.glue)
    text += (text.empty() ? "" : ", ") + glue->getName().stripDialect().str();
  return text;
}

static std::string numbersText(const Decision &decision) {
  std::string text;
  for (const auto &[name, value] : decision.numbers)
    text += (text.empty() ? "" : ", ") + name + "=" + formatNumber(value);
  return text;
}

/// The verdict and its reason on the row, numbers and the flip on a second one.
static void printDecision(llvm::raw_ostream &os, const Decision &decision) {
  os << formatv("{0,-11}", stringifyVerdictKind(decision.verdict)) << ' '
     << stringifyReason(decision.reason);
  if (!decision.when.empty())
    os << "; right if " << decision.when;
  os << '\n';
  if (std::string numbers = numbersText(decision); !numbers.empty())
    os << "      " << numbers << '\n';
  if (!decision.flip.empty())
    os << "      flips with: " << decision.flip << '\n';
}

static std::string answersText(const Answers &answers) {
  auto word = [](bool yes) { return yes ? "yes" : "no"; };
  return formatv(
      "memory-bound {0}, sole reader {1}, fits {2}, parallelism lost "
      "{3}%",
      word(answers.memoryBound), word(answers.soleReader), word(answers.fits),
      formatNumber(std::round(answers.lostParallelism * 100)));
}

static void printFunction(const FunctionReport &report, llvm::raw_ostream &os) {
  const FunctionFacts &facts = *report.facts;
  os << "function @" << facts.function.getName() << ": "
     << facts.operators.size() << " operators, " << facts.edges.size()
     << " edges\n";
  size_t width = 0;
  std::vector<std::string> labels;
  for (const Edge &edge : facts.edges) {
    std::string label = operatorName(facts, edge.producer) + " -> " +
                        operatorName(facts, edge.consumer) + ":" +
                        std::to_string(edge.operand);
    if (std::string via = viaText(edge); !via.empty())
      label += " via " + via;
    width = std::max(width, std::min<size_t>(label.size(), 90));
    labels.push_back(std::move(label));
  }
  for (auto [label, decision] : llvm::zip_equal(labels, report.decisions)) {
    os << "  " << label
       << std::string(label.size() < width ? width - label.size() : 0, ' ')
       << "  ";
    printDecision(os, decision);
    os << "      " << answersText(decision.answers) << '\n';
    if (!decision.plan.empty())
      os << "      plan: " << decision.plan << '\n';
  }
  for (const SiblingRecord &pair : report.siblings) {
    os << "  siblings " << operatorName(facts, pair.first) << ", "
       << operatorName(facts, pair.second) << "  ";
    printDecision(os, pair.decision);
  }
  for (const KernelRecord &kernel : report.kernels)
    os << "  kernel " << kernel.label << ": "
       << llvm::join(kernel.operators, ", ") << '\n';
  for (const FoldRecord &fold : report.folds) {
    os << "  batch norm " << (fold.inFront ? "in front of " : "behind ")
       << fold.label << ": ";
    if (fold.folded)
      os << "folded\n";
    else
      printDecision(os, fold.decision);
  }
}

static void printSafeList(const ModuleReport &report, llvm::raw_ostream &os) {
  os << "safe fusion list:\n";
  for (const FunctionReport &function : report.functions)
    for (auto [edge, decision, key] : llvm::zip_equal(
             function.facts->edges, function.decisions, function.keys))
      if (decision.verdict == VerdictKind::Fuse)
        os << "  " << key << "  @" << function.facts->function.getName() << "  "
           << operatorName(*function.facts, edge.producer) << " -> "
           << operatorName(*function.facts, edge.consumer) << ":"
           << edge.operand << '\n';
}

namespace {
/// What the summary line counts.
struct Summary {
  unsigned edges = 0, fuse = 0, conditional = 0, folded = 0, found = 0;
  unsigned kernels = 0;
  std::map<Gate, unsigned> kept;
};
} // namespace

static Summary summarise(const ModuleReport &report) {
  Summary summary;
  for (const FunctionReport &function : report.functions) {
    for (const Decision &decision : function.decisions) {
      ++summary.edges;
      summary.fuse += decision.verdict == VerdictKind::Fuse;
      summary.conditional += decision.verdict == VerdictKind::Conditional;
      if (decision.verdict == VerdictKind::Keep)
        ++summary.kept[decision.gate()];
    }
    summary.kernels += function.kernels.size();
    for (const FoldRecord &fold : function.folds) {
      ++summary.found;
      summary.folded += fold.folded;
    }
  }
  return summary;
}

static constexpr Gate kGates[] = {
    Gate::Dependency, Gate::Shape,  Gate::Numerics, Gate::Profile,
    Gate::Resource,   Gate::Profit, Gate::Override};

void fuse::printTable(const ModuleReport &report, llvm::raw_ostream &os) {
  os << "fuse: target " << report.options.device.name << ", policy "
     << (report.options.policy == Policy::Cost ? "cost" : "strict")
     << ", boundary " << formatNumber(report.options.boundary) << '\n';
  for (const FunctionReport &function : report.functions)
    printFunction(function, os);
  printSafeList(report, os);
  Summary summary = summarise(report);
  os << "summary: " << summary.edges << " edges, " << summary.fuse
     << " fusable, " << summary.conditional << " conditional, kept by";
  for (Gate gate : kGates)
    os << (gate == kGates[0] ? " " : ", ") << stringifyGate(gate) << " "
       << summary.kept[gate];
  os << "; batch norms folded " << summary.folded << " of " << summary.found
     << " found";
  if (summary.kernels)
    os << "; kernels " << summary.kernels;
  os << '\n';
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void addDecision(llvm::json::Object &object, const Decision &decision) {
  object["gate"] = stringifyGate(decision.gate());
  object["reason"] = stringifyReason(decision.reason);
  if (!decision.when.empty())
    object["when"] = decision.when;
  if (!decision.flip.empty())
    object["flip"] = decision.flip;
  llvm::json::Object numbers;
  for (const auto &[name, value] : decision.numbers)
    numbers[name] = value;
  object["numbers"] = std::move(numbers);
}

static llvm::json::Value answersJson(const Answers &answers) {
  return llvm::json::Object{{"memory_bound", answers.memoryBound},
                            {"sole_reader", answers.soleReader},
                            {"fits", answers.fits},
                            {"lost_parallelism", answers.lostParallelism}};
}

static llvm::json::Value siblingJson(const FunctionFacts &facts,
                                     const SiblingRecord &pair) {
  llvm::json::Object object{
      {"function", facts.function.getName()},
      {"first", pair.first},
      {"first_op", describe(facts.operators[pair.first].op)},
      {"second", pair.second},
      {"second_op", describe(facts.operators[pair.second].op)},
      {"verdict", stringifyVerdictKind(pair.decision.verdict)}};
  addDecision(object, pair.decision);
  return object;
}

static llvm::json::Value kernelJson(StringRef function,
                                    const KernelRecord &kernel) {
  llvm::json::Array operators(kernel.operators);
  return llvm::json::Object{{"function", function},
                            {"kernel", kernel.label},
                            {"class", kernel.kernelClass},
                            {"formed", kernel.formed},
                            {"operators", std::move(operators)}};
}

static llvm::json::Value edgeJson(const FunctionReport &function,
                                  size_t index) {
  const FunctionFacts &facts = *function.facts;
  const Edge &edge = facts.edges[index];
  const Decision &decision = function.decisions[index];
  llvm::json::Array via;
  for (Operation *glue : edge.glue)
    via.push_back(glue->getName().getStringRef());
  llvm::json::Object object{
      {"function", facts.function.getName()},
      {"key", function.keys[index]},
      {"producer", edge.producer},
      {"producer_op", describe(facts.operators[edge.producer].op)},
      {"consumer", edge.consumer},
      {"consumer_op", describe(facts.operators[edge.consumer].op)},
      {"operand", edge.operand},
      {"via", std::move(via)},
      {"verdict", stringifyVerdictKind(decision.verdict)}};
  if (decision.verdict != VerdictKind::Keep)
    object["numeric"] = stringifyNumericClass(decision.numeric);
  object["answers"] = answersJson(decision.answers);
  if (!decision.plan.empty())
    object["plan"] = decision.plan;
  addDecision(object, decision);
  return object;
}

llvm::json::Value fuse::toJson(const ModuleReport &report) {
  llvm::json::Array edges, folds, safe, kernels, siblings;
  for (const FunctionReport &function : report.functions) {
    for (size_t i = 0; i < function.decisions.size(); ++i) {
      edges.push_back(edgeJson(function, i));
      if (function.decisions[i].verdict == VerdictKind::Fuse)
        safe.push_back(function.keys[i]);
    }
    for (const KernelRecord &kernel : function.kernels)
      kernels.push_back(kernelJson(function.facts->function.getName(), kernel));
    for (const SiblingRecord &pair : function.siblings)
      siblings.push_back(siblingJson(*function.facts, pair));
    for (const FoldRecord &fold : function.folds) {
      llvm::json::Object object{
          {"function", function.facts->function.getName()},
          {"place", fold.inFront ? "in front" : "behind"},
          {"decision", fold.folded                                  ? "folded"
                       : fold.decision.verdict == VerdictKind::Fuse ? "foldable"
                                                                    : "kept"}};
      if (fold.op)
        object["op"] = *fold.op;
      else
        object["at"] = fold.label;
      if (!fold.folded)
        addDecision(object, fold.decision);
      folds.push_back(std::move(object));
    }
  }
  Summary summary = summarise(report);
  llvm::json::Object kept;
  for (Gate gate : kGates)
    kept[stringifyGate(gate)] = summary.kept[gate];
  return llvm::json::Object{
      {"version", 1},
      {"target", report.options.device.name},
      {"policy", report.options.policy == Policy::Cost ? "cost" : "strict"},
      {"boundary", report.options.boundary},
      {"edges", std::move(edges)},
      {"safe", std::move(safe)},
      {"folds", std::move(folds)},
      {"kernels", std::move(kernels)},
      {"siblings", std::move(siblings)},
      {"summary", llvm::json::Object{{"edges", summary.edges},
                                     {"fuse", summary.fuse},
                                     {"conditional", summary.conditional},
                                     {"kernels", summary.kernels},
                                     {"kept", std::move(kept)},
                                     {"bn_folded", summary.folded},
                                     {"bn_found", summary.found}}}};
}
