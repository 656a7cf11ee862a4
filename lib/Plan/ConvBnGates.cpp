//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gates of conv-BN folding, in order. Changes nothing.
//
//===----------------------------------------------------------------------===//

#include "ConvBnParts.h"
#include "fuse/Cost/Roofline.h"
#include "mlir/IR/BuiltinTypes.h"
#include <cmath>

using namespace mlir;
using namespace fuse;

namespace {

/// What the gates look at and fill in.
struct FoldInput {
  ConvSite &site;
  ChannelExprs &exprs;
  const Cut &cut;
  const FoldOptions &options;
  BnChain chain;

  Value filter() const { return chain.conv->getOperand(chain.filter); }
  Type element() const { return site.resultType().getElementType(); }
  /// Leaves of scale, shift and initial value.
  SmallVector<Value> leaves() const;
};

using GateResult = std::optional<Decision>;

} // namespace

SmallVector<Value> FoldInput::leaves() const {
  SmallVector<ExprId> ids = exprs.reachable(chain.scale);
  if (chain.shift)
    llvm::append_range(ids, exprs.reachable(*chain.shift));
  SmallVector<Value> leaves;
  for (ExprId id : ids)
    if (exprs[id].kind == ChannelNode::Kind::Leaf)
      leaves.push_back(exprs[id].leaf);
  return leaves;
}

static GateResult dependencyGate(FoldInput &in) {
  if (!in.cut.effect.empty())
    return Decision::keep(Reason::SideEffect,
                          "take '" + in.cut.effect + "' out of the body");
  for (Value leaf : in.leaves())
    if (in.site.reaches(leaf))
      return Decision::keep(Reason::BatchStatistics,
                            "use statistics that are known beforehand "
                            "(inference mode)");
  if (in.cut.otherBlock)
    return Decision::keep(Reason::OtherBlock,
                          "move the chain into the convolution's block");
  if (in.cut.consumers > 1)
    return Decision::keep(Reason::MultiConsumer,
                          "leave one reader of each value between the "
                          "convolution and the last scale")
        .number("consumers", in.cut.consumers);
  return std::nullopt;
}

static bool hasEncoding(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getEncoding();
}

/// Chooses the operand to scale, and adds the convolution's initial value to
/// the shift.
static GateResult shapeGate(FoldInput &in) {
  SmallVector<Operation *> ops = in.cut.ops;
  ops.push_back(in.site.conv);
  for (Operation *op : ops)
    if (llvm::any_of(op->getOperandTypes(), hasEncoding) ||
        llvm::any_of(op->getResultTypes(), hasEncoding))
      return Decision::keep(Reason::Encoding,
                            "convert the operands to dense tensors first");
  uint64_t set = in.exprs[in.chain.scale].axisSet;
  if (in.chain.shift)
    set |= in.exprs[*in.chain.shift].axisSet;
  auto *filter = llvm::find_if(in.site.filters, [&](auto &filter) {
    return (set & ~filter.second) == 0;
  });
  if (filter != in.site.filters.end())
    in.chain.filter = filter->first;
  in.chain.channels = in.site.channels(in.chain.filter);
  in.chain.splits = in.site.splits;
  if (!in.site.hasLinearBody(in.chain.filter))
    return Decision::keep(
        Reason::UnsupportedConv,
        "accumulate products of floats: acc + input * filter");
  if (filter == in.site.filters.end())
    return Decision::keep(Reason::WrongAxis,
                          "scale along the axis that indexes the filter");
  for (unsigned axis : in.chain.channels)
    if (ShapedType::isDynamic(in.site.extents[axis]))
      return Decision::keep(Reason::DynamicShape,
                            "give the output channels a static extent");

  linalg::LinalgOp conv = in.site.conv;
  ExprId init = ChannelTracer(in.site, in.exprs)
                    .trace(conv.getDpsInits()[0], in.site.axes());
  if (in.exprs[init].axisSet & ~filter->second)
    return Decision::keep(Reason::InitPerElement,
                          "start from zero or from a bias per channel, and add "
                          "the rest afterwards");
  auto constant = dyn_cast_or_null<FloatAttr>(in.exprs[init].constant);
  in.chain.initIsZero = constant && constant.getValue().isZero();
  if (in.chain.initIsZero)
    return std::nullopt;
  ExprId start = in.exprs.op("arith.mulf", {in.chain.scale, init});
  in.chain.shift = in.chain.shift
                       ? in.exprs.op("arith.addf", {start, *in.chain.shift})
                       : start;
  return std::nullopt;
}

