//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds chains `x * scale + shift` per input channel in front of a convolution
// or linear layer, and says whether they may move into its weights:
//
//   conv(x * s + t, w) = conv(x, w * s) + sum(w * t)
//
// That holds where every tap reads an element of x. A border of zeros would
// have to be one of -t / s. Changes nothing.
//
//===----------------------------------------------------------------------===//

#include "ConvBnParts.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace fuse;

/// Operations that a chain may hold.
static constexpr size_t kLongest = 16;

namespace {

/// An operation of a chain, and its operand with a value for each element.
struct Link {
  linalg::LinalgOp op;
  Value element;
};

class InputFinder {
public:
  InputFinder(FunctionOpInterface function, const FoldOptions &options)
      : function(function), options(options), kinds(function) {}
  std::vector<BnInput> run();

private:
  bool findFilter(ConvSite &site);
  void examine(ConvSite &site);
  void judge(ConvSite &site, BnInput &input, ArrayRef<Link> links, bool cast);
  Value elementOf(linalg::LinalgOp op, ConvSite &pixels, uint64_t channels);
  SmallVector<Link> linksTo(Value value, Operation *reader, ConvSite &pixels,
                            uint64_t channels);
  bool evaluate(BnInput &input, ArrayRef<Link> links, ConvSite &pixels,
                bool &cast);
  void findStart(ConvSite &site, BnInput &input);
  WeightKind kindOf(const BnInput &input);
  Decision decide(ConvSite &site, BnInput &input, bool cast);
  Decision decideShape(ConvSite &site, const BnInput &input);
  Decision decideNumerics(ConvSite &site, BnInput &input, bool cast);

  FunctionOpInterface function;
  const FoldOptions &options;
  WeightKinds kinds;
  std::vector<BnInput> inputs;
};

} // namespace

/// The axes of each loop of `op`, whose result has those of `pixels`.
static Axes loopAxesOf(linalg::LinalgOp op, const ConvSite &pixels) {
  Axes axes = pixels.axes(), loopAxes(op.getNumLoops());
  AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (auto [dim, loop] : llvm::enumerate(written.getResults()))
    if (auto expr = dyn_cast<AffineDimExpr>(loop))
      loopAxes[expr.getPosition()] = axes[dim];
  return loopAxes;
}

/// True if all that read `value` is `reader`. Asking for an extent is not
/// reading: the source of the chain has the same.
static bool isSoleReader(Operation *reader, Value value) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    return user == reader || isa<tensor::DimOp>(user);
  });
}

/// The operand of an elementwise operation that holds a value for each element
/// of its result, read in order; null if there is none, or two. A parameter
/// that was broadcast is read like one, but depends on the channel only; where
/// all do (an image of one pixel), what comes with the call is no parameter.
Value InputFinder::elementOf(linalg::LinalgOp op, ConvSite &pixels,
                             uint64_t channels) {
  llvm::SetVector<Value> found, perElement, runTime;
  ChannelExprs exprs;
  ChannelTracer tracer(pixels, exprs);
  Axes loopAxes = loopAxesOf(op, pixels);
  for (OpOperand &operand : op->getOpOperands()) {
    auto permutation = permutationOf(op, operand);
    if (!isa<RankedTensorType>(operand.get().getType()) ||
        !op.payloadUsesValueFromOperand(&operand) || !permutation ||
        !llvm::equal(*permutation, llvm::seq<int64_t>(permutation->size())))
      continue;
    found.insert(operand.get());
    Scalar traced = tracer.traceOperand(op, operand, loopAxes);
    auto *expr = std::get_if<ExprId>(&traced);
    if (!expr || (exprs[*expr].axisSet & ~channels))
      perElement.insert(operand.get());
    else if (kinds.of(operand.get()) == WeightKind::RunTime)
      runTime.insert(operand.get());
  }
  for (auto &candidates : {found, perElement, runTime})
    if (candidates.size() == 1)
      return candidates.front();
  return {};
}

/// The elementwise operations that `value` comes from, each read by the next
/// one and the last by `reader` only, the first one first.
SmallVector<Link> InputFinder::linksTo(Value value, Operation *reader,
                                       ConvSite &pixels, uint64_t channels) {
  SmallVector<Link> links;
  while (links.size() < kLongest) {
    Operation *def = value.getDefiningOp();
    if (!def || def->getBlock() != reader->getBlock() || !isElementwise(def) ||
        def->getNumResults() != 1 || !isSoleReader(reader, value))
      break;
    auto op = cast<linalg::LinalgOp>(def);
    Value element = elementOf(op, pixels, channels);
    if (!element || element.getType() != value.getType())
      break;
    links.push_back({op, element});
    value = element;
    reader = def;
  }
  std::reverse(links.begin(), links.end());
  return links;
}

