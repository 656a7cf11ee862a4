//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-to-nvvm: kernels to functions on tensors, to gpu.func, to PTX; what is
// around them to launches on device buffers.
//
//===----------------------------------------------------------------------===//

#include "fuse/Lowering/GpuPipeline.h"
#include "fuse/Device/Chip.h"
#include "fuse/Lowering/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

static void cleanUp(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

static void outlineKernels(OpPassManager &pm, const fuse::GpuOptions &options) {
  fuse::GpuTargetOptions target;
  target.chip = options.chip;
  target.format = options.format;
  target.numerics = options.numerics;
  pm.addPass(fuse::createGpuTarget(target));
  // Arithmetic on whole tensors becomes operators.
  pm.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass());
  fuse::WrapOpsOptions wrap;
  wrap.slices = true;
  pm.addPass(fuse::createWrapOps(wrap));
  fuse::OutlineKernelsOptions outline;
  outline.launch = true;
  pm.addPass(fuse::createOutlineKernels(outline));
  cleanUp(pm);
  pm.addPass(fuse::createGpuKernels());
}

static void bufferizeHost(OpPassManager &pm) {
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  options.allowReturnAllocsFromLoops = true;
  options.allowUnknownOps = true;
  pm.addPass(bufferization::createOneShotBufferizePass(options));
  cleanUp(pm);
  pm.addPass(bufferization::createDropEquivalentBufferResultsPass());
  pm.addNestedPass<func::FuncOp>(fuse::createGpuConstants());
  cleanUp(pm);
  pm.addPass(fuse::createCpuDeallocate());
  pm.addNestedPass<func::FuncOp>(fuse::createCpuArena());
  pm.addPass(createConvertBufferizationToMemRefPass());
}

void fuse::buildGpuKernels(OpPassManager &pm, const GpuOptions &options) {
  outlineKernels(pm, options);
  bufferizeHost(pm);
  pm.addPass(createGpuLaunch());
  pm.addPass(createCpuFunctions());
  cleanUp(pm);
}

static void lowerDevice(OpPassManager &pm) {
  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  device.addPass(fuse::createGpuMath());
  cleanUp(device);
  device.addPass(createConvertVectorToSCFPass());
  device.addPass(createSCFToControlFlowPass());
  device.addPass(memref::createExpandStridedMetadataPass());
  device.addPass(createLowerAffinePass());
  // Its own patterns for functions would call a library.
  ConvertGpuOpsToNVVMOpsOptions nvvm;
  nvvm.allowedDialects = {"arith", "cf", "func", "memref", "vector"};
  device.addPass(createConvertGpuOpsToNVVMOps(nvvm));
  device.addPass(createConvertMathToLLVMPass());
  device.addPass(createConvertNVVMToLLVMPass());
  device.addPass(createCanonicalizerPass());
  device.addPass(createCSEPass());
  device.addPass(createReconcileUnrealizedCastsPass());
}

static void lowerHost(OpPassManager &pm) {
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  FinalizeMemRefToLLVMConversionPassOptions memory;
  memory.useGenericFunctions = true;
  memory.useAlignedAlloc = true;
  pm.addPass(createFinalizeMemRefToLLVMConversionPass(memory));
  pm.addPass(fuse::createGpuMemory());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void fuse::buildGpuCode(OpPassManager &pm, const GpuOptions &options) {
  lowerDevice(pm);
  lowerHost(pm);
  GpuBinaryOptions binary;
  binary.chip = options.chip;
  binary.format = options.format;
  pm.addPass(createGpuBinary(binary));
}

void fuse::buildGpuPipeline(OpPassManager &pm, const GpuOptions &options) {
  buildGpuKernels(pm, options);
  buildGpuCode(pm, options);
}

void fuse::registerGpuPipeline() {
  PassPipelineRegistration<GpuOptions>(
      "fuse-to-nvvm",
      "Kernels and operators on tensors to a gpu.binary and the LLVM dialect "
      "of the host",
      [](OpPassManager &pm, const GpuOptions &options) {
        buildGpuPipeline(pm, options);
      });
}