std::optional<Decision> fuse::accumulatorGate(const ConvSite &site) {
  auto type = dyn_cast<FloatType>(site.resultType().getElementType());
  if (!type || type.getWidth() != 16)
    return std::nullopt;
  double terms = 1;
  SmallVector<int64_t> ranges = site.conv.getStaticLoopRanges();
  SmallVector<unsigned> reductions;
  site.conv.getReductionDims(reductions);
  for (unsigned loop : reductions)
    terms *= ShapedType::isDynamic(ranges[loop]) ? HUGE_VAL : ranges[loop];
  // A sum of n rounded products is off by at most n * u / (1 - n * u) times the
  // sum of their magnitudes, to first order n * u, where u is the unit roundoff
  // (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 3.1).
  double bound = std::ldexp(terms, -int(type.getFPMantissaWidth()));
  // The tolerance by which values are compared, relative to them.
  double tolerance =
      (type.isF16() ? 1e-3 : 1e-2) * std::sqrt(std::max(1.0, terms / 1024));
  bool known = std::isfinite(terms);
  if (known && bound <= tolerance)
    return std::nullopt;
  Decision refusal =
      Decision::keep(Reason::FoldAccumulator, "compute in f32 or f64");
  if (known)
    refusal.number("terms", terms)
        .number("bound", bound)
        .number("tolerance", tolerance);
  return refusal;
}

/// Also computes constant weights.
static GateResult numericsGate(FoldInput &in) {
  Type element = in.element();
  if (!isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element))
    return Decision::keep(Reason::ElementType,
                          "compute in f16, bf16, f32 or f64");
  auto isElement = [&](ExprId id) { return in.exprs[id].type == element; };
  if (in.cut.affine.cast || !isElement(in.chain.scale) ||
      (in.chain.shift && !isElement(*in.chain.shift)) ||
      in.site.roundsFilter(in.chain.filter))
    return Decision::keep(Reason::FoldPrecision,
                          "compute filter, result and scale in one type");
  if (in.chain.weights == WeightKind::Constant) {
    FoldResult folded = foldConstants(in.site, in.chain);
    if (folded.refusal)
      return Decision::keep(*folded.refusal, "a wider type for the weights");
    if (folded.constants)
      in.chain.constants =
          std::make_shared<FoldedConstants>(std::move(*folded.constants));
  }
  if (GateResult refusal = accumulatorGate(in.site))
    return refusal;
  if (element.getIntOrFloatBitWidth() == 16 && !in.chain.constants &&
      in.options.weights != WeightsMode::Always)
    return Decision::keep(Reason::FoldUnchecked,
                          "constant weights, a wider type, or weights=always");
  return std::nullopt;
}

/// Seconds that scaling the weights takes on each call, and that scale and
/// shift take as an epilogue: two FLOPs per element of the result, which the
/// convolution's kernel holds anyway.
static std::optional<std::pair<double, double>> runTimeCosts(FoldInput &in) {
  auto filter = cast<RankedTensorType>(in.filter().getType());
  RankedTensorType result = in.site.resultType();
  if (!filter.hasStaticShape() || !result.hasStaticShape())
    return std::nullopt;
  const Device &device = in.options.device;
  double weights = 1, elements = 1, channels = 1;
  for (int64_t extent : filter.getShape())
    weights *= extent;
  for (int64_t extent : result.getShape())
    elements *= extent;
  for (unsigned axis : in.chain.channels)
    channels *= in.site.extents[axis];
  double bytes = in.element().getIntOrFloatBitWidth() / 8.0;
  double fold = kernelTime(device, weights, 2 * weights * bytes) +
                kernelTime(device, 2 * channels, 3 * channels * bytes);
  return std::make_pair(fold, 2 * elements / device.peakF32);
}

