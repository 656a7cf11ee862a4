//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks from each convolution through what reads its result, for as long as
// that stays affine, and picks where to end the chain. Changes nothing.
//
//===----------------------------------------------------------------------===//

#include "ConvBnParts.h"
#include "fuse/Analysis/Facts.h"
#include "fuse/Plan/Boundary.h"

using namespace mlir;
using namespace fuse;

/// Operations that a chain may hold, and ends that are tried.
static constexpr unsigned kLongest = 256, kMostEnds = 64;

namespace {

/// How far a walk has come.
struct Walk {
  Value value;
  Axes axes;
  Cut cut;
  std::vector<Cut> ends; ///< where the chain may end: after a scale or shift
};

class ChainFinder {
public:
  ChainFinder(FunctionOpInterface function, const FoldOptions &options)
      : function(function), options(options), kinds(function) {}

  std::vector<BnChain> run();

private:
  bool findWeights(ConvSite &site);
  void examine(ConvSite &site);
  std::optional<Walk> step(ConvSite &site, ChannelExprs &exprs,
                           const Walk &walk, Operation *reader);
  bool stepElementwise(ConvSite &site, ChannelExprs &exprs, Walk &walk,
                       linalg::LinalgOp op);
  void choose(ConvSite &site, std::shared_ptr<ChannelExprs> exprs,
              ArrayRef<Cut> ends);

  FunctionOpInterface function;
  const FoldOptions &options;
  WeightKinds kinds;
  bool hasKnownWeights = false; ///< of the contraction that is looked at
  std::vector<BnChain> chains;
  llvm::DenseSet<Operation *> claimed; ///< part of a chain that is folded
};

} // namespace

/// Operations that read `value`, each once, in program order. Asking for an
/// extent is not reading: the initial value has the same.
static SmallVector<Operation *> readersOf(Value value) {
  llvm::SetVector<Operation *> readers;
  for (Operation *user : value.getUsers())
    if (!isa<tensor::DimOp>(user))
      readers.insert(user);
  SmallVector<Operation *> sorted = readers.takeVector();
  // The list of uses is newest first. A reader in a region stands where the
  // operation with the region does.
  std::reverse(sorted.begin(), sorted.end());
  Block *block = value.getParentBlock();
  for (unsigned i = 1; i < sorted.size(); ++i)
    for (unsigned j = i; j > 0; --j) {
      Operation *a = block->findAncestorOpInBlock(*sorted[j - 1]);
      Operation *b = block->findAncestorOpInBlock(*sorted[j]);
      if (!a || !b || a == b || a->isBeforeInBlock(b))
        break;
      std::swap(sorted[j - 1], sorted[j]);
    }
  return sorted;
}

/// The axes after an expansion. A channel axis that is split has parts from now
/// on: a transposed convolution computes all pixels of a stride as channels.
static Axes axesAfterExpand(ConvSite &site, const Axes &axes,
                            tensor::ExpandShapeOp op) {
  ArrayRef<int64_t> shape = op.getResultType().getShape();
  SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
  for (auto [source, group] : llvm::zip_equal(axes, groups)) {
    SmallVector<int64_t> parts;
    for (int64_t dim : group)
      if (shape[dim] != 1)
        parts.push_back(shape[dim]);
    if (source.size() == 1 && parts.size() > 1 &&
        source.front() < site.rank() && !ShapedType::isDynamicShape(parts) &&
        site.isPerChannel(uint64_t(1) << source.front()))
      site.split(source.front(), parts);
  }
  return expandAxes(refineAxes(axes, site.splits), groups, shape, site.extents);
}

/// The axes after a slice. One of which a part is left is no axis of the result
/// any more.
static Axes axesAfterSlice(const Axes &axes, tensor::ExtractSliceOp op) {
  Axes kept;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  ArrayRef<int64_t> shape = op.getSourceType().getShape();
  for (auto [dim, source] : llvm::enumerate(axes)) {
    bool isWhole = op.getStaticOffsets()[dim] == 0 &&
                   op.getStaticStrides()[dim] == 1 &&
                   op.getStaticSizes()[dim] == shape[dim] &&
                   !ShapedType::isDynamic(shape[dim]);
    if (!dropped.test(dim))
      kept.push_back(isWhole ? source : SmallVector<unsigned, 2>{kOpaqueAxis});
  }
  return kept;
}

