//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// policy=cost: the profile, resource and profit gates, each true to the
// machine. Estimates here are per pair and simple; tile-exact ones belong to
// the kernel classes.
//
//===----------------------------------------------------------------------===//

#include "Gates.h"
#include "fuse/Cost/Roofline.h"
#include <cmath>

using namespace mlir;
using namespace fuse;

namespace {
/// A tile of a contraction kernel: m x n outputs a block, k deep, `micro` x
/// `micro` accumulators a thread.
struct Tile {
  int64_t m, n, k, micro;
};
} // namespace

/// Tile shapes of SIMT matrix multiplication, largest first; the set is that of
/// CUTLASS's SIMT kernels (media/docs/cpp/efficient_gemm.md).
static constexpr Tile kTiles[] = {
    {128, 128, 8, 8}, {64, 64, 8, 8}, {32, 32, 8, 4}, {16, 16, 8, 2}};

/// Registers that pointers, indices and bounds of a kernel take besides values:
/// on a GPU 3 64-bit pointers, 4 indices, 2 bounds and 4 temporaries; a CPU
/// keeps those in scalar registers.
static double addressRegisters(const Device &device) {
  return device.maxThreadsPerBlock > 1 ? 16 : 0;
}

GateResult fuse::costProfileGate(const GateInput &in) {
  const OperatorFacts &producer = in.producer(), &consumer = in.consumer();
  if (!isHeavy(producer.role))
    return std::nullopt;
  if (isHeavy(consumer.role))
    return Decision::keep(
        Reason::TwoHeavy,
        "a kernel class for chains that holds the producer's tile on chip");
  if (consumer.role != Role::Reduction)
    return std::nullopt;
  std::optional<int64_t> row = consumer.footprint.reduction.value();
  int64_t widest = kTiles[0].n;
  if (row && *row <= widest)
    return std::nullopt;
  Decision refusal = Decision::keep(
      Reason::RowAcrossTiles, "reduce along at most " + std::to_string(widest) +
                                  " elements, one tile's width");
  if (row)
    refusal.number("row", *row);
  return refusal.number("tile", widest);
}

GateResult fuse::costResourceGate(const GateInput &in, Decision &record) {
  const Device &device = in.options.device;
  const OperatorFacts &producer = in.producer(), &consumer = in.consumer();
  double values = producer.footprint.registers + consumer.footprint.registers;
  double limit = in.options.registers();
  double sharedLimit = device.sharedPerBlock * in.options.boundary;
  double base = addressRegisters(device) + values;
  if (!isHeavy(producer.role) && !isHeavy(consumer.role)) {
    if (base > limit)
      return Decision::keep(Reason::NoTile, "raise register-limit or boundary")
          .number("registers", base)
          .number("limit", limit);
    record.number("registers", base);
    return std::nullopt;
  }
  double registers = 0, shared = 0;
  for (const Tile &tile : kTiles) {
    registers = base + tile.micro * tile.micro + 2 * tile.micro;
    shared = 2.0 * (tile.m + tile.n) * tile.k * 4;
    if (registers > limit || shared > sharedLimit)
      continue;
    record.number("tile_m", tile.m)
        .number("tile_n", tile.n)
        .number("registers", registers)
        .number("shared_bytes", shared);
    return std::nullopt;
  }
  return Decision::keep(Reason::NoTile, "raise register-limit or boundary")
      .number("registers", registers)
      .number("register_limit", limit)
      .number("shared_bytes", shared)
      .number("shared_limit", sharedLimit);
}

/// Loads of each element of `operand` by a contraction kernel: once per tile
/// along the parallel loops that do not index it, and once per filter point
/// that covers it. Nothing where an extent is dynamic.
static std::optional<double> loadsPerElement(linalg::LinalgOp op,
                                             unsigned operand) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(operand));
  double free = 1, covered = 1;
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (ShapedType::isDynamic(extents[loop]))
      return std::nullopt;
    if (!map.isFunctionOfDim(loop))
      free *= iterator == utils::IteratorType::parallel ? extents[loop] : 1;
    else if (iterator == utils::IteratorType::reduction &&
             !llvm::is_contained(map.getResults(),
                                 getAffineDimExpr(loop, map.getContext())))
      covered *= extents[loop];
  }
  return std::ceil(free / kTiles[0].n) * covered;
}

/// True if some loop of `op` does not index `operand`.
static bool isBroadcast(linalg::LinalgOp op, unsigned operand) {
  AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(operand));
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (!map.isFunctionOfDim(loop))
      return true;
  return false;
}

