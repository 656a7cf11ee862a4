//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs for a GPU: those that launch kernels themselves are lowered by
// upstream's pipeline, linalg by fuse-to-nvvm. The emulator or a CUDA driver
// runs them behind the same symbols.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_PIPELINE_GPUPROGRAM_H
#define FUSE_LIB_PIPELINE_GPUPROGRAM_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace fuse {

/// `emulator` or `cuda`, and the chip to compile for: `emulator:sm_90`.
struct GpuTarget {
  bool emulated = true;
  std::string chip = "sm_80";
};

/// Nothing if `target` names no machine that runs GPU kernels.
std::optional<GpuTarget> parseGpuTarget(llvm::StringRef target);

/// True if the program launches kernels itself.
bool launchesKernels(mlir::ModuleOp module);

/// Lowers `module`, whose function `entry` launches kernels, to the LLVM
/// dialect. An error if the chip is not known.
llvm::Error lowerGpuProgram(mlir::ModuleOp module, llvm::StringRef entry,
                            const GpuTarget &target);

/// The library that holds the runtime, in the folder `lib` beside the one of
/// this executable.
std::string runtimeLibrary(const GpuTarget &target);

} // namespace fuse

#endif // FUSE_LIB_PIPELINE_GPUPROGRAM_H