/// The axes after a reshape, slice or cast; nothing if `op` is none of them.
static std::optional<Axes> axesAfter(ConvSite &site, const Axes &axes,
                                     Operation *op) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return axesAfterExpand(site, axes, expand);
  // One of several slices is a split: each part goes its own way.
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  if (slice && readersOf(slice.getSource()).size() == 1)
    return axesAfterSlice(axes, slice);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return collapseAxes(axes, collapse.getReassociationIndices());
  if (isa<tensor::CastOp>(op) &&
      isa<RankedTensorType>(op->getResult(0).getType()))
    return axes;
  return std::nullopt;
}

/// Moves `walk` past an elementwise operation, or to the end of what is affine
/// in its body. Fails where nothing is.
bool ChainFinder::stepElementwise(ConvSite &site, ChannelExprs &exprs,
                                  Walk &walk, linalg::LinalgOp op) {
  if (op->getNumResults() != 1)
    return false;
  SmallVector<int64_t> permutation;
  for (OpOperand &operand : op->getOpOperands()) {
    if (operand.get() != walk.value)
      continue;
    auto found = permutationOf(op, operand);
    if (!found || (!permutation.empty() && permutation != *found))
      return false;
    permutation = *found;
  }
  Axes axes, loopAxes(op.getNumLoops());
  AffineMap written = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (auto [dim, source] : llvm::enumerate(permutation))
    axes.push_back(walk.axes[source]);
  for (auto [dim, loop] : llvm::enumerate(written.getResults()))
    if (auto expr = dyn_cast<AffineDimExpr>(loop))
      loopAxes[expr.getPosition()] = axes[dim];

  ChannelTracer tracer(site, exprs);
  auto read = [&](OpOperand &operand) -> Scalar {
    if (operand.get() == walk.value)
      return walk.cut.affine;
    Scalar found = tracer.traceOperand(op, operand, loopAxes);
    auto *expr = std::get_if<ExprId>(&found);
    if (!expr || !site.isFull(exprs[*expr].axisSet))
      return found;
    // A value for every element is a residual or a gate, no batch
    // normalisation.
    bool perChannel = site.isPerChannel(exprs[*expr].axisSet);
    return perChannel && !site.reaches(operand.get()) ? found : Scalar();
  };
  Scalars scalars = tracer.evaluate(op, read);
  Value end = op.getBlock()->getTerminator()->getOperand(0);
  if (!std::holds_alternative<Affine>(scalars.lookup(end))) {
    end = isa<linalg::GenericOp>(op) ? affineHead(op, scalars) : Value();
    if (!end)
      return false;
    walk.cut.head = end;
  }
  walk.axes = std::move(axes);
  walk.cut.affine = std::get<Affine>(scalars.lookup(end));
  if (walk.cut.effect.empty())
    walk.cut.effect = bodyEffect(op);
  return true;
}

std::optional<Walk> ChainFinder::step(ConvSite &site, ChannelExprs &exprs,
                                      const Walk &walk, Operation *reader) {
  Walk next = walk;
  Affine before = walk.cut.affine;
  if (isElementwise(reader)) {
    if (!stepElementwise(site, exprs, next, cast<linalg::LinalgOp>(reader)))
      return std::nullopt;
  } else if (auto axes = axesAfter(site, walk.axes, reader)) {
    next.axes = *axes;
  } else {
    return std::nullopt;
  }
  next.value = reader->getResult(0);
  next.cut.ops.push_back(reader);
  next.cut.otherBlock |= reader->getBlock() != site.conv->getBlock();
  const Affine &after = next.cut.affine;
  // A sum behind a product of two values of the call (an attention mask) is no
  // bias.
  bool ends = (after.scale || !site.isContraction || hasKnownWeights) &&
              (after.scale != before.scale || after.shift != before.shift);
  if (ends)
    next.ends.push_back(next.cut);
  if (next.cut.head && !ends)
    return std::nullopt;
  return next;
}

/// True if one of the ends has a scale, so that the chain is a batch norm.
static bool hasScale(ArrayRef<Cut> ends) {
  return llvm::any_of(
      ends, [](const Cut &cut) { return cut.affine.scale.has_value(); });
}

