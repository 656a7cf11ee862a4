//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Contraction kernels: one matmul or convolution (as implicit GEMM) in tiles,
// with prologues and epilogues. Pads, reshapes and transposes are absorbed.
//
//===----------------------------------------------------------------------===//

#include "Classes.h"
#include "fuse/Device/Chip.h"
#include "fuse/Kernel/GemmTile.h"

using namespace mlir;
using namespace fuse;

static double product(ArrayRef<int64_t> extents, ArrayRef<unsigned> loops) {
  double result = 1;
  for (unsigned loop : loops)
    result *=
        ShapedType::isDynamic(extents[loop]) ? kAssumedExtent : extents[loop];
  return result;
}

Gemm fuse::gemmOf(linalg::LinalgOp op) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  Gemm gemm;
  if (std::optional<int64_t> bytes =
          elementBytes(getElementTypeOrSelf(op->getOperand(0))))
    gemm.elementBytes = *bytes;
  // A convolution also has contraction dimensions, of a part of itself: ask
  // for the window first.
  if (roleOf(op) == Role::Convolution) {
    FailureOr<linalg::ConvolutionDimensions> conv =
        linalg::inferConvolutionDims(op);
    if (failed(conv))
      return gemm;
    gemm.batch = product(extents, conv->depth);
    gemm.m =
        product(extents, conv->batch) * product(extents, conv->outputImage);
    gemm.n = product(extents, conv->outputChannel);
    gemm.k = product(extents, conv->filterLoop) *
             product(extents, conv->inputChannel);
  } else if (FailureOr<linalg::ContractionDimensions> dims =
                 linalg::inferContractionDims(op);
             succeeded(dims)) {
    gemm.batch = product(extents, dims->batch);
    gemm.m = product(extents, dims->m);
    gemm.n = product(extents, dims->n);
    gemm.k = product(extents, dims->k);
  }
  return gemm;
}

namespace {

/// m, n, k of a block and the outputs of a thread.
struct SimtTile {
  int64_t m, n, k, micro;
};

/// Tile shapes of SIMT matrix multiplication, larger first: the first four and
/// their 8 x 8 outputs a thread are those of CUTLASS's SIMT kernels
/// (python/cutlass_library/generator.py, GenerateSM50_Simt); the smaller ones,
/// for small problems, are ours.
constexpr SimtTile kTiles[] = {
    {128, 128, 8, 8}, {128, 64, 8, 8}, {64, 128, 8, 8}, {64, 64, 8, 8},
    {64, 32, 8, 4},   {32, 64, 8, 4},  {32, 32, 8, 4},  {16, 16, 8, 2}};

/// Tile shapes for mma.sync of 16-bit floats, with threads: those of CUTLASS's
/// tensor op kernels with 3 stages or more (generator.py,
/// GenerateSM80_TensorOp_16816) that fit 48 KB, a warp 64 x 64 at most; the
/// smaller ones, for small problems, are ours.
struct TensorCoreTile {
  int64_t m, n, k, threads;
};
constexpr TensorCoreTile kTensorCoreTiles[] = {
    {128, 128, 32, 128}, {128, 64, 32, 128}, {64, 128, 32, 128},
    {64, 64, 32, 64},    {64, 32, 32, 64},   {32, 64, 32, 64},
    {32, 32, 32, 32}};

/// Accumulators of a CPU's inner kernel, in vector registers.
struct CpuMicroTile {
  double rows, vectors;
};

/// The shapes of BLIS's sgemm kernels: 12 x 2 vectors of 32 registers (config/
/// skx), 6 x 2 of 16 (config/haswell); fewer registers hold 2 x 2.
CpuMicroTile cpuMicroTile(const Device &device) {
  if (device.registersPerThread >= 32)
    return {12, 2};
  if (device.registersPerThread >= 16)
    return {6, 2};
  return {2, 2};
}

class Contraction : public KernelClass {
public:
  llvm::StringRef name() const override { return "contraction"; }
  llvm::ArrayRef<llvm::StringLiteral> sizeNames() const override {
    static constexpr llvm::StringLiteral names[] = {"tile_m", "tile_n",
                                                    "tile_k"};
    return names;
  }

  SmallVector<double, 2> rowsOf(const Group &group) const override {
    Gemm gemm = gemmOf(group.graph.op(anchorOf(group)));
    return {gemm.batch, gemm.m};
  }

  std::optional<Decision> match(const Group &group) const override {
    std::optional<unsigned> anchor;
    for (unsigned id : group.ops) {
      if (!isHeavy(group.node(id).role))
        continue;
      if (anchor)
        return Decision::keep(
            Reason::TwoHeavy,
            "a kernel class for chains that holds the producer's tile on chip");
      anchor = id;
    }
    for (unsigned id : group.ops) {
      Role role = group.node(id).role;
      if (role == Role::Reduction)
        return Decision::keep(Reason::RowAcrossTiles,
                              "a tile as wide as the row")
            .number("row", group.node(id).reduction)
            .number("tile", kTiles[0].n);
      if (role == Role::Depthwise || role == Role::Window)
        return Decision::keep(
            Reason::NoChain,
            "a kernel class for chains that holds the window's halo");
    }
    return matchAroundAnchor(group, *anchor);
  }

