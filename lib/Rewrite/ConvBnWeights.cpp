//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scaled filter and shift of a conv-BN fold: one generic operation each, or
// constants. Never touches a constant that others read.
//
//===----------------------------------------------------------------------===//

#include "ConvBnParts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace fuse;

namespace {

class WeightBuilder {
public:
  WeightBuilder(OpBuilder &atConv, const BnChain &chain)
      : chain(chain), exprs(*chain.exprs), atConv(atConv),
        builder(placeFor(chain)), loc(chain.conv.getLoc()),
        resultType(cast<RankedTensorType>(chain.conv->getResult(0).getType())) {
    channels = refineAxes({chain.channels}, chain.splits).front();
    for (unsigned axis : channels)
      channelShape.push_back(extentOf(axis));
  }

  Value scaledFilter();
  Value initialValue();
  Value channelTensor(ExprId root);

private:
  static Operation *placeFor(const BnChain &chain);
  int64_t extentOf(unsigned axis);
  Value collapseParts(Value tensor);
  Value partsTensor(ExprId root);
  AffineMap channelMap(const Axes &axes);
  std::pair<Value, Axes> splitLeaf(const ChannelNode &node);
  Value emitOp(OpBuilder &body, const ChannelNode &node,
               const llvm::DenseMap<ExprId, Value> &values);
  llvm::DenseMap<ExprId, unsigned> readLeaves(ArrayRef<ExprId> order,
                                              SmallVector<Value> &inputs,
                                              SmallVector<AffineMap> &maps);
  Value shiftTensor();
  Value destination();

  const BnChain &chain;
  const ChannelExprs &exprs;
  OpBuilder &atConv;
  OpBuilder builder; ///< outside of the loops that the weights do not change in
  Location loc;
  RankedTensorType resultType;
  SmallVector<unsigned, 2> channels; ///< their parts where they are split
  SmallVector<int64_t> channelShape;
};

} // namespace

/// Where the weights are scaled: at the end of the chain, or before the
/// outermost loop around it that changes none of them.
Operation *WeightBuilder::placeFor(const BnChain &chain) {
  SmallVector<Value> needed{chain.conv->getOperand(chain.filter)};
  for (ExprId root : {chain.scale, chain.shift.value_or(chain.scale)})
    for (ExprId id : chain.exprs->reachable(root))
      if (Value leaf = (*chain.exprs)[id].leaf)
        needed.push_back(leaf);
  Operation *place = chain.last();
  while (auto loop = dyn_cast<LoopLikeOpInterface>(place->getParentOp())) {
    if (!llvm::all_of(needed, [&](Value value) {
          return loop.isDefinedOutsideOfLoop(value);
        }))
      break;
    place = loop;
  }
  return place;
}

/// Parallel iterators, `count` of them.
static SmallVector<utils::IteratorType> parallel(size_t count) {
  return SmallVector<utils::IteratorType>(count, utils::IteratorType::parallel);
}

Value fuse::emptyLike(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return tensor::EmptyOp::create(builder, loc,
                                 tensor::getMixedSizes(builder, loc, tensor),
                                 type.getElementType());
}

//===----------------------------------------------------------------------===//
// Values per channel
//===----------------------------------------------------------------------===//

/// The map from channels to the elements of a leaf with at most one axis for
/// each dimension.
AffineMap WeightBuilder::channelMap(const Axes &axes) {
  SmallVector<AffineExpr> results;
  for (ArrayRef<unsigned> dim : axes) {
    if (dim.empty()) {
      results.push_back(builder.getAffineConstantExpr(0));
      continue;
    }
    auto *channel = llvm::find(channels, dim.front());
    results.push_back(builder.getAffineDimExpr(channel - channels.begin()));
  }
  return AffineMap::get(channels.size(), 0, results, builder.getContext());
}

/// The leaf with every dimension that collapses several axes expanded.
std::pair<Value, Axes> WeightBuilder::splitLeaf(const ChannelNode &node) {
  auto type = cast<RankedTensorType>(node.leaf.getType());
  SmallVector<int64_t> shape;
  SmallVector<ReassociationIndices> groups;
  Axes axes;
  for (auto [dim, collapsed] :
       llvm::enumerate(refineAxes(node.axes, chain.splits))) {
    auto &group = groups.emplace_back();
    if (collapsed.size() < 2) {
      group.push_back(shape.size());
      shape.push_back(type.getDimSize(dim));
      axes.push_back(collapsed);
      continue;
    }
    for (unsigned axis : collapsed) {
      group.push_back(shape.size());
      shape.push_back(extentOf(axis));
      axes.push_back({axis});
    }
  }
  if (axes.size() == node.axes.size())
    return {node.leaf, axes};
  auto expanded = RankedTensorType::get(shape, type.getElementType());
  Value leaf = node.leaf;
  if (!type.hasStaticShape())
    leaf = tensor::CastOp::create(
        builder, loc,
        tensor::CollapseShapeOp::inferCollapsedType(expanded, groups), leaf);
  return {tensor::ExpandShapeOp::create(builder, loc, expanded, leaf, groups),
          axes};
}

