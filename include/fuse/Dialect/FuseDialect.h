//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The `fuse` dialect: attributes for facts, verdicts and the device.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_DIALECT_FUSEDIALECT_H
#define FUSE_DIALECT_FUSEDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "fuse/Dialect/FuseDialect.h.inc"
#include "fuse/Dialect/FuseEnums.h.inc"

namespace fuse {

/// Names of the discardable attributes that the passes write.
namespace names {
constexpr llvm::StringLiteral kId = "fuse.id";
constexpr llvm::StringLiteral kCost = "fuse.cost";
constexpr llvm::StringLiteral kDep = "fuse.dep";
constexpr llvm::StringLiteral kBoundary = "fuse.boundary";
constexpr llvm::StringLiteral kGroup = "fuse.group";
constexpr llvm::StringLiteral kTile = "fuse.tile";
constexpr llvm::StringLiteral kSiblings = "fuse.siblings";
constexpr llvm::StringLiteral kRecompute = "fuse.recompute";
constexpr llvm::StringLiteral kFolded = "fuse.folded";
constexpr llvm::StringLiteral kFoldedInput = "fuse.folded_input";
constexpr llvm::StringLiteral kParam = "fuse.param";
constexpr llvm::StringLiteral kOptions = "fuse.options";
constexpr llvm::StringLiteral kWeights = "fuse.weights";
// What the user states; the passes read these.
constexpr llvm::StringLiteral kCostOverride = "fuse.cost_override";
constexpr llvm::StringLiteral kDimHint = "fuse.dim_hint";
constexpr llvm::StringLiteral kHint = "fuse.hint";
constexpr llvm::StringLiteral kEdgeHints = "fuse.edge_hints";
} // namespace names

/// The gate a reason belongs to (its message's prefix); None for `CanFuse`.
Gate gateOf(Reason reason);

// Helpers of the generated parsers and printers.
mlir::FailureOr<Reason> parseReason(mlir::AsmParser &parser);
mlir::FailureOr<mlir::Attribute> parseCount(mlir::AsmParser &parser);
void printCount(mlir::AsmPrinter &printer, mlir::Attribute count);

} // namespace fuse

#define GET_ATTRDEF_CLASSES
#include "fuse/Dialect/FuseAttrs.h.inc"

#define GET_OP_CLASSES
#include "fuse/Dialect/FuseOps.h.inc"

#endif // FUSE_DIALECT_FUSEDIALECT_H
