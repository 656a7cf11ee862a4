//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention kernels: a contraction, a softmax (or another computation along
// rows with a reduction) of its scores, and a contraction of those.
//
//   s = q * k; s = scale s + mask; p = softmax s; o = p * v
//
// On a CPU a tile of whole rows of scores stays in the cache. A block of a GPU
// has some rows and walks over the keys, with the scores of a few in registers.
//
//===----------------------------------------------------------------------===//

#include "Classes.h"
#include "Follow.h"
#include "fuse/Device/Chip.h"
#include "fuse/Kernel/AttentionTile.h"
#include "fuse/Kernel/Softmax.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace fuse;

namespace {

/// Extents of the two contractions: m x k x n scores, m x n x d results.
struct Extents {
  double batch = 1, m = 1, n = 1, k = 1, d = 1;
  double elementBytes = 4;
};

/// A group as an attention kernel sees it.
struct Parts {
  unsigned first = 0, second = 0;   ///< the contractions
  SmallVector<unsigned, 8> between; ///< from scores to scores, ascending
  Extents extents;
};

/// Rows of a block, larger first, and keys at a time: multiples of the rows and
/// the depth of a tensor instruction.
constexpr int64_t kRows[] = {128, 64, 32, 16};
constexpr int64_t kKeys[] = {64, 32, 16};

/// Follows rows of the scores from the first contraction to the second.
class RowWalk {
public:
  RowWalk(const Group &group, const Parts &parts)
      : group(group), parts(parts) {}
  /// Nothing if each operator works on whole rows; `rowOperand` is the operand
  /// of the first contraction along which the rows lie.
  std::optional<Decision> run(unsigned rowOperand);
  Extents extents;

private:
  std::optional<Decision> arrive(unsigned id);
  std::optional<Decision> check(unsigned id);
  std::optional<Decision> checkSecond();
  static double extent(int64_t size) {
    return ShapedType::isDynamic(size) ? kAssumedExtent : double(size);
  }

  const Group &group;
  const Parts &parts;
  double rows = 1;
  llvm::SmallDenseMap<unsigned, Origins> loops;
};

} // namespace

static bool indexes(linalg::LinalgOp op, unsigned operand, unsigned loop) {
  return op.getMatchingIndexingMap(&op->getOpOperand(operand))
      .isFunctionOfDim(loop);
}

static Decision otherRows() {
  return Decision::keep(
      Reason::RowsDiffer,
      "operators that reduce, slice and reshape along the same rows");
}

/// True for glue that an index can be followed through without a bound.
static bool isPlain(Operation *glue) {
  return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
             linalg::LinalgOp>(glue);
}

std::optional<Decision> RowWalk::arrive(unsigned id) {
  Origins own(group.graph.op(id).getNumLoops());
  for (const GraphInput &input : group.node(id).inputs) {
    if (!input.producer || !loops.contains(*input.producer))
      continue;
    if (!llvm::all_of(input.glue, isPlain))
      return otherRows();
    std::optional<Origins> found = followForward(
        group.graph, *input.producer, id, input, loops[*input.producer]);
    if (!found || !mergeOrigins(own, *found))
      return otherRows();
  }
  loops[id] = std::move(own);
  return std::nullopt;
}

std::optional<Decision> RowWalk::check(unsigned id) {
  linalg::LinalgOp op = group.graph.op(id);
  double own = 1;
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
    double size = extent(group.node(id).extents[loop]);
    if (size == 1)
      continue;
    Origin::Kind kind = loops[id][loop].kind;
    if (kind == Origin::Unknown)
      return Decision::keep(Reason::ScoresShape,
                            "a mask that broadcasts to the scores")
          .number("points", group.node(id).points)
          .number("scores", group.node(parts.first).parallel);
    bool reduces = iterator == utils::IteratorType::reduction;
    if (reduces && kind == Origin::Own)
      return otherRows();
    own *= kind == Origin::Own ? size : 1;
  }
  if (own != rows)
    return otherRows();
  return std::nullopt;
}