static GateResult profitGate(FoldInput &in) {
  if (in.options.weights == WeightsMode::Always ||
      in.chain.weights == WeightKind::Constant)
    return std::nullopt;
  if (in.options.weights == WeightsMode::Constants)
    return Decision::keep(Reason::NonConstantWeights,
                          "constant weights, or weights=auto");
  if (in.chain.weights == WeightKind::Parameter)
    return std::nullopt;
  auto costs = runTimeCosts(in);
  if (costs && costs->first < costs->second)
    return std::nullopt;
  Decision refusal = Decision::keep(
      Reason::RunTimeWeights, "fuse.param on the weights, or weights=always");
  if (costs)
    refusal.number("fold_us", costs->first * 1e6)
        .number("epilogue_us", costs->second * 1e6);
  return refusal;
}

/// Words that `consumer` has for its edge from `producer`.
static void collectEdgeHints(Operation *consumer, Operation *producer,
                             SmallVectorImpl<StringRef> &words) {
  auto hints = consumer->getAttrOfType<DictionaryAttr>(names::kEdgeHints);
  for (NamedAttribute entry :
       hints ? hints.getValue() : ArrayRef<NamedAttribute>()) {
    unsigned operand;
    StringRef number = entry.getName().strref().split('.').first;
    auto word = dyn_cast<StringAttr>(entry.getValue());
    if (word && !number.getAsInteger(10, operand) &&
        operand < consumer->getNumOperands() &&
        consumer->getOperand(operand).getDefiningOp() == producer)
      words.push_back(word.getValue());
  }
}

/// The hints on the operations and edges of the path.
static SmallVector<StringRef> hintsOf(ArrayRef<Operation *> path) {
  SmallVector<StringRef> words;
  Operation *previous = nullptr;
  for (Operation *op : path) {
    if (auto hint = op->getAttrOfType<StringAttr>(names::kHint))
      words.push_back(hint.getValue());
    if (previous)
      collectEdgeHints(op, previous, words);
    previous = op;
  }
  return words;
}

Decision fuse::overridden(ArrayRef<Operation *> path,
                          const FoldOptions &options, Decision decision) {
  SmallVector<StringRef> hints = hintsOf(path);
  bool folds = decision.verdict == VerdictKind::Fuse;
  if (folds && options.off)
    return Decision::keep(Reason::ModeOff, "mode=full or mode=fold-only");
  for (auto [word, reason] : {std::pair("never", Reason::HintNever),
                              std::pair("blocklist", Reason::BlockListed)})
    if (llvm::is_contained(hints, word)) {
      if (folds)
        return Decision::keep(reason, "remove the hint or the list's entry");
      return decision;
    }
  for (auto [word, reason] : {std::pair("always", Reason::HintAlways),
                              std::pair("allowlist", Reason::AllowListed)})
    if (decision.gate() == Gate::Profit && llvm::is_contained(hints, word) &&
        !options.off) {
      decision.verdict = VerdictKind::Fuse;
      decision.flip =
          "without the override: " + stringifyReason(decision.reason).str();
      decision.reason = reason;
    }
  return decision;
}

BnChain fuse::decideFold(ConvSite &site, std::shared_ptr<ChannelExprs> exprs,
                         const Cut &cut, const FoldOptions &options,
                         WeightKinds &kinds) {
  FoldInput in{site, *exprs, cut, options, {}};
  in.chain.conv = site.conv;
  in.chain.ops = cut.ops;
  in.chain.head = cut.head;
  in.chain.exprs = exprs;
  in.chain.shiftOnly = !cut.affine.scale;
  in.chain.scale =
      cut.affine.scale ? *cut.affine.scale : exprs->constant(in.element(), 1.0);
  in.chain.shift = cut.affine.shift;
  GateResult refusal = dependencyGate(in);
  if (!refusal)
    refusal = shapeGate(in);
  in.chain.weights = kinds.of(in.filter());
  for (Value leaf : in.leaves())
    in.chain.weights = std::max(in.chain.weights, kinds.of(leaf));
  for (auto gate : {numericsGate, profitGate})
    if (!refusal)
      refusal = gate(in);
  SmallVector<Operation *> path{site.conv};
  llvm::append_range(path, cut.ops);
  Decision decision = overridden(path, options, refusal.value_or(Decision()));
  if (decision.verdict == VerdictKind::Fuse)
    decision.numeric = in.element().getIntOrFloatBitWidth() == 16
                           ? NumericClass::ChangesRounding
                           : NumericClass::Reassociates;
  in.chain.decision = std::move(decision);
  return std::move(in.chain);
}
