//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verdicts from C++, as docs/UseInYourCompiler.md shows it.
//
//===----------------------------------------------------------------------===//

// docs: begin
#include "fuse/Pipeline/Register.h"
#include "fuse/Plan/Boundary.h"
#include "fuse/Plan/Passes.h"
#include "fuse/Plan/StrictPolicy.h"
#include "fuse/Rewrite/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

// Verdicts as data: facts of one function, then one decision per edge.
static void printVerdicts(ModuleOp module) {
  fuse::VerdictOptions options;
  options.device = llvm::cantFail(fuse::loadDevice("sm_90"));
  for (FunctionOpInterface function : fuse::functionsOf(module)) {
    fuse::FunctionFacts facts(function);
    std::vector<fuse::Decision> decisions = fuse::decideEdges(facts, options);
    for (auto [edge, decision] : llvm::zip_equal(facts.edges, decisions))
      llvm::outs() << fuse::describe(facts.operators[edge.producer].op)
                   << " -> "
                   << fuse::describe(facts.operators[edge.consumer].op) << ": "
                   << fuse::stringifyVerdictKind(decision.verdict) << ", "
                   << fuse::stringifyReason(decision.reason) << '\n';
  }
}

// The strict policy on plain descriptions: no IR, no operations.
static void printPair() {
  fuse::OperatorDescription conv, relu;
  conv.reads = {"x", "w"}, conv.writes = {"y"}, conv.flops = 4096,
  conv.bytes = 512;
  relu.reads = {"y"}, relu.writes = {"z"}, relu.flops = 256, relu.bytes = 256;
  fuse::StrictLimits limits;
  limits.deviceMemory = 2048, limits.peakFlops = 1000, limits.bandwidth = 100,
  limits.registerLimit = 192;
  fuse::Decision decision = fuse::decide(conv, relu, limits);
  llvm::outs() << "conv -> relu: " << fuse::stringifyReason(decision.reason)
               << "; flips with " << decision.flip << '\n';
}

int main(int argc, char **argv) {
  DialectRegistry registry;
  registerAllDialects(registry);
  fuse::registerFuseDialect(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(argv[argc - 1], &context);
  if (!module)
    return 1;
  printVerdicts(*module);
  printPair();

  // The passes, in a pipeline of your own.
  fuse::BoundaryOptions options;
  options.target = "sm_90";
  PassManager pm(&context);
  pm.addPass(fuse::createBoundary(options));
  pm.addPass(fuse::createConvBn());
  return failed(pm.run(*module));
}
// docs: end
