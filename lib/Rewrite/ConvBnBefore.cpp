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
  Value initialValue(Value shift);
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

/// What the accumulators start from, and the filter's sum of `shift` added.
Value InputFolder::initialValue(Value shift) {
  auto type = cast<RankedTensorType>(filter.getType());
  unsigned rank = weights.getNumResults();
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::reduction);
  SmallVector<AffineExpr> outputs;
  SmallVector<int64_t> shape, added;
  for (auto [axis, loop] : llvm::enumerate(written.getResults())) {
    auto *found = llvm::find(weights.getResults(), loop);
    if (found == weights.getResults().end()) {
      added.push_back(axis);
      continue;
    }
    size_t dim = found - weights.getResults().begin();
    loops[dim] = utils::IteratorType::parallel;
    outputs.push_back(loop);
    shape.push_back(type.getDimSize(dim));
  }
  Value start = *initSource(conv);
  if (!start) {
    Value zero = arith::ConstantOp::create(
        builder, loc, builder.getFloatAttr(type.getElementType(), 0.0));
    Value empty =
        tensor::EmptyOp::create(builder, loc, shape, type.getElementType());
    start = linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
  }
  Value sum =
      linalg::GenericOp::create(
          builder, loc, start.getType(), ValueRange{filter, shift}, start,
          ArrayRef<AffineMap>{builder.getMultiDimIdentityMap(rank),
                              channelMap(), overFilter(outputs)},
          loops,
          [&](OpBuilder &body, Location, ValueRange args) {
            Value product = arith::MulFOp::create(body, loc, args[0], args[1]);
            linalg::YieldOp::create(
                body, loc,
                Value(arith::AddFOp::create(body, loc, args[2], product)));
          })
          .getResult(0);
  if (added.empty())
    return sum;
  Value empty = emptyLike(builder, loc, conv.getDpsInits()[0]);
  return linalg::BroadcastOp::create(builder, loc, sum, empty, added)
      ->getResult(0);
}

/// The chain's source, padded as the chain's result is.
Value InputFolder::newInput() {
  if (!input.pad)
    return input.source;
  IRMapping mapping;
  mapping.map(input.pad.getSource(), input.source);
  return builder.clone(*input.pad, mapping)->getResult(0);
}

void InputFolder::fold(llvm::SetVector<Operation *> &old) {
  Value init;
  if (input.shift)
    init = initialValue(buildChannelTensor(builder, input, *input.shift));
  Value scaled = scaledFilter();
  Value source = newInput();
  conv->setOperand(1 - input.filter, source);
  conv->setOperand(input.filter, scaled);
  if (init)
    conv.setDpsInitOperand(0, init);
  old.insert(input.ops.begin(), input.ops.end());
  if (input.pad)
    old.insert(input.pad);
}

void fuse::foldInput(const BnInput &input, llvm::SetVector<Operation *> &old) {
  InputFolder(input).fold(old);
}