/// The second contraction sums along whole rows, and keeps each.
std::optional<Decision> RowWalk::checkSecond() {
  linalg::LinalgOp op = group.graph.op(parts.second);
  double own = 1;
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
    double size = extent(group.node(parts.second).extents[loop]);
    if (size == 1)
      continue;
    Origin::Kind kind = loops[parts.second][loop].kind;
    bool reduces = iterator == utils::IteratorType::reduction;
    if (reduces != (kind == Origin::Along))
      return otherRows();
    own *= kind == Origin::Own ? size : 1;
    extents.d *= kind == Origin::Unknown ? size : 1;
  }
  if (own != rows)
    return otherRows();
  return std::nullopt;
}

std::optional<Decision> RowWalk::run(unsigned rowOperand) {
  linalg::LinalgOp first = group.graph.op(parts.first);
  Origins &own = loops[parts.first];
  for (auto [loop, iterator] : llvm::enumerate(first.getIteratorTypesArray())) {
    int64_t size = group.node(parts.first).extents[loop];
    bool mine = indexes(first, rowOperand, loop),
         other = indexes(first, 1 - rowOperand, loop);
    if (iterator == utils::IteratorType::reduction) {
      own.push_back({});
      extents.k *= extent(size);
    } else if (mine) {
      own.push_back(ownLoop(loop, size));
      (other ? extents.batch : extents.m) *= extent(size);
      rows *= extent(size);
    } else {
      own.push_back({Origin::Along, {}});
      extents.n *= extent(size);
    }
  }
  for (unsigned id : parts.between) {
    if (auto refusal = arrive(id))
      return refusal;
    if (auto refusal = check(id))
      return refusal;
  }
  if (auto refusal = arrive(parts.second))
    return refusal;
  return checkSecond();
}

static Decision twoHeavy() {
  return Decision::keep(
      Reason::TwoHeavy,
      "a kernel class for chains that holds the producer's tile on chip");
}

/// Finds the contractions of `group`, the second behind the first.
static std::optional<Decision> findContractions(const Group &group,
                                                Parts &parts) {
  SmallVector<unsigned, 2> heavy;
  for (unsigned id : group.ops) {
    Role role = group.node(id).role;
    if (isHeavy(role))
      heavy.push_back(id);
    if (role == Role::Convolution || heavy.size() > 2)
      return twoHeavy();
    if (role == Role::Depthwise || role == Role::Window)
      return Decision::keep(
          Reason::NoChain,
          "a kernel class for chains that holds the window's halo");
  }
  parts.first = heavy.front();
  parts.second = heavy.back();
  if (!llvm::is_contained(upstreamOf(group, parts.second), parts.first))
    return twoHeavy();
  return std::nullopt;
}

/// Finds what is between the contractions; no other reduction is elsewhere.
static std::optional<Decision> findBetween(const Group &group, Parts &parts,
                                           bool &reduces) {
  SmallVector<unsigned> before = upstreamOf(group, parts.second);
  llvm::SmallDenseSet<unsigned> behind{parts.first};
  for (unsigned id : group.ops) {
    bool reads =
        llvm::any_of(group.node(id).inputs, [&](const GraphInput &input) {
          return input.producer && behind.contains(*input.producer);
        });
    if (reads && std::binary_search(before.begin(), before.end(), id)) {
      behind.insert(id);
      parts.between.push_back(id);
      reduces |= group.node(id).role == Role::Reduction;
    } else if (group.node(id).role == Role::Reduction) {
      return Decision::keep(Reason::RowAcrossTiles, "a tile as wide as the row")
          .number("row", group.node(id).reduction)
          .number("tile", kKeys[0]);
    }
  }
  return std::nullopt;
}

bool fuse::keepsRows(const Group &group, unsigned first, unsigned second) {
  Parts parts;
  parts.first = first;
  parts.second = second;
  bool reduces = false;
  return !findBetween(group, parts, reduces) && !reduces &&
         !RowWalk(group, parts).run(/*rowOperand=*/0);
}