/// How often the fused kernel evaluates each element of the producer. Nothing
/// where that depends on a dynamic extent.
static std::optional<double> evaluationsPerElement(const GateInput &in) {
  const OperatorFacts &consumer = in.consumer();
  switch (consumer.role) {
  case Role::Elementwise:
  case Role::Reduction: {
    // A broadcast evaluates an elementwise producer where it is used; a block
    // that owns a row of a reduction makes all that is made from it.
    if (in.producer().role != Role::Elementwise ||
        !isBroadcast(consumer.op, in.edge.operand))
      return 1.0;
    std::optional<int64_t> points = consumer.footprint.points.value(),
                           made = in.producer().footprint.points.value();
    if (!points || !made)
      return std::nullopt;
    return std::max(1.0,
                    static_cast<double>(*points) / std::max<int64_t>(1, *made));
  }
  case Role::Contraction:
  case Role::Convolution:
    return loadsPerElement(consumer.op, in.edge.operand);
  case Role::Depthwise:
  case Role::Window: {
    // A tile of 16 x 16 outputs with a halo: ((16 + w - 1) / 16)^2 for a w x w
    // window.
    std::optional<int64_t> window = consumer.footprint.reduction.value();
    if (!window)
      return std::nullopt;
    double side = std::sqrt(static_cast<double>(*window));
    return std::pow((16 + side - 1) / 16, 2);
  }
  }
  return std::nullopt;
}

/// Seconds lost because the fused kernel cannot use all SMs: a consumer that is
/// wider than its producer runs in the blocks that own the producer's rows.
static double lostParallelism(const GateInput &in) {
  const Device &device = in.options.device;
  const OperatorFacts &producer = in.producer(), &consumer = in.consumer();
  std::optional<int64_t> rows = producer.footprint.parallel.value(),
                         points = consumer.footprint.points.value();
  if (producer.role == Role::Elementwise || !rows || !points ||
      *points <= *rows || *rows >= device.smCount)
    return 0;
  double share = std::max<double>(1, *rows) / device.smCount;
  double threads = device.maxThreadsPerSm;
  // Work that one SM's threads hold at once loses nothing.
  if (*points <= threads * std::max<int64_t>(1, *rows))
    return 0;
  std::optional<int64_t> bytes = consumer.footprint.bytes().value();
  return bytes ? *bytes / device.bandwidth * (1 / share - 1) : 0;
}

/// FLOPs in the time that loading one stored f32 from the cache takes. An A100
/// reads 5120 B a clock at 1.41 GHz from L2, 4.6 times its memory bandwidth
/// ("NVIDIA A100 Tensor Core GPU Architecture", L2 cache); the ratio is taken
/// for every device.
static double flopsPerCachedLoad(const Device &device) {
  constexpr double kCacheToMemoryBandwidth = 4.6;
  return 4 * device.ridge() / kCacheToMemoryBandwidth;
}

/// Refuses to evaluate an elementwise producer again for every use of a
/// broadcast where loading its stored value is faster.
static GateResult recomputationGate(const GateInput &in, double evaluations) {
  double again = in.producer().footprint.flopsPerPoint,
         load = flopsPerCachedLoad(in.options.device);
  bool broadcasts = in.consumer().role == Role::Elementwise ||
                    in.consumer().role == Role::Reduction;
  if (!broadcasts || evaluations <= 1 || again <= load)
    return std::nullopt;
  return Decision::keep(Reason::Recomputed,
                        "hoist the producer out of the broadcast loops")
      .number("evaluations", evaluations)
      .number("flops_per_evaluation", again)
      .number("flops_per_cached_load", load);
}

GateResult fuse::costProfitGate(const GateInput &in, Decision &record) {
  const OperatorFacts &producer = in.producer();
  if (producer.fromParameters && !in.consumer().fromParameters)
    return Decision::keep(Reason::ComputedOnce, "arguments without fuse.param");
  std::optional<double> evaluations = evaluationsPerElement(in);
  std::optional<int64_t> read = in.edge.bytesRead.value(),
                         written = in.edge.bytesWritten.value();
  std::optional<int64_t> points = producer.footprint.points.value();
  if (!read || !written || !evaluations || !points) {
    // With dynamic extents only the sign is known: positive where nothing is
    // evaluated twice.
    if (evaluations && *evaluations == 1.0)
      return std::nullopt;
    return Decision::keep(Reason::NoGain,
                          "state the extents (fuse.dim_hint): the "
                          "recomputation cannot be bounded");
  }
  if (auto refusal = recomputationGate(in, *evaluations))
    return refusal;
  FusionChange change;
  bool single = in.readers().count() <= 1;
  change.bytesRemoved = *read + (single ? *written : 0);
  change.extraFlops =
      (*evaluations - 1) * producer.footprint.flopsPerPoint * *points;
  change.extraBytes =
      (*evaluations - 1) *
      std::max<double>(0,
                       producer.footprint.read.value().value_or(0) - *written);
  double flops = producer.footprint.flops.value().value_or(0) +
                 in.consumer().footprint.flops.value().value_or(0);
  double bytes = producer.footprint.bytes().value().value_or(0) +
                 in.consumer().footprint.bytes().value().value_or(0);
  change.fusedFlops = flops;
  change.fusedBytes = std::max(0.0, bytes - change.bytesRemoved);
  double gain = fusionGain(in.options.device, change) - lostParallelism(in);
  record.number("bytes_removed", change.bytesRemoved);
  if (*evaluations > 1)
    record.number("evaluations", *evaluations);
  record.number("gain_us", gain * 1e6);
  if (gain > 0)
    return std::nullopt;
  Decision refusal =
      Decision::keep(Reason::NoGain,
                     "a device with slower memory, or a smaller recomputation");
  refusal.numbers = record.numbers;
  return refusal;
}
