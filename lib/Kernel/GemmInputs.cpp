//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How the inputs of a matrix product lie in memory.
//
//===----------------------------------------------------------------------===//

#include "Classes.h"
#include "fuse/Analysis/Operators.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace fuse;

/// The last loop of `loops` that moves the fastest through `map`.
static std::optional<unsigned> fastest(AffineMap map, ArrayRef<int64_t> extents,
                                       const llvm::SmallBitVector &loops) {
  for (AffineExpr expr : llvm::reverse(map.getResults()))
    for (unsigned loop : loops.set_bits())
      if (extents[loop] != 1 && expr.isFunctionOfDim(loop))
        return loop;
  return std::nullopt;
}

/// True if neighbours along `loop` are neighbours in a row-major tensor.
static bool isContiguous(AffineMap map, ArrayRef<int64_t> extents,
                         unsigned loop) {
  for (AffineExpr expr : llvm::reverse(map.getResults())) {
    AffineExpr dim = getAffineDimExpr(loop, map.getContext());
    AffineExpr step = simplifyAffineExpr(expr.replace(dim, dim + 1) - expr,
                                         map.getNumDims(), 0);
    if (auto constant = dyn_cast<AffineConstantExpr>(step);
        !constant || constant.getValue() != 0)
      return constant && constant.getValue() == 1;
    for (unsigned other = 0; other < map.getNumDims(); ++other)
      if (extents[other] != 1 && expr.isFunctionOfDim(other))
        return false;
  }
  return false;
}

/// The map of an operand, carried on to the memory that a kernel
/// reads: through operators of the group, copies and pads.
static AffineMap memoryMap(const Group &group, AffineMap map, Value value) {
  while (Operation *def = value.getDefiningOp()) {
    if (isa<tensor::PadOp, tensor::CastOp>(def)) {
      value = def->getOperand(0);
      continue;
    }
    auto op = dyn_cast<linalg::LinalgOp>(def);
    std::optional<unsigned> id = group.graph.facts.idOf(def);
    if (!op || !(id ? group.contains(*id) : isGlue(def)) ||
        op.getNumDpsInputs() == 0)
      return map;
    AffineMap result = op.getIndexingMapMatchingResult(cast<OpResult>(value)),
              input = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
    if (!result.isPermutation() || !input.isPermutation())
      return map;
    map = input.compose(inversePermutation(result)).compose(map);
    value = op.getDpsInputOperand(0)->get();
  }
  return map;
}

GemmInputs fuse::gemmInputsOf(const Group &group, unsigned anchor) {
  linalg::LinalgOp op = group.graph.op(anchor);
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  AffineMap maps[] = {op.getMatchingIndexingMap(&op->getOpOperand(0)),
                      op.getMatchingIndexingMap(&op->getOpOperand(1))},
            result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  llvm::SmallBitVector rows[2], sums(extents.size());
  for (auto [own, other, loops] :
       llvm::zip_equal(maps, llvm::reverse(maps), rows)) {
    loops.resize(extents.size());
    for (unsigned loop = 0; loop < extents.size(); ++loop) {
      bool parallel =
          op.getIteratorTypesArray()[loop] == utils::IteratorType::parallel;
      sums[loop] = !parallel;
      loops[loop] =
          parallel && own.isFunctionOfDim(loop) && !other.isFunctionOfDim(loop);
    }
  }
  auto inputOf = [&](unsigned operand) {
    GemmInput input;
    AffineMap map = memoryMap(group, maps[operand], op->getOperand(operand));
    input.bytes = elementBytes(getElementTypeOrSelf(op->getOperand(operand)))
                      .value_or(input.bytes);
    std::optional<unsigned> row = fastest(result, extents, rows[operand]),
                            k = fastest(map, extents, sums);
    input.alongK = k && isContiguous(map, extents, *k) &&
                   !(row && isContiguous(map, extents, *row));
    input.extent = 1;
    for (unsigned loop : rows[operand].set_bits())
      input.extent *= ShapedType::isDynamic(extents[loop])
                          ? std::numeric_limits<double>::infinity()
                          : extents[loop];
    return input;
  };
  std::optional<unsigned> innermost =
      fastest(result, extents, rows[0] | rows[1]);
  bool xIsM = innermost && rows[0].test(*innermost);
  return {inputOf(xIsM ? 1 : 0), inputOf(xIsM ? 0 : 1), xIsM,
          elementBytes(getElementTypeOrSelf(op->getResult(0))).value_or(4)};
}
