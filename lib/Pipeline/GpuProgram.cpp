//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   gpu.launch_func, gpu.module   ==>   calls of mgpu*, bitcode or PTX
//
//===----------------------------------------------------------------------===//

#include "GpuProgram.h"
#include "fuse/Device/Chip.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Pipelines/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace fuse;

std::optional<GpuTarget> fuse::parseGpuTarget(StringRef target) {
  auto [machine, chip] = target.split(':');
  if (machine != "emulator" && machine != "cuda")
    return std::nullopt;
  GpuTarget result;
  result.emulated = machine == "emulator";
  if (!chip.empty())
    result.chip = chip.str();
  return result;
}

bool fuse::launchesKernels(ModuleOp module) {
  return module
      ->walk([](Operation *op) {
        return isa<gpu::LaunchOp, gpu::LaunchFuncOp>(op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

llvm::Error fuse::lowerGpuProgram(ModuleOp module, StringRef entry,
                                  const GpuTarget &target) {
  llvm::Expected<StringRef> ptx = ptxVersionOf(target.chip);
  if (!ptx)
    return ptx.takeError();
  module.lookupSymbol<func::FuncOp>(entry)->setAttr(
      LLVM::LLVMDialect::getEmitCWrapperAttrName(),
      UnitAttr::get(module.getContext()));
  gpu::GPUToNVVMPipelineOptions options;
  options.cubinChip = target.chip;
  options.cubinFeatures = ptx->str();
  options.cubinFormat = target.emulated ? "llvm" : "isa";
  PassManager pm(module.getContext());
  gpu::buildLowerToNVVMPassPipeline(pm, options);
  if (failed(pm.run(module)))
    return llvm::createStringError("lowering to the GPU failed");
  return llvm::Error::success();
}

std::string fuse::runtimeLibrary(const GpuTarget &target) {
  static int anchor;
  std::string tool = llvm::sys::fs::getMainExecutable(nullptr, &anchor);
  SmallString<128> path(
      llvm::sys::path::parent_path(llvm::sys::path::parent_path(tool)));
  llvm::sys::path::append(
      path, "lib", target.emulated ? "libfuse_emulator.so" : "libfuse_cuda.so");
  return path.str().str();
}
