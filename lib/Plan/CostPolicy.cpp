//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// policy=cost: the profile, resource and profit gates, each true to the
// machine: does a kernel class hold the two operators, does one of its tiles
// fit the device, and is the fused kernel predicted to be faster than both.
//
//===----------------------------------------------------------------------===//

#include "Gates.h"
#include "fuse/Cost/KernelTime.h"
#include "fuse/Cost/Roofline.h"
#include "fuse/Plan/Planner.h"

using namespace mlir;
using namespace fuse;

/// Producer and consumer as one group. Where the verdict is conditional on the
/// other readers (they join, or the producer is evaluated again for them), the
/// intermediate is taken as internal.
static Group pairOf(const GateInput &in) {
  Group group{in.graph, {in.edge.producer, in.edge.consumer}};
  const GraphNode &producer = in.graph.nodes[in.edge.producer];
  if (!producer.escapes[in.edge.result])
    group.internal = {in.edge.producer};
  return group;
}

/// Numbers of a tile under the names of its class.
static void recordTile(const KernelClass &kernel, const TileCost &cost,
                       Decision &record) {
  for (auto [name, size] : llvm::zip_equal(kernel.sizeNames(), cost.tile.sizes))
    record.number(name, size);
  record.number("registers", cost.registers);
  if (cost.shared > 0)
    record.number("shared_bytes", cost.shared);
}

/// FLOPs in the time that loading one stored f32 from the cache takes.
static double flopsPerCachedLoad(const Device &device) {
  return 4 * device.ridge() / kCacheToMemoryBandwidth;
}

bool fuse::isCheap(const FusionGraph &graph, unsigned id,
                   const Device &device) {
  const GraphNode &node = graph.nodes[id];
  return node.role == Role::Elementwise && node.transcendentals == 0 &&
         node.flopsPerPoint <= flopsPerCachedLoad(device);
}

/// Refuses to evaluate an elementwise producer again for every use of a
/// broadcast where loading its stored value is faster.
static GateResult recomputationGate(const GateInput &in, Decision &record) {
  const GraphNode &producer = in.graph.nodes[in.edge.producer];
  Role consumer = in.consumer().role;
  if (producer.role != Role::Elementwise ||
      (consumer != Role::Elementwise && consumer != Role::Reduction))
    return std::nullopt;
  double evaluations = evaluationsAlong(in.graph, in.edge.producer,
                                        in.edge.consumer, in.edge.operand);
  if (evaluations <= 1)
    return std::nullopt;
  record.number("evaluations", evaluations);
  double again = producer.flopsPerPoint,
         load = flopsPerCachedLoad(in.options.device);
  if (again <= load)
    return std::nullopt;
  return Decision::keep(Reason::Recomputed,
                        "hoist the producer out of the broadcast loops")
      .number("evaluations", evaluations)
      .number("flops_per_evaluation", again)
      .number("flops_per_cached_load", load);
}

std::optional<double> AloneCosts::of(unsigned id) {
  std::optional<std::optional<double>> &slot = seconds[id];
  if (slot)
    return *slot;
  slot.emplace();
  Group alone{graph, {id}};
  Decision ignored;
  TileCost smallest;
  if (const KernelClass *kernel = classify(alone, ignored))
    if (std::optional<TileCost> best = bestTile(*kernel, alone, options.device,
                                                limitsOf(options), smallest))
      *slot = best->estimate.seconds;
  return *slot;
}

static GateResult profitGate(const GateInput &in, const TileCost &fused,
                             Decision &record) {
  bool single = in.readers().count() <= 1;
  auto number = [](const Count &count) {
    return static_cast<double>(count.value().value_or(0));
  };
  double removed =
      number(in.edge.bytesRead) + (single ? number(in.edge.bytesWritten) : 0);
  if (in.edge.bytesRead.isStatic())
    record.number("bytes_removed", removed);
  else
    record.number("assumed_extent", kAssumedExtent);
  std::optional<double> producer = in.alone.of(in.edge.producer),
                        consumer = in.alone.of(in.edge.consumer);
  if (!producer || !consumer)
    return std::nullopt;
  double gain = *producer + *consumer - fused.estimate.seconds;
  record.number("gain_us", gain * 1e6);
  if (gain > 0)
    return std::nullopt;
  Decision refusal =
      Decision::keep(Reason::NoGain,
                     "a device with slower memory, or a smaller recomputation");
  refusal.numbers = record.numbers;
  return refusal;
}

/// On memrefs only analysis is offered: the launch and the bytes are the gain.
static GateResult memoryProfit(const GateInput &in, Decision &record) {
  FusionChange change;
  change.bytesRemoved = in.edge.bytesRead.value().value_or(0);
  record.number("bytes_removed", change.bytesRemoved);
  record.number("gain_us", fusionGain(in.options.device, change) * 1e6);
  return std::nullopt;
}

namespace {
/// The kernel that producer and consumer would be.
struct PairKernel {
  Group group;
  const KernelClass *kernel;    ///< null: no class holds both
  Decision refusal;             ///< why not
  std::optional<TileCost> best; ///< none: no tile fits
  TileCost smallest;            ///< the last tile tried
};
} // namespace

static PairKernel evaluatePair(const GateInput &in) {
  PairKernel pair{pairOf(in), nullptr, {}, std::nullopt, {}};
  pair.kernel = classify(pair.group, pair.refusal);
  if (pair.kernel)
    pair.best = bestTile(*pair.kernel, pair.group, in.options.device,
                         limitsOf(in.options), pair.smallest);
  return pair;
}

static Answers answersOf(const GateInput &in, const PairKernel &pair) {
  Answers answers;
  answers.soleReader = in.readers().count() <= 1;
  answers.fits = pair.best.has_value();
  if (!pair.best)
    return answers;
  answers.memoryBound =
      pair.best->estimate.memory >= pair.best->estimate.compute;
  // The consumer alone could use as many SMs as it has blocks of 256 elements,
  // the smaller tile of pointwise kernels.
  double alone =
      std::min(in.options.device.smCount,
               std::ceil(in.graph.nodes[in.edge.consumer].parallel / 256));
  answers.lostParallelism =
      std::max(0.0, 1 - pair.best->work.blocks / std::max(1.0, alone));
  return answers;
}

GateResult fuse::costGates(const GateInput &in, Decision &record) {
  if (in.edge.onMemory)
    return memoryProfit(in, record);
  PairKernel pair = evaluatePair(in);
  record.answers = answersOf(in, pair);
  if (!pair.kernel)
    return pair.refusal;
  if (!pair.best)
    return noTile(*pair.kernel, pair.group, in.options.device, pair.smallest,
                  limitsOf(in.options));
  recordTile(*pair.kernel, *pair.best, record);
  if (in.producer().fromParameters && !in.consumer().fromParameters)
    return Decision::keep(Reason::ComputedOnce, "arguments without fuse.param");
  if (auto again = recomputationGate(in, record))
    return again;
  return profitGate(in, *pair.best, record);
}

Answers fuse::answersFor(const GateInput &in) {
  if (in.edge.onMemory) {
    Answers answers;
    answers.soleReader = in.readers().count() <= 1;
    return answers;
  }
  return answersOf(in, evaluatePair(in));
}
