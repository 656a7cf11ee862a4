//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Weights of linear layers in the order in which a kernel reads them.
//
//   kernel(x, w) { matmul x, transpose w }
//     ==>   p = transpose (expand w); kernel(x, p) { collapse (x * p) }
//
// p[n / 64, k, n % 64] = w[n, k]: a panel of columns is one piece of memory.
// Only for weights that are parameters, so that it is done once. A layer of one
// row reads each weight once, and is left alone.
//
//===----------------------------------------------------------------------===//

#include "fuse/Rewrite/Kernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace fuse;

namespace {
/// A linear layer in a kernel, whose weights `w[n, k]` come in transposed.
struct Layer {
  KernelOp kernel;
  unsigned input; ///< number of the weights among the kernel's inputs
  linalg::TransposeOp transpose;
  linalg::MatmulOp matmul;
  int64_t panel; ///< columns of one
};
} // namespace

/// Columns of a panel: the most of those that fill vectors; 0 where none do.
static int64_t panelOf(int64_t columns) {
  for (int64_t panel : {64, 48, 32, 16})
    if (columns % panel == 0)
      return panel;
  return 0;
}

static bool isFrozen(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return false;
  auto function =
      dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return function && argument.getOwner()->isEntryBlock() &&
         function.getArgAttr(argument.getArgNumber(), names::kParam);
}

static std::optional<Layer> layerOf(KernelOp kernel, unsigned input) {
  BlockArgument inside = kernel.getBody().front().getArgument(input);
  if (!isFrozen(kernel.getInputs()[input]) || !inside.hasOneUse())
    return std::nullopt;
  auto transpose = dyn_cast<linalg::TransposeOp>(*inside.user_begin());
  if (!transpose || transpose.getInput() != inside ||
      transpose->getNumResults() != 1 || !transpose->hasOneUse())
    return std::nullopt;
  auto matmul = dyn_cast<linalg::MatmulOp>(*transpose->user_begin());
  if (!matmul || matmul.hasUserDefinedMaps() || matmul->getNumResults() != 1 ||
      matmul.getInputs()[0] == transpose->getResult(0) ||
      matmul.getInputs()[1] != transpose->getResult(0))
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(matmul->getResult(0).getType());
  auto weights = dyn_cast<RankedTensorType>(inside.getType());
  if (!type || !type.hasStaticShape() || !weights.hasStaticShape() ||
      type.getDimSize(0) == 1 || !isa<FloatType>(type.getElementType()))
    return std::nullopt;
  int64_t panel = panelOf(type.getDimSize(1));
  if (panel == 0)
    return std::nullopt;
  return Layer{kernel, input, transpose, matmul, panel};
}

/// The packed weights, made in front of the kernel.
static Value pack(const Layer &layer) {
  KernelOp kernel = layer.kernel;
  OpBuilder builder(kernel);
  Location loc = kernel.getLoc();
  Value weights = kernel.getInputs()[layer.input];
  auto type = cast<RankedTensorType>(weights.getType());
  int64_t panels = type.getDimSize(0) / layer.panel, depth = type.getDimSize(1);
  SmallVector<ReassociationIndices> groups{{0, 1}, {2}};
  Value wide = tensor::ExpandShapeOp::create(
      builder, loc, type.clone({panels, layer.panel, depth}), weights, groups);
  Value empty = tensor::EmptyOp::create(
      builder, loc, ArrayRef<int64_t>{panels, depth, layer.panel},
      type.getElementType());
  return linalg::TransposeOp::create(builder, loc, wide, empty,
                                     ArrayRef<int64_t>{0, 2, 1})
      ->getResult(0);
}

/// The layer as a contraction of the packed weights.
static void contract(const Layer &layer, Value packed) {
  linalg::MatmulOp matmul = layer.matmul;
  OpBuilder builder(matmul);
  Location loc = matmul.getLoc();
  auto type = cast<RankedTensorType>(matmul->getResult(0).getType());
  SmallVector<ReassociationIndices> groups{{0}, {1, 2}};
  auto wide = type.clone(
      {type.getDimSize(0), type.getDimSize(1) / layer.panel, layer.panel});
  Value init = tensor::ExpandShapeOp::create(builder, loc, wide,
                                             matmul.getDpsInits()[0], groups);
  auto maps = [&](std::initializer_list<unsigned> dims) {
    SmallVector<AffineExpr> results;
    for (unsigned dim : dims)
      results.push_back(builder.getAffineDimExpr(dim));
    return AffineMap::get(4, 0, results, builder.getContext());
  };
  auto parallel = utils::IteratorType::parallel;
  Region &body = matmul->getRegion(0);
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange{wide}, ValueRange{matmul.getInputs()[0], packed},
      ValueRange{init},
      ArrayRef<AffineMap>{maps({0, 3}), maps({1, 3, 2}), maps({0, 1, 2})},
      ArrayRef<utils::IteratorType>{parallel, parallel, parallel,
                                    utils::IteratorType::reduction});
  IRMapping mapping;
  generic.getRegion().getBlocks().clear();
  body.cloneInto(&generic.getRegion(), mapping);
  Value narrow = tensor::CollapseShapeOp::create(builder, loc, type,
                                                 generic->getResult(0), groups);
  matmul->getResult(0).replaceAllUsesWith(narrow);
  matmul->erase();
}

void fuse::packWeights(Operation *module) {
  SmallVector<Layer> layers;
  module->walk([&](KernelOp kernel) {
    for (unsigned input = 0; input < kernel.getInputs().size(); ++input)
      if (std::optional<Layer> layer = layerOf(kernel, input))
        layers.push_back(*layer);
  });
  for (Layer &layer : layers) {
    Value packed = pack(layer);
    layer.kernel.getInputsMutable()[layer.input].set(packed);
    BlockArgument inside =
        layer.kernel.getBody().front().getArgument(layer.input);
    inside.setType(packed.getType());
    contract(layer, inside);
    layer.transpose->erase();
  }
}
