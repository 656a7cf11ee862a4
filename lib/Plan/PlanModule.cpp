//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans every function of a module with the options that fuse-boundary left.
// Writes attributes and remarks of category `fuse-plan`.
//
//===----------------------------------------------------------------------===//

#include "Record.h"
#include "fuse/Support/RemarkHelpers.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace fuse;

void fuse::writePlan(const FunctionFacts &facts, const Plan &plan) {
  walkProgram(facts.function, [](Operation *op) {
    if (op->getDiscardableAttrDictionary().empty())
      return;
    op->removeDiscardableAttr(names::kGroup);
    op->removeDiscardableAttr(names::kTile);
    op->removeDiscardableAttr(names::kRecompute);
  });
  MLIRContext *context = facts.function->getContext();
  for (unsigned id : plan.recomputed)
    facts.operators[id].op->setDiscardableAttr(names::kRecompute,
                                               UnitAttr::get(context));
  for (auto [number, kernel] : llvm::enumerate(plan.kernels)) {
    if (!kernel.kernel)
      continue;
    auto name = StringAttr::get(context, kernel.kernel->name());
    for (unsigned id : kernel.ops)
      facts.operators[id].op->setDiscardableAttr(
          names::kGroup,
          GroupAttr::get(context, number, name, id == kernel.root));
    const Tile &tile = kernel.cost.tile;
    facts.operators[kernel.root].op->setDiscardableAttr(
        names::kTile, TileAttr::get(context, tile.sizes, tile.threads));
  }
}

/// One remark for the whole plan: what each call takes, and what is computed
/// once.
static void emitPlanRemark(const FunctionFacts &facts, const Plan &plan) {
  using Arg = remark::detail::Remark::Arg;
  if (!facts.function->getContext()->getRemarkEngine())
    return;
  double seconds = 0, once = 0;
  int64_t kernels = 0;
  for (const PlannedKernel &kernel : plan.kernels) {
    if (!kernel.kernel)
      continue;
    bool prepared = facts.operators[kernel.ops.front()].fromParameters;
    (prepared ? once : seconds) += kernel.cost.estimate.seconds;
    kernels += !prepared;
  }
  auto opts = remark::RemarkOpts::name("plan")
                  .category("fuse-plan")
                  .function(facts.function.getName());
  auto remark = remark::analysis(remarkLocation(facts.function.getLoc()), opts);
  if (remark)
    remark << Arg("Kernels", kernels)
           << Arg("MicroSeconds", formatNumber(seconds * 1e6))
           << Arg("PreparedMicroSeconds", formatNumber(once * 1e6));
}

/// One remark per kernel of more than one operator.
static void emitKernelRemarks(const FunctionFacts &facts, const Plan &plan) {
  using Arg = remark::detail::Remark::Arg;
  if (!facts.function->getContext()->getRemarkEngine())
    return;
  for (auto [number, kernel] : llvm::enumerate(plan.kernels)) {
    if (!kernel.kernel || kernel.ops.size() < 2)
      continue;
    StringRef name = remarkName(facts.function->getContext(),
                                "kernel " + llvm::Twine(number));
    auto opts = remark::RemarkOpts::name(name)
                    .category("fuse-plan")
                    .function(facts.function.getName());
    auto remark = remark::passed(
        remarkLocation(facts.operators[kernel.root].op.getLoc()), opts);
    if (!remark)
      return;
    const TileCost &cost = kernel.cost;
    remark << Arg("Class", kernel.kernel->name())
           << Arg("Root", describe(facts.operators[kernel.root].op))
           << Arg("Operators", static_cast<int64_t>(kernel.ops.size()))
           << Arg("Registers", formatNumber(cost.registers))
           << Arg("SharedBytes", formatNumber(cost.shared))
           << Arg("Bytes", formatNumber(cost.work.dramBytes))
           << Arg("MicroSeconds", formatNumber(cost.estimate.seconds * 1e6))
           << Arg("MemoryBound", cost.estimate.memory >= cost.estimate.compute)
           << Arg("Occupancy", formatNumber(cost.estimate.occupancy));
  }
}

VerdictOptions fuse::optionsOrDefault(Operation *module) {
  if (std::optional<VerdictOptions> options =
          optionsFromAttr(module->getDiscardableAttr(names::kOptions)))
    return *options;
  VerdictOptions options;
  options.device = llvm::cantFail(loadDevice("sm_80"));
  return options;
}

std::optional<Objective> fuse::parseObjective(StringRef name) {
  if (name == "time")
    return Objective::Time;
  if (name == "bytes")
    return Objective::Bytes;
  return std::nullopt;
}

/// The exact plan where it is found, otherwise `greedy`; says which.
static Plan planOrKeep(const FusionGraph &graph, ArrayRef<Decision> decisions,
                       const VerdictOptions &options, Objective objective,
                       unsigned limitMs, Plan greedy) {
  std::optional<Plan> exact =
      planExactly(graph, decisions, options, objective, limitMs);
  FunctionOpInterface function = graph.facts.function;
  auto show = [&](const Plan &plan) {
    double value = valueOf(plan, objective);
    return objective == Objective::Time ? formatNumber(value * 1e6) + " us"
                                        : formatNumber(value) + " bytes";
  };
  InFlightDiagnostic remark = emitRemark(function.getLoc());
  remark << "plan of @" << function.getName() << ": greedy " << show(greedy);
  if (!exact) {
    remark << ", optimum not proved";
    return greedy;
  }
  remark << ", exact " << show(*exact) << ", optimum proved";
  return std::move(*exact);
}

void fuse::planModule(Operation *module, Objective objective,
                      std::optional<unsigned> exactMs) {
  VerdictOptions options = optionsOrDefault(module);
  EdgeKeys keys;
  for (FunctionOpInterface function : functionsOf(module)) {
    FunctionFacts facts(function);
    std::vector<Decision> decisions = decideEdges(facts, options);
    FusionGraph graph(facts);
    Plan plan = planGreedily(graph, decisions, options, objective);
    if (exactMs)
      plan = planOrKeep(graph, decisions, options, objective, *exactMs,
                        std::move(plan));
    for (auto [decision, outcome] : llvm::zip_equal(decisions, plan.edges)) {
      decision.plan = outcome.note;
      decision.joined = outcome.joined;
    }
    writeFacts(facts);
    writeVerdicts(facts, decisions);
    writePlan(facts, plan);
    emitEdgeRemarks(facts, decisions, "fuse-plan", keys);
    writeSiblings(facts, plan.siblings);
    emitPlanRemark(facts, plan);
    emitKernelRemarks(facts, plan);
    emitSiblingRemarks(facts, plan.siblings);
  }
}
