//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sibling kernels: kernels of one class that read the same value and do not
// need each other, in one launch: each has blocks of its own, all of one shape.
//
//   q = matmul x, wq; k = matmul x, wk   ==>   blocks of q, then blocks of k
//
//===----------------------------------------------------------------------===//

#include "Classes.h"

using namespace mlir;
using namespace fuse;

static bool isInternal(const Group &group, unsigned id) {
  return llvm::is_contained(group.internal, id);
}

/// Adds to `part` the operators that its own evaluate again.
static void addInternal(const Group &group, Group &part) {
  SmallVector<unsigned> worklist = llvm::to_vector(part.ops);
  while (!worklist.empty())
    for (const GraphInput &input : part.node(worklist.pop_back_val()).inputs) {
      if (!input.producer || !group.contains(*input.producer) ||
          part.contains(*input.producer))
        continue;
      unsigned id = *input.producer;
      part.ops.insert(llvm::lower_bound(part.ops, id), id);
      part.internal.push_back(id);
      worklist.push_back(id);
    }
}

/// Per operator of the group, the part that it belongs to, parts by their first
/// operator. Those that are evaluated again belong to no part of their own.
static SmallVector<unsigned> partsOf(const Group &group, unsigned &count) {
  SmallVector<unsigned> leader(group.ops.size());
  auto find = [&](unsigned index) {
    while (leader[index] != index)
      index = leader[index] = leader[leader[index]];
    return index;
  };
  for (auto [index, id] : llvm::enumerate(group.ops)) {
    leader[index] = index;
    if (isInternal(group, id))
      continue;
    for (const GraphInput &input : group.node(id).inputs) {
      if (!input.producer || !group.contains(*input.producer) ||
          isInternal(group, *input.producer))
        continue;
      unsigned a = find(index),
               b = find(llvm::lower_bound(group.ops, *input.producer) -
                        group.ops.begin());
      leader[std::max(a, b)] = std::min(a, b);
    }
  }
  SmallVector<unsigned> numbers(group.ops.size(), 0);
  count = 0;
  for (auto [index, id] : llvm::enumerate(group.ops))
    if (!isInternal(group, id))
      numbers[index] = find(index) == index ? count++ : numbers[find(index)];
  return numbers;
}

bool fuse::hasSiblings(const Group &group) {
  unsigned count = 0;
  if (group.ops.size() > 1)
    partsOf(group, count);
  return count > 1;
}

std::vector<Group> fuse::componentsOf(const Group &group) {
  unsigned count = 0;
  SmallVector<unsigned> numbers = partsOf(group, count);
  if (count < 2)
    return std::vector<Group>(1, group);
  std::vector<Group> parts(count, Group{group.graph, {}});
  for (auto [number, id] : llvm::zip_equal(numbers, group.ops))
    if (!isInternal(group, id))
      parts[number].ops.push_back(id);
  for (Group &part : parts)
    addInternal(group, part);
  return parts;
}

bool fuse::readInCommon(ArrayRef<Group> parts) {
  auto rootsOf = [](const Group &part) {
    llvm::SmallDenseSet<Value> roots;
    for (unsigned id : part.ops)
      for (const GraphInput &input : part.node(id).inputs)
        if (!input.producer || !part.contains(*input.producer))
          roots.insert(input.root);
    return roots;
  };
  llvm::SmallDenseSet<Value> common = rootsOf(parts.front());
  for (const Group &part : parts.drop_front()) {
    llvm::SmallDenseSet<Value> own = rootsOf(part);
    SmallVector<Value> missing;
    for (Value value : common)
      if (!own.contains(value))
        missing.push_back(value);
    for (Value value : missing)
      common.erase(value);
  }
  return !common.empty();
}

namespace {

class Siblings : public KernelClass {
public:
  StringRef name() const override { return "siblings"; }
  /// The sizes are those of the class that holds each sibling.
  ArrayRef<StringLiteral> sizeNames() const override { return {}; }

  unsigned choicesOf(const Group &group) const override {
    Group first = componentsOf(group).front();
    return classOf(first)->choicesOf(first);
  }
  SmallVector<double, 2> rowsOf(const Group &group) const override {
    Group first = componentsOf(group).front();
    return classOf(first)->rowsOf(first);
  }

  std::optional<Decision> match(const Group &group) const override {
    std::vector<Group> parts = componentsOf(group);
    if (!readInCommon(parts))
      return Decision::keep(Reason::NothingShared,
                            "a value that all siblings read");
    const KernelClass *kernel = nullptr;
    for (const Group &part : parts) {
      Decision refusal;
      const KernelClass *own = classify(part, refusal);
      if (!own)
        return refusal;
      if (kernel && own != kernel)
        return Decision::keep(Reason::SiblingsDiffer,
                              "siblings of one kernel class");
      kernel = own;
      SmallVector<double, 2> mine = kernel->rowsOf(part),
                             first = kernel->rowsOf(parts.front());
      for (auto [own, other] : llvm::zip_equal(mine, first))
        if (own != other)
          return Decision::keep(Reason::SiblingsDiffer,
                                "siblings that are cut along the same rows")
              .number("rows", own)
              .number("first_rows", other);
    }
    return std::nullopt;
  }

  SmallVector<Tile> tiles(const Group &group,
                          const Device &device) const override {
    Group first = componentsOf(group).front();
    return classOf(first)->tiles(first, device);
  }

  TileCost cost(const Group &group, const Tile &tile,
                const Device &device) const override {
    std::vector<Group> parts = componentsOf(group);
    const KernelClass *kernel = classOf(parts.front());
    TileCost sum;
    double blocks = 0, alone = 0;
    for (const Group &part : parts) {
      TileCost own = kernel->cost(part, tile, device);
      sum.tile = own.tile;
      sum.registers = std::max(sum.registers, own.registers);
      sum.shared = std::max(sum.shared, own.shared);
      blocks += own.work.blocks;
      alone += trafficOf(part).read;
      sum.work.flops += own.work.flops;
      sum.work.tensorFlops += own.work.tensorFlops;
      sum.work.transcendentals += own.work.transcendentals;
      sum.work.dramBytes += own.work.dramBytes;
      sum.work.cacheBytes += own.work.cacheBytes;
      sum.work.sharedBytes += own.work.sharedBytes;
    }
    // What several read comes from memory once, and from the cache after that.
    double again = alone - trafficOf(group).read;
    sum.work.dramBytes -= again;
    sum.work.cacheBytes += again;
    launch(sum, blocks, device);
    return sum;
  }

private:
  static const KernelClass *classOf(const Group &part) {
    Decision ignored;
    const KernelClass *kernel = classify(part, ignored);
    assert(kernel && "a sibling that no class holds");
    return kernel;
  }
};

} // namespace

const KernelClass &fuse::siblingsClass() {
  static const Siblings instance;
  return instance;
}