/// Evaluates the chain; false if it is not affine in its source.
bool InputFinder::evaluate(BnInput &input, ArrayRef<Link> links,
                           ConvSite &pixels, bool &cast) {
  auto exprs = std::make_shared<ChannelExprs>();
  Affine affine;
  for (const Link &link : links) {
    linalg::LinalgOp op = link.op;
    ChannelTracer tracer(pixels, *exprs);
    Axes loopAxes = loopAxesOf(op, pixels);
    Scalars scalars = tracer.evaluate(op, [&](OpOperand &operand) -> Scalar {
      if (operand.get() == link.element)
        return affine;
      return tracer.traceOperand(op, operand, loopAxes);
    });
    Scalar end = scalars.lookup(op.getBlock()->getTerminator()->getOperand(0));
    if (!std::holds_alternative<Affine>(end))
      return false;
    affine = std::get<Affine>(end);
  }
  uint64_t set = 0, channels = 0;
  for (unsigned axis : input.channels)
    channels |= uint64_t(1) << axis;
  for (std::optional<ExprId> part : {affine.scale, affine.shift})
    set |= part ? (*exprs)[*part].axisSet : 0;
  if (!affine.scale || (set & ~channels))
    return false;
  input.exprs = exprs;
  input.scale = *affine.scale;
  input.shift = affine.shift;
  cast = affine.cast;
  return true;
}

/// Whether `pad` may stand between the chain and the convolution: it adds
/// nothing, or zeros that a scale keeps.
static bool keepsBorder(tensor::PadOp pad, const BnInput &input) {
  auto isEmpty = [&](unsigned dim) {
    return pad.getStaticLow()[dim] == 0 && pad.getStaticHigh()[dim] == 0;
  };
  Value value = pad.getConstantPaddingValue();
  if (llvm::all_of(llvm::seq<unsigned>(pad.getSourceType().getRank()), isEmpty))
    return true;
  return !input.shift && value && matchPattern(value, m_AnyZeroFloat()) &&
         llvm::all_of(input.channels, isEmpty);
}

/// True if each element of the result takes each element of its channel's
/// filter once.
static bool readsWholeFilter(linalg::LinalgOp conv, unsigned filter) {
  AffineMap read = conv.getMatchingIndexingMap(conv.getDpsInputOperand(filter));
  SmallVector<unsigned> reductions;
  conv.getReductionDims(reductions);
  return read.isProjectedPermutation() &&
         llvm::all_of(reductions, [&](unsigned loop) {
           return read.isFunctionOfDim(loop);
         });
}

Decision InputFinder::decideShape(ConvSite &site, const BnInput &input) {
  linalg::LinalgOp conv = site.conv;
  auto filter =
      dyn_cast<RankedTensorType>(conv->getOperand(input.filter).getType());
  if (!site.hasLinearBody(input.filter) ||
      !readsWholeFilter(conv, input.filter))
    return Decision::keep(
        Reason::UnsupportedConv,
        "accumulate products of floats: acc + input * filter");
  if (input.pad && !keepsBorder(input.pad, input))
    return Decision::keep(Reason::PaddedInput,
                          "pad the source of the chain instead");
  if (!filter || !filter.hasStaticShape())
    return Decision::keep(Reason::DynamicShape,
                          "give the filter a static shape");
  for (unsigned axis : input.outputs)
    if (ShapedType::isDynamic(site.extents[axis]))
      return Decision::keep(Reason::DynamicShape,
                            "give the output channels a static extent");
  if (input.start && ((*input.startExprs)[*input.start].axisSet &
                      ~site.filters.front().second))
    return Decision::keep(Reason::InitPerElement,
                          "start from zero or from a bias per channel, and add "
                          "the rest afterwards");
  return Decision();
}

/// Also computes constant weights.
Decision InputFinder::decideNumerics(ConvSite &site, BnInput &input,
                                     bool cast) {
  Type element = site.resultType().getElementType();
  if (!isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(element))
    return Decision::keep(Reason::ElementType,
                          "compute in f16, bf16, f32 or f64");
  const ChannelExprs &exprs = *input.exprs;
  if (cast || exprs[input.scale].type != element ||
      (input.shift && exprs[*input.shift].type != element) ||
      site.roundsFilter(input.filter) || site.roundsFilter(1 - input.filter))
    return Decision::keep(Reason::FoldPrecision,
                          "compute filter, result and scale in one type");
  if (input.weights == WeightKind::Constant) {
    FoldResult folded = foldInputConstants(site, input);
    if (folded.refusal)
      return Decision::keep(*folded.refusal, "a wider type for the weights");
    if (folded.constants)
      input.constants =
          std::make_shared<FoldedConstants>(std::move(*folded.constants));
  }
  if (std::optional<Decision> refusal = accumulatorGate(site))
    return *refusal;
  if (element.getIntOrFloatBitWidth() == 16 && !input.constants &&
      options.weights != WeightsMode::Always)
    return Decision::keep(Reason::FoldUnchecked,
                          "constant weights, a wider type, or weights=always");
  return Decision();
}

