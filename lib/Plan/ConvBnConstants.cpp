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
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace fuse;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// `value` rounded to `type`, to nearest even.
static double roundTo(FloatType type, double value) {
  if (type.isF64())
    return value;
  if (type.isF32())
    return static_cast<float>(value);
  llvm::APFloat rounded(value);
  bool losesInfo;
  rounded.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                  &losesInfo);
  return rounded.convertToDouble();
}

template <typename T> static std::vector<double> widen(ArrayRef<char> raw) {
  std::vector<double> values(raw.size() / sizeof(T));
  for (auto [i, value] : llvm::enumerate(values)) {
    T element;
    std::memcpy(&element, raw.data() + i * sizeof(T), sizeof(T));
    value = element;
  }
  return values;
}

static std::vector<double> decode(FloatType type, ArrayRef<char> raw) {
  if (type.isF64())
    return widen<double>(raw);
  if (type.isF32())
    return widen<float>(raw);
  std::vector<double> values(raw.size() / 2);
  for (auto [i, value] : llvm::enumerate(values)) {
    uint16_t bits;
    std::memcpy(&bits, raw.data() + i * 2, 2);
    value = llvm::APFloat(type.getFloatSemantics(), llvm::APInt(16, bits))
                .convertToDouble();
  }
  return values;
}

/// The elements as they lie in an attribute; `values` are of `type` already.
static std::vector<char> encode(FloatType type, ArrayRef<double> values) {
  size_t width = type.getWidth() / 8;
  std::vector<char> raw(values.size() * width);
  for (auto [i, value] : llvm::enumerate(values)) {
    llvm::APFloat element(value);
    float single = static_cast<float>(value);
    uint16_t half = 0;
    const void *source = &value;
    if (type.isF32()) {
      source = &single;
    } else if (width == 2) {
      bool losesInfo;
      element.convert(type.getFloatSemantics(),
                      llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      half = element.bitcastToAPInt().getZExtValue();
      source = &half;
    }
    std::memcpy(raw.data() + i * width, source, width);
  }
  return raw;
}

/// Raw elements of a dense or resource constant; one element for a splat.
static std::optional<ArrayRef<char>> rawElements(Attribute attr) {
  if (auto dense = dyn_cast<DenseElementsAttr>(attr))
    return dense.getRawData();
  auto resource = dyn_cast<DenseResourceElementsAttr>(attr);
  AsmResourceBlob *blob =
      resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob)
    return std::nullopt;
  return blob->getData();
}

std::optional<std::vector<double>> fuse::constantElements(Value value) {
  Attribute attr;
  auto shaped = dyn_cast<RankedTensorType>(value.getType());
  if (!shaped || !shaped.hasStaticShape() || shaped.getNumElements() == 0 ||
      !matchPattern(value, m_Constant(&attr)))
    return std::nullopt;
  auto type = dyn_cast<FloatType>(shaped.getElementType());
  if (!type || !isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type))
    return std::nullopt;
  std::optional<ArrayRef<char>> raw = rawElements(attr);
  if (!raw)
    return std::nullopt;
  size_t count = shaped.getNumElements(), width = type.getWidth() / 8;
  if (raw->size() == width)
    return std::vector<double>(count, decode(type, *raw).front());
  if (raw->size() != count * width)
    return std::nullopt;
  return decode(type, *raw);
}

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

/// Runs over the points of a box, the last dimension fastest, and keeps the
/// linear index of what is read with `strides`.
class StridedIndex {
public:
  StridedIndex(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides)
      : shape(shape), strides(strides), point(shape.size(), 0) {}
  int64_t index() const { return linear; }
  void next() {
    for (size_t dim = shape.size(); dim-- > 0;) {
      linear += strides[dim];
      if (++point[dim] < shape[dim])
        return;
      linear -= strides[dim] * shape[dim];
      point[dim] = 0;
    }
  }

private:
  ArrayRef<int64_t> shape, strides;
  SmallVector<int64_t> point;
  int64_t linear = 0;
};

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
  std::optional<std::vector<double>> elements = constantElements(node.leaf);
  if (!elements)
    return std::nullopt;
  // Row-major over the axes of all dimensions together.
  SmallVector<int64_t> strides(shape.size(), 0);
  int64_t stride = 1;
  for (ArrayRef<unsigned> dim : llvm::reverse(node.axes))
    for (unsigned axis : llvm::reverse(dim)) {
      size_t position = llvm::find(channels, axis) - channels.begin();
      strides[position] = stride;
      stride *= shape[position];
    }
  if (stride != static_cast<int64_t>(elements->size()))
    return std::nullopt;
  std::vector<double> result(count);
  StridedIndex index(shape, strides);
  for (double &value : result) {
    value = (*elements)[index.index()];
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
  std::optional<std::vector<double>> weights = constantElements(filter);
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
  bool checked = evaluator.finite && allFinite(*weights);
  if (checked && (!allFinite(*scale) || (shift && !allFinite(*shift))))
    return {std::nullopt, Reason::FoldOverflow};
  SmallVector<int64_t> strides = filterStrides(site, chain, evaluator.shape);
  ArrayRef<int64_t> shape = cast<ShapedType>(filter.getType()).getShape();
  auto refusal =
      scaleFilter(*weights, *scale, StridedIndex(shape, strides), type);
  if (checked && refusal)
    return {std::nullopt, refusal};
  FoldedConstants folded;
  folded.filter = encode(type, *weights);
  if (shift) {
    folded.shift = encode(type, *shift);
    folded.shiftIsZero =
        llvm::all_of(*shift, [](double value) { return value == 0; });
  }
  return {std::move(folded), std::nullopt};
}
