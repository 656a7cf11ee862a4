//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The readable and the machine-readable form of all decisions on a module.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_PLAN_EXPLAIN_H
#define FUSE_PLAN_EXPLAIN_H

#include "fuse/Plan/Planner.h"
#include "llvm/Support/JSON.h"

namespace fuse {

/// One batch normalisation behind a convolution, or in front of it.
struct FoldRecord {
  std::optional<unsigned> op; ///< id of the convolution; none in a kernel
  std::string label;          ///< the convolution, with its id or its kernel
  bool inFront;               ///< of it
  bool folded;                ///< false: found and kept, see `decision`
  Decision decision;
};

/// One kernel, planned or formed.
struct KernelRecord {
  std::string label; ///< number and class
  std::string kernelClass;
  bool formed = false; ///< a fuse.kernel; otherwise a plan in attributes
  std::vector<std::string> operators;
};

/// All decisions on one function.
struct FunctionReport {
  std::unique_ptr<FunctionFacts> facts;
  std::vector<Decision> decisions; ///< per edge
  std::vector<std::string> keys;   ///< per edge
  std::vector<FoldRecord> folds;
  std::vector<KernelRecord> kernels;
  std::vector<SiblingRecord> siblings; ///< as an earlier pass planned them
};

/// All decisions on a module.
struct ModuleReport {
  VerdictOptions options;
  std::vector<FunctionReport> functions;
};

ModuleReport reportOn(mlir::Operation *module, const VerdictOptions &options);

/// The table of edges, the folds, the safe fusion list, and the summary line.
void printTable(const ModuleReport &report, llvm::raw_ostream &os);

/// The same as a JSON document of `version` 1 (docs/Explain.md).
llvm::json::Value toJson(const ModuleReport &report);

} // namespace fuse

#endif // FUSE_PLAN_EXPLAIN_H
