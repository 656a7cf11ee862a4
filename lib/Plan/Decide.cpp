//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the gates in order on every edge of a function and stops at the first
// refusal. Edits nothing.
//
//===----------------------------------------------------------------------===//

#include "Gates.h"
#include "fuse/Plan/Overrides.h"
#include "fuse/Plan/StrictPolicy.h"

using namespace mlir;
using namespace fuse;

namespace {

/// The registers of the group each operator belongs to, groups growing along
/// the edges that fuse, in program order (strict policy).
class RegisterGroups {
public:
  explicit RegisterGroups(const FunctionFacts &facts) {
    for (const OperatorFacts &op : facts.operators) {
      parent.push_back(parent.size());
      registers.push_back(op.footprint.registers);
    }
  }
  double joined(unsigned a, unsigned b) {
    a = find(a), b = find(b);
    return a == b ? registers[a] : registers[a] + registers[b];
  }
  void join(unsigned a, unsigned b) {
    a = find(a), b = find(b);
    if (a == b)
      return;
    registers[a] += registers[b];
    parent[b] = a;
  }

private:
  unsigned find(unsigned id) {
    while (parent[id] != id)
      id = parent[id] = parent[parent[id]];
    return id;
  }
  std::vector<unsigned> parent;
  std::vector<double> registers;
};

} // namespace

/// What fusing does to the values: a reduction that is tiled together with its
/// neighbours sums in another order.
static NumericClass numericClassOf(const GateInput &in) {
  bool reduces = in.producer().role != Role::Elementwise ||
                 in.consumer().role != Role::Elementwise;
  return reduces ? NumericClass::Reassociates : NumericClass::BitExact;
}

static GateResult strictGates(const GateInput &in, RegisterGroups &groups,
                              Decision &record) {
  const Footprint &a = in.producer().footprint, &b = in.consumer().footprint;
  std::optional<double> ia = a.intensity(), ib = b.intensity();
  if (!ia || !ib)
    return Decision::keep(Reason::UnknownIntensity,
                          "make the extents static, or policy=cost");
  StrictLimits limits;
  limits.deviceMemory = in.options.memoryLimit();
  limits.peakFlops = in.options.device.peakF32;
  limits.bandwidth = in.options.device.bandwidth;
  limits.registerLimit = in.options.registers();
  limits.tolerance = in.options.tolerance;
  if (auto refusal = strictProfileGate(*ia, *ib, limits))
    return refusal;
  double registers = groups.joined(in.edge.producer, in.edge.consumer);
  record.number("registers", registers).number("limit", limits.registerLimit);
  return strictResourceGate(*a.bytes().value(), *b.bytes().value(), *ia, *ib,
                            registers, limits);
}

/// What the gates decide on one edge. A condition of the dependency gate is
/// kept, unless a later gate refuses.
static Decision runGates(const GateInput &in, RegisterGroups &groups) {
  GateResult refusal, condition = dependencyGate(in);
  if (condition && condition->verdict == VerdictKind::Keep)
    refusal = condition;
  for (auto gate : {shapeGate, numericsGate, sizeGate})
    if (!refusal)
      refusal = gate(in);
  bool judged = !refusal && in.options.policy == Policy::Cost;
  Decision record = condition.value_or(Decision());
  record.numeric = numericClassOf(in);
  if (judged)
    refusal = costGates(in, record);
  else if (!refusal)
    refusal = strictGates(in, groups, record);
  Answers answers = judged ? record.answers : answersFor(in);
  Decision decision = refusal ? *refusal : record;
  decision.answers = answers;
  return decision;
}

/// A mode that fuses no loops keeps every edge.
static std::optional<Decision> decideByMode(Mode mode) {
  switch (mode) {
  case Mode::Full:
    return std::nullopt;
  case Mode::FoldOnly:
    return Decision::keep(Reason::ModeFoldOnly, "mode=full");
  case Mode::Off:
    return Decision::keep(Reason::ModeOff, "mode=full");
  }
  llvm_unreachable("unknown mode");
}

std::vector<Decision> fuse::decideEdges(const FunctionFacts &facts,
                                        const VerdictOptions &options) {
  RegisterGroups groups(facts);
  FusionGraph graph(facts);
  AloneCosts alone(graph, options);
  std::vector<EdgeOverride> overrides = overridesOf(facts);
  std::vector<Decision> decisions;
  decisions.reserve(facts.edges.size());
  for (auto [edge, override] : llvm::zip_equal(facts.edges, overrides)) {
    if (std::optional<Decision> byMode = decideByMode(options.mode)) {
      decisions.push_back(*byMode);
      continue;
    }
    GateInput input{facts, options, edge, graph, alone};
    Decision decision = runGates(input, groups);
    applyOverride(override, decision);
    if (decision.verdict == VerdictKind::Fuse)
      groups.join(edge.producer, edge.consumer);
    decisions.push_back(std::move(decision));
  }
  return decisions;
}