  SmallVector<Tile> tiles(const Group &group,
                          const Device &device) const override {
    SmallVector<Tile> result;
    if (runsOnTensorCores(group, device)) {
      for (const TensorCoreTile &tile : kTensorCoreTiles)
        result.push_back({{tile.m, tile.n, tile.k}, tile.threads});
      return result;
    }
    for (const SimtTile &tile : kTiles)
      result.push_back({{tile.m, tile.n, tile.k},
                        tile.m / tile.micro * (tile.n / tile.micro)});
    return result;
  }

  TileCost cost(const Group &group, const Tile &tile,
                const Device &device) const override {
    unsigned anchor = anchorOf(group);
    Gemm gemm = gemmOf(group.graph.op(anchor));
    int64_t m = tile.sizes[0], n = tile.sizes[1], k = tile.sizes[2];
    // On a CPU one worker computes the tile from vector registers.
    bool cpu = device.maxThreadsPerBlock == 1;
    CpuMicroTile registers = cpuMicroTile(device);
    double perThread = cpu ? registers.rows * registers.vectors
                           : static_cast<double>(m * n) / tile.threads,
           micro = std::sqrt(perThread);
    TileCost cost;
    cost.tile = tile;
    if (cpu)
      cost.tile.threads = 1;
    // The operands' registers are free again when the epilogue runs.
    double held = cpu ? perThread + registers.vectors + 1
                      : heldRegisters(group, tile, device);
    cost.registers =
        addressRegisters(device) +
        std::max(held, perThread + epilogueRegisters(group, anchor, device));
    cost.shared = cpu ? 2 * (m + n) * k * gemm.elementBytes
                      : 2 * gemmTileElements(m + n, k, gemm.elementBytes) *
                            gemm.elementBytes;
    if (runsOnTensorCores(group, device))
      cost.shared = kTensorCoreStages * (m + n) * k * gemm.elementBytes;
    double rows = std::ceil(gemm.m / m), columns = std::ceil(gemm.n / n);
    Traffic traffic = trafficOf(group);
    cost.work.dramBytes = traffic.read + traffic.written;
    cost.work.cacheBytes = gemm.batch * gemm.k *
                           (gemm.m * columns + gemm.n * rows) *
                           gemm.elementBytes;
    // A thread with p x q accumulators loads p + q values for p * q FMAs.
    double loadsPerFma =
        cpu ? (registers.rows + registers.vectors) / perThread : 2 / micro;
    cost.work.sharedBytes =
        gemm.batch * gemm.m * gemm.n * gemm.k * loadsPerFma * gemm.elementBytes;
    addWork(
        group, anchor,
        [&](unsigned operand) {
          return loadsPerElement(group.graph.op(anchor), operand, n);
        },
        device, cost.work);
    // Threads of partly filled tiles compute what is thrown away.
    double waste = rows * m * columns * n / std::max(1.0, gemm.m * gemm.n);
    cost.work.flops *= waste;
    cost.work.tensorFlops *= waste;
    launch(cost, gemm.batch * rows * columns, device);
    return cost;
  }

private:
  /// 16-bit floats with f32 sums, on a GPU that has mma.m16n8k16 (sm_80 and
  /// later: "PTX ISA", Target ISA Notes).
  static bool runsOnTensorCores(const Group &group, const Device &device) {
    unsigned anchor = anchorOf(group);
    Type sum = getElementTypeOrSelf(group.graph.op(anchor)->getResult(0));
    return computeCapability(device.name) >= 80 &&
           group.node(anchor).halfInputs && sum.isF32();
  }

  /// What a GPU's thread holds while it multiplies.
  static double heldRegisters(const Group &group, const Tile &tile,
                              const Device &device) {
    GemmInputs inputs = gemmInputsOf(group, anchorOf(group));
    int64_t y = tile.sizes[inputs.xIsM ? 1 : 0],
            x = tile.sizes[inputs.xIsM ? 0 : 1], k = tile.sizes[2];
    if (runsOnTensorCores(group, device))
      if (auto warps = WarpTiles::split(y, x, tile.threads))
        return gemmRegisters(*warps, k, inputs.y, inputs.x);
    if (auto block = GemmBlock::split(y, x, k, tile.threads))
      return gemmRegisters(*block, inputs.y, inputs.x, inputs.sumBytes);
    // A forced tile that no code is made for.
    return double(y * x) / tile.threads;
  }

  static unsigned anchorOf(const Group &group) {
    return *llvm::find_if(
        group.ops, [&](unsigned id) { return isHeavy(group.node(id).role); });
  }

  /// Registers of what runs on the tile: the largest body, since values of one
  /// output are dead before the next; a GPU runs it on neighbours at once.
  static double epilogueRegisters(const Group &group, unsigned anchor,
                                  const Device &device) {
    double most = 0;
    for (unsigned id : group.ops)
      if (id != anchor)
        most = std::max(most, group.node(id).registers);
    if (device.maxThreadsPerBlock == 1)
      return most;
    double lanes = runsOnTensorCores(group, device) ? 2 : 4;
    return lanes * (most + functionRegisters(group, device));
  }
};

} // namespace

const KernelClass &fuse::contractionClass() {
  static const Contraction instance;
  return instance;
}
