//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes folded weights from constants. What the program computes on values
// per channel is rounded to its own type as the program does (exactly, for
// + - * / and sqrt); what only folding computes stays in double until the end.
// Changes nothing.
//
//===----------------------------------------------------------------------===//

#include "ConvBnParts.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;
using namespace fuse;

//===----------------------------------------------------------------------===//
// Expressions per channel
//===----------------------------------------------------------------------===//

using Function = double (*)(const double *);

/// The operation on doubles; null if there is none.
static Function functionOf(StringRef name) {
  return llvm::StringSwitch<Function>(name)
      .Case("arith.addf", [](const double *v) { return v[0] + v[1]; })
      .Case("arith.subf", [](const double *v) { return v[0] - v[1]; })
      .Case("arith.mulf", [](const double *v) { return v[0] * v[1]; })
      .Case("arith.divf", [](const double *v) { return v[0] / v[1]; })
      .Case("arith.negf", [](const double *v) { return -v[0]; })
      .Case("arith.extf", [](const double *v) { return v[0]; })
      .Case("arith.truncf", [](const double *v) { return v[0]; })
      .Case("math.absf", [](const double *v) { return std::fabs(v[0]); })
      .Case("math.sqrt", [](const double *v) { return std::sqrt(v[0]); })
      .Case("math.rsqrt", [](const double *v) { return 1 / std::sqrt(v[0]); })
      .Case("math.powf", [](const double *v) { return std::pow(v[0], v[1]); })
      .Case("math.fma",
            [](const double *v) { return std::fma(v[0], v[1], v[2]); })
      .Default(nullptr);
}

namespace {

/// Evaluates expressions over the channels of one chain, axes of `extents`, or
/// their parts where they are split.
class ChannelEvaluator {
public:
  ChannelEvaluator(const ChannelExprs &exprs, ArrayRef<unsigned> given,
                   ArrayRef<int64_t> extents, ArrayRef<AxisSplit> splits = {})
      : exprs(exprs), splits(splits) {
    for (unsigned axis : given)
      wholeShape.push_back(extents[axis]);
    SmallVector<unsigned, 2> whole(given);
    channels = refineAxes({whole}, splits).front();
    for (unsigned axis : channels)
      shape.push_back(extents[axis]);
    for (int64_t extent : shape)
      count *= extent;
  }

  /// One value per channel; nothing if a leaf is no constant or an operation
  /// has no function here.
  std::optional<std::vector<double>> run(ExprId root);

  SmallVector<int64_t> wholeShape; ///< extents of the channel axes
  SmallVector<int64_t> shape;      ///< and of their parts
  int64_t count = 1;               ///< channels in all
  bool finite = true;              ///< all leaves are

private:
  std::optional<std::vector<double>> leaf(const ChannelNode &node);
  std::optional<std::vector<double>> apply(const ChannelNode &node);

  const ChannelExprs &exprs;
  ArrayRef<AxisSplit> splits;
  SmallVector<unsigned, 2> channels;
  llvm::DenseMap<ExprId, std::vector<double>> values;
};

} // namespace

std::optional<std::vector<double>>
ChannelEvaluator::leaf(const ChannelNode &node) {
  std::optional<ConstantElements> elements = constantElements(node.leaf);
  if (!elements)
    return std::nullopt;
  // Row-major over the axes of all dimensions together.
  SmallVector<int64_t> strides(shape.size(), 0);
  int64_t stride = 1;
  Axes axes = refineAxes(node.axes, splits);
  for (ArrayRef<unsigned> dim : llvm::reverse(axes))
    for (unsigned axis : llvm::reverse(dim)) {
      size_t position = llvm::find(channels, axis) - channels.begin();
      strides[position] += stride; // a diagonal has one axis twice
      stride *= shape[position];
    }
  if (stride != static_cast<int64_t>(elements->values.size()))
    return std::nullopt;
  std::vector<double> result(count);
  StridedIndex index(shape, strides);
  for (double &value : result) {
    value = elements->values[index.index()];
    finite &= std::isfinite(value);
    index.next();
  }
  return result;
}

