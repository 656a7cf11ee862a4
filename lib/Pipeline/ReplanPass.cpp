//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-replan: kernels that spill get another tile, or are undone.
//
//   fuse.kernel "row" ... tile = [8, 1024, 0]
//     ==>   fuse.kernel "row" ... tile = [8, 1024, 2]   or its operators
//
// Decides by what ptxas says of the lowered copy, in at most two rounds.
// Changes nothing without ptxas, and no kernel that does not spill.
//
//===----------------------------------------------------------------------===//

#include "fuse/Kernel/KernelClass.h"
#include "fuse/Lowering/GpuPipeline.h"
#include "fuse/Lowering/Passes.h"
#include "fuse/Lowering/Resources.h"
#include "fuse/Pipeline/Passes.h"
#include "fuse/Rewrite/Kernels.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringMap.h"

namespace fuse {
#define GEN_PASS_DEF_REPLAN
#include "fuse/Pipeline/Passes.h.inc"
} // namespace fuse

using namespace mlir;
using namespace fuse;

constexpr unsigned kRounds = 2;

namespace {
/// A kernel of the program that spills.
struct Spilling {
  KernelOp kernel;
  KernelResources resources;
  std::optional<Tile> smaller; ///< what it could have instead
};

struct ReplanPass : fuse::impl::ReplanBase<ReplanPass> {
  using ReplanBase::ReplanBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    addGpuDialects(registry);
  }

  void runOnOperation() override {
    llvm::Expected<Device> device = loadDevice(chip);
    if (!device) {
      getOperation().emitError(llvm::toString(device.takeError()));
      return signalPassFailure();
    }
    for (unsigned round = 0; round <= kRounds; ++round) {
      FailureOr<SmallVector<Spilling>> found = findSpilling(*device);
      if (failed(found))
        return signalPassFailure();
      for (Spilling &one : *found)
        round < kRounds ? change(one) : warn(one);
      if (found->empty())
        return;
    }
  }

private:
  FailureOr<SmallVector<Spilling>> findSpilling(const Device &device);
  void change(Spilling &spilling);
  void warn(Spilling &spilling);
};
} // namespace

/// The kernels of `module` in order; in a copy of it they are as many.
static SmallVector<KernelOp> kernelsOf(ModuleOp module) {
  SmallVector<KernelOp> kernels;
  module->walk([&](KernelOp kernel) { kernels.push_back(kernel); });
  return kernels;
}

/// Numbers the kernels of `copy` by their locations, which launches keep.
static void numberKernels(ModuleOp copy) {
  MLIRContext *context = copy.getContext();
  for (auto [number, kernel] : llvm::enumerate(kernelsOf(copy)))
    kernel->setLoc(FusedLoc::get(
        context, {kernel.getLoc()},
        IntegerAttr::get(IndexType::get(context), int64_t(number))));
}

static std::optional<unsigned> numberOf(LaunchOp launch) {
  auto fused = dyn_cast<FusedLoc>(launch.getLoc());
  auto number = fused ? dyn_cast_or_null<IntegerAttr>(fused.getMetadata())
                      : IntegerAttr();
  return number ? std::optional(unsigned(number.getInt())) : std::nullopt;
}

FailureOr<SmallVector<Spilling>>
ReplanPass::findSpilling(const Device &device) {
  OpBuilder builder(&getContext());
  SmallVector<KernelOp> kernels = kernelsOf(getOperation());
  builder.setInsertionPointToEnd(getOperation().getBody());
  auto copy = cast<ModuleOp>(builder.clone(*getOperation()));
  llvm::scope_exit drop([&] { copy.erase(); });
  numberKernels(copy);
  llvm::StringMap<SmallVector<unsigned>> launched; ///< numbers by function
  llvm::StringMap<std::optional<Tile>> smaller;
  FailureOr<ProgramReport> report = reportProgram(
      copy, device, chip,
      [&](OpPassManager &pm) { return runPipeline(pm, copy); },
      [&](ModuleOp outlined) {
        outlined->walk([&](LaunchOp launch) {
          StringRef name = launch.getKernel().getLeafReference();
          std::optional<unsigned> number = numberOf(launch);
          if (!number || *number >= kernels.size())
            return;
          if (launched[name].empty())
            smaller[name] = smallerTile(outlined.lookupSymbol(name), device);
          launched[name].push_back(*number);
        });
      });
  if (failed(report))
    return failure();
  // Siblings are parts of one kernel, which has one number.
  auto numbersOf = [&](const KernelReport &kernel) {
    llvm::MapVector<unsigned, std::optional<Tile>> numbers;
    for (const std::string &part : kernel.parts)
      for (unsigned number : launched[part])
        numbers.insert({number, smaller[part]});
    return numbers;
  };
  SmallVector<Spilling> found;
  if (!report->isActual)
    getOperation().emitRemark("ptxas is not found: resources are estimates, "
                              "no kernel is planned again");
  for (const KernelReport &kernel : report->kernels)
    if (kernel.actual && kernel.actual->spills())
      for (auto [number, tile] : numbersOf(kernel))
        found.push_back({kernels[number], *kernel.actual, tile});
  return found;
}

static InFlightDiagnostic &describe(InFlightDiagnostic &text,
                                    Spilling &spilling) {
  return text << "kernel of class '" << spilling.kernel.getKernelClass()
              << "' spills " << spilling.resources.spillStores
              << " bytes to and " << spilling.resources.spillLoads
              << " bytes from local memory with "
              << spilling.resources.registers << " registers";
}

void ReplanPass::change(Spilling &spilling) {
  InFlightDiagnostic remark = spilling.kernel.emitRemark();
  describe(remark, spilling);
  if (!spilling.smaller) {
    remark << "; no tile of its class needs fewer: its fusion is undone";
    remark.report();
    return inlineKernel(spilling.kernel);
  }
  auto tile = TileAttr::get(&getContext(), spilling.smaller->sizes,
                            spilling.smaller->threads);
  remark << "; its tile becomes " << tile;
  spilling.kernel.setTileAttr(tile);
}

void ReplanPass::warn(Spilling &spilling) {
  InFlightDiagnostic warning = spilling.kernel.emitWarning();
  describe(warning, spilling) << " after " << kRounds << " rounds";
}
