//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-conv-bn: folds batch normalisation into convolutions. All decisions on a
// function are taken (lib/Plan/ConvBn) before it is changed.
//
//===----------------------------------------------------------------------===//

#include "fuse/Plan/Boundary.h"
#include "fuse/Rewrite/ConvBn.h"
#include "fuse/Rewrite/Passes.h"
#include "fuse/Support/RemarkHelpers.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"

namespace fuse {
#define GEN_PASS_DEF_CONVBN
#include "fuse/Rewrite/Passes.h.inc"
} // namespace fuse

using namespace mlir;

/// One remark of category `fuse-fold` for `chain`, a BnChain or BnInput; its
/// number is part of the name, since
/// `--remark-policy=final` keeps one remark per location, name and category.
template <typename Chain>
static void emitRemark(FunctionOpInterface function, StringRef kind,
                       const Chain &chain, Operation *last) {
  using Arg = remark::detail::Remark::Arg;
  const fuse::Decision &decision = chain.decision;
  StringRef name = fuse::remarkName(function->getContext(),
                                    kind + " #" + llvm::Twine(chain.index));
  auto opts = remark::RemarkOpts::name(name)
                  .category("fuse-fold")
                  .function(function.getName());
  auto emit = [&](remark::detail::InFlightRemark remark) {
    remark << Arg("Decision", chain.foldable() ? "folded" : "kept")
           << Arg("Reason", fuse::stringifyReason(decision.reason))
           << Arg("Convolution", fuse::describe(chain.conv))
           << Arg("Last", fuse::describe(last))
           << Arg("Weights", fuse::stringifyWeightKind(chain.weights));
    for (const auto &[key, number] : decision.numbers)
      remark << Arg(key, fuse::formatNumber(number));
    if (!decision.flip.empty())
      remark << Arg("Flip", decision.flip);
  };
  Location loc = fuse::remarkLocation(chain.conv.getLoc());
  if (chain.foldable())
    emit(remark::passed(loc, opts));
  else if (decision.gate() == fuse::Gate::Profit ||
           decision.gate() == fuse::Gate::Override)
    emit(remark::missed(loc, opts));
  else
    emit(remark::failed(loc, opts));
}

/// Folds all foldable chains of `function`. Returns true if there were any.
static bool foldAll(FunctionOpInterface function,
                    ArrayRef<fuse::BnChain> chains) {
  SmallVector<const fuse::BnChain *> foldable;
  for (const fuse::BnChain &chain : chains)
    if (chain.foldable())
      foldable.push_back(&chain);
  if (foldable.empty())
    return false;
  llvm::DenseMap<Operation *, unsigned> position;
  function->walk<WalkOrder::PreOrder>(
      [&](Operation *op) { position[op] = position.size(); });
  // A chain may read what an earlier one computes: the last one goes first.
  llvm::sort(foldable, [&](const fuse::BnChain *a, const fuse::BnChain *b) {
    return position.lookup(a->last()) > position.lookup(b->last());
  });
  llvm::SetVector<Operation *> old;
  for (const fuse::BnChain *chain : foldable)
    fuse::foldChain(*chain, old);
  fuse::eraseUnused(std::move(old));
  return true;
}

/// Folds what stands in front of the convolutions, after what stands behind
/// them. Returns true if there was anything.
static bool foldInputs(FunctionOpInterface function,
                       const fuse::FoldOptions &options) {
  llvm::SetVector<Operation *> old;
  for (const fuse::BnInput &input : fuse::findBnInputs(function, options)) {
    if (function->getContext()->getRemarkEngine())
      emitRemark(function, "bn-conv", input, input.ops.back());
    if (input.foldable())
      fuse::foldInput(input, old);
  }
  bool changed = !old.empty();
  fuse::eraseUnused(std::move(old));
  return changed;
}

namespace {
struct ConvBnPass : fuse::impl::ConvBnBase<ConvBnPass> {
  using ConvBnBase::ConvBnBase;

  /// Who asks later why a chain was kept shall know the mode.
  void leaveMode() {
    if (fuse::parseWeightsMode(weights) == fuse::WeightsMode::Auto)
      getOperation()->removeDiscardableAttr(fuse::names::kWeights);
    else
      getOperation()->setDiscardableAttr(
          fuse::names::kWeights, StringAttr::get(&getContext(), weights));
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<fuse::WeightsMode> mode = fuse::parseWeightsMode(weights);
    if (!mode) {
      emitError(module.getLoc()) << "fuse-conv-bn: unknown weights '" << weights
                                 << "', known are auto, constants, always";
      return signalPassFailure();
    }
    fuse::FoldOptions options = fuse::foldOptionsFor(module);
    options.weights = *mode;
    leaveMode();
    bool changed = false;
    for (FunctionOpInterface function : fuse::functionsOf(module)) {
      std::vector<fuse::BnChain> chains = fuse::findBnChains(function, options);
      if (module->getContext()->getRemarkEngine())
        for (const fuse::BnChain &chain : chains)
          emitRemark(function, chain.shiftOnly ? "conv-bias" : "conv-bn", chain,
                     chain.last());
      changed |= foldAll(function, chains);
      changed |= foldInputs(function, options);
    }
    if (changed)
      fuse::refreshVerdicts(module);
    else
      markAllAnalysesPreserved();
  }
};
} // namespace