/// The parts of `group`, or why it is no attention.
static std::optional<Decision> findParts(const Group &group, Parts &parts) {
  if (auto refusal = findContractions(group, parts))
    return refusal;
  bool reduces = false;
  if (auto refusal = findBetween(group, parts, reduces))
    return refusal;
  if (!reduces)
    return twoHeavy();
  std::optional<Decision> refusal;
  for (unsigned rowOperand : {0u, 1u}) {
    RowWalk walk(group, parts);
    std::optional<Decision> own = walk.run(rowOperand);
    if (!own) {
      parts.extents = walk.extents;
      if (std::optional<int64_t> bytes = elementBytes(
              getElementTypeOrSelf(group.graph.op(parts.first)->getOperand(0))))
        parts.extents.elementBytes = *bytes;
      return std::nullopt;
    }
    if (!refusal || own->reason == Reason::ScoresShape)
      refusal = std::move(own);
  }
  return refusal;
}

namespace {

class Attention : public KernelClass {
public:
  StringRef name() const override { return "attention"; }
  ArrayRef<StringLiteral> sizeNames() const override {
    static constexpr StringLiteral names[] = {"tile_m", "tile_n"};
    return names;
  }
  bool keepsBroadcasts() const override { return true; }

  SmallVector<double, 2> rowsOf(const Group &group) const override {
    Extents extents = partsOf(group).extents;
    return {extents.batch, extents.m};
  }

  std::optional<Decision> match(const Group &group) const override {
    Parts parts;
    if (std::optional<Decision> refusal = findParts(group, parts))
      return refusal;
    return matchAroundAnchor(group, parts.second);
  }

  std::optional<Decision> refusedOn(const Group &group,
                                    const Device &device) const override {
    Parts parts = partsOf(group);
    if (device.maxThreadsPerBlock == 1) {
      double rows = std::min<double>(parts.extents.m, kRowsThatPay),
             bytes = rows * parts.extents.n * double(sizeof(float));
      if (bytes <= kScoreBytes)
        return std::nullopt;
      return Decision::keep(Reason::NoTile, "shorter rows of scores")
          .number("score_bytes", bytes)
          .number("score_limit", kScoreBytes);
    }
    std::optional<OnlineSoftmax> form = onlineSoftmax(
        group.graph.op(parts.first), group.graph.op(parts.second));
    if (!form)
      return Decision::keep(Reason::TwoHeavy,
                            "a softmax in f32 between the contractions");
    if (!form->hasKnownLengths())
      return Decision::keep(Reason::TwoHeavy,
                            "rows of queries and values of a known length");
    return std::nullopt;
  }

  SmallVector<Tile> tiles(const Group &group,
                          const Device &device) const override {
    SmallVector<Tile> result;
    Parts parts = partsOf(group);
    if (device.maxThreadsPerBlock == 1) {
      for (int64_t rows : kRows)
        result.push_back({{rows, static_cast<int64_t>(parts.extents.n)}, 1});
      return result;
    }
    AttentionTile tile = tileOf(group, parts, device);
    for (int64_t rows : kRows)
      for (int64_t keys : kKeys) {
        tile.rows = rows;
        tile.keys = keys;
        int64_t threads = threadsOf(tile);
        bool last = rows == kRows[3] && keys == kKeys[2];
        if (last || (threads <= device.maxThreadsPerBlock &&
                     tile.sharedBytes() <= kStaticShared))
          result.push_back({{rows, keys}, threads});
      }
    return result;
  }

