//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which `outs` operands cannot reuse their buffer. MLIR's One-Shot analysis
// decides; data that can be made again at no cost (an empty tensor, a fill, a
// constant) is no hazard here, however many operators share it. Changes
// nothing.
//
//===----------------------------------------------------------------------===//

#include "fuse/Analysis/Facts.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"

using namespace mlir;
using namespace fuse;

/// The tensor a chain of glue starts from (its first source each time).
static Value rootOf(Value value) {
  while (Operation *def = value.getDefiningOp()) {
    if (!isGlue(def) || isa<tensor::PadOp, tensor::ConcatOp>(def) ||
        isa<linalg::LinalgOp>(def))
      break;
    value = isa<tensor::InsertSliceOp>(def) ? def->getOperand(1)
                                            : glueSources(def).front();
  }
  return value;
}

/// Why the data behind `operand` must survive.
static StringRef reasonFor(Value root) {
  if (isa<BlockArgument>(root))
    return "function or block argument";
  return "read elsewhere";
}

/// True if `op` overwrites a tensor that it is given: only then can a buffer be
/// shared, and only such a function needs the analysis.
static bool overwritesData(Operation *op) {
  if (isa<tensor::InsertSliceOp>(op))
    return !isFreeInit(rootOf(op->getOperand(1)));
  auto dps = dyn_cast<DestinationStyleOpInterface>(op);
  return dps && dps.hasPureTensorSemantics() &&
         llvm::any_of(dps.getDpsInits(),
                      [](Value init) { return !isFreeInit(rootOf(init)); });
}

/// True if every block can be reached. In unreachable code definitions may go
/// in circles, which the analysis follows without end.
static bool allReachable(FunctionOpInterface function) {
  DominanceInfo dominance(function);
  return llvm::all_of(function.getFunctionBody(), [&](Block &block) {
    return dominance.isReachableFromEntry(&block);
  });
}

/// One-Shot analysis refuses with an error what it cannot bufferize (a loop
/// whose yielded tensor is another one); that is no error of the program.
static bool analyseQuietly(FunctionOpInterface function,
                           bufferization::OneShotAnalysisState &state) {
  ScopedDiagnosticHandler quiet(function->getContext(),
                                [](Diagnostic &) { return success(); });
  return succeeded(bufferization::analyzeOp(function, state));
}

void fuse::collectCopies(FunctionFacts &facts) {
  // The analysis sees tensors through an interface that the bufferization
  // dialect attaches: passes load it.
  assert(facts.function->getContext()
             ->getLoadedDialect<bufferization::BufferizationDialect>());
  // One-Shot analysis compares all reads with all writes of a buffer; past this
  // many overwriting operations each is reported instead, which is safe.
  constexpr unsigned kMostAnalysed = 1000;
  SmallVector<Operation *> writers;
  walkProgram(facts.function, [&](Operation *op) {
    if (overwritesData(op))
      writers.push_back(op);
  });
  if (writers.empty())
    return;

  auto report = [&](OpOperand &operand) {
    facts.copies.push_back({&operand, reasonFor(rootOf(operand.get()))});
    auto structured = dyn_cast<linalg::LinalgOp>(operand.getOwner());
    std::optional<unsigned> id = facts.idOf(operand.getOwner());
    if (id && structured.isDpsInit(&operand) &&
        !structured.getMatchingBlockArgument(&operand).use_empty())
      facts.operators[*id].copyOfReadInit = true;
  };

  bufferization::OneShotBufferizationOptions options;
  options.allowUnknownOps = true;
  bufferization::OneShotAnalysisState state(facts.function, options);
  bool analysed = writers.size() <= kMostAnalysed &&
                  allReachable(facts.function) &&
                  analyseQuietly(facts.function, state);
  if (!analysed) {
    for (Operation *op : writers)
      for (OpOperand &operand : op->getOpOperands())
        if (auto dps = dyn_cast<DestinationStyleOpInterface>(op);
            dps && dps.isDpsInit(&operand))
          report(operand);
    return;
  }
  walkProgram(facts.function, [&](Operation *op) {
    auto bufferizable = options.dynCastBufferizableOp(op);
    if (!bufferizable || isa<CallOpInterface>(op))
      return;
    for (OpOperand &operand : op->getOpOperands())
      if (isa<TensorType>(operand.get().getType()) &&
          !isFreeInit(rootOf(operand.get())) && !state.isInPlace(operand))
        report(operand);
  });
}
