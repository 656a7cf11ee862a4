//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Classifies operations by interface and indexing maps, not by class lists,
// wherever an interface exists. Changes nothing.
//
//===----------------------------------------------------------------------===//

#include "fuse/Analysis/Operators.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace fuse;

StringRef fuse::stringifyRole(Role role) {
  switch (role) {
  case Role::Elementwise:
    return "elementwise";
  case Role::Reduction:
    return "reduction";
  case Role::Contraction:
    return "contraction";
  case Role::Convolution:
    return "convolution";
  case Role::Depthwise:
    return "depthwise";
  case Role::Window:
    return "window";
  }
  llvm_unreachable("unknown role");
}

bool fuse::isHeavy(Role role) {
  return role == Role::Contraction || role == Role::Convolution;
}

/// True if the body never reads the last input: the window of a pooling op.
static bool hasUnusedWindow(linalg::LinalgOp op) {
  return op.getNumDpsInputs() == 2 &&
         op.getMatchingBlockArgument(op.getDpsInputOperand(1)).use_empty();
}

Role fuse::roleOf(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0)
    return Role::Elementwise;
  if (linalg::isaContractionOpInterface(op))
    return Role::Contraction;
  if (!linalg::isaConvolutionOpInterface(op))
    return Role::Reduction;
  if (hasUnusedWindow(op))
    return Role::Window;
  FailureOr<linalg::ConvolutionDimensions> dims =
      linalg::inferConvolutionDims(op);
  if (succeeded(dims) && dims->inputChannel.empty() && !dims->depth.empty())
    return Role::Depthwise;
  return Role::Convolution;
}

/// True if the body of `op` yields its first input unchanged and all loops are
/// parallel: a copy, transpose or broadcast spelled as a generic.
static bool isDataMovement(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() != 0 || op.getNumDpsInputs() != 1 ||
      op.getNumDpsInits() != 1)
    return false;
  Block *body = op.getBlock();
  if (!llvm::hasSingleElement(*body) ||
      !isa<RankedTensorType>(op.getDpsInputOperand(0)->get().getType()))
    return false;
  AffineMap output = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  return output.isPermutation() &&
         body->getTerminator()->getOperand(0) == body->getArgument(0);
}

/// True if `op` writes the same loop-invariant value to every element.
static bool isFillLike(linalg::LinalgOp op) {
  if (isa<linalg::FillOp>(op))
    return true;
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  return generic && linalg::isaFillOpInterface(generic).has_value();
}

bool fuse::isOperator(Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured)
    return false;
  if (!structured.hasPureTensorSemantics())
    return true;
  return !isFillLike(structured) && !isDataMovement(structured);
}

bool fuse::isGlue(Operation *op) {
  if (isa<tensor::PadOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
          tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::ConcatOp,
          tensor::CastOp, linalg::PackOp, linalg::UnPackOp>(op))
    return true;
  if (isa<ViewLikeOpInterface>(op))
    return true;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return structured && structured.hasPureTensorSemantics() &&
         !isFillLike(structured) && isDataMovement(structured);
}

SmallVector<Value> fuse::glueSources(Operation *glue) {
  return TypeSwitch<Operation *, SmallVector<Value>>(glue)
      .Case<tensor::ConcatOp>(
          [](auto op) { return SmallVector<Value>(op.getInputs()); })
      .Case<tensor::InsertSliceOp>([](auto op) {
        return SmallVector<Value>{op.getSource(), op.getDest()};
      })
      .Case<ViewLikeOpInterface>(
          [](auto op) { return SmallVector<Value>{op.getViewSource()}; })
      .Default(
          [](Operation *op) { return SmallVector<Value>{op->getOperand(0)}; });
}

bool fuse::isFreeInit(Value value) {
  Operation *def = value.getDefiningOp();
  // Code that is never reached may go in circles.
  llvm::SmallPtrSet<Operation *, 4> seen;
  while (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                         tensor::CastOp, tensor::ExtractSliceOp>(def) &&
         seen.insert(def).second)
    def = def->getOperand(0).getDefiningOp();
  if (!def)
    return false;
  if (isa<tensor::EmptyOp, tensor::SplatOp>(def) ||
      def->hasTrait<OpTrait::ConstantLike>())
    return true;
  auto structured = dyn_cast<linalg::LinalgOp>(def);
  return structured && structured.hasPureTensorSemantics() &&
         isFillLike(structured);
}

bool fuse::carriesData(linalg::LinalgOp op, OpOperand *init) {
  if (op.getMatchingBlockArgument(init).use_empty())
    return false;
  Value value = init->get();
  if (!isFreeInit(value))
    return true;
  // A constant is free to make again, but unless it is a splat its elements are
  // read.
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)))
    return !elements.isSplat();
  return value.getDefiningOp()->hasTrait<OpTrait::ConstantLike>();
}

std::string fuse::describe(Operation *op) {
  std::string text = op->getName().stripDialect().str();
  if (!isa<linalg::GenericOp, linalg::MapOp, linalg::ReduceOp>(op))
    return text;
  SmallVector<StringRef> body;
  for (Operation &nested : op->getRegion(0).front().without_terminator())
    if (!nested.hasTrait<OpTrait::ConstantLike>())
      body.push_back(nested.getName().stripDialect());
  if (body.size() > 4) {
    size_t count = body.size();
    body.resize(3);
    return text + "(" + llvm::join(body, ", ") + ", ... " +
           std::to_string(count) + " ops)";
  }
  return text + "(" + llvm::join(body, ", ") + ")";
}

bool fuse::holdsData(Operation *constant) {
  DenseElementsAttr elements;
  return isa<ShapedType>(constant->getResult(0).getType()) &&
         !(matchPattern(constant, m_Constant(&elements)) && elements.isSplat());
}

SmallVector<Value> fuse::usedValues(Operation *op) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return values.takeVector();
}
