//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pointwise kernels: elementwise operators over one iteration space, several
// results allowed. An operator with a smaller space is a broadcast and is
// evaluated where it is used.
//
//===----------------------------------------------------------------------===//

#include "Classes.h"
#include "Evaluations.h"

using namespace mlir;
using namespace fuse;

namespace {

class Pointwise : public KernelClass {
public:
  llvm::StringRef name() const override { return "pointwise"; }
  llvm::ArrayRef<llvm::StringLiteral> sizeNames() const override {
    static constexpr llvm::StringLiteral names[] = {"tile"};
    return names;
  }

  llvm::SmallVector<double, 2> rowsOf(const Group &group) const override {
    return {kernelPoints(group)};
  }

  std::optional<Decision> match(const Group &group) const override {
    double points = kernelPoints(group);
    for (unsigned id : group.ops)
      if (group.node(id).points != points && group.hasOutput(id))
        return Decision::keep(Reason::PrologueOutput,
                              "one iteration space for all results")
            .number("points", group.node(id).points)
            .number("kernel_points", points);
    return std::nullopt;
  }

  llvm::SmallVector<Tile> tiles(const Group &,
                                const Device &device) const override {
    // 128-bit accesses take 4 elements a thread; a single one needs fewest
    // registers.
    int64_t threads = std::min<int64_t>(256, device.maxThreadsPerBlock);
    return {{{threads * 4}, threads}, {{threads}, threads}};
  }

  TileCost cost(const Group &group, const Tile &tile,
                const Device &device) const override {
    double points = kernelPoints(group);
    double perThread = static_cast<double>(tile.sizes[0]) / tile.threads;
    TileCost cost;
    cost.tile = tile;
    // A thread's elements are lanes that go through the body together.
    double perLane = liveRegisters(group) + functionRegisters(group, device);
    cost.registers =
        addressRegisters(device) + perLane * lanesOf(group, perThread);
    Traffic traffic = trafficOf(group);
    cost.work.dramBytes = traffic.read + traffic.written;
    std::tie(cost.work.flops, cost.work.transcendentals) =
        workOf(group, device);
    launch(cost, std::ceil(points / tile.sizes[0]), device);
    return cost;
  }

private:
  /// Elements of `perThread` that are evaluated together: neighbours, as many
  /// as divide the innermost extent.
  static double lanesOf(const Group &group, double perThread) {
    int64_t lanes = int64_t(perThread);
    double points = kernelPoints(group);
    for (unsigned id : group.ops) {
      if (group.node(id).points != points)
        continue;
      auto known =
          llvm::make_filter_range(llvm::reverse(group.node(id).extents),
                                  [](int64_t extent) { return extent != 1; });
      int64_t innermost = known.empty() ? 1 : *known.begin();
      while (lanes > 1 &&
             (ShapedType::isDynamic(innermost) || innermost % lanes))
        lanes /= 2;
      return std::max<int64_t>(lanes, 1);
    }
    return perThread;
  }

  /// FLOPs and transcendentals, whatever the tile.
  static std::pair<double, double> workOf(const Group &group,
                                          const Device &device) {
    if (group.pointwiseWork)
      return *group.pointwiseWork;
    double points = kernelPoints(group), flops = 0, transcendentals = 0;
    Evaluations evaluations(group);
    for (unsigned id : llvm::reverse(group.ops)) {
      const GraphNode &node = group.node(id);
      if (node.points == points && (group.hasOutput(id) || !evaluations.of(id)))
        evaluations.addOwn(id);
      evaluations.carry(id);
      double own = std::max(1.0, evaluations.of(id));
      flops += vectorFlops(node, node.flops * own, device);
      transcendentals += node.transcendentals * own;
    }
    group.pointwiseWork = {flops, transcendentals};
    return *group.pointwiseWork;
  }

  static double kernelPoints(const Group &group) {
    double points = 0;
    for (unsigned id : group.ops)
      points = std::max(points, group.node(id).points);
    return points;
  }
};

} // namespace

const KernelClass &fuse::pointwiseClass() {
  static const Pointwise instance;
  return instance;
}
