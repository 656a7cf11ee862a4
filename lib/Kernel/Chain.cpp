//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chain kernels: a depthwise convolution, a pooling or a matrix product, and
// the contraction or convolution that reads it. A block computes what its tile
// needs of the first one into shared memory, all channels of it.
//
//   d = depthwise x; y = conv 1x1 d        p = mean x over the image; y = fc p
//
// In front of the window may stand another contraction: then the block computes
// some channels at a time, with the window's halo, and adds them to its sums.
//
//   e = conv 1x1 x; d = depthwise e; y = conv 1x1 d
//
// Without a window between, a block owns rows of both contractions, and all
// columns of the second: nothing is computed twice.
//
//   e = matmul x, w; y = matmul (relu e), v
//
//===----------------------------------------------------------------------===//

#include "Classes.h"
#include "fuse/Kernel/ChainTile.h"

using namespace mlir;
using namespace fuse;

namespace {

/// Pixels of a block, larger first, and columns that are computed at a time.
constexpr int64_t kPixels[] = {128, 64, 32, 16, 4, 1};
constexpr int64_t kDepth = 8, kThreads = 128;

/// Rows of a block of two contractions, larger first: multiples of the 16 rows
/// of a tensor instruction.
constexpr int64_t kRows[] = {64, 32, 16};

/// How a loop nest walks over an image: it reads (n - 1) * stride + filter
/// elements along a side for n results.
struct Reach {
  double filter = 1, stride = 1;
  double along(double side) const { return (side - 1) * stride + filter; }
};

/// A group as a chain kernel sees it.
struct Parts {
  unsigned anchor = 0;                    ///< the last contraction
  std::optional<unsigned> window, expand; ///< in front of it, where there are
  Gemm gemm;                              ///< of the anchor
  Reach reach, windowReach;
  ChainOps ops;

  /// True for two contractions with nothing but elementwise operators between.
  bool isTwice() const { return expand && !window; }
};

} // namespace

/// The last contraction: ids ascend in an order of evaluation.
static unsigned anchorOf(const Group &group) {
  return *llvm::find_if(llvm::reverse(group.ops), [&](unsigned id) {
    return isHeavy(group.node(id).role);
  });
}

static bool isWindow(Role role) {
  return role == Role::Depthwise || role == Role::Window;
}

SmallVector<unsigned> fuse::stagesOf(const Group &group) {
  SmallVector<unsigned> stages;
  for (unsigned id : upstreamOf(group, anchorOf(group)))
    if (group.node(id).role != Role::Elementwise)
      stages.push_back(id);
  return stages;
}

/// One element for one result but for convolutions and windows.
static Reach reachOf(linalg::LinalgOp op) {
  Reach reach;
  Role role = roleOf(op);
  if (role != Role::Convolution && !isWindow(role))
    return reach;
  FailureOr<linalg::ConvolutionDimensions> dims =
      linalg::inferConvolutionDims(op);
  if (failed(dims))
    return reach;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (unsigned loop : dims->filterLoop)
    reach.filter = std::max<double>(reach.filter, extents[loop]);
  for (int64_t stride : dims->strides)
    reach.stride = std::max<double>(reach.stride, stride);
  return reach;
}

static std::optional<ChainOps> chainOf(const Group &group) {
  SmallVector<Operation *> operators;
  for (unsigned id : group.ops)
    operators.push_back(group.graph.op(id));
  std::string why;
  return ChainOps::of(operators, why);
}

/// Of a group that matches.
static Parts partsOf(const Group &group) {
  Parts parts;
  parts.ops = *chainOf(group);
  parts.anchor = anchorOf(group);
  linalg::LinalgOp op = group.graph.op(parts.anchor);
  parts.gemm = gemmOf(op);
  parts.reach = reachOf(op);
  for (unsigned id : stagesOf(group)) {
    if (isHeavy(group.node(id).role))
      parts.expand = id;
    if (isWindow(group.node(id).role)) {
      parts.window = id;
      parts.windowReach = reachOf(group.graph.op(id));
    }
  }
  return parts;
}

