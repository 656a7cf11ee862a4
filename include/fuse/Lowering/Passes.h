//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Constructors and registration of the passes that lower kernels.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LOWERING_PASSES_H
#define FUSE_LOWERING_PASSES_H

#include "fuse/Dialect/FuseDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

namespace fuse {
/// The attribute of a function that was a kernel: its class.
constexpr llvm::StringLiteral kKernelClassAttr = "fuse.kernel";
/// Its structural key, FLOPs and bytes; the counts only where static.
constexpr llvm::StringLiteral kKernelKeyAttr = "fuse.key";
constexpr llvm::StringLiteral kKernelFlopsAttr = "fuse.flops";
constexpr llvm::StringLiteral kKernelBytesAttr = "fuse.bytes";
/// On a gpu.func: its blocks in x, y and z, a map from the dynamic extents of
/// its arguments in order; and its bytes of dynamic shared memory.
constexpr llvm::StringLiteral kGridAttr = "fuse.grid";
constexpr llvm::StringLiteral kDynamicSharedAttr = "fuse.dynamic_shared";
/// On a gpu.func: why it is the plain form of its kernel, as text.
constexpr llvm::StringLiteral kPlainAttr = "fuse.plain";
/// On a kernel that is a part of one of the plan: why it is not one launch.
constexpr llvm::StringLiteral kSplitAttr = "fuse.split";
/// On an operator: its sums carry along what each addition loses.
constexpr llvm::StringLiteral kCompensatedAttr = "fuse.compensated";
/// On the module: the kernels by the number that the hooks get.
constexpr llvm::StringLiteral kKernelCallsAttr = "fuse.kernel_calls";

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "fuse/Lowering/Passes.h.inc"
} // namespace fuse

#endif // FUSE_LOWERING_PASSES_H