Value WeightBuilder::emitOp(OpBuilder &body, const ChannelNode &node,
                            const llvm::DenseMap<ExprId, Value> &values) {
  SmallVector<Value> operands;
  for (ExprId operand : node.operands)
    operands.push_back(values.lookup(operand));
  if (node.prototype) {
    Operation *copy = body.clone(*node.prototype);
    copy->setOperands(operands);
    return copy->getResult(0);
  }
  OperationState state(loc, node.name);
  state.addOperands(operands);
  state.addTypes(node.type);
  return body.create(state)->getResult(0);
}

/// The tensors that the nodes of `order` read, each once, with their maps.
/// Returns the input of each leaf.
llvm::DenseMap<ExprId, unsigned>
WeightBuilder::readLeaves(ArrayRef<ExprId> order, SmallVector<Value> &inputs,
                          SmallVector<AffineMap> &maps) {
  llvm::MapVector<std::pair<Value, AffineMap>, unsigned> inputOf;
  llvm::DenseMap<ExprId, unsigned> argOf;
  for (ExprId id : order) {
    const ChannelNode &node = exprs[id];
    if (node.kind != ChannelNode::Kind::Leaf ||
        !isa<RankedTensorType>(node.leaf.getType()))
      continue;
    auto [leaf, axes] = splitLeaf(node);
    AffineMap map = channelMap(axes);
    auto [slot, isNew] = inputOf.try_emplace({leaf, map}, inputs.size());
    if (isNew) {
      inputs.push_back(leaf);
      maps.push_back(map);
    }
    argOf[id] = slot->second;
  }
  return argOf;
}

int64_t WeightBuilder::extentOf(unsigned axis) {
  for (const AxisSplit &split : chain.splits)
    if (axis >= split.first && axis < split.first + split.shape.size())
      return split.shape[axis - split.first];
  return resultType.getDimSize(axis);
}

/// A tensor over the parts of channels as one over the channels.
Value WeightBuilder::collapseParts(Value tensor) {
  SmallVector<ReassociationIndices> groups;
  int64_t next = 0;
  for (unsigned channel : chain.channels) {
    auto &group = groups.emplace_back();
    for (size_t i = refineAxes({{channel}}, chain.splits).front().size(); i > 0;
         --i)
      group.push_back(next++);
  }
  if (next == static_cast<int64_t>(groups.size()))
    return tensor;
  return tensor::CollapseShapeOp::create(builder, loc, tensor, groups);
}

Value WeightBuilder::channelTensor(ExprId root) {
  return collapseParts(partsTensor(root));
}

/// One generic operation that computes `root` for each channel, or the tensor
/// that is there.
Value WeightBuilder::partsTensor(ExprId root) {
  SmallVector<ExprId> order = exprs.reachable(root);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  llvm::DenseMap<ExprId, unsigned> argOf = readLeaves(order, inputs, maps);
  Type type = exprs[root].type;
  if (argOf.contains(root) && maps.front().isIdentity() &&
      inputs.front().getType() == RankedTensorType::get(channelShape, type))
    return inputs.front();
  unsigned rank = channelShape.size();
  maps.push_back(builder.getMultiDimIdentityMap(rank));
  Value empty = tensor::EmptyOp::create(builder, loc, channelShape, type);
  auto buildBody = [&](OpBuilder &body, Location, ValueRange args) {
    llvm::DenseMap<ExprId, Value> values;
    for (ExprId id : order) {
      const ChannelNode &node = exprs[id];
      if (node.kind == ChannelNode::Kind::Constant)
        values[id] = arith::ConstantOp::create(body, loc, node.constant);
      else if (node.kind == ChannelNode::Kind::Op)
        values[id] = emitOp(body, node, values);
      else
        values[id] =
            argOf.contains(id) ? Value(args[argOf.lookup(id)]) : node.leaf;
    }
    linalg::YieldOp::create(body, loc, values.lookup(root));
  };
  return linalg::GenericOp::create(builder, loc, empty.getType(), inputs, empty,
                                   maps, parallel(rank), buildBody)
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

Value fuse::buildConstantFilter(OpBuilder &builder, Location loc, Type given,
                                const FoldedConstants &constants) {
  auto type = cast<RankedTensorType>(given);
  ArrayRef<char> raw = constants.filter;
  if (constants.resource.empty())
    return arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::getFromRawBuffer(type, raw));
  constexpr size_t kAlignment = 64; // a cache line
  auto &manager =
      DenseResourceElementsHandle::getManagerInterface(builder.getContext());
  TypedAttr folded = DenseResourceElementsAttr::get(
      type, manager.insert(constants.resource + "_folded",
                           HeapAsmResourceBlob::allocateAndCopyWithAlign(
                               raw, kAlignment, /*dataIsMutable=*/false)));
  return arith::ConstantOp::create(builder, loc, folded);
}

