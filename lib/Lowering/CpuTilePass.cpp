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
// be cut, and computes producers in the same tile. Never a reduction loop.
//
//===----------------------------------------------------------------------===//

#include "fuse/Analysis/Operators.h"
#include "fuse/Lowering/Passes.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Interfaces/TilingInterface.h"

namespace fuse {
#define GEN_PASS_DEF_CPUTILE
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;

namespace {
constexpr int kNone = -1; ///< a dimension that no loop of the root cuts

/// Along which loops of the last operator a kernel can be cut: those that index
/// one dimension of each value, the same wherever the value is read.
class FreeLoops {
public:
  explicit FreeLoops(linalg::LinalgOp root) : root(root) {
    bound.resize(root.getNumLoops());
    columns.resize(root.getNumLoops());
  }
  void analyse();
  bool isFree(unsigned loop) const { return !bound.test(loop); }
  /// True if a reduction reads neighbours along the loop.
  bool isColumn(unsigned loop) const { return columns.test(loop); }

private:
  void bind(int loop) {
    if (loop != kNone)
      bound.set(loop);
  }
  void require(Value value, ArrayRef<int> dims);
  void visit(linalg::LinalgOp op);
  void visitGlue(Operation *op);
  void visitOperands(linalg::LinalgOp op, ArrayRef<int> loops);

  linalg::LinalgOp root;
  llvm::SmallBitVector bound, columns;
  llvm::DenseMap<Value, SmallVector<int>> cut; ///< per dimension: loop or kNone
};
} // namespace

void FreeLoops::require(Value value, ArrayRef<int> dims) {
  auto [known, isNew] = cut.try_emplace(value, dims);
  if (isNew)
    return;
  for (auto [old, now] : llvm::zip_equal(known->second, dims)) {
    if (old == now)
      continue;
    bind(old);
    bind(now);
    old = kNone;
  }
}

void FreeLoops::visitOperands(linalg::LinalgOp op, ArrayRef<int> loops) {
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<int> dims;
    for (AffineExpr expr : map.getResults()) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      dims.push_back(dim ? loops[dim.getPosition()] : kNone);
    }
    if (op.getNumReductionLoops() && op.isDpsInput(&operand) && !dims.empty() &&
        dims.back() != kNone && dims.size() > 1)
      columns.set(dims.back());
    require(operand.get(), dims);
  }
}

void FreeLoops::visit(linalg::LinalgOp op) {
  SmallVector<int> loops(op.getNumLoops(), kNone);
  for (OpResult result : op->getResults()) {
    auto known = cut.find(result);
    if (known == cut.end())
      continue;
    AffineMap map = op.getIndexingMapMatchingResult(result);
    for (auto [expr, loop] : llvm::zip_equal(map.getResults(), known->second)) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim) {
        bind(loop);
        continue;
      }
      int &mine = loops[dim.getPosition()];
      if (mine != kNone && mine != loop) {
        bind(mine);
        bind(loop);
      }
      mine = loop;
    }
  }
  visitOperands(op, loops);
}

/// Reshapes, pads and slices pass on the dimensions that they leave alone.
void FreeLoops::visitGlue(Operation *op) {
  for (Value result : op->getResults())
    if (auto known = cut.find(result); known != cut.end())
      for (int loop : known->second)
        bind(loop);
}

void FreeLoops::analyse() {
  SmallVector<int> loops =
      llvm::to_vector(llvm::seq<int>(0, root.getNumLoops()));
  for (auto [loop, kind] : llvm::enumerate(root.getIteratorTypesArray()))
    if (kind != utils::IteratorType::parallel)
      bound.set(loop);
  visitOperands(root, loops);
  for (Operation *op = root->getPrevNode(); op; op = op->getPrevNode()) {
    if (auto structured = dyn_cast<linalg::LinalgOp>(op))
      visit(structured);
    else if (!isa<tensor::EmptyOp>(op))
      visitGlue(op);
  }
}

/// Elements of a pointwise tile, at least: what hides the cost of a loop.
constexpr int64_t kTileElements = 1024;
/// Lanes of a tile along which a reduction reads neighbours.
constexpr int64_t kColumns = 64;

/// Sizes of a tile: one row, of as many columns as make the loop worth it.
static SmallVector<int64_t> tileSizes(linalg::LinalgOp root,
                                      const FreeLoops &free, bool reduces) {
  SmallVector<int64_t> ranges = root.getStaticLoopRanges();
  SmallVector<int64_t> sizes(ranges.size(), 0);
  int64_t inner = 1;
  for (unsigned loop = ranges.size(); loop-- > 0;) {
    bool whole =
        !free.isFree(loop) ||
        (!reduces && !ShapedType::isDynamic(inner) && inner < kTileElements);
    if (!whole)
      sizes[loop] = reduces && free.isColumn(loop) ? kColumns : 1;
    else if (!ShapedType::isDynamic(ranges[loop]))
      inner *= ranges[loop];
    if (sizes[loop] >= ranges[loop] && !ShapedType::isDynamic(ranges[loop]))
      sizes[loop] = 0;
  }
  return sizes;
}

/// The last operator, which everything else in the kernel leads to.
static linalg::LinalgOp findRoot(func::FuncOp function) {
  for (Operation &op : llvm::reverse(function.getBody().front()))
    if (auto structured = dyn_cast<linalg::LinalgOp>(op))
      return structured;
  return nullptr;
}

/// Results of operators that the kernel also hands to its caller.
static llvm::DenseSet<Value> storedValues(Block *block) {
  llvm::DenseSet<Value> stored;
  for (Operation &op : *block)
    if (!isa<linalg::LinalgOp, tensor::PadOp>(op))
      stored.insert(op.operand_begin(), op.operand_end());
  return stored;
}

namespace {
struct CpuTilePass : fuse::impl::CpuTileBase<CpuTilePass> {
  using CpuTileBase::CpuTileBase;

  void tile(linalg::LinalgOp root, ArrayRef<int64_t> sizes) {
    IRRewriter rewriter(&getContext());
    scf::SCFTileAndFuseOptions options;
    options.tilingOptions.setTileSizes(
        getAsIndexOpFoldResult(&getContext(), sizes));
    if (threads > 1)
      options.tilingOptions.setLoopType(
          scf::SCFTilingOptions::LoopType::ForallOp);
    llvm::DenseSet<Value> stored = storedValues(root->getBlock());
    options.setFusionControlFn(
        [&](tensor::ExtractSliceOp, OpResult producer, bool)
            -> std::optional<scf::SCFTileAndFuseOptions::ControlFnResult> {
          return scf::SCFTileAndFuseOptions::ControlFnResult{
              stored.contains(producer)};
        });
    rewriter.setInsertionPoint(root);
    auto tiled = scf::tileConsumerAndFuseProducersUsingSCF(
        rewriter, cast<TilingInterface>(root.getOperation()), options);
    if (failed(tiled))
      return;
    for (auto [old, now] : tiled->replacements)
      rewriter.replaceAllUsesWith(old, now);
  }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function->hasAttr(fuse::kKernelClassAttr))
      return;
    linalg::LinalgOp root = findRoot(function);
    if (!root || !root.hasPureTensorSemantics())
      return;
    FreeLoops free(root);
    free.analyse();
    bool reduces = false;
    function->walk([&](linalg::LinalgOp op) {
      reduces |= op.getNumReductionLoops() != 0;
    });
    SmallVector<int64_t> sizes = tileSizes(root, free, reduces);
    if (llvm::any_of(sizes, [](int64_t size) { return size != 0; }))
      tile(root, sizes);
  }
};
} // namespace