std::optional<std::vector<double>>
ChannelEvaluator::apply(const ChannelNode &node) {
  Function function = functionOf(node.name);
  if (!function || node.operands.size() > 3)
    return std::nullopt;
  std::vector<double> result(count);
  for (auto [i, value] : llvm::enumerate(result)) {
    double operands[3];
    for (auto [j, operand] : llvm::enumerate(node.operands))
      operands[j] = values.find(operand)->second[i];
    value = function(operands);
    if (node.prototype)
      value = roundTo(cast<FloatType>(node.type), value);
  }
  return result;
}

std::optional<std::vector<double>> ChannelEvaluator::run(ExprId root) {
  for (ExprId id : exprs.reachable(root)) {
    const ChannelNode &node = exprs[id];
    if (values.count(id))
      continue;
    std::optional<std::vector<double>> found;
    auto constant = dyn_cast_or_null<FloatAttr>(node.constant);
    if (!isa<FloatType>(node.type))
      return std::nullopt;
    if (constant)
      found = std::vector<double>(count, constant.getValueAsDouble());
    else if (node.kind == ChannelNode::Kind::Leaf)
      found = leaf(node);
    else if (node.kind == ChannelNode::Kind::Op)
      found = apply(node);
    if (!found)
      return std::nullopt;
    values[id] = std::move(*found);
  }
  return values[root];
}

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

static bool allFinite(ArrayRef<double> values) {
  return llvm::all_of(values,
                      [](double value) { return std::isfinite(value); });
}

/// The channel's position for each dimension of the filter, as strides into the
/// values per channel; `channels` are results of `map`, of these extents.
static SmallVector<int64_t> filterStrides(AffineMap filter, AffineMap map,
                                          ArrayRef<unsigned> channels,
                                          ArrayRef<int64_t> channelShape) {
  SmallVector<int64_t> strides(filter.getNumResults(), 0);
  int64_t stride = 1;
  for (size_t i = channels.size(); i-- > 0;) {
    AffineExpr loop = map.getResult(channels[i]);
    strides[llvm::find(filter.getResults(), loop) -
            filter.getResults().begin()] += stride; // a diagonal has one twice
    stride *= channelShape[i];
  }
  return strides;
}

/// Scales the filter in place. Returns a refusal if that loses more than
/// roundings of the type do: sums of magnitudes and of errors are compared, per
/// channel, over the whole filter.
static std::optional<Reason> scaleFilter(MutableArrayRef<double> filter,
                                         ArrayRef<double> scale,
                                         StridedIndex index, FloatType type) {
  std::vector<double> magnitude(scale.size(), 0), error(scale.size(), 0);
  bool overflow = false;
  for (double &weight : filter) {
    int64_t channel = index.index();
    double exact = weight * scale[channel], scaled = roundTo(type, exact);
    overflow |= std::isfinite(weight) && !std::isfinite(scaled);
    magnitude[channel] += std::fabs(exact);
    error[channel] += std::fabs(scaled - exact);
    weight = scaled;
    index.next();
  }
  if (overflow)
    return Reason::FoldOverflow;
  double ulp = std::ldexp(1.0, 1 - static_cast<int>(type.getFPMantissaWidth()));
  double largest = *std::max_element(magnitude.begin(), magnitude.end());
  if (*std::max_element(error.begin(), error.end()) > ulp * largest)
    return Reason::FoldUnderflow;
  return std::nullopt;
}

/// Puts the folded filter and shift, if there is one, into their type.
static FoldedConstants encode(const ConstantElements &weights, FloatType type,
                              ArrayRef<double> shift) {
  FoldedConstants folded;
  folded.resource = weights.resource;
  folded.filter = encodeElements(type, weights.values);
  folded.shift = encodeElements(type, shift);
  folded.shiftIsZero =
      llvm::all_of(shift, [](double value) { return value == 0; });
  return folded;
}

