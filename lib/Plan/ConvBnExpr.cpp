//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expressions over values per output channel, and the axes that a value runs
// over. Changes nothing.
//
//===----------------------------------------------------------------------===//

#include "ConvBnParts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace fuse;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

ExprId ChannelExprs::add(ChannelNode node) {
  for (ExprId operand : node.operands) {
    node.axisSet |= nodes[operand].axisSet;
    node.computed |= nodes[operand].computed;
  }
  nodes.push_back(std::move(node));
  return nodes.size() - 1;
}

ExprId ChannelExprs::constant(TypedAttr value) {
  ChannelNode node;
  node.kind = ChannelNode::Kind::Constant;
  node.type = value.getType();
  node.constant = value;
  return add(std::move(node));
}

ExprId ChannelExprs::constant(Type type, double value) {
  if (isa<FloatType>(type))
    return constant(FloatAttr::get(type, value));
  return constant(IntegerAttr::get(type, static_cast<int64_t>(value)));
}

ExprId ChannelExprs::leaf(Value value, Axes axes) {
  ChannelNode node;
  node.kind = ChannelNode::Kind::Leaf;
  node.type = getElementTypeOrSelf(value.getType());
  node.leaf = value;
  node.axisSet = axisSetOf(axes);
  node.axes = std::move(axes);
  Operation *def = value.getDefiningOp();
  node.computed = def && !def->hasTrait<OpTrait::ConstantLike>();
  return add(std::move(node));
}

ExprId ChannelExprs::op(Operation *prototype, ArrayRef<ExprId> operands) {
  ChannelNode node;
  node.kind = ChannelNode::Kind::Op;
  node.type = prototype->getResult(0).getType();
  node.prototype = prototype;
  node.name = prototype->getName().getStringRef();
  node.operands.assign(operands.begin(), operands.end());
  return add(std::move(node));
}

ExprId ChannelExprs::op(StringRef name, ArrayRef<ExprId> operands) {
  ChannelNode node;
  node.kind = ChannelNode::Kind::Op;
  node.type = nodes[operands.front()].type;
  node.name = name;
  node.operands.assign(operands.begin(), operands.end());
  return add(std::move(node));
}

SmallVector<ExprId> ChannelExprs::reachable(ExprId root) const {
  llvm::BitVector needed(root + 1);
  needed.set(root);
  SmallVector<ExprId> order;
  for (ExprId id = root + 1; id-- > 0;) {
    if (!needed.test(id))
      continue;
    order.push_back(id);
    for (ExprId operand : nodes[id].operands)
      needed.set(operand);
  }
  std::reverse(order.begin(), order.end());
  return order;
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

uint64_t fuse::axisSetOf(const Axes &axes) {
  uint64_t set = 0;
  for (ArrayRef<unsigned> dim : axes)
    for (unsigned axis : dim)
      set |= uint64_t(1) << axis;
  return set;
}

Axes fuse::refineAxes(const Axes &axes, ArrayRef<AxisSplit> splits) {
  Axes refined(axes.size());
  for (auto [from, to] : llvm::zip_equal(axes, refined))
    for (unsigned axis : from) {
      auto *found = llvm::find_if(
          splits, [&](const AxisSplit &split) { return split.axis == axis; });
      if (found == splits.end())
        to.push_back(axis);
      else
        llvm::append_range(
            to, llvm::seq<unsigned>(found->first,
                                    found->first + found->shape.size()));
    }
  return refined;
}

Axes fuse::collapseAxes(const Axes &axes,
                        ArrayRef<ReassociationIndices> groups) {
  Axes collapsed;
  for (const ReassociationIndices &group : groups) {
    auto &dim = collapsed.emplace_back();
    for (int64_t source : group)
      llvm::append_range(dim, axes[source]);
  }
  return collapsed;
}

/// Takes axes from the front of `rest` until their extents make `extent`.
static std::optional<SmallVector<unsigned, 2>>
takeAxes(ArrayRef<unsigned> &rest, int64_t extent, ArrayRef<int64_t> extents) {
  SmallVector<unsigned, 2> taken;
  int64_t product = 1;
  while (product != extent && !rest.empty()) {
    unsigned axis = rest.front();
    if (axis == kOpaqueAxis)
      return std::nullopt;
    if (ShapedType::isDynamic(extent) || ShapedType::isDynamic(extents[axis])) {
      if (extent != extents[axis] || !taken.empty())
        return std::nullopt;
      product = extent;
    } else if (llvm::MulOverflow(product, extents[axis], product)) {
      return std::nullopt;
    }
    taken.push_back(axis);
    rest = rest.drop_front();
  }
  if (product != extent)
    return std::nullopt;
  return taken;
}

Axes fuse::expandAxes(const Axes &axes, ArrayRef<ReassociationIndices> groups,
                      ArrayRef<int64_t> shape, ArrayRef<int64_t> extents) {
  Axes expanded(shape.size());
  for (auto [source, group] : llvm::zip_equal(axes, groups)) {
    auto notUnit = [&](int64_t dim) { return shape[dim] != 1; };
    if (llvm::count_if(group, notUnit) == 1) {
      expanded[*llvm::find_if(group, notUnit)] = source;
      continue;
    }
    ArrayRef<unsigned> rest = source;
    bool split = false;
    for (int64_t dim : group) {
      auto taken = takeAxes(rest, shape[dim], extents);
      split |= !taken;
      expanded[dim] = taken.value_or(SmallVector<unsigned, 2>{});
    }
    if (!split && rest.empty())
      continue;
    for (int64_t dim : group)
      expanded[dim].assign(notUnit(dim) ? 1 : 0, kOpaqueAxis);
  }
  return expanded;
}
