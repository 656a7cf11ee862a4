//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   matmul d0, d1, d2       ==>   y = d0, x = d1, k = d2
//   conv n, f, oh, ow, ...  ==>   y = f, x = (n, oh, ow), k = (c, kh, kw)
//   conv n, oh, ow, f, ...  ==>   y = (n, oh, ow), x = f, k = (kh, kw, c)
//
//===----------------------------------------------------------------------===//

#include "GpuGemm.h"
#include "LoopNest.h"

using namespace mlir;
using namespace fuse;

/// The only operator with a reduction.
static linalg::LinalgOp findReduction(func::FuncOp source) {
  linalg::LinalgOp found;
  unsigned count = 0;
  source.walk([&](linalg::LinalgOp op) {
    if (op.getNumReductionLoops()) {
      found = op;
      ++count;
    }
  });
  return count == 1 ? found : nullptr;
}

/// Loops in the order in which `map` names them, so that neighbours stay
/// neighbours; then the others of `loops`.
static void orderLoops(SmallVector<unsigned> &loops, AffineMap map) {
  SmallVector<unsigned> ordered;
  auto add = [&](unsigned loop) {
    if (!llvm::is_contained(ordered, loop))
      ordered.push_back(loop);
  };
  for (AffineExpr expr : map.getResults())
    for (unsigned loop : loops)
      if (expr.isFunctionOfDim(loop))
        add(loop);
  llvm::for_each(loops, add);
  loops = ordered;
}

/// The last loop of more than one round that `map` names.
static std::optional<unsigned> innermostLoop(AffineMap map,
                                             ArrayRef<Extent> extents) {
  for (AffineExpr expr : llvm::reverse(map.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      if (!(extents[dim.getPosition()] == Extent{1, nullptr}))
        return dim.getPosition();
  return std::nullopt;
}

static bool hasIndex(linalg::LinalgOp op) {
  return llvm::any_of(op.getBlock()->without_terminator(), [](Operation &own) {
    return isa<linalg::IndexOp>(own) || own.getNumRegions();
  });
}

std::optional<GpuGemm> GpuGemm::of(GpuFrame &frame, std::string &why) {
  return of(frame, findReduction(frame.source), why);
}

std::optional<GpuGemm> GpuGemm::of(GpuFrame &frame, linalg::LinalgOp op,
                                   std::string &why) {
  GpuGemm gemm;
  gemm.op = op;
  why = "no single sum of products of two inputs";
  if (!gemm.op || gemm.op.getNumDpsInputs() != 2 ||
      gemm.op->getNumResults() != 1 || hasIndex(gemm.op))
    return std::nullopt;
  Operation *combiner = combinerOf(gemm.op, 0);
  if (!combiner || !arith::getNeutralElement(combiner))
    return std::nullopt;
  OpOperand *a = gemm.op.getDpsInputOperand(0),
            *b = gemm.op.getDpsInputOperand(1);
  for (OpOperand *input : {a, b})
    if (!isa<RankedTensorType>(input->get().getType()) ||
        gemm.op.getMatchingBlockArgument(input).use_empty())
      return std::nullopt;
  AffineMap mapA = gemm.op.getMatchingIndexingMap(a),
            mapB = gemm.op.getMatchingIndexingMap(b),
            mapC = gemm.op.getMatchingIndexingMap(gemm.op.getDpsInitOperand(0));
  SmallVector<Extent> extents = frame.elements.loopExtents(gemm.op);
  SmallVector<unsigned> m, n, batch, k;
  for (auto [loop, kind] : llvm::enumerate(gemm.op.getIteratorTypesArray())) {
    bool inA = mapA.isFunctionOfDim(loop), inB = mapB.isFunctionOfDim(loop);
    auto &own = kind == utils::IteratorType::reduction ? k
                : inA && !inB                          ? m
                : inB && !inA                          ? n
                                                       : batch;
    own.push_back(loop);
  }
  if (m.empty() || n.empty())
    return std::nullopt;
  // There is nothing to load, not even to throw it away.
  why = "a sum of no elements";
  for (unsigned loop : k)
    if (extents[loop] == Extent{0, nullptr})
      return std::nullopt;
  std::optional<unsigned> innermost = innermostLoop(mapC, extents);
  gemm.xIsM = innermost && llvm::is_contained(m, *innermost);
  gemm.xOperand = gemm.xIsM ? 0 : 1;
  gemm.yOperand = 1 - gemm.xOperand;
  gemm.x.loops = gemm.xIsM ? m : n;
  gemm.y.loops = gemm.xIsM ? n : m;
  gemm.batch.loops = batch;
  gemm.k.loops = k;
  for (GemmDim *dim : {&gemm.x, &gemm.y, &gemm.batch})
    orderLoops(dim->loops, mapC);
  orderLoops(gemm.k.loops, gemm.yOperand == 0 ? mapA : mapB);
  for (GemmDim *dim : {&gemm.x, &gemm.y, &gemm.batch, &gemm.k})
    for (unsigned loop : dim->loops)
      dim->extents.push_back(extents[loop]);
  why.clear();
  return gemm;
}