/// The longest chain that folds, else the longest.
void ChainFinder::choose(ConvSite &site, std::shared_ptr<ChannelExprs> exprs,
                         ArrayRef<Cut> ends) {
  std::optional<BnChain> chosen;
  bool endsWithScale = hasScale(ends);
  for (const Cut &cut : llvm::reverse(ends.take_back(kMostEnds))) {
    if (llvm::any_of(cut.ops,
                     [&](Operation *op) { return claimed.contains(op); }))
      continue;
    // Attention divides a product of two values of the call by one number.
    if (site.isContraction && !hasKnownWeights &&
        !(*exprs)[*cut.affine.scale].axisSet)
      continue;
    // A bias is no batch normalisation: it is folded where that is possible,
    // and else not worth a word.
    if (!cut.affine.scale && endsWithScale)
      continue;
    BnChain chain = decideFold(site, exprs, cut, options, kinds);
    bool folds = chain.foldable();
    if (chain.shiftOnly && !folds)
      continue;
    if (folds || !chosen)
      chosen = std::move(chain);
    if (folds)
      break;
  }
  if (!chosen)
    return;
  if (chosen->foldable())
    claimed.insert(chosen->ops.begin(), chosen->ops.end());
  chosen->index = chains.size();
  chains.push_back(std::move(*chosen));
}

void ChainFinder::examine(ConvSite &site) {
  auto exprs = std::make_shared<ChannelExprs>();
  llvm::DenseSet<Operation *> visited;
  std::vector<Walk> worklist(1);
  worklist.back().value = site.conv->getResult(0);
  worklist.back().axes = site.axes();
  while (!worklist.empty()) {
    Walk walk = std::move(worklist.back());
    worklist.pop_back();
    SmallVector<Operation *> readers;
    if (!walk.cut.head)
      readers = readersOf(walk.value);
    std::vector<Walk> further;
    // A chain that has its scale may end before a split; else every reader
    // is followed to say what keeps it.
    bool ends = hasScale(walk.ends) && readers.size() > 1;
    walk.cut.consumers = std::max<unsigned>(walk.cut.consumers, readers.size());
    for (Operation *reader : readers) {
      if (ends || walk.cut.ops.size() >= kLongest)
        break;
      if (!visited.insert(reader).second)
        continue;
      if (std::optional<Walk> next = step(site, *exprs, walk, reader))
        further.push_back(std::move(*next));
    }
    if (further.empty())
      choose(site, exprs, walk.ends);
    worklist.insert(worklist.end(), std::make_move_iterator(further.rbegin()),
                    std::make_move_iterator(further.rend()));
  }
}

/// Leaves the operands of a contraction that are weights: those known before
/// the call. A product of two values of the call is no linear layer, unless
/// the user says that whatever is there are weights.
bool ChainFinder::findWeights(ConvSite &site) {
  if (!site.isContraction)
    return true;
  auto filters = site.filters;
  llvm::erase_if(filters, [&](const std::pair<unsigned, uint64_t> &filter) {
    return kinds.of(site.conv->getOperand(filter.first)) == WeightKind::RunTime;
  });
  hasKnownWeights = !filters.empty();
  if (hasKnownWeights)
    site.filters = std::move(filters);
  return hasKnownWeights || options.weights == WeightsMode::Always;
}

std::vector<BnChain> ChainFinder::run() {
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    // Symbol tables inside a function are not its program, and what stands in a
    // structured operation's body is part of that operation.
    if (op != function && op->hasTrait<OpTrait::SymbolTable>())
      return WalkResult::skip();
    if (!isa<linalg::LinalgOp>(op))
      return WalkResult::advance();
    if (!op->hasAttr(names::kFolded))
      if (auto site = ConvSite::get(op); site && findWeights(*site))
        examine(*site);
    return WalkResult::skip();
  });
  return std::move(chains);
}

std::vector<BnChain> fuse::findBnChains(FunctionOpInterface function,
                                        const FoldOptions &options) {
  return ChainFinder(function, options).run();
}

std::optional<WeightsMode> fuse::parseWeightsMode(StringRef name) {
  if (name == "auto")
    return WeightsMode::Auto;
  if (name == "constants")
    return WeightsMode::Constants;
  if (name == "always")
    return WeightsMode::Always;
  return std::nullopt;
}

StringRef fuse::stringifyWeightKind(WeightKind kind) {
  switch (kind) {
  case WeightKind::Constant:
    return "constant";
  case WeightKind::Parameter:
    return "parameter";
  case WeightKind::RunTime:
    return "run-time";
  }
  llvm_unreachable("unknown weight kind");
}

FoldOptions fuse::foldOptionsFor(Operation *module) {
  FoldOptions options;
  auto verdicts = optionsFromAttr(module->getDiscardableAttr(names::kOptions));
  options.device = verdicts ? verdicts->device : cantFail(loadDevice("sm_80"));
  options.off = verdicts && verdicts->mode == Mode::Off;
  if (auto weights = module->getAttrOfType<StringAttr>(names::kWeights))
    options.weights =
        parseWeightsMode(weights.getValue()).value_or(options.weights);
  return options;
}
