//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds chains `x * scale + shift` per input channel in front of a convolution
// and says whether they may move into its weights:
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

class InputFinder {
public:
  InputFinder(FunctionOpInterface function, const FoldOptions &options)
      : function(function), options(options), kinds(function) {}
  std::vector<BnInput> run();

private:
  void examine(ConvSite &site);
  bool evaluate(BnInput &input, ConvSite &pixels, bool &cast);
  Decision decide(ConvSite &site, const BnInput &input, bool cast);
  Decision decideShape(ConvSite &site, const BnInput &input);

  FunctionOpInterface function;
  const FoldOptions &options;
  WeightKinds kinds;
  std::vector<BnInput> inputs;
};

} // namespace

/// The operand of an elementwise operation that holds a value for each element
/// of its result; null if there is not one, read in order.
static OpOperand *elementOperand(linalg::LinalgOp op) {
  OpOperand *found = nullptr;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    auto permutation = permutationOf(op, *operand);
    if (!permutation)
      continue;
    if (found ||
        !llvm::equal(*permutation, llvm::seq<int64_t>(permutation->size())))
      return nullptr;
    found = operand;
  }
  return found;
}

/// The elementwise operations with one reader each that `value` comes from, the
/// first one first.
static SmallVector<Operation *> producersOf(Value value) {
  SmallVector<Operation *> ops;
  while (ops.size() < kLongest) {
    Operation *def = value.getDefiningOp();
    if (!def || !isElementwise(def) || def->getNumResults() != 1 ||
        !value.hasOneUse())
      break;
    auto op = cast<linalg::LinalgOp>(def);
    OpOperand *operand = elementOperand(op);
    if (!operand || !isa<RankedTensorType>(operand->get().getType()) ||
        op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)))
      break;
    ops.push_back(def);
    value = operand->get();
  }
  std::reverse(ops.begin(), ops.end());
  return ops;
}

/// Evaluates the chain; false if it is not affine in its source.
bool InputFinder::evaluate(BnInput &input, ConvSite &pixels, bool &cast) {
  auto exprs = std::make_shared<ChannelExprs>();
  Affine affine;
  for (Operation *nested : input.ops) {
    auto op = llvm::cast<linalg::LinalgOp>(nested);
    ChannelTracer tracer(pixels, *exprs);
    OpOperand *element = elementOperand(op);
    Axes loopAxes(op.getNumLoops());
    AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    for (auto [dim, loop] : llvm::enumerate(written.getResults()))
      if (auto expr = dyn_cast<AffineDimExpr>(loop))
        loopAxes[expr.getPosition()] = pixels.axes()[dim];
    Scalars scalars = tracer.evaluate(op, [&](OpOperand &operand) -> Scalar {
      if (&operand == element)
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

/// True if `pad` adds zeros.
static bool padsZero(tensor::PadOp pad) {
  Value value = pad.getConstantPaddingValue();
  return value && matchPattern(value, m_AnyZeroFloat());
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
  if (input.pad && (input.shift || !padsZero(input.pad)))
    return Decision::keep(Reason::PaddedInput,
                          "pad the source of the chain instead");
  if (!filter || !filter.hasStaticShape())
    return Decision::keep(Reason::DynamicShape,
                          "give the filter a static shape");
  if (input.shift && !initSource(conv))
    return Decision::keep(Reason::InitPerElement,
                          "start from zero or from a bias per channel, and add "
                          "the rest afterwards");
  return Decision();
}

Decision InputFinder::decide(ConvSite &site, const BnInput &input, bool cast) {
  Decision shape = decideShape(site, input);
  if (shape.verdict != VerdictKind::Fuse)
    return shape;
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
  bool always = options.weights == WeightsMode::Always;
  if (element.getIntOrFloatBitWidth() == 16 && !always)
    return Decision::keep(Reason::FoldUnchecked,
                          "a wider type, or weights=always");
  if (input.weights == WeightKind::RunTime && !always)
    return Decision::keep(Reason::RunTimeWeights,
                          "fuse.param on the weights, or weights=always");
  if (input.weights != WeightKind::Constant &&
      options.weights == WeightsMode::Constants)
    return Decision::keep(Reason::NonConstantWeights,
                          "constant weights, or weights=auto");
  return Decision();
}

void InputFinder::examine(ConvSite &site) {
  linalg::LinalgOp conv = site.conv;
  BnInput input;
  input.conv = conv;
  input.filter = site.filters.front().first;
  OpOperand *operand = conv.getDpsInputOperand(1 - input.filter);
  Value value = operand->get();
  input.pad = value.getDefiningOp<tensor::PadOp>();
  if (input.pad) {
    if (!value.hasOneUse())
      return;
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
  SmallVector<Operation *> producers = producersOf(value);
  bool cast = false;
  for (size_t first = 0; first < producers.size(); ++first) {
    input.ops.assign(producers.begin() + first, producers.end());
    if (!evaluate(input, pixels, cast))
      continue;
    input.source =
        elementOperand(llvm::cast<linalg::LinalgOp>(input.ops.front()))->get();
    if (input.source.getType() != value.getType() ||
        llvm::any_of(input.ops, [&](Operation *op) {
          return op->getBlock() != conv->getBlock();
        }))
      continue;
    // What stands behind another convolution is that one's batch normalisation.
    if (Operation *def = input.source.getDefiningOp();
        def && ConvSite::get(def))
      return;
    input.weights = kinds.of(conv->getOperand(input.filter));
    for (ExprId root : {input.scale, input.shift.value_or(input.scale)})
      for (ExprId id : input.exprs->reachable(root))
        if (Value leaf = (*input.exprs)[id].leaf)
          input.weights = std::max(input.weights, kinds.of(leaf));
    SmallVector<Operation *> path = input.ops;
    if (input.pad)
      path.push_back(input.pad);
    path.push_back(conv);
    input.decision = overridden(path, options, decide(site, input, cast));
    input.index = inputs.size();
    inputs.push_back(std::move(input));
    return;
  }
}

std::vector<BnInput> InputFinder::run() {
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != function && op->hasTrait<OpTrait::SymbolTable>())
      return WalkResult::skip();
    if (!isa<linalg::LinalgOp>(op))
      return WalkResult::advance();
    if (auto site = ConvSite::get(op); site && !site->isContraction)
      examine(*site);
    return WalkResult::skip();
  });
  return std::move(inputs);
}

std::vector<BnInput> fuse::findBnInputs(FunctionOpInterface function,
                                        const FoldOptions &options) {
  return InputFinder(function, options).run();
}

std::optional<Value> fuse::initSource(linalg::LinalgOp conv) {
  Operation *init = conv.getDpsInits()[0].getDefiningOp();
  if (auto fill = dyn_cast_or_null<linalg::FillOp>(init))
    if (matchPattern(fill.getInputs()[0], m_AnyZeroFloat()))
      return Value();
  auto broadcast = dyn_cast_or_null<linalg::BroadcastOp>(init);
  if (!broadcast)
    return std::nullopt;
  // The channels, in the order of the result's axes.
  AffineMap written = conv.getMatchingIndexingMap(conv.getDpsInitOperand(0));
  AffineMap filter = conv.getMatchingIndexingMap(conv.getDpsInputOperand(1));
  for (auto [axis, loop] : llvm::enumerate(written.getResults()))
    if (llvm::is_contained(filter.getResults(), loop) ==
        llvm::is_contained(broadcast.getDimensions(), axis))
      return std::nullopt;
  return broadcast.getInput();
}
