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

void fuse::buildGpuFunctions(OpPassManager &pm, const GpuOptions &options) {
  GpuTargetOptions target;
  target.chip = options.chip;
  target.format = options.format;
  target.numerics = options.numerics;
  pm.addPass(createGpuTarget(target));
  // Arithmetic on whole tensors becomes operators.
  pm.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass());
  // Code is made of each part; that of siblings is put together again.
  SplitKernelsOptions split;
  split.chip = options.chip;
  split.attention = true;
  pm.addPass(createSplitKernels(split));
  WrapOpsOptions wrap;
  wrap.slices = true;
  pm.addPass(createWrapOps(wrap));
  OutlineKernelsOptions outline;
  outline.launch = true;
  pm.addPass(createOutlineKernels(outline));
  cleanUp(pm);
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

void fuse::buildGpuLaunches(OpPassManager &pm, const GpuOptions &options) {
  GpuKernelsOptions kernels;
  kernels.chip = options.chip;
  kernels.numerics = options.numerics;
  kernels.allowTf32 = options.allowTf32;
  pm.addPass(createGpuKernels(kernels));
  pm.addPass(createGpuSiblings());
  pm.addNestedPass<gpu::GPUModuleOp>(createGpuMath());
  bufferizeHost(pm);
  pm.addPass(createGpuLaunch());
  pm.addPass(createCpuFunctions());
  cleanUp(pm);
}

static void lowerDevice(OpPassManager &pm) {
  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  cleanUp(device);
  device.addPass(createConvertVectorToSCFPass());
  device.addPass(createSCFToControlFlowPass());
  device.addPass(memref::createExpandStridedMetadataPass());
  device.addPass(createLowerAffinePass());
  // Before the conversion that makes calls of libdevice of what is left.
  device.addPass(createConvertMathToLLVMPass());
  device.addPass(createConvertGpuOpsToNVVMOps());
  device.addPass(createConvertNVVMToLLVMPass());
  device.addPass(createCanonicalizerPass());
  device.addPass(createCSEPass());
  device.addPass(createReconcileUnrealizedCastsPass());
}

static void lowerHost(OpPassManager &pm) {
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  // A program may print scalars.
  pm.addPass(createConvertVectorToLLVMPass());
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
  buildGpuFunctions(pm, options);
  buildGpuLaunches(pm, options);
  buildGpuCode(pm, options);
}

void fuse::addGpuDialects(DialectRegistry &registry) {
  OpPassManager pm(ModuleOp::getOperationName());
  buildGpuPipeline(pm, GpuOptions());
  pm.getDependentDialects(registry);
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
