//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts that all schedules of GPU kernels share.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_LOWERING_GPUSCHEDULE_H
#define FUSE_LIB_LOWERING_GPUSCHEDULE_H

#include "GpuElements.h"
#include "fuse/Dialect/FuseDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace fuse {

/// A result of a kernel and the buffer that it goes to.
struct GpuOutput {
  mlir::Value value; ///< reshapes of the whole stripped
  mlir::Value pointer;
  mlir::Type element;
};

/// What the chip has that schedules make use of.
struct GpuFeatures {
  /// cp.async and mma.m16n8k16: sm_80 and later ("PTX ISA", Target ISA Notes).
  bool ampere = false;
  /// Products of f32 may be of numbers that are rounded to tf32 (sm_80 and
  /// later).
  bool tf32 = false;
  double shared = 0; ///< bytes of shared memory of a block
};

/// A GPU kernel while it is made.
struct GpuFrame {
  GpuFrame(mlir::func::FuncOp source, mlir::gpu::GPUFuncOp kernel,
           mlir::OpBuilder &builder, Elements &elements, GpuFeatures features)
      : source(source), kernel(kernel), builder(builder), loc(source.getLoc()),
        elements(elements), features(features) {}

  mlir::func::FuncOp source; ///< on tensors
  mlir::gpu::GPUFuncOp kernel;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  Elements &elements;
  GpuFeatures features;
  llvm::SmallVector<GpuOutput> outputs;
  /// The dynamic extents of the arguments, of which there are `numSymbols`, and
  /// those computed for results as symbols of the launch.
  llvm::DenseMap<mlir::Value, mlir::AffineExpr> symbols;
  unsigned numSymbols = 0;

  /// `extents` multiplied, as the host computes it at the launch. Sets
  /// `elements.failedOp` where the host does not know one.
  mlir::AffineExpr hostProduct(llvm::ArrayRef<Extent> extents) const;
  mlir::Value threadId(mlir::gpu::Dimension dim = mlir::gpu::Dimension::x);
  mlir::Value blockId(mlir::gpu::Dimension dim = mlir::gpu::Dimension::x);
  /// Gives the kernel its launch: blocks along x, threads of each.
  void launch(mlir::AffineExpr blocks, int64_t threads);
};

/// The tile that the plan chose, or what is used without one.
struct GpuTile {
  llvm::SmallVector<int64_t, 3> sizes;
  int64_t threads = 256;
  static GpuTile of(mlir::func::FuncOp source);
};

/// A thread for each few elements of the results; what they are computed from
/// is computed where it is used, reductions by loops of the thread. False, with
/// `elements.failedOp`, where there is no code for an operation.
bool emitPointwise(GpuFrame &frame, const GpuTile &tile);

/// As above for a kernel that reads some inputs across its result: through
/// tiles in shared memory. False if it does not; nothing of the kernel may be
/// used then.
bool emitTransposed(GpuFrame &frame, const GpuTile &tile);

/// A team of threads for each row: it reduces together and keeps the row in
/// registers. False, with the reason in `why`, if the kernel has no such rows;
/// nothing of the kernel may be used then.
bool emitRows(GpuFrame &frame, const GpuTile &tile, std::string &why);

/// A block for a part of the results of a window, whose elements of the image
/// it holds in shared memory. False if it does not, with the reason in `why`
/// where that is none of the kernel's nature.
bool emitWindow(GpuFrame &frame, const GpuTile &tile, std::string &why);

/// How many tiles of `tile` there are in `all`.
Extent tilesOf(IndexMath &math, const Extent &all, int64_t tile);

/// Lanes of an access of 16 bytes of the widest argument, fewer where
/// `innermost` is no multiple.
unsigned lanesOf(mlir::func::FuncOp source, const Extent &innermost);

/// The innermost extent that is not 1.
Extent innermostOf(llvm::ArrayRef<Extent> extents);

} // namespace fuse

#endif // FUSE_LIB_LOWERING_GPUSCHEDULE_H
