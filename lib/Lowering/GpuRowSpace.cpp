//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   y[i, j] needs max[i], sum[i]   ==>   i is a row, j runs along it
//
//===----------------------------------------------------------------------===//

#include "GpuRowSpace.h"
#include "GpuAccess.h"
#include "LoopNest.h"
#include <set>

using namespace mlir;
using namespace fuse;

namespace {
/// Walks from an element to the reductions that it needs.
class Search {
public:
  Search(Elements &elements,
         llvm::function_ref<LaneIndex(const Extent &)> along)
      : elements(elements), along(along) {}

  bool visit(Value tensor, ArrayRef<LaneIndex> indices);
  SmallVector<RowReduction> found;

private:
  bool visitOperator(linalg::LinalgOp op, unsigned result,
                     ArrayRef<LaneIndex> indices);
  bool visitAll(ArrayRef<std::optional<ElementSource>> sources);

  Elements &elements;
  llvm::function_ref<LaneIndex(const Extent &)> along;
  using Key = std::pair<const void *, SmallVector<const void *, 4>>;
  std::set<Key> seen;
};
} // namespace

bool Search::visitAll(ArrayRef<std::optional<ElementSource>> sources) {
  return llvm::all_of(sources, [&](const auto &source) {
    return !source || visit(source->tensor, source->indices);
  });
}

bool Search::visitOperator(linalg::LinalgOp op, unsigned result,
                           ArrayRef<LaneIndex> indices) {
  std::optional<Lanes> loops = elements.parallelLoops(op, result, indices);
  if (!loops)
    return false;
  Lanes point = *loops;
  SmallVector<Extent> extents = elements.loopExtents(op);
  for (auto [loop, index] : llvm::enumerate(point))
    if (!index.base)
      index = along(extents[loop]);
  auto sources = elements.operandsAt(op, point);
  if (!sources || elements.failedOp || !visitAll(*sources))
    return false;
  if (op.getNumReductionLoops())
    found.push_back({op, result, *loops});
  return true;
}

bool Search::visit(Value tensor, ArrayRef<LaneIndex> indices) {
  Key key{tensor.getAsOpaquePointer(), {}};
  for (const LaneIndex &index : indices)
    key.second.push_back(index.base.getAsOpaquePointer());
  if (!seen.insert(key).second)
    return true;
  Operation *op = tensor.getDefiningOp();
  if (!op || elements.held.contains(tensor) ||
      isa<tensor::EmptyOp, tensor::SplatOp>(op) ||
      op->hasTrait<OpTrait::ConstantLike>())
    return true;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return visitOperator(structured, cast<OpResult>(tensor).getResultNumber(),
                         indices);
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    Value inside;
    std::optional<Lanes> source = elements.insidePad(pad, indices, inside);
    return source && visit(pad.getSource(), *source);
  }
  std::optional<SmallVector<ElementSource, 2>> sources =
      elements.glueSources(op, indices);
  return sources && !elements.failedOp &&
         llvm::all_of(*sources, [&](const ElementSource &source) {
           return visit(source.tensor, source.indices);
         });
}

std::optional<SmallVector<RowReduction>>
fuse::reductionsOf(Elements &elements, Value tensor,
                   ArrayRef<LaneIndex> indices,
                   llvm::function_ref<LaneIndex(const Extent &)> along) {
  Search search(elements, along);
  if (!search.visit(tensor, indices))
    return std::nullopt;
  return search.found;
}

namespace {
/// Asks for one element of each result, with stand-ins for the indices.
class Questions {
public:
  explicit Questions(GpuFrame &frame)
      : frame(frame), scratch(frame), elements(scratch.elements) {}

  bool ask(std::string &why);
  bool arrange(GpuRowSpace &space, std::string &why);

private:
  struct Answer {
    Lanes indices;
    llvm::SmallDenseSet<Value> rows; ///< stand-ins that choose the row
  };
  GpuFrame &frame;
  GpuScratch scratch;
  Elements &elements;
  llvm::SmallDenseSet<Value> alongs;
  SmallVector<Answer> answers;
  bool across = false;
};
} // namespace

/// True if `op` reads more inputs whose neighbours in memory are in other rows
/// than ones whose neighbours are in the same.
static bool readsAcross(linalg::LinalgOp op) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int balance = 0;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    for (AffineExpr expr : llvm::reverse(map.getResults())) {
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop || ranges[loop.getPosition()] == 1)
        continue;
      balance += op.getIteratorTypesArray()[loop.getPosition()] ==
                         utils::IteratorType::parallel
                     ? 1
                     : -1;
      break;
    }
  }
  return balance > 0;
}

bool Questions::ask(std::string &why) {
  for (const GpuOutput &output : frame.outputs) {
    Answer answer;
    for (const Extent &extent : frame.elements.extents(output.value))
      answer.indices.push_back(extent.isStatic() && extent.size == 1
                                   ? elements.math.constant(0)
                                   : scratch.standIn());
    auto found = reductionsOf(elements, output.value, answer.indices,
                              [&](const Extent &) {
                                LaneIndex index = scratch.standIn();
                                alongs.insert(index.base);
                                return index;
                              });
    if (!found) {
      why = "an index between a reduction and a result has no simple form";
      return false;
    }
    for (const RowReduction &reduction : *found) {
      for (Value stand : scratch.dependsOn(reduction.loops)) {
        answer.rows.insert(stand);
        if (alongs.contains(stand)) {
          why = "a reduction reads the results of another in all rows";
          return false;
        }
      }
      Operation *combiner = combinerOf(reduction.op, reduction.result);
      if (!combiner || !arith::getNeutralElement(combiner)) {
        why = "a reduction cannot be split among threads";
        return false;
      }
      across |= readsAcross(reduction.op);
    }
    answers.push_back(std::move(answer));
  }
  return true;
}

bool Questions::arrange(GpuRowSpace &space, std::string &why) {
  bool first = true;
  for (auto [output, answer] : llvm::zip_equal(frame.outputs, answers)) {
    GpuRowSpace::Result result;
    SmallVector<Extent> extents = frame.elements.extents(output.value), rows;
    for (auto [dim, index] : llvm::enumerate(answer.indices)) {
      bool unit = extents[dim].isStatic() && extents[dim].size == 1;
      bool isRow = !unit && answer.rows.contains(index.base);
      (isRow ? result.rows : result.along).push_back(dim);
      if (isRow)
        rows.push_back(extents[dim]);
    }
    if (!first && space.rows != rows) {
      why = "results have different rows";
      return false;
    }
    space.rows = rows;
    space.results.push_back(result);
    first = false;
  }
  space.acrossRows = across && !space.rows.empty();
  return true;
}

std::optional<GpuRowSpace> GpuRowSpace::of(GpuFrame &frame, std::string &why) {
  Questions questions(frame);
  GpuRowSpace space;
  if (!questions.ask(why) || !questions.arrange(space, why))
    return std::nullopt;
  return space;
}