/// True if the anchor reads what `stage` leads to as its rows only: what it
/// multiplies with all columns, not with all rows.
static bool feedsRows(const Group &group, unsigned anchor, unsigned stage) {
  linalg::LinalgOp op = group.graph.op(anchor);
  SmallVector<unsigned, 2> columns;
  if (roleOf(op) == Role::Contraction)
    if (FailureOr<linalg::ContractionDimensions> dims =
            linalg::inferContractionDims(op);
        succeeded(dims))
      columns = dims->n;
  for (const GraphInput &input : group.node(anchor).inputs) {
    if (!input.producer || !group.contains(*input.producer) ||
        (*input.producer != stage &&
         !llvm::is_contained(upstreamOf(group, *input.producer), stage)))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(input.operand));
    bool convolved = roleOf(op) == Role::Convolution;
    if (convolved ? input.operand != 0
                  : llvm::any_of(columns, [&](unsigned loop) {
                      return map.isFunctionOfDim(loop);
                    }))
      return false;
  }
  return true;
}

/// Why the stages are none that a block can hold.
static std::optional<Decision> checkStages(const Group &group,
                                           unsigned anchor) {
  SmallVector<unsigned> stages = stagesOf(group);
  bool feeds = feedsRows(group, anchor, stages.back());
  if (stages.size() == 1 && isHeavy(group.node(stages.front()).role)) {
    if (feeds && keepsRows(group, stages.front(), anchor))
      return std::nullopt;
    return Decision::keep(Reason::TwoHeavy,
                          "whole rows of the first contraction as the rows "
                          "that the second sums along");
  }
  if (!feeds)
    return Decision::keep(Reason::NoChain,
                          "a window or pooling that gives the rows of the "
                          "contraction, not its weights");
  if (stages.size() == 1) {
    Gemm gemm = gemmOf(group.graph.op(anchor));
    Role role = group.node(stages.front()).role;
    // A mean over the image, no norm of a row.
    bool pools =
        role == Role::Reduction &&
        group.node(stages.front()).parallel == gemm.batch * gemm.m * gemm.k;
    if (pools || isWindow(role))
      return std::nullopt;
    return Decision::keep(
        Reason::NoChain,
        "a reduction of which each result is an element that is multiplied");
  }
  if (stages.size() == 2 && isHeavy(group.node(stages[0]).role) &&
      isWindow(group.node(stages[1]).role) &&
      llvm::is_contained(upstreamOf(group, stages[1]), stages[0]))
    return std::nullopt;
  return Decision::keep(Reason::NoChain,
                        "one window or pooling in front of the contraction");
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
            .number("tile", kChainColumns);
    if (std::optional<Decision> refusal = checkStages(group, anchor))
      return refusal;
    if (!chainOf(group))
      return Decision::keep(
          Reason::NoChain,
          "values between the sums of which each is computed from one");
    return matchAroundAnchor(group, anchor);
  }

  SmallVector<Tile> tiles(const Group &group,
                          const Device &device) const override {
    Gemm gemm = partsOf(group).gemm;
    int64_t threads = std::min<int64_t>(kThreads, device.maxThreadsPerBlock);
    SmallVector<Tile> result;
    if (partsOf(group).isTwice()) {
      for (int64_t rows : kRows)
        result.push_back(
            {{rows, static_cast<int64_t>(gemm.n), kDepth}, threads});
      return result;
    }
    // All columns in one block evaluate the stage once.
    SmallVector<int64_t, 2> widths{static_cast<int64_t>(gemm.n)};
    if (widths.front() > kChainColumns)
      widths.push_back(kChainColumns);
    for (int64_t pixels : kPixels)
      for (int64_t columns : widths)
        result.push_back({{pixels, columns, kDepth}, threads});
    return result;
  }

  TileCost cost(const Group &group, const Tile &tile,
                const Device &device) const override {
    Parts parts = partsOf(group);
    const Gemm &gemm = parts.gemm;
    ChainTile block(parts.ops, tile.sizes, tile.threads);
    double rows = blocksOf(parts, block) / gemm.batch,
           columns = std::ceil(gemm.n / tile.sizes[1]);
    // Positions of the window's results that a block has, and of what the
    // window reads for them.
    double channels = gemm.k / std::pow(parts.reach.filter, 2),
           held =
               block.heldElements() / (parts.expand ? block.chunk : channels),
           wide = parts.windowReach.along(std::sqrt(held)),
           read = block.read.empty() ? wide * wide
                                     : block.readElements() / block.chunk;
    TileCost cost;
    cost.tile = tile;
    setMemory(group, parts, block, tile, device, cost);
    Traffic traffic = trafficOf(group);
    cost.work.dramBytes = traffic.read + traffic.written;
    double weights = gemm.k * gemm.n;
    if (parts.expand) {
      Gemm expand = gemmOf(group.graph.op(*parts.expand));
      weights += columns * expand.k * expand.n;
    }
    double made = gemm.m * std::pow(parts.reach.stride, 2),
           taken = made * std::pow(parts.windowReach.stride, 2);
    double again = columns * read * rows / std::max(1.0, taken);
    cost.work.cacheBytes = gemm.batch * rows * weights * gemm.elementBytes +
                           std::max(0.0, again - 1) * traffic.read;
    addChainWork(group, parts, columns * held * rows / std::max(1.0, made),
                 again, device, cost.work);
    cost.work.sharedBytes = cost.work.flops / 2 * gemm.elementBytes * 2 /
                            std::sqrt(std::max(1.0, sumsOf(block, device)));
    launch(cost, gemm.batch * rows * columns, device);
    return cost;
  }

