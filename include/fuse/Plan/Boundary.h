//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Verdicts on every edge: options, the gates, and what a pass writes.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_PLAN_BOUNDARY_H
#define FUSE_PLAN_BOUNDARY_H

#include "fuse/Analysis/Facts.h"
#include "fuse/Device/Device.h"
#include "fuse/Dialect/Decision.h"
#include "llvm/ADT/StringMap.h"
#include <unordered_map>

namespace fuse {

enum class Policy { Cost, Strict };

/// How much is fused at all. FoldOnly folds algebraically (convolution and
/// batch norm) and fuses no loops; Off does neither.
enum class Mode { Full, FoldOnly, Off };

/// Options of `fuse-boundary`; docs/Passes.md describes each.
struct VerdictOptions {
  Policy policy = Policy::Cost;
  Mode mode = Mode::Full;
  Device device;
  double boundary = 1.0; ///< share of each device limit a kernel may use
  double tolerance =
      0.3; ///< strict: largest relative difference of intensities
  double deviceMemory = 0; ///< bytes; 0 takes the device's
  double registerLimit =
      0; ///< 32-bit registers per thread; 0 takes the device's
  bool emitAttributes = true;
  bool emitRemarks = true;

  double memoryLimit() const {
    return (deviceMemory > 0 ? deviceMemory : device.memory) * boundary;
  }
  double registers() const {
    return (registerLimit > 0 ? registerLimit : device.registersPerThread) *
           boundary;
  }
};

/// The options as a module attribute, and back. The attribute is an input: a
/// later pass refreshes verdicts with the same options.
mlir::DictionaryAttr optionsToAttr(mlir::MLIRContext *context,
                                   const VerdictOptions &options);
/// Nothing if `attr` is absent or was not written by optionsToAttr.
std::optional<VerdictOptions> optionsFromAttr(mlir::Attribute attr);

/// The options that `fuse-boundary` left on `module`, or its defaults.
VerdictOptions optionsOrDefault(mlir::Operation *module);

/// The device that `target` names: what loadDevice knows, or `dlti[:DEVICE]`
/// for an entry of the module's `dlti.target_system_spec` (the first without
/// DEVICE). The entry's keys are those of a device file; `base` names a preset
/// that fills in the others.
llvm::Expected<Device> loadTarget(mlir::Operation *module,
                                  llvm::StringRef target);

/// One decision per edge of `facts`, in the order of `facts.edges`.
std::vector<Decision> decideEdges(const FunctionFacts &facts,
                                  const VerdictOptions &options);

/// Stable keys of edges: a hash of producer, consumer, operand, glue and types
/// that survives renaming and re-parsing, and `#k` for the k-th occurrence of
/// the same hash in program order, counted over all functions asked for.
class EdgeKeys {
public:
  /// One key per edge of `facts`, in order. Ask for the functions of a module
  /// in program order.
  std::vector<std::string> of(const FunctionFacts &facts);

private:
  uint64_t structuralHash(mlir::Operation *op);

  llvm::StringMap<unsigned> occurrences;
  std::unordered_map<uint64_t, uint64_t> hashes; ///< by fingerprint
};

/// Writes `fuse.id`, `fuse.cost` and `fuse.dep` on every operator of `facts`
/// and removes what an earlier run left on other operations.
void writeFacts(const FunctionFacts &facts);
/// Writes `fuse.boundary` on every consumer.
void writeVerdicts(const FunctionFacts &facts,
                   llvm::ArrayRef<Decision> decisions);
/// What the planner made of each edge, from the `fuse.boundary` that an earlier
/// pass wrote: it is part of the plan, so it is read back, not found anew.
void readPlanNotes(const FunctionFacts &facts,
                   llvm::MutableArrayRef<Decision> decisions);
/// One remark of `category` per edge, in order: `fuse-boundary` for verdicts,
/// `fuse-plan` once the planner has said what became of each.
void emitEdgeRemarks(const FunctionFacts &facts,
                     llvm::ArrayRef<Decision> decisions,
                     llvm::StringRef category, EdgeKeys &keys);

/// All functions with a body under `root`, in program order, those of nested
/// modules included; existing gpu code is left alone.
llvm::SmallVector<mlir::FunctionOpInterface> functionsOf(mlir::Operation *root);

/// Fails with a located error if a size of an operator overflows int64, and
/// warns about operations of front-end dialects that a conversion must lower
/// first (torch, stablehlo, tosa, onnx): they have no verdict.
void diagnoseInput(const FunctionFacts &facts);

/// Recomputes facts and verdicts of every function of `module` that an earlier
/// pass left some in, with the options that `fuse-boundary` left on the module
/// (or its defaults). To be called by a pass that changes operators.
void refreshVerdicts(mlir::Operation *module);

} // namespace fuse

#endif // FUSE_PLAN_BOUNDARY_H
