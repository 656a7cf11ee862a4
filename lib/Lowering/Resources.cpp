//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Predicted and actual resources of kernels.
//
//===----------------------------------------------------------------------===//

#include "fuse/Lowering/Resources.h"
#include "Ptxas.h"
#include "fuse/Analysis/Facts.h"
#include "fuse/Cost/KernelTime.h"
#include "fuse/Kernel/KernelClass.h"
#include "fuse/Lowering/GpuPipeline.h"
#include "fuse/Lowering/Passes.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace fuse;

std::optional<double> KernelReport::occupancy(const Device &device) const {
  if (!actual && !predicted)
    return std::nullopt;
  double registers = actual ? double(actual->registers) : predicted->registers;
  double shared =
      actual ? double(actual->shared + dynamicShared) : predicted->shared;
  return blocksPerSm(device, double(threads), registers, shared) *
         double(threads) / device.maxThreadsPerSm;
}

namespace {
/// An outlined kernel as a group of its class.
struct Outlined {
  explicit Outlined(Operation *function)
      : facts(cast<FunctionOpInterface>(function)), graph(facts) {
    for (unsigned id = 0; id < facts.operators.size(); ++id)
      group.ops.push_back(id);
    Decision refusal;
    if (!group.ops.empty())
      kernel = classify(group, refusal);
  }

  /// The cost of its tile, or of the best if it has none of its class.
  std::optional<TileCost> cost(TileAttr tile, const Device &device) const;

  FunctionFacts facts;
  FusionGraph graph;
  Group group{graph, {}};
  const KernelClass *kernel = nullptr;
};
} // namespace

std::optional<TileCost> Outlined::cost(TileAttr tile,
                                       const Device &device) const {
  if (!kernel)
    return std::nullopt;
  if (tile && tile.getSizes().size() == kernel->sizeNames().size())
    return kernel->cost(
        group, {SmallVector<int64_t, 3>(tile.getSizes()), tile.getThreads()},
        device);
  TileCost smallest;
  return bestTile(*kernel, group, device,
                  {device.registersPerThread, device.sharedPerBlock}, smallest);
}

static TileAttr tileOf(Operation *function) {
  return function->getAttrOfType<TileAttr>(names::kTile);
}

std::optional<Prediction> fuse::predictResources(Operation *function,
                                                 const Device &device) {
  std::optional<TileCost> cost =
      Outlined(function).cost(tileOf(function), device);
  return cost ? std::optional(Prediction{cost->registers, cost->shared})
              : std::nullopt;
}

/// That of the kernel; of one with parts, of the part that takes most.
static std::optional<Prediction>
predictionOf(const KernelReport &kernel,
             const llvm::StringMap<std::optional<Prediction>> &predictions) {
  Prediction most;
  for (const std::string &part : kernel.parts) {
    std::optional<Prediction> own = predictions.lookup(part);
    if (!own)
      return std::nullopt;
    most.registers = std::max(most.registers, own->registers);
    most.shared = std::max(most.shared, own->shared);
  }
  return most;
}

std::optional<Tile> fuse::smallerTile(Operation *function,
                                      const Device &device) {
  Outlined outlined(function);
  std::optional<TileCost> own = outlined.cost(tileOf(function), device), best;
  if (!own)
    return std::nullopt;
  for (const Tile &tile : outlined.kernel->tiles(outlined.group, device)) {
    TileCost cost = outlined.kernel->cost(outlined.group, tile, device);
    if (cost.registers < own->registers &&
        (!best || cost.registers > best->registers))
      best = cost;
  }
  return best ? std::optional(best->tile) : std::nullopt;
}

std::optional<Tile> fuse::bestTileOf(Operation *function,
                                     const Device &device) {
  std::optional<TileCost> cost = Outlined(function).cost(nullptr, device);
  return cost ? std::optional(cost->tile) : std::nullopt;
}

static KernelReport reportOf(gpu::GPUFuncOp kernel) {
  KernelReport report(kernel.getLoc());
  report.name = kernel.getName().str();
  auto text = [&](StringRef name) -> std::optional<std::string> {
    auto attr = kernel->getAttrOfType<StringAttr>(name);
    return attr ? std::optional(attr.str()) : std::nullopt;
  };
  report.kernelClass = text(kKernelClassAttr).value_or("");
  report.key = text(kKernelKeyAttr).value_or("");
  report.plain = text(kPlainAttr);
  report.apart = text(kApartAttr);
  if (auto attr = kernel->getAttrOfType<StringAttr>(kSplitAttr))
    report.split = attr.str();
  if (auto parts = kernel->getAttrOfType<ArrayAttr>(kPartsAttr))
    for (auto part : parts.getAsRange<StringAttr>())
      report.parts.push_back(part.str());
  else
    report.parts.push_back(report.name);
  if (auto attr = kernel->getAttrOfType<IntegerAttr>(kDynamicSharedAttr))
    report.dynamicShared = attr.getInt();
  if (std::optional<ArrayRef<int32_t>> size = kernel.getKnownBlockSize()) {
    report.threads = 1;
    for (int32_t count : *size)
      report.threads *= count;
  }
  return report;
}

std::vector<KernelReport> fuse::reportsOf(ModuleOp module) {
  std::vector<KernelReport> reports;
  module->walk([&](gpu::GPUFuncOp kernel) {
    if (kernel.isKernel())
      reports.push_back(reportOf(kernel));
  });
  return reports;
}

llvm::Expected<bool> fuse::addActual(ModuleOp lowered, StringRef chip,
                                     std::vector<KernelReport> &reports) {
  std::optional<std::string> ptxas = findPtxas();
  if (!ptxas)
    return false;
  for (auto binary : lowered.getOps<gpu::BinaryOp>()) {
    auto object = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
    if (object.getFormat() != gpu::CompilationTarget::Assembly)
      continue;
    llvm::Expected<AssembledModule> assembled =
        runPtxas(*ptxas, object.getObject().getValue().rtrim('\0'), chip);
    if (!assembled)
      return assembled.takeError();
    for (KernelReport &report : reports)
      for (const KernelResources &found : assembled->kernels)
        if (found.kernel == report.name)
          report.actual = found;
  }
  return true;
}

FailureOr<ProgramReport>
fuse::reportProgram(ModuleOp module, const Device &device, StringRef chip,
                    llvm::function_ref<LogicalResult(OpPassManager &)> run,
                    llvm::function_ref<void(ModuleOp)> outlined) {
  GpuOptions gpu;
  gpu.chip = chip.str();
  auto build = [&](void (*passes)(OpPassManager &, const GpuOptions &)) {
    OpPassManager pm(ModuleOp::getOperationName());
    passes(pm, gpu);
    return run(pm);
  };
  if (failed(build(buildGpuFunctions)))
    return failure();
  llvm::StringMap<std::optional<Prediction>> predictions;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(kKernelClassAttr))
      predictions[function.getName()] = predictResources(function, device);
  outlined(module);
  if (failed(build(buildGpuLaunches)))
    return failure();
  ProgramReport report;
  report.kernels = reportsOf(module);
  for (KernelReport &kernel : report.kernels)
    kernel.predicted = predictionOf(kernel, predictions);
  if (failed(build(buildGpuCode)))
    return failure();
  llvm::Expected<bool> isActual = addActual(module, chip, report.kernels);
  if (!isActual)
    return module.emitError(llvm::toString(isActual.takeError()));
  report.isActual = *isActual;
  return report;
}