private:
  /// Tiles of all images.
  static double blocksOf(const Parts &parts, const ChainTile &block) {
    linalg::LinalgOp op = parts.ops.anchor;
    SmallVector<int64_t> extents = op.getStaticLoopRanges();
    auto extent = [&](unsigned loop) {
      bool dynamic = ShapedType::isDynamic(extents[loop]);
      return double(dynamic ? kAssumedExtent : extents[loop]);
    };
    double result = 1;
    for (unsigned loop : parts.ops.batch)
      result *= extent(loop);
    for (auto [loop, size] : llvm::zip_equal(parts.ops.m, block.m))
      result *= std::ceil(extent(loop) / size);
    return result;
  }

  /// Sums of a thread, or vectors of them of a CPU.
  static double sumsOf(const ChainTile &block, const Device &device) {
    double sums = block.split.perM * block.split.perN;
    bool cpu = device.maxThreadsPerBlock == 1;
    return cpu ? std::min(sums, device.registersPerThread * 3 / 4) : sums;
  }

  /// Registers and shared memory.
  static void setMemory(const Group &group, const Parts &parts,
                        const ChainTile &block, const Tile &tile,
                        const Device &device, TileCost &cost) {
    double body = 0, sums = sumsOf(block, device), operands = 0;
    for (unsigned id : group.ops)
      if (!isHeavy(group.node(id).role))
        body = std::max(body, group.node(id).registers);
    if (device.maxThreadsPerBlock > 1) {
      operands = block.split.perM + block.split.perN;
      if (parts.expand) {
        // While the first contraction is computed the sums of the last wait. An
        // input has an address of 2 registers, and the next one is loaded.
        auto group = ChainGroup::of(
            block.chunk,
            (block.read.empty() ? block.heldElements() : block.readElements()) /
                block.chunk,
            tile.threads);
        operands =
            std::max<double>(operands, group.channels * group.pixels +
                                           4 * (group.channels + group.pixels));
      }
      operands += 8; // where the thread is in the box, and in the image
      // Many sums have as many columns, whose weights are on the way.
      operands = std::max(operands, 0.6 * sums);
      if (sums > kChainSums)
        operands = device.registersPerThread;
    }
    cost.registers = addressRegisters(device) + std::max(sums + operands, body);
    cost.shared = block.bytes(parts.ops);
  }

  /// What is in front of the window `again` times for each element, the window
  /// and what is behind it `times`.
  static void addChainWork(const Group &group, const Parts &parts, double times,
                           double again, const Device &device,
                           KernelWork &work) {
    SmallVector<unsigned> before = upstreamOf(group, parts.anchor), front;
    if (parts.window)
      front = upstreamOf(group, *parts.window);
    for (unsigned id : group.ops) {
      const GraphNode &node = group.node(id);
      double count = 1;
      if (std::binary_search(front.begin(), front.end(), id))
        count = std::max(1.0, again);
      else if (std::binary_search(before.begin(), before.end(), id))
        count = std::max(1.0, times);
      if (isHeavy(node.role) && node.halfInputs)
        work.tensorFlops += node.flops * count;
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
