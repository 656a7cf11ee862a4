//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the axes of a convolution mean, what depends on its result, and when a
// weight is known. Changes nothing.
//
//===----------------------------------------------------------------------===//

#include "ConvBnParts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace fuse;

bool fuse::isElementwise(Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return structured && structured.hasPureTensorSemantics() &&
         structured.getNumReductionLoops() == 0;
}

/// For each result of `map`, its loop. A constant 0 along an extent of 1 stands
/// for one of the loops of extent 1 that the map does not use.
static std::optional<SmallVector<int64_t>> loopsOf(linalg::LinalgOp op,
                                                   OpOperand &operand) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges(), loops;
  if (map.getNumResults() != map.getNumDims())
    return std::nullopt;
  SmallVector<bool> used(ranges.size(), false);
  for (AffineExpr result : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    auto zero = dyn_cast<AffineConstantExpr>(result);
    if ((!dim && !(zero && zero.getValue() == 0)) ||
        (dim && used[dim.getPosition()]))
      return std::nullopt;
    loops.push_back(dim ? int64_t(dim.getPosition()) : -1);
    if (dim)
      used[dim.getPosition()] = true;
  }
  for (int64_t &loop : loops) {
    if (loop >= 0)
      continue;
    loop = llvm::find(used, false) - used.begin();
    if (ranges[loop] != 1)
      return std::nullopt;
    used[loop] = true;
  }
  return loops;
}

std::optional<SmallVector<int64_t>> fuse::permutationOf(linalg::LinalgOp op,
                                                        OpOperand &operand) {
  auto read = loopsOf(op, operand);
  auto written = loopsOf(op, *op.getDpsInitOperand(0));
  if (!read || !written || read->size() != written->size())
    return std::nullopt;
  SmallVector<int64_t> permutation;
  for (int64_t loop : *written)
    permutation.push_back(llvm::find(*read, loop) - read->begin());
  return permutation;
}

//===----------------------------------------------------------------------===//
// ConvSite
//===----------------------------------------------------------------------===//

/// True if `map` reads along a loop or constant in each dimension.
static bool isPlain(AffineMap map) {
  return llvm::none_of(map.getResults(), [](AffineExpr result) {
    return isa<AffineBinaryOpExpr>(result);
  });
}

/// True if a loop of `map` runs over several dimensions.
static bool writesDiagonal(AffineMap map) {
  llvm::SmallDenseSet<unsigned> seen;
  return llvm::any_of(map.getResults(), [&](AffineExpr result) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    return dim && !seen.insert(dim.getPosition()).second;
  });
}

/// Operands that can be the filter, the usual one first; none if `op` does not
/// multiply two operands. Only the generic form has the filter first, reads
/// backwards (`h - p`), or scatters: `y[2 * h + p] += x[h] * w[p]`, where
/// either operand may be the filter.
static SmallVector<unsigned, 2> filtersOf(linalg::LinalgOp op) {
  switch (roleOf(op)) {
  case Role::Convolution:
  case Role::Depthwise:
    return {1};
  case Role::Contraction:
    return {1, 0};
  case Role::Reduction:
    break;
  default:
    return {};
  }
  if (op.getNumDpsInputs() != 2)
    return {};
  if (!isPlain(op.getMatchingIndexingMap(op.getDpsInitOperand(0))))
    return {1, 0};
  AffineMap first = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  AffineMap second = op.getMatchingIndexingMap(op.getDpsInputOperand(1));
  if (isPlain(first) == isPlain(second))
    return {};
  return {isPlain(first) ? 0u : 1u};
}

std::optional<ConvSite> ConvSite::get(Operation *op) {
  auto conv = dyn_cast<linalg::LinalgOp>(op);
  if (!conv || !conv.hasPureTensorSemantics() || conv.getNumDpsInits() != 1 ||
      conv.getNumDpsInputs() < 2)
    return std::nullopt;
  AffineMap written = conv.getMatchingIndexingMap(conv.getDpsInitOperand(0));
  SmallVector<unsigned, 2> candidates = filtersOf(conv);
  if (candidates.empty() || writesDiagonal(written) ||
      written.getNumResults() >= kOpaqueAxis)
    return std::nullopt;

  ConvSite site;
  site.conv = conv;
  site.isContraction = candidates.size() > 1;
  llvm::append_range(site.extents, site.resultType().getShape());
  for (unsigned operand : candidates) {
    uint64_t axes = 0;
    AffineMap read =
        conv.getMatchingIndexingMap(conv.getDpsInputOperand(operand));
    for (auto [axis, loop] : llvm::enumerate(written.getResults()))
      if (isa<AffineDimExpr>(loop) &&
          llvm::is_contained(read.getResults(), loop))
        axes |= uint64_t(1) << axis;
    site.filters.push_back({operand, axes});
  }
  if (roleOf(conv) == Role::Reduction && !site.hasLinearBody(candidates[0]))
    return std::nullopt;
  return site;
}

/// The axes in a set of bits, ascending.
static SmallVector<unsigned, 2> axesOf(uint64_t set) {
  SmallVector<unsigned, 2> axes;
  for (; set; set &= set - 1)
    axes.push_back(llvm::countr_zero(set));
  return axes;
}

RankedTensorType ConvSite::resultType() const {
  return cast<RankedTensorType>(conv->getResult(0).getType());
}

Axes ConvSite::axes() const {
  Axes axes(rank());
  for (unsigned axis = 0; axis < rank(); ++axis)
    if (extents[axis] != 1)
      axes[axis].push_back(axis);
  return axes;
}