FoldResult fuse::foldConstants(const ConvSite &site, const BnChain &chain) {
  Value filter = chain.conv->getOperand(chain.filter);
  auto type = cast<FloatType>(getElementTypeOrSelf(filter.getType()));
  std::optional<ConstantElements> weights = constantElements(filter);
  ChannelEvaluator evaluator(*chain.exprs, chain.channels, site.extents,
                             chain.splits);
  if (!weights || evaluator.count == 0)
    return {};
  auto scale = evaluator.run(chain.scale);
  std::optional<std::vector<double>> shift;
  if (chain.shift)
    shift = evaluator.run(*chain.shift);
  if (shift)
    for (double &value : *shift)
      value = roundTo(type, value);
  if (!scale || shift.has_value() != chain.shift.has_value())
    return {};
  // What is not finite before folding stays so.
  bool checked = evaluator.finite && allFinite(weights->values);
  if (checked && (!allFinite(*scale) || (shift && !allFinite(*shift))))
    return {std::nullopt, Reason::FoldOverflow};
  linalg::LinalgOp conv = chain.conv;
  SmallVector<int64_t> strides = filterStrides(
      conv.getMatchingIndexingMap(conv.getDpsInputOperand(chain.filter)),
      conv.getMatchingIndexingMap(conv.getDpsInitOperand(0)), chain.channels,
      evaluator.wholeShape);
  ArrayRef<int64_t> shape = cast<ShapedType>(filter.getType()).getShape();
  auto refusal =
      scaleFilter(weights->values, *scale, StridedIndex(shape, strides), type);
  if (checked && refusal)
    return {std::nullopt, refusal};
  return {encode(*weights, type, shift.value_or(std::vector<double>())),
          std::nullopt};
}

/// Adds to `sums` what the filter makes of `shift`: for each output channel the
/// sum over its elements.
static void addShifts(ArrayRef<double> filter, ArrayRef<double> shift,
                      StridedIndex input, StridedIndex output,
                      MutableArrayRef<double> sums) {
  for (double weight : filter) {
    sums[output.index()] += weight * shift[input.index()];
    input.next();
    output.next();
  }
}

FoldResult fuse::foldInputConstants(const ConvSite &site,
                                    const BnInput &input) {
  linalg::LinalgOp conv = site.conv;
  OpOperand *filter = conv.getDpsInputOperand(input.filter);
  OpOperand *image = conv.getDpsInputOperand(1 - input.filter);
  auto type = cast<FloatType>(getElementTypeOrSelf(filter->get().getType()));
  std::optional<ConstantElements> weights = constantElements(filter->get());
  ChannelEvaluator inputs(*input.exprs, input.channels,
                          cast<ShapedType>(image->get().getType()).getShape());
  ChannelEvaluator outputs(*input.startExprs, input.outputs, site.extents);
  if (!weights)
    return {};
  auto scale = inputs.run(input.scale);
  auto shift = inputs.run(input.shift.value_or(input.scale));
  std::optional<std::vector<double>> sums =
      input.start ? outputs.run(*input.start)
                  : std::vector<double>(input.shift ? outputs.count : 0);
  if (!scale || !shift || !sums)
    return {};
  bool checked = inputs.finite && outputs.finite && allFinite(weights->values);
  AffineMap read = conv.getMatchingIndexingMap(filter);
  ArrayRef<int64_t> shape =
      cast<ShapedType>(filter->get().getType()).getShape();
  SmallVector<int64_t> inputStrides = filterStrides(
      read, conv.getMatchingIndexingMap(image), input.channels, inputs.shape);
  StridedIndex position(shape, inputStrides);
  if (input.shift) {
    SmallVector<int64_t> strides = filterStrides(
        read, conv.getMatchingIndexingMap(conv.getDpsInitOperand(0)),
        input.outputs, outputs.shape);
    addShifts(weights->values, *shift, position, StridedIndex(shape, strides),
              *sums);
    for (double &value : *sums)
      value = roundTo(type, value);
  }
  if (checked && (!allFinite(*scale) || !allFinite(*sums)))
    return {std::nullopt, Reason::FoldOverflow};
  auto refusal = scaleFilter(weights->values, *scale, position, type);
  if (checked && refusal)
    return {std::nullopt, refusal};
  return {encode(*weights, type, *sums), std::nullopt};
}