/// `w * s`, along the dimensions of the filter that the channels index.
Value WeightBuilder::scaledFilter() {
  linalg::LinalgOp conv = chain.conv;
  Value filter = conv->getOperand(chain.filter);
  if (chain.shiftOnly)
    return filter;
  if (chain.constants)
    return buildConstantFilter(builder, loc, filter.getType(),
                               *chain.constants);
  Value scale = channelTensor(chain.scale);
  AffineMap read =
      conv.getMatchingIndexingMap(conv.getDpsInputOperand(chain.filter));
  AffineMap written = conv.getMatchingIndexingMap(conv.getDpsInitOperand(0));
  SmallVector<AffineExpr> channels;
  for (unsigned axis : chain.channels) {
    AffineExpr loop = written.getResult(axis);
    auto *dim = llvm::find(read.getResults(), loop);
    channels.push_back(
        builder.getAffineDimExpr(dim - read.getResults().begin()));
  }
  unsigned rank = read.getNumResults();
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  AffineMap scaleMap = AffineMap::get(rank, 0, channels, builder.getContext());
  Value empty = emptyLike(builder, loc, filter);
  auto generic = linalg::GenericOp::create(
      builder, loc, empty.getType(), ValueRange{filter, scale}, empty,
      ArrayRef<AffineMap>{identity, scaleMap, identity}, parallel(rank),
      [&](OpBuilder &body, Location, ValueRange args) {
        Value product = arith::MulFOp::create(body, loc, args[0], args[1]);
        linalg::YieldOp::create(body, loc, product);
      });
  return generic.getResult(0);
}

/// An uninitialised tensor of the result's type: the one that the initial value
/// was made in, if there is one.
Value WeightBuilder::destination() {
  Value init = chain.conv.getDpsInits()[0];
  Value source = init;
  if (auto def = init.getDefiningOp<linalg::LinalgOp>())
    source = def.getDpsInits()[cast<OpResult>(init).getResultNumber()];
  if (source.getDefiningOp<tensor::EmptyOp>() && source.getType() == resultType)
    return source;
  return emptyLike(atConv, loc, init);
}

/// The shift for each channel.
Value WeightBuilder::shiftTensor() {
  if (!chain.constants)
    return channelTensor(*chain.shift);
  SmallVector<int64_t> shape;
  for (unsigned axis : chain.channels)
    shape.push_back(resultType.getDimSize(axis));
  auto type = RankedTensorType::get(shape, resultType.getElementType());
  return arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::getFromRawBuffer(type, chain.constants->shift));
}

/// What the accumulators start from: the old zeros, or the shift.
Value WeightBuilder::initialValue() {
  linalg::LinalgOp conv = chain.conv;
  bool noShift =
      !chain.shift || (chain.constants && chain.constants->shiftIsZero);
  if (noShift && chain.initIsZero)
    return conv.getDpsInits()[0];
  Value shift = shiftTensor();
  SmallVector<int64_t> added;
  for (int64_t axis = 0; axis < resultType.getRank(); ++axis)
    if (!llvm::is_contained(chain.channels, axis))
      added.push_back(axis);
  if (added.empty())
    return shift;
  return linalg::BroadcastOp::create(atConv, loc, shift, destination(), added)
      ->getResult(0);
}

FoldedWeights fuse::buildWeights(OpBuilder &builder, const BnChain &chain) {
  WeightBuilder weights(builder, chain);
  Value filter = weights.scaledFilter();
  return {filter, weights.initialValue()};
}

Value fuse::buildChannelTensor(OpBuilder &builder, const BnInput &input,
                               ExprId root) {
  // The last operation of the chain has the input's axes, and reads or comes
  // after all that the expressions need.
  BnChain chain;
  chain.conv = cast<linalg::LinalgOp>(input.ops.back());
  chain.ops = input.ops;
  chain.filter = 0;
  chain.channels = input.channels;
  chain.exprs = input.exprs;
  chain.scale = root;
  return WeightBuilder(builder, chain).channelTensor(root);
}

Value fuse::buildStart(OpBuilder &builder, const BnInput &input) {
  BnChain chain;
  chain.conv = input.conv;
  chain.ops = {input.conv};
  chain.filter = input.filter;
  chain.channels = input.outputs;
  chain.exprs = input.startExprs;
  chain.scale = *input.start;
  return WeightBuilder(builder, chain).channelTensor(*input.start);
}
