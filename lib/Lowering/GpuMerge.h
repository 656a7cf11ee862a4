//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Several GPU kernels as one: each has blocks of its own.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_LOWERING_GPUMERGE_H
#define FUSE_LIB_LOWERING_GPUMERGE_H

#include "fuse/Lowering/Passes.h"

namespace fuse {

/// On kernels and launches that were split off one kernel: its number. They may
/// run at the same time.
constexpr llvm::StringLiteral kTogetherAttr = "fuse.together";

/// A kernel and which arguments of the whole are its own.
struct GpuPart {
  mlir::gpu::GPUFuncOp kernel;
  llvm::SmallVector<unsigned> arguments;
  /// Which dynamic extents of the whole are those of its `fuse.grid`.
  llvm::SmallVector<unsigned> symbols;
};

/// The arguments of the whole.
struct GpuWhole {
  std::string name;
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<unsigned> symbols; ///< arguments that are dynamic extents
};

/// Why the kernels cannot be parts of one; empty if they can.
std::string whyApart(llvm::ArrayRef<mlir::gpu::GPUFuncOp> kernels);

/// One kernel of `parts`, whose blocks are those of the first part, then those
/// of the next. Equal kernels follow each other and share their code. Shared
/// memory is that of the part that takes most.
mlir::gpu::GPUFuncOp mergeKernels(const GpuWhole &whole,
                                  llvm::ArrayRef<GpuPart> parts);

} // namespace fuse

#endif // FUSE_LIB_LOWERING_GPUMERGE_H
