//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-resources: what each kernel takes, predicted and actual.
//
// Lowers a copy of the module; changes nothing. Fails where a kernel spills.
//
//===----------------------------------------------------------------------===//

#include "fuse/Lowering/GpuPipeline.h"
#include "fuse/Lowering/Passes.h"
#include "fuse/Lowering/Resources.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Format.h"

namespace fuse {
#define GEN_PASS_DEF_RESOURCES
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

using namespace mlir;
using namespace fuse;

static void printKernel(llvm::raw_ostream &out, const KernelReport &report,
                        const Device &device) {
  auto column = [&](std::optional<int64_t> value, unsigned width) {
    out << llvm::right_justify(value ? std::to_string(*value) : "-", width);
  };
  std::optional<int64_t> registers, shared, spilled, stack, ownRegisters,
      ownShared;
  if (report.predicted) {
    registers = int64_t(report.predicted->registers);
    shared = int64_t(report.predicted->shared);
  }
  if (report.actual) {
    ownRegisters = report.actual->registers;
    ownShared = report.actual->shared + report.dynamicShared;
    spilled = report.actual->spillStores + report.actual->spillLoads;
    stack = report.actual->stack;
  }
  out << llvm::left_justify(report.name, 24)
      << llvm::left_justify(report.kernelClass, 12);
  column(report.threads, 7);
  column(registers, 12);
  column(ownRegisters, 8);
  column(shared, 12);
  column(ownShared, 8);
  column(spilled, 7);
  column(stack, 7);
  std::optional<double> occupancy = report.occupancy(device);
  if (occupancy)
    out << llvm::format("%9.0f%%", 100 * *occupancy);
  if (report.plain)
    out << "  plain: " << *report.plain;
  if (report.split)
    out << "  part of a chain: " << *report.split;
  if (report.apart)
    out << "  apart: " << *report.apart;
  out << '\n';
}

static void printTable(llvm::raw_ostream &out,
                       const std::vector<KernelReport> &reports,
                       const Device &device, bool isActual) {
  if (!isActual)
    out << "ptxas is not found: resources are estimates\n";
  out << llvm::left_justify("kernel", 24) << llvm::left_justify("class", 12)
      << "threads   registers  actual      shared  actual  spill  stack "
         "occupancy\n";
  for (const KernelReport &report : reports)
    printKernel(out, report, device);
}

namespace {
struct ResourcesPass : fuse::impl::ResourcesBase<ResourcesPass> {
  using ResourcesBase::ResourcesBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    addGpuDialects(registry);
  }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(report()))
      signalPassFailure();
  }

private:
  LogicalResult report();
};
} // namespace

LogicalResult ResourcesPass::report() {
  llvm::Expected<Device> device = loadDevice(chip);
  if (!device)
    return getOperation().emitError(llvm::toString(device.takeError()));
  OpBuilder builder(&getContext());
  builder.setInsertionPointToEnd(getOperation().getBody());
  auto copy = cast<ModuleOp>(builder.clone(*getOperation()));
  llvm::scope_exit drop([&] { copy.erase(); });
  FailureOr<ProgramReport> report = reportProgram(
      copy, *device, chip,
      [&](OpPassManager &pm) { return runPipeline(pm, copy); },
      [](ModuleOp) {});
  if (failed(report))
    return failure();
  printTable(llvm::errs(), report->kernels, *device, report->isActual);
  bool fits = true;
  for (const KernelReport &kernel : report->kernels)
    if (kernel.actual && kernel.actual->spills()) {
      emitError(kernel.loc) << "kernel '" << kernel.name << "' spills "
                            << kernel.actual->spillStores << " bytes to and "
                            << kernel.actual->spillLoads
                            << " bytes from local memory, expected 0";
      fits = false;
    }
  return success(fits);
}
