//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-cpu-tile: tiles of a kernel that stay in the cache.
//
//   max; exp; sum; div over rows   ==>   for each row { max; exp; sum; div }
//
// Tiles the last operator over loops along which everything that it reads can
// be cut, and computes producers in the same tile. Never a reduction loop. A
// kernel with reshapes and slices inside is cut as a whole (CutRows.h).
//
//===----------------------------------------------------------------------===//

#include "ChainTiles.h"
#include "CutRows.h"
#include "TileSizes.h"
#include "fuse/Analysis/Operators.h"
#include "fuse/Kernel/KernelClass.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace fuse {
#define GEN_PASS_DEF_CPUTILE
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;

/// Marks the contraction while it is tiled.
constexpr StringLiteral kHeavyAttr = "fuse.heavy";

/// The last operator, which everything else in the kernel leads to.
static linalg::LinalgOp findRoot(func::FuncOp function) {
  for (Operation &op : llvm::reverse(function.getBody().front()))
    if (auto structured = dyn_cast<linalg::LinalgOp>(op))
      return structured;
  return nullptr;
}

static bool isChain(func::FuncOp function) {
  auto kernel = function->getAttrOfType<StringAttr>(fuse::kKernelClassAttr);
  return kernel == fuse::chainClassName();
}

/// The contractions, in order.
static SmallVector<linalg::LinalgOp> findHeavy(func::FuncOp function) {
  SmallVector<linalg::LinalgOp> heavy;
  function->walk([&](linalg::LinalgOp op) {
    if (fuse::isHeavy(fuse::roleOf(op)) && op->getNumResults() == 1)
      heavy.push_back(op);
  });
  return heavy;
}

/// True if something behind `root` reads `value`: the kernel hands it out.
static bool isReadBehind(Operation *root, Value value) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return user->getBlock() == root->getBlock() && root->isBeforeInBlock(user);
  });
}

/// Slices of empty tensors become empty tensors of a tile.
static LogicalResult shrinkEmpty(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  tensor::populateFoldTensorEmptyPatterns(patterns);
  return applyPatternsGreedily(function, std::move(patterns));
}

/// What the inputs of the contraction are made by: it is not made again for
/// each of its inner tiles.
static llvm::DenseSet<Operation *> panelOps(linalg::LinalgOp heavy) {
  llvm::DenseSet<Operation *> ops;
  SmallVector<Value> worklist(heavy.getDpsInputs());
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (op && ops.insert(op).second)
      llvm::append_range(worklist, op->getOperands());
  }
  return ops;
}

/// True if a loop has no rounds: nothing is to be shared among threads, and
/// upstream cannot cut it.
static bool hasNoWork(func::FuncOp function) {
  return function
      ->walk([](linalg::LinalgOp op) {
        return llvm::is_contained(op.getStaticLoopRanges(), 0)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
struct CpuTilePass : fuse::impl::CpuTileBase<CpuTilePass> {
  using CpuTileBase::CpuTileBase;

  void tileInner(linalg::LinalgOp root, ArrayRef<int64_t> sizes) {
    linalg::LinalgOp heavy;
    root->getParentOp()->walk([&](linalg::LinalgOp op) {
      if (op->hasAttr(kHeavyAttr) && op->getBlock() == root->getBlock())
        heavy = op;
    });
    if (!heavy)
      return;
    llvm::DenseSet<Operation *> panel = panelOps(heavy);
    fuse::tileOperator(
        root, sizes, /*parallel=*/false,
        [panel](tensor::ExtractSliceOp, OpResult producer, bool)
            -> std::optional<scf::SCFTileAndFuseOptions::ControlFnResult> {
          if (panel.contains(producer.getOwner()))
            return std::nullopt;
          return scf::SCFTileAndFuseOptions::ControlFnResult{};
        });
  }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(fuse::kKernelClassAttr) || hasNoWork(function))
      return;
    linalg::LinalgOp root = findRoot(function);
    if (!root || !root.hasPureTensorSemantics())
      return;
    if (isChain(function) &&
        fuse::tileChain(function, root, cacheBytes, threads))
      return;
    SmallVector<linalg::LinalgOp> contractions = findHeavy(function);
    linalg::LinalgOp heavy;
    std::optional<fuse::TileSizes> chain;
    if (contractions.size() == 1)
      heavy = contractions.front();
    else if (contractions.size() == 2)
      chain = fuse::chooseAttentionTiles(root, contractions.front());
    if (!heavy && !chain && fuse::cutRows(function))
      return;
    bool reduces = false;
    function->walk([&](linalg::LinalgOp op) {
      reduces |= op.getNumReductionLoops() != 0;
    });
    fuse::TileSizes sizes =
        chain ? *chain : fuse::chooseTiles(root, heavy, reduces);
    if (heavy)
      heavy->setAttr(kHeavyAttr, UnitAttr::get(&getContext()));
    linalg::LinalgOp inTile = fuse::tileOperator(
        root, sizes.outer, /*parallel=*/true,
        [&](tensor::ExtractSliceOp, OpResult producer, bool)
            -> std::optional<scf::SCFTileAndFuseOptions::ControlFnResult> {
          return scf::SCFTileAndFuseOptions::ControlFnResult{
              isReadBehind(root, producer)};
        });
    if (inTile)
      tileInner(inTile, sizes.inner);
    function->walk([](Operation *op) { op->removeAttr(kHeavyAttr); });
    if (failed(shrinkEmpty(function)))
      return signalPassFailure();
  }
};
} // namespace
