//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parts of a decision record that several printers share. Private to lib/Plan.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_PLAN_RECORD_H
#define FUSE_LIB_PLAN_RECORD_H

#include "fuse/Plan/Planner.h"
#include "mlir/IR/Builders.h"

namespace fuse {

/// The numbers of a decision; null if it has none.
mlir::DictionaryAttr numbersAttr(mlir::Builder &builder,
                                 const Decision &decision);

/// Writes `fuse.siblings` on the root of each pair's later kernel.
void writeSiblings(const FunctionFacts &facts,
                   llvm::ArrayRef<SiblingRecord> siblings);

/// What an earlier pass left in `fuse.siblings`: it is part of the plan.
std::vector<SiblingRecord> readSiblings(const FunctionFacts &facts);

/// One remark of category `fuse-plan` per pair.
void emitSiblingRemarks(const FunctionFacts &facts,
                        llvm::ArrayRef<SiblingRecord> siblings);

} // namespace fuse

#endif // FUSE_LIB_PLAN_RECORD_H
