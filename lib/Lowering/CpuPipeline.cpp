//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// fuse-to-cpu: kernels to functions, tiles, buffers, loops, LLVM.
//
//===----------------------------------------------------------------------===//

#include "fuse/Lowering/CpuPipeline.h"
#include "fuse/Device/Device.h"
#include "fuse/Lowering/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;

static void cleanUp(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void fuse::buildCpuKernels(OpPassManager &pm, const CpuOptions &options) {
  // Arithmetic on whole tensors becomes operators.
  pm.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass());
  fuse::Device machine = cantFail(loadDevice("cpu"));
  SplitKernelsOptions split;
  split.wholeLanes = unsigned(machine.warpSize);
  pm.addPass(createSplitKernels(split));
  pm.addPass(createWrapOps());
  pm.addPass(createOutlineKernels());
  pm.addNestedPass<func::FuncOp>(createCpuIm2col());
  pm.addNestedPass<func::FuncOp>(createCpuNormalize());
  CpuNumericsOptions numerics;
  numerics.numerics = options.numerics;
  pm.addNestedPass<func::FuncOp>(createCpuNumerics(numerics));
  cleanUp(pm);
  pm.addNestedPass<func::FuncOp>(createCpuDestinations());
  CpuTileOptions tile;
  tile.cacheBytes = uint64_t(machine.sharedPerBlock);
  tile.threads = options.threads;
  pm.addNestedPass<func::FuncOp>(createCpuTile(tile));
  cleanUp(pm);
  pm.addNestedPass<func::FuncOp>(createCpuMath());
  cleanUp(pm);
}

static void bufferize(OpPassManager &pm) {
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  options.allowReturnAllocsFromLoops = true;
  options.allowUnknownOps = true;
  pm.addPass(bufferization::createOneShotBufferizePass(options));
  cleanUp(pm);
  pm.addPass(bufferization::createDropEquivalentBufferResultsPass());
  cleanUp(pm);
  pm.addNestedPass<func::FuncOp>(fuse::createCpuBuffers());
  pm.addPass(fuse::createCpuDeallocate());
  pm.addNestedPass<func::FuncOp>(fuse::createCpuArena());
  pm.addPass(createConvertBufferizationToMemRefPass());
}

/// Bytes of the widest vectors of this machine.
static unsigned probeVectorBytes() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  constexpr unsigned avx512 = 64, avx2 = 32, sse = 16;
  return features.lookup("avx512f") ? avx512
         : features.lookup("avx2")  ? avx2
                                    : sse;
}

static void lowerLoops(OpPassManager &pm, const fuse::CpuOptions &options) {
  fuse::CpuVectorizeOptions vectorize;
  vectorize.vectorBytes =
      options.vectorBytes ? options.vectorBytes : probeVectorBytes();
  constexpr unsigned avx512Bytes = 64;
  vectorize.vectorRegisters = vectorize.vectorBytes >= avx512Bytes ? 32 : 16;
  pm.addNestedPass<func::FuncOp>(fuse::createCpuVectorize(vectorize));
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  pm.addNestedPass<func::FuncOp>(createForallToParallelLoopPass());
  pm.addPass(fuse::createCpuOutlineTiles());
  if (options.threads > 1) {
    ConvertSCFToOpenMPPassOptions openmp;
    openmp.numThreads = options.threads;
    pm.addPass(createConvertSCFToOpenMPPass(openmp));
  }
  cleanUp(pm);
}

static void lowerToLlvm(OpPassManager &pm) {
  pm.addPass(createConvertVectorToSCFPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(memref::createExpandOpsPass());
  pm.addPass(arith::createArithExpandOpsPass());
  pm.addPass(createConvertComplexToStandardPass());
  ConvertVectorToLLVMPassOptions vector;
  vector.reassociateFPReductions = true;
  pm.addPass(createConvertVectorToLLVMPass(vector));
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  // Calls of libm take vectors apart.
  pm.addPass(createConvertVectorToLLVMPass(vector));
  pm.addPass(createConvertComplexToLLVMPass());
  FinalizeMemRefToLLVMConversionPassOptions memory;
  memory.useGenericFunctions = true;
  memory.useAlignedAlloc = true;
  pm.addPass(createFinalizeMemRefToLLVMConversionPass(memory));
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertOpenMPToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void fuse::buildCpuPipeline(OpPassManager &pm, const CpuOptions &options) {
  buildCpuKernels(pm, options);
  bufferize(pm);
  pm.addPass(createCpuFunctions());
  if (!options.hooks.empty()) {
    TimeKernelsOptions time;
    time.functionName = options.hooks;
    pm.addPass(createTimeKernels(time));
  }
  lowerLoops(pm, options);
  lowerToLlvm(pm);
}

void fuse::registerCpuPipeline() {
  PassPipelineRegistration<CpuOptions>(
      "fuse-to-cpu",
      "Kernels and operators on tensors to the LLVM dialect for a CPU",
      [](OpPassManager &pm, const CpuOptions &options) {
        buildCpuPipeline(pm, options);
      });
}
