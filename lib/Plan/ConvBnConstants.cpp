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

/// Evaluates expressions over the channels of one chain.
class ChannelEvaluator {
public:
  ChannelEvaluator(const ConvSite &site, const BnChain &chain)
      : exprs(*chain.exprs), channels(chain.channels) {
    for (unsigned axis : channels)
      shape.push_back(site.extents[axis]);
    for (int64_t extent : shape)
      count *= extent;
  }

  /// One value per channel; nothing if a leaf is no constant or an operation
  /// has no function here.
  std::optional<std::vector<double>> run(ExprId root);

  SmallVector<int64_t> shape; ///< extents of the channel axes
  int64_t count = 1;          ///< channels in all
  bool finite = true;         ///< all leaves are

private:
  std::optional<std::vector<double>> leaf(const ChannelNode &node);
  std::optional<std::vector<double>> apply(const ChannelNode &node);

  const ChannelExprs &exprs;
  ArrayRef<unsigned> channels;
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
  for (ArrayRef<unsigned> dim : llvm::reverse(node.axes))
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
/// values per channel.
static SmallVector<int64_t> filterStrides(const ConvSite &site,
                                          const BnChain &chain,
                                          ArrayRef<int64_t> channelShape) {
  AffineMap read = chain.conv.getMatchingIndexingMap(
      chain.conv.getDpsInputOperand(chain.filter));
  AffineMap written =
      chain.conv.getMatchingIndexingMap(chain.conv.getDpsInitOperand(0));
  SmallVector<int64_t> strides(read.getNumResults(), 0);
  int64_t stride = 1;
  for (size_t i = chain.channels.size(); i-- > 0;) {
    AffineExpr loop = written.getResult(chain.channels[i]);
    strides[llvm::find(read.getResults(), loop) - read.getResults().begin()] =
        stride;
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

FoldResult fuse::foldConstants(const ConvSite &site, const BnChain &chain) {
  Value filter = chain.conv->getOperand(chain.filter);
  auto type = cast<FloatType>(getElementTypeOrSelf(filter.getType()));
  std::optional<ConstantElements> weights = constantElements(filter);
  ChannelEvaluator evaluator(site, chain);
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
  SmallVector<int64_t> strides = filterStrides(site, chain, evaluator.shape);
  ArrayRef<int64_t> shape = cast<ShapedType>(filter.getType()).getShape();
  auto refusal =
      scaleFilter(weights->values, *scale, StridedIndex(shape, strides), type);
  if (checked && refusal)
    return {std::nullopt, refusal};
  FoldedConstants folded;
  folded.resource = weights->resource;
  folded.filter = encodeElements(type, weights->values);
  if (shift) {
    folded.shift = encodeElements(type, *shift);
    folded.shiftIsZero =
        llvm::all_of(*shift, [](double value) { return value == 0; });
  }
  return {std::move(folded), std::nullopt};
}
