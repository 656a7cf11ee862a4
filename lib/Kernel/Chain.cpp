//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chain kernels: a depthwise convolution or a pooling, and the contraction or
// convolution that reads it. A block computes what its tile needs of the first
// one into shared memory, all channels of it.
//
//   d = depthwise x; y = conv 1x1 d        p = mean x over the image; y = fc p
//
//===----------------------------------------------------------------------===//

#include "Classes.h"

using namespace mlir;
using namespace fuse;

namespace {

/// Pixels of a block, larger first, and columns that are computed at a time.
constexpr int64_t kPixels[] = {64, 32, 16, 1};
constexpr int64_t kColumns = 64, kDepth = 8, kThreads = 128;

/// A group as a chain kernel sees it.
struct Parts {
  unsigned anchor = 0; ///< the contraction
  Gemm gemm;
  double filter = 1; ///< extent of the anchor's filter along one dimension
  double stride = 1;
};

} // namespace

static unsigned anchorOf(const Group &group) {
  return *llvm::find_if(
      group.ops, [&](unsigned id) { return isHeavy(group.node(id).role); });
}

SmallVector<unsigned> fuse::stagesOf(const Group &group) {
  SmallVector<unsigned> stages;
  for (unsigned id : upstreamOf(group, anchorOf(group)))
    if (group.node(id).role != Role::Elementwise)
      stages.push_back(id);
  return stages;
}

/// Width and stride of a convolution's filter; 1 for a contraction.
static void findFilter(linalg::LinalgOp op, Parts &parts) {
  if (roleOf(op) != Role::Convolution)
    return;
  FailureOr<linalg::ConvolutionDimensions> dims =
      linalg::inferConvolutionDims(op);
  if (failed(dims))
    return;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (unsigned loop : dims->filterLoop)
    parts.filter = std::max<double>(parts.filter, extents[loop]);
  for (int64_t stride : dims->strides)
    parts.stride = std::max<double>(parts.stride, stride);
}

static Parts partsOf(const Group &group) {
  Parts parts;
  parts.anchor = anchorOf(group);
  linalg::LinalgOp op = group.graph.op(parts.anchor);
  parts.gemm = gemmOf(op);
  findFilter(op, parts);
  return parts;
}

namespace {

class Chain : public KernelClass {
public:
  StringRef name() const override { return "chain"; }
  ArrayRef<StringLiteral> sizeNames() const override {
    static constexpr StringLiteral names[] = {"tile_m", "tile_n", "tile_k"};
    return names;
  }

  SmallVector<double, 2> rowsOf(const Group &group) const override {
    Gemm gemm = partsOf(group).gemm;
    return {gemm.batch, gemm.m};
  }

  std::optional<Decision> match(const Group &group) const override {
    unsigned anchor = anchorOf(group);
    SmallVector<unsigned> stages = stagesOf(group);
    for (unsigned id : group.ops)
      if (id != anchor && group.node(id).role != Role::Elementwise &&
          !llvm::is_contained(stages, id))
        return Decision::keep(Reason::RowAcrossTiles,
                              "a tile as wide as the row")
            .number("row", group.node(id).reduction)
            .number("tile", kColumns);
    if (stages.size() > 1)
      return Decision::keep(
          Reason::NoChain, "one window or pooling in front of the contraction");
    if (!isHeld(group, stages.front(), anchor))
      return Decision::keep(
          Reason::NoChain,
          "a reduction of which each result is an element that is multiplied");
    return matchAroundAnchor(group, anchor);
  }

  SmallVector<Tile> tiles(const Group &group,
                          const Device &device) const override {
    Gemm gemm = partsOf(group).gemm;
    int64_t threads = std::min<int64_t>(kThreads, device.maxThreadsPerBlock);
    SmallVector<Tile> result;
    // All columns in one block evaluate the stage once.
    for (int64_t pixels : kPixels)
      for (int64_t columns : {static_cast<int64_t>(gemm.n), kColumns})
        result.push_back({{pixels, columns, kDepth}, threads});
    return result;
  }

  TileCost cost(const Group &group, const Tile &tile,
                const Device &device) const override {
    Parts parts = partsOf(group);
    const Gemm &gemm = parts.gemm;
    double m = tile.sizes[0], n = tile.sizes[1];
    double rows = std::ceil(gemm.m / m), columns = std::ceil(gemm.n / n);
    // A tile of side x side pixels reads a larger square.
    double side = std::sqrt(m),
           read = std::pow((side - 1) * parts.stride + parts.filter, 2);
    double channels = gemm.k / (parts.filter * parts.filter);
    TileCost cost;
    cost.tile = tile;
    bool cpu = device.maxThreadsPerBlock == 1;
    double sums = std::min<double>(n, kColumns) * m / tile.threads,
           most = device.registersPerThread * 3 / 4;
    double accumulators = cpu ? std::min(sums, most) : sums;
    double body = 0;
    for (unsigned id : group.ops)
      if (id != parts.anchor)
        body = std::max(body, group.node(id).registers);
    cost.registers =
        addressRegisters(device) +
        std::max(accumulators + (cpu ? 0 : 2 * std::sqrt(accumulators)), body);
    cost.shared = read * channels * gemm.elementBytes +
                  2 * kColumns * kDepth * gemm.elementBytes;
    Traffic traffic = trafficOf(group);
    cost.work.dramBytes = traffic.read + traffic.written;
    cost.work.cacheBytes =
        gemm.batch * rows * gemm.k * gemm.n * gemm.elementBytes +
        (columns - 1) * traffic.read;
    cost.work.sharedBytes = gemm.batch * gemm.m * gemm.n * gemm.k * 2 /
                            std::sqrt(std::max(1.0, accumulators)) *
                            gemm.elementBytes;
    addChainWork(group, parts, columns * read * rows / heldRows(parts), device,
                 cost.work);
    launch(cost, gemm.batch * rows * columns, device);
    return cost;
  }

private:
  /// Pixels of the stage that one evaluation of each makes.
  static double heldRows(const Parts &parts) {
    return std::max(1.0, parts.gemm.m * parts.stride * parts.stride);
  }

  /// True for a window, and for a reduction that has a result for each element
  /// that the anchor multiplies: a mean over the image, no norm of a row.
  static bool isHeld(const Group &group, unsigned stage, unsigned anchor) {
    Role role = group.node(stage).role;
    if (role == Role::Depthwise || role == Role::Window)
      return true;
    Gemm gemm = gemmOf(group.graph.op(anchor));
    return role == Role::Reduction &&
           group.node(stage).parallel == gemm.batch * gemm.m * gemm.k;
  }

  /// Stage, and what is in front of it, `times` for each of its elements.
  static void addChainWork(const Group &group, const Parts &parts, double times,
                           const Device &device, KernelWork &work) {
    SmallVector<unsigned> before = upstreamOf(group, parts.anchor);
    for (unsigned id : group.ops) {
      const GraphNode &node = group.node(id);
      bool held = std::binary_search(before.begin(), before.end(), id);
      double count = held ? std::max(1.0, times) : 1;
      if (id == parts.anchor && node.halfInputs)
        work.tensorFlops += node.flops;
      else
        work.flops += vectorFlops(node, node.flops, device) * count;
      work.transcendentals += node.transcendentals * count;
    }
  }
};

} // namespace

const KernelClass &fuse::chainClass() {
  static const Chain instance;
  return instance;
}