Decision InputFinder::decide(ConvSite &site, BnInput &input, bool cast) {
  Decision decision = decideShape(site, input);
  if (decision.verdict == VerdictKind::Fuse)
    decision = decideNumerics(site, input, cast);
  if (decision.verdict != VerdictKind::Fuse)
    return decision;
  if (input.weights != WeightKind::Constant &&
      options.weights == WeightsMode::Constants)
    return Decision::keep(Reason::NonConstantWeights,
                          "constant weights, or weights=auto");
  if (input.weights == WeightKind::RunTime &&
      options.weights != WeightsMode::Always)
    return Decision::keep(Reason::RunTimeWeights,
                          "fuse.param on the weights, or weights=always");
  return decision;
}

/// What the accumulators start from, where a shift will be added to it.
void InputFinder::findStart(ConvSite &site, BnInput &input) {
  auto exprs = std::make_shared<ChannelExprs>();
  input.startExprs = exprs;
  if (!input.shift)
    return;
  input.outputs = site.channels(input.filter);
  ExprId start = ChannelTracer(site, *exprs)
                     .trace(site.conv.getDpsInits()[0], site.axes());
  auto constant = dyn_cast_or_null<FloatAttr>((*exprs)[start].constant);
  if (!constant || !constant.getValue().isZero())
    input.start = start;
}

/// When filter, scale and shift are known.
WeightKind InputFinder::kindOf(const BnInput &input) {
  WeightKind kind = kinds.of(input.conv->getOperand(input.filter));
  for (ExprId root : {input.scale, input.shift.value_or(input.scale)})
    for (ExprId id : input.exprs->reachable(root))
      if (Value leaf = (*input.exprs)[id].leaf)
        kind = std::max(kind, kinds.of(leaf));
  return kind;
}

/// Leaves the operand that is the filter. Of a linear layer it is the one that
/// is known before the call; a product of two values of the call has none.
bool InputFinder::findFilter(ConvSite &site) {
  if (!site.isContraction)
    return true;
  llvm::erase_if(site.filters, [&](const auto &filter) {
    return kinds.of(site.conv->getOperand(filter.first)) == WeightKind::RunTime;
  });
  return site.filters.size() == 1;
}

/// Finds the longest chain in front of `site`, and decides on it.
void InputFinder::examine(ConvSite &site) {
  linalg::LinalgOp conv = site.conv;
  BnInput input;
  input.conv = conv;
  input.filter = site.filters.front().first;
  OpOperand *operand = conv.getDpsInputOperand(1 - input.filter);
  Value value = operand->get();
  Operation *reader = conv;
  input.pad = value.getDefiningOp<tensor::PadOp>();
  if (input.pad) {
    if (!isSoleReader(conv, value))
      return;
    reader = input.pad;
    value = input.pad.getSource();
  }
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() >= static_cast<int64_t>(kOpaqueAxis))
    return;
  AffineMap read = conv.getMatchingIndexingMap(operand);
  AffineMap weights =
      conv.getMatchingIndexingMap(conv.getDpsInputOperand(input.filter));
  for (auto [dim, loop] : llvm::enumerate(read.getResults()))
    if (isa<AffineDimExpr>(loop) &&
        llvm::is_contained(weights.getResults(), loop)) {
      if (type.isDynamicDim(dim))
        return;
      input.channels.push_back(dim);
    }
  ConvSite pixels;
  pixels.conv = conv;
  llvm::append_range(pixels.extents, type.getShape());
  SmallVector<Link> links =
      linksTo(value, reader, pixels, axisSetOf({input.channels}));
  ArrayRef<Link> rest = links;
  bool cast = false;
  while (!rest.empty() && !evaluate(input, rest, pixels, cast))
    rest = rest.drop_front();
  if (!rest.empty())
    judge(site, input, rest, cast);
}

/// Fills in what is known of the chain, and decides on it.
void InputFinder::judge(ConvSite &site, BnInput &input, ArrayRef<Link> links,
                        bool cast) {
  input.source = links.front().element;
  // One number in front of a linear layer (the divisor of a mean) is no batch
  // normalisation.
  if (site.isContraction && !(*input.exprs)[input.scale].axisSet)
    return;
  // What stands behind another convolution is that one's batch normalisation.
  if (Operation *def = input.source.getDefiningOp(); def && ConvSite::get(def))
    return;
  for (const Link &link : links)
    input.ops.push_back(link.op);
  input.weights = kindOf(input);
  findStart(site, input);
  SmallVector<Operation *> path = input.ops;
  if (input.pad)
    path.push_back(input.pad);
  path.push_back(input.conv);
  input.decision = overridden(path, options, decide(site, input, cast));
  input.index = inputs.size();
  inputs.push_back(std::move(input));
}

std::vector<BnInput> InputFinder::run() {
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != function && op->hasTrait<OpTrait::SymbolTable>())
      return WalkResult::skip();
    if (!isa<linalg::LinalgOp>(op))
      return WalkResult::advance();
    if (auto site = ConvSite::get(op); site && findFilter(*site))
      examine(*site);
    return WalkResult::skip();
  });
  return std::move(inputs);
}

std::vector<BnInput> fuse::findBnInputs(FunctionOpInterface function,
                                        const FoldOptions &options) {
  return InputFinder(function, options).run();
}
