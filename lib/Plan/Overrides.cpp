//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Hints on operators and edges: reading, checking, applying. Edits nothing.
//
//===----------------------------------------------------------------------===//

#include "fuse/Plan/Overrides.h"

using namespace mlir;
using namespace fuse;

/// The reason behind one hint word.
static EdgeOverride reasonFor(StringRef word) {
  if (word == "never")
    return Reason::HintNever;
  if (word == "always")
    return Reason::HintAlways;
  if (word == "blocklist")
    return Reason::BlockListed;
  if (word == "allowlist")
    return Reason::AllowListed;
  return std::nullopt;
}

static EdgeOverride operatorHint(Operation *op) {
  auto word = op->getAttrOfType<StringAttr>(names::kHint);
  return word ? reasonFor(word) : std::nullopt;
}

/// Hints in `fuse.edge_hints` for part `part` of `operand`: "0.1" before "0".
static EdgeOverride edgeHint(Operation *consumer, unsigned operand,
                             unsigned part) {
  auto hints = consumer->getAttrOfType<DictionaryAttr>(names::kEdgeHints);
  if (!hints)
    return std::nullopt;
  std::string whole = std::to_string(operand);
  for (const std::string &key : {whole + "." + std::to_string(part), whole})
    if (auto word = dyn_cast_or_null<StringAttr>(hints.get(key)))
      if (EdgeOverride reason = reasonFor(word))
        return reason;
  return std::nullopt;
}

/// Position of each edge among those of its operand.
static std::vector<unsigned> partsOf(const FunctionFacts &facts) {
  std::vector<unsigned> parts;
  for (size_t i = 0; i < facts.edges.size(); ++i) {
    bool same = i > 0 &&
                facts.edges[i].consumer == facts.edges[i - 1].consumer &&
                facts.edges[i].operand == facts.edges[i - 1].operand;
    parts.push_back(same ? parts.back() + 1 : 0);
  }
  return parts;
}

std::vector<EdgeOverride> fuse::overridesOf(const FunctionFacts &facts) {
  std::vector<EdgeOverride> overrides;
  std::vector<unsigned> parts = partsOf(facts);
  for (auto [edge, part] : llvm::zip_equal(facts.edges, parts)) {
    Operation *producer = facts.operators[edge.producer].op,
              *consumer = facts.operators[edge.consumer].op;
    EdgeOverride own = edgeHint(consumer, edge.operand, part);
    if (!own) {
      EdgeOverride a = operatorHint(producer), b = operatorHint(consumer);
      own = a == Reason::HintNever ? a : b ? b : a;
    }
    overrides.push_back(own);
  }
  return overrides;
}

/// True for the gates that "always" may overrule.
static bool isJudgement(Reason reason) {
  Gate gate = gateOf(reason);
  return (gate == Gate::Profile || gate == Gate::Resource ||
          gate == Gate::Profit) &&
         reason != Reason::TooLarge;
}

void fuse::applyOverride(EdgeOverride override, Decision &decision) {
  if (!override)
    return;
  bool never =
      *override == Reason::HintNever || *override == Reason::BlockListed;
  if (never) {
    decision = Decision::keep(*override, "remove the hint or the list's entry");
    return;
  }
  if (decision.verdict != VerdictKind::Keep || !isJudgement(decision.reason))
    return;
  decision.verdict = VerdictKind::Fuse;
  decision.flip =
      "without the override: " + stringifyReason(decision.reason).str();
  decision.reason = *override;
}

/// Warns about words that are not known, on `op`.
static void diagnoseWords(Operation *op) {
  if (Attribute hint = op->getAttr(names::kHint); hint && !operatorHint(op))
    emitWarning(op->getLoc())
        << "'fuse.hint' is " << hint
        << ", expected \"never\" or \"always\"; it is ignored";
  Attribute attr = op->getAttr(names::kEdgeHints);
  if (!attr)
    return;
  auto hints = dyn_cast<DictionaryAttr>(attr);
  if (!hints) {
    emitWarning(op->getLoc()) << "'fuse.edge_hints' is " << attr
                              << ", expected a dictionary; it is ignored";
    return;
  }
  for (NamedAttribute entry : hints) {
    unsigned operand;
    StringRef number = entry.getName().strref().split('.').first;
    auto word = dyn_cast<StringAttr>(entry.getValue());
    if (number.getAsInteger(10, operand) || operand >= op->getNumOperands())
      emitWarning(op->getLoc())
          << "'fuse.edge_hints' names operand '" << entry.getName().strref()
          << "', the operator has " << op->getNumOperands()
          << " operands; it is ignored";
    else if (!word || !reasonFor(word))
      emitWarning(op->getLoc())
          << "'fuse.edge_hints' says " << entry.getValue() << " for operand "
          << operand << ", expected \"never\" or \"always\"; it is ignored";
  }
}

void fuse::diagnoseOverrides(const FunctionFacts &facts,
                             ArrayRef<Decision> decisions) {
  for (const OperatorFacts &op : facts.operators)
    diagnoseWords(op.op);
  std::vector<EdgeOverride> overrides = overridesOf(facts);
  for (auto [edge, decision, override] :
       llvm::zip_equal(facts.edges, decisions, overrides)) {
    const OperatorFacts &producer = facts.operators[edge.producer],
                        &consumer = facts.operators[edge.consumer];
    EdgeOverride a = operatorHint(producer.op), b = operatorHint(consumer.op);
    if (a && b && *a != *b && *override == Reason::HintNever)
      emitWarning(consumer.op.getLoc())
          << "operators #" << edge.producer << " and #" << edge.consumer
          << " say \"never\" and \"always\" for the edge between them: "
             "\"never\" wins";
    bool always = override && (*override == Reason::HintAlways ||
                               *override == Reason::AllowListed);
    if (always && decision.verdict != VerdictKind::Fuse)
      emitWarning(consumer.op.getLoc())
          << "\"always\" for the edge from operator #" << edge.producer
          << " is ignored, gate '" << stringifyGate(decision.gate())
          << "' is for correctness: " << stringifyReason(decision.reason);
  }
}
