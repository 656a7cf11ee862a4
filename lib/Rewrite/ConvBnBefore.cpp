//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Folds a chain in front of a convolution:
//
//   conv(%x * %s + %t, %w) -> %b
//     =>  conv(%x, %w * %s) -> broadcast(%b + sum(%w * %t))
//
// Decides nothing.
//
//===----------------------------------------------------------------------===//

#include "ConvBnParts.h"
#include "fuse/Rewrite/ConvBn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace fuse;

namespace {

class InputFolder {
public:
  explicit InputFolder(const BnInput &input)
      : input(input), conv(input.conv), builder(conv), loc(conv.getLoc()),
        read(conv.getMatchingIndexingMap(
            conv.getDpsInputOperand(1 - input.filter))),
        weights(
            conv.getMatchingIndexingMap(conv.getDpsInputOperand(input.filter))),
        written(conv.getMatchingIndexingMap(conv.getDpsInitOperand(0))),
        filter(conv->getOperand(input.filter)) {}
  void fold(llvm::SetVector<Operation *> &old);

private:
  AffineMap overFilter(ArrayRef<AffineExpr> loops);
  AffineMap channelMap();
  Value scaledFilter();
  Value startTensor(RankedTensorType type);
  Value addShift(Value start);
  Value initialValue();
  Value newInput();

  const BnInput &input;
  linalg::LinalgOp conv;
  OpBuilder builder;
  Location loc;
  AffineMap read, weights, written;
  Value filter;
};

} // namespace

/// The map from dimensions of the filter to those that index `loops`.
AffineMap InputFolder::overFilter(ArrayRef<AffineExpr> loops) {
  SmallVector<AffineExpr> dims;
  for (AffineExpr loop : loops)
    dims.push_back(builder.getAffineDimExpr(
        llvm::find(weights.getResults(), loop) - weights.getResults().begin()));
  return AffineMap::get(weights.getNumResults(), 0, dims, builder.getContext());
}

AffineMap InputFolder::channelMap() {
  SmallVector<AffineExpr> loops;
  for (unsigned dim : input.channels)
    loops.push_back(read.getResult(dim));
  return overFilter(loops);
}

Value InputFolder::scaledFilter() {
  if (input.constants)
    return buildConstantFilter(builder, loc, filter.getType(),
                               *input.constants);
  Value scale = buildChannelTensor(builder, input, input.scale);
  unsigned rank = weights.getNumResults();
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  Value empty = emptyLike(builder, loc, filter);
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, empty.getType(), ValueRange{filter, scale}, empty,
             ArrayRef<AffineMap>{identity, channelMap(), identity}, loops,
             [&](OpBuilder &body, Location, ValueRange args) {
               linalg::YieldOp::create(
                   body, loc,
                   Value(arith::MulFOp::create(body, loc, args[0], args[1])));
             })
      .getResult(0);
}

/// What the accumulators start from, for each output channel.
Value InputFolder::startTensor(RankedTensorType type) {
  if (input.constants)
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::getFromRawBuffer(type, input.constants->shift));
  if (input.start)
    return buildStart(builder, input);
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getFloatAttr(type.getElementType(), 0.0));
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  return linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
}

/// `start`, and the filter's sum of the shift added.
Value InputFolder::addShift(Value start) {
  Value shift = buildChannelTensor(builder, input, *input.shift);
  unsigned rank = weights.getNumResults();
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::reduction);
  SmallVector<AffineExpr> outputs;
  for (unsigned axis : input.outputs) {
    outputs.push_back(written.getResult(axis));
    loops[llvm::find(weights.getResults(), outputs.back()) -
          weights.getResults().begin()] = utils::IteratorType::parallel;
  }
  return linalg::GenericOp::create(
             builder, loc, start.getType(), ValueRange{filter, shift}, start,
             ArrayRef<AffineMap>{builder.getMultiDimIdentityMap(rank),
                                 channelMap(), overFilter(outputs)},
             loops,
             [&](OpBuilder &body, Location, ValueRange args) {
               Value product =
                   arith::MulFOp::create(body, loc, args[0], args[1]);
               linalg::YieldOp::create(
                   body, loc,
                   Value(arith::AddFOp::create(body, loc, args[2], product)));
             })
      .getResult(0);
}

Value InputFolder::initialValue() {
  auto type = cast<RankedTensorType>(conv->getResult(0).getType());
  SmallVector<int64_t> shape, added;
  for (unsigned axis = 0; axis < type.getRank(); ++axis)
    if (llvm::is_contained(input.outputs, axis))
      shape.push_back(type.getDimSize(axis));
    else
      added.push_back(axis);
  Value start =
      startTensor(RankedTensorType::get(shape, type.getElementType()));
  if (!input.constants)
    start = addShift(start);
  if (added.empty())
    return start;
  Value empty = emptyLike(builder, loc, conv.getDpsInits()[0]);
  return linalg::BroadcastOp::create(builder, loc, start, empty, added)
      ->getResult(0);
}

/// The chain's source, padded as the chain's result is.
Value InputFolder::newInput() {
  if (!input.pad)
    return input.source;
  IRMapping mapping;
  mapping.map(input.pad.getSource(), input.source);
  return OpBuilder(input.pad).clone(*input.pad, mapping)->getResult(0);
}

/// Lets questions for an extent of `value`, which will be gone, ask `other`.
static void redirectDims(Value value, Value other) {
  for (OpOperand &use : llvm::make_early_inc_range(value.getUses()))
    if (isa<tensor::DimOp>(use.getOwner()))
      use.set(other);
}

void InputFolder::fold(llvm::SetVector<Operation *> &old) {
  Value init = conv.getDpsInits()[0];
  if (input.shift)
    init = initialValue();
  Value scaled = scaledFilter();
  Value source = newInput();
  for (Operation *op : input.ops)
    redirectDims(op->getResult(0), input.source);
  if (input.pad)
    redirectDims(input.pad.getResult(), source);
  for (Value replaced : {filter, conv.getDpsInits()[0]})
    if (Operation *def = replaced.getDefiningOp())
      old.insert(def);
  conv->setOperand(1 - input.filter, source);
  conv->setOperand(input.filter, scaled);
  conv.setDpsInitOperand(0, init);
  conv->setDiscardableAttr(names::kFoldedInput,
                           builder.getStringAttr("bn-conv"));
  old.insert(input.ops.begin(), input.ops.end());
  if (input.pad)
    old.insert(input.pad);
}

void fuse::foldInput(const BnInput &input, llvm::SetVector<Operation *> &old) {
  InputFolder(input).fold(old);
}