void ConvSite::split(unsigned axis, ArrayRef<int64_t> shape) {
  if (extents.size() + shape.size() > kOpaqueAxis ||
      llvm::any_of(splits,
                   [&](const AxisSplit &split) { return split.axis == axis; }))
    return;
  unsigned first = extents.size();
  splits.push_back({axis, first, SmallVector<int64_t, 3>(shape)});
  llvm::append_range(extents, shape);
  for (auto &[operand, set] : filters)
    if (set >> axis & 1)
      for (unsigned part = first; part < extents.size(); ++part)
        set |= uint64_t(1) << part;
}

bool ConvSite::isFull(uint64_t set) const {
  return (axisSetOf(refineAxes(axes(), splits)) &
          ~axisSetOf(refineAxes({axesOf(set)}, splits))) == 0;
}

uint64_t ConvSite::allAxes() const { return axisSetOf(axes()); }

SmallVector<unsigned, 2> ConvSite::channels(unsigned filter) const {
  SmallVector<unsigned, 2> channels;
  for (auto [operand, set] : filters)
    for (unsigned axis = 0; axis < rank(); ++axis)
      if (operand == filter && (set >> axis & 1))
        channels.push_back(axis);
  return channels;
}

bool ConvSite::isPerChannel(uint64_t set) const {
  return llvm::any_of(filters,
                      [&](const std::pair<unsigned, uint64_t> &filter) {
                        return (set & ~filter.second) == 0;
                      });
}

/// `value` without the casts between float types that it passed.
static Value skipFloatCasts(Value value) {
  while (Operation *def = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(def))
      break;
    value = def->getOperand(0);
  }
  return value;
}

bool ConvSite::hasLinearBody(unsigned filter) const {
  Block *body = conv.getBlock();
  if (body->getNumArguments() != 3)
    return false;
  Value scaled = body->getArgument(filter),
        other = body->getArgument(1 - filter);
  Value acc = body->getArgument(2);
  Operation *sum = body->getTerminator()->getOperand(0).getDefiningOp();
  auto isProduct = [&](Value a, Value b) {
    a = skipFloatCasts(a), b = skipFloatCasts(b);
    return (a == scaled && b == other) || (b == scaled && a == other);
  };
  if (auto fma = dyn_cast_or_null<math::FmaOp>(sum))
    return fma.getC() == acc && isProduct(fma.getA(), fma.getB());
  auto add = dyn_cast_or_null<arith::AddFOp>(sum);
  if (!add || (add.getLhs() != acc && add.getRhs() != acc))
    return false;
  Value product = add.getLhs() == acc ? add.getRhs() : add.getLhs();
  auto mul = product.getDefiningOp<arith::MulFOp>();
  return mul && isProduct(mul.getLhs(), mul.getRhs());
}

bool ConvSite::roundsFilter(unsigned filter) const {
  BlockArgument arg = conv.getBlock()->getArgument(filter);
  return arg.getType() != resultType().getElementType() ||
         llvm::any_of(arg.getUsers(), [](Operation *user) {
           return isa<arith::ExtFOp, arith::TruncFOp>(user);
         });
}

/// Calls `visit` on each value that `op` needs, those its regions use included.
static void forEachNeeded(Operation *op, function_ref<void(Value)> visit) {
  llvm::for_each(op->getOperands(), visit);
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  llvm::for_each(captured, visit);
}

bool ConvSite::reaches(Value value) {
  constexpr unsigned kMostVisited = 4096;
  Block *block = conv->getBlock();
  SmallVector<Value> worklist{value};
  llvm::DenseSet<Value> visited;
  while (!worklist.empty()) {
    Value current = worklist.pop_back_val();
    Operation *def = current.getDefiningOp();
    if (def == conv)
      return true;
    // What an enclosing block computes was computed before.
    Operation *inBlock = def ? block->findAncestorOpInBlock(*def) : nullptr;
    if (!inBlock || inBlock->isBeforeInBlock(conv) ||
        independent.contains(current) || !visited.insert(current).second)
      continue;
    if (visited.size() > kMostVisited)
      return true;
    forEachNeeded(def, [&](Value needed) { worklist.push_back(needed); });
  }
  independent.insert(visited.begin(), visited.end());
  return false;
}

//===----------------------------------------------------------------------===//
// WeightKinds
//===----------------------------------------------------------------------===//

/// Settles `value`, or pushes what must be settled first and returns false.
bool WeightKinds::visit(Value value, SmallVectorImpl<Value> &stack) {
  if (auto arg = dyn_cast<BlockArgument>(value)) {
    bool isParam = arg.getOwner() == &function.front() &&
                   function.getArgAttr(arg.getArgNumber(), names::kParam);
    known[value] = isParam ? WeightKind::Parameter : WeightKind::RunTime;
    return true;
  }
  Operation *def = value.getDefiningOp();
  if (!isMemoryEffectFree(def)) {
    known[value] = WeightKind::RunTime;
    return true;
  }
  WeightKind kind = WeightKind::Constant;
  bool first = open.insert(value).second, waiting = false;
  forEachNeeded(def, [&](Value needed) {
    auto it = known.find(needed);
    if (it != known.end()) {
      kind = std::max(kind, it->second);
    } else if (first && !open.contains(needed)) {
      stack.push_back(needed);
      waiting = true;
    } else {
      kind = WeightKind::RunTime; // A cycle in a graph region.
    }
  });
  if (waiting)
    return false;
  known[value] = kind;
  return true;
}

WeightKind WeightKinds::of(Value value) {
  SmallVector<Value> stack{value};
  while (!stack.empty()) {
    Value current = stack.back();
    if (known.contains(current) || visit(current, stack))
      stack.pop_back();
  }
  return known[value];
}