  TileCost cost(const Group &group, const Tile &tile,
                const Device &device) const override {
    Parts parts = partsOf(group);
    const Extents &e = parts.extents;
    double rows = tile.sizes[0], blocks = std::ceil(e.m / rows);
    TileCost cost;
    cost.tile = tile;
    double body = 0;
    for (unsigned id : parts.between)
      body = std::max(body, group.node(id).registers);
    double sums;
    if (device.maxThreadsPerBlock == 1) {
      // Sums of the scores and of the results are not alive together.
      sums = std::min(rows * std::max<double>(kKeys[0], e.d),
                      device.registersPerThread * 3 / 4);
      cost.registers = std::max(sums, body);
      cost.shared = rows * e.n * 4;
    } else {
      AttentionTile own = tileOf(group, parts, device);
      own.rows = tile.sizes[0];
      own.keys = tile.sizes[1];
      // Scores, and what they become, are held beside the results.
      double scores = rows * double(own.keys) / tile.threads;
      sums = scores +
             rows * double(AttentionTile::padded(own.columns)) / tile.threads;
      cost.registers =
          addressRegisters(device) + sums + scores + operandsOf(own) + body +
          functionRegisters(group, device) + earlyLoads(group, parts) * scores;
      cost.shared = own.sharedBytes();
    }
    Traffic traffic = trafficOf(group);
    cost.work.dramBytes = traffic.read + traffic.written;
    // Each block loads all keys and values.
    cost.work.cacheBytes =
        e.batch * (e.m * e.k + blocks * e.n * (e.k + e.d)) * e.elementBytes;
    double loadsPerFma = 2 / std::sqrt(sums);
    cost.work.sharedBytes =
        e.batch * e.m * e.n * (e.k + e.d) * loadsPerFma * e.elementBytes;
    addAttentionWork(group, parts, blocks, device, cost.work);
    double waste = blocks * rows / e.m;
    cost.work.flops *= waste;
    cost.work.tensorFlops *= waste;
    launch(cost, e.batch * blocks, device);
    return cost;
  }

private:
  static Parts partsOf(const Group &group) {
    Parts parts;
    std::optional<Decision> refusal = findParts(group, parts);
    assert(!refusal && "a group that is no attention");
    return parts;
  }

  /// The tile of a GPU, without its rows and keys.
  static AttentionTile tileOf(const Group &group, const Parts &parts,
                              const Device &device) {
    const GraphNode &first = group.node(parts.first),
                    &second = group.node(parts.second);
    AttentionTile tile{0, 0, 1, 1, 4, false};
    tile.elementBytes = int64_t(parts.extents.elementBytes);
    tile.tensorCores = computeCapability(device.name) >= 80 &&
                       first.halfInputs && second.halfInputs;
    tile.depth = int64_t(parts.extents.k);
    tile.columns = int64_t(parts.extents.d);
    return tile;
  }

  /// A warp for its rows of a tensor instruction, else 8 warps for 64 rows.
  static int64_t threadsOf(const AttentionTile &tile) {
    constexpr int64_t warp = 32;
    if (tile.tensorCores)
      return tile.rows / kAttentionWarpRows * warp;
    return std::min<int64_t>(8, tile.rows / 8) * warp;
  }

  /// Registers of what the products are made from: a thread's rows and columns,
  /// or words of tensor instructions, and queries that stay in them.
  static double operandsOf(const AttentionTile &tile) {
    double step = 16.0 / double(tile.elementBytes);
    if (tile.tensorCores)
      return double(AttentionTile::padded(tile.depth)) / 4 + 8;
    double across = kAttentionThreadsX;
    return step * (1 + double(tile.keys) / across);
  }

  /// Inputs of what is between the contractions from outside, such as masks:
  /// their loads are issued before the scores are known.
  static double earlyLoads(const Group &group, const Parts &parts) {
    double loads = 0;
    for (unsigned id : parts.between)
      for (const GraphInput &input : group.node(id).inputs)
        loads += !input.producer || !group.contains(*input.producer);
    return loads;
  }

  /// What is in front of the contractions is evaluated once for each block that
  /// loads it.
  static void addAttentionWork(const Group &group, const Parts &parts,
                               double blocks, const Device &device,
                               KernelWork &work) {
    SmallVector<unsigned> before = upstreamOf(group, parts.second);
    for (unsigned id : group.ops) {
      const GraphNode &node = group.node(id);
      bool loaded = std::binary_search(before.begin(), before.end(), id) &&
                    id != parts.first && !llvm::is_contained(parts.between, id);
      double times = loaded ? blocks : 1;
      if (isHeavy(node.role) && node.halfInputs)
        work.tensorFlops += node.flops;
      else
        work.flops += vectorFlops(node, node.flops, device) * times;
      work.transcendentals += node.transcendentals * times;
    }
  }
};

} // namespace

const KernelClass &fuse::attentionClass() {
  static const Attention instance;
  return instance;
}
