//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Row kernels: reductions along rows with their elementwise neighbours, in one
// kernel: softmax, layernorm, RMSnorm. A block owns whole rows, in registers,
// in shared memory, or streaming through it once per pass.
//
//===----------------------------------------------------------------------===//

#include "Classes.h"
#include "RowSpace.h"

using namespace mlir;
using namespace fuse;

namespace {

class Row : public KernelClass {
public:
  llvm::StringRef name() const override { return "row"; }
  llvm::ArrayRef<llvm::StringLiteral> sizeNames() const override {
    static constexpr llvm::StringLiteral names[] = {"rows", "row_length",
                                                    "row_storage"};
    return names;
  }

  bool keepsBroadcasts() const override { return true; }
  /// Where the row is kept.
  unsigned choicesOf(const Group &) const override { return 1; }
  SmallVector<double, 2> rowsOf(const Group &group) const override {
    RowSpace space = *rowSpaceOf(group);
    return {space.rows, space.length};
  }

  std::optional<Decision> match(const Group &group) const override {
    if (!rowSpaceOf(group))
      return Decision::keep(
          Reason::RowsDiffer,
          "operators that reduce, slice and reshape along the same rows");
    return std::nullopt;
  }

  SmallVector<Tile> tiles(const Group &group,
                          const Device &device) const override {
    RowSpace space = *rowSpaceOf(group);
    int64_t most = std::min<int64_t>(256, device.maxThreadsPerBlock),
            warp = std::min<int64_t>(device.warpSize, most);
    int64_t length = static_cast<int64_t>(space.length);
    bool gpu = device.maxThreadsPerBlock > 1;
    SmallVector<Tile> result;
    // A warp or a whole block to a row; several rows to a block, or one.
    for (int64_t storage : {InRegisters, InShared, Streamed})
      for (int64_t perRow : {warp, most}) {
        bool held = storage != InRegisters ||
                    llvm::divideCeil(length, perRow) <= kHeldElements;
        if (gpu && (storage == InShared || !held))
          continue;
        for (int64_t rows : {most / perRow, int64_t(1)})
          result.push_back({{rows, length, storage}, rows * perRow});
      }
    return result;
  }

  TileCost cost(const Group &group, const Tile &tile,
                const Device &device) const override {
    RowSpace space = *rowSpaceOf(group);
    int64_t rows = tile.sizes[0], storage = tile.sizes[2];
    double perThread =
        std::max(1.0, std::ceil(rows * space.length / tile.threads));
    double lanes = device.maxThreadsPerBlock == 1 ? device.warpSize : 1;
    TileCost cost;
    cost.tile = tile;
    cost.registers = addressRegisters(device) + liveRegisters(group) +
                     functionRegisters(group, device);
    if (storage == InRegisters) {
      double held = std::ceil(perThread / lanes);
      cost.registers += held * heldWords(group, device);
      cost.registers += loadsAhead(group, held, cost.registers, device);
    }
    if (storage == InShared)
      cost.shared = rows * space.length * 4;
    Traffic traffic = trafficOf(group);
    double passes = storage == Streamed ? passesOf(group) : 1;
    cost.work.dramBytes = traffic.read * passes + traffic.written;
    for (unsigned id : group.ops) {
      cost.work.flops +=
          vectorFlops(group.node(id), group.node(id).flops * passes, device);
      cost.work.transcendentals += group.node(id).transcendentals * passes;
    }
    launch(cost, std::ceil(space.rows / rows), device);
    return cost;
  }

private:
  /// Registers of an element that is held: GPU code keeps it as it was loaded,
  /// and as f64 where a pass computes in that.
  static double heldWords(const Group &group, const Device &device) {
    bool wide = llvm::any_of(group.ops, [&](unsigned id) {
      return group.node(id).floatBits == 64 &&
             group.node(id).role == Role::Reduction;
    });
    return device.maxThreadsPerBlock > 1 && wide ? 3 : 1;
  }

  /// Registers of loads that ptxas issues early: those of the other inputs, as
  /// long as 2 blocks of 256 threads share an SM's 64 K registers.
  static double loadsAhead(const Group &group, double held, double registers,
                           const Device &device) {
    constexpr double most = 128;
    if (device.maxThreadsPerBlock == 1)
      return 0;
    double wanted = held * std::max(1u, trafficOf(group).inputs) - held;
    return std::clamp(most - registers, 0.0, wanted);
  }

  /// Reads of a row that is not kept: one per reduction that waits for an
  /// earlier one, and one to write the results.
  static double passesOf(const Group &group) {
    llvm::SmallDenseMap<unsigned, unsigned> depth;
    unsigned most = 0;
    for (unsigned id : group.ops) {
      unsigned own = 0;
      for (const GraphInput &input : group.node(id).inputs)
        if (input.producer && group.contains(*input.producer))
          own = std::max(own, depth[*input.producer]);
      depth[id] = own + (group.node(id).role == Role::Reduction);
      most = std::max(most, depth[id]);
    }
    bool writesAfter = llvm::any_of(group.ops, [&](unsigned id) {
      return group.node(id).role != Role::Reduction && depth[id] == most &&
             group.hasOutput(id);
    });
    return most + (writesAfter ? 1 : 0);
  }
};

} // namespace

const KernelClass &fuse::rowClass() {
  static const Row instance;
  return instance;
}
