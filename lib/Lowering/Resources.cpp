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
#include "fuse/Lowering/Passes.h"

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

std::optional<Prediction> fuse::predict(Operation *function,
                                        const Device &device) {
  FunctionFacts facts(cast<FunctionOpInterface>(function));
  FusionGraph graph(facts);
  Group group{graph, {}};
  for (unsigned id = 0; id < facts.operators.size(); ++id)
    group.ops.push_back(id);
  Decision refusal;
  const KernelClass *kernel =
      group.ops.empty() ? nullptr : classify(group, refusal);
  if (!kernel)
    return std::nullopt;
  std::optional<TileCost> cost;
  if (auto tile = function->getAttrOfType<TileAttr>(names::kTile)) {
    cost = kernel->cost(
        group, {SmallVector<int64_t, 3>(tile.getSizes()), tile.getThreads()},
        device);
  } else {
    TileCost smallest;
    cost =
        bestTile(*kernel, group, device,
                 {device.registersPerThread, device.sharedPerBlock}, smallest);
  }
  if (!cost)
    return std::nullopt;
  return Prediction{cost->registers, cost->shared};
}

std::vector<KernelReport> fuse::reportsOf(ModuleOp module) {
  std::vector<KernelReport> reports;
  module->walk([&](gpu::GPUFuncOp kernel) {
    if (!kernel.isKernel())
      return;
    KernelReport report{kernel.getName().str(), "", "", kernel.getLoc(), 0, 0, {}, {}};
    if (auto attr = kernel->getAttrOfType<StringAttr>(kKernelClassAttr))
      report.kernelClass = attr.str();
    if (auto attr = kernel->getAttrOfType<StringAttr>(kKernelKeyAttr))
      report.key = attr.str();
    if (auto attr = kernel->getAttrOfType<IntegerAttr>(kDynamicSharedAttr))
      report.dynamicShared = attr.getInt();
    if (std::optional<ArrayRef<int32_t>> size = kernel.getKnownBlockSize()) {
      report.threads = 1;
      for (int32_t count : *size)
        report.threads *= count;
    }
    reports.push_back(std::move(report));
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
