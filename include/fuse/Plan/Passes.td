//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes that state facts and verdicts. They write attributes, remarks and
// files, and edit no compute operation.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_PLAN_PASSES_TD
#define FUSE_PLAN_PASSES_TD

include "mlir/Pass/PassBase.td"

def Annotate : Pass<"fuse-annotate", "::mlir::ModuleOp"> {
  let summary = "state the facts of every structured operator: cost, dependences, copies, effects, consumers";
  let description = [{
    Writes `fuse.id`, `fuse.cost` and `fuse.dep` on every structured operator of every function, on tensors and on memrefs,
    in nested regions too. Counts are exact; where an extent is dynamic they are polynomials in it. A size that overflows
    int64 is diagnosed at its operator. Facts of an earlier run are replaced.
  }];
  let dependentDialects = ["::fuse::FuseDialect", "::mlir::bufferization::BufferizationDialect"];
}

def Boundary : Pass<"fuse-boundary", "::mlir::ModuleOp"> {
  let summary = "give a verdict with its reason on every edge between two operators";
  let description = [{
    Runs the gates `dependency`, `shape`, `numerics`, `profile`, `resource`, `profit` in order on every edge and stops at the
    first refusal. Writes the facts of `fuse-annotate` and, on each consumer, `fuse.boundary` with one entry per edge; emits
    one remark of category `fuse-boundary` per edge. Leaves its options on the module (`fuse.options`), so that a later pass
    refreshes the verdicts it touched.
  }];
  let dependentDialects = ["::fuse::FuseDialect", "::mlir::bufferization::BufferizationDialect"];
  let options = [
    Option<"policy", "policy", "std::string", "\"cost\"",
           "cost: gates true to the machine; strict: the textbook conjunction">,
    Option<"mode", "mode", "std::string", "\"full\"",
           "full; fold-only: no loop fusion, algebraic folding only; off: neither (the baseline)">,
    Option<"target", "target", "std::string", "\"sm_80\"",
           "a preset's name, a device file NAME.json, or dlti[:DEVICE] for the module's dlti.target_system_spec">,
    Option<"blocklist", "blocklist", "std::string", "\"\"", "JSON file of edges that must not be fused">,
    Option<"allowlist", "allowlist", "std::string", "\"\"",
           "JSON file of edges to fuse where only profile, resource or profit speak against it">,
    Option<"boundary", "boundary", "double", "1.0", "share of each device limit a fused kernel may use, in (0, 1]">,
    Option<"tolerance", "tolerance", "double", "0.3", "strict: largest relative difference of two intensities">,
    Option<"deviceMem", "device-mem", "double", "0", "bytes of device memory; 0 takes the target's">,
    Option<"registerLimit", "register-limit", "double", "0", "registers per thread; 0 takes the target's">,
    ListOption<"emit", "emit", "std::string", "what to write: attrs, remarks (default both)">,
  ];
}

def Explain : Pass<"fuse-explain", "::mlir::ModuleOp"> {
  let summary = "print the verdict of every edge, the safe fusion list and a summary";
  let description = [{
    Prints the table of all edges with gate, reason, numbers and what would flip each verdict, the batch normalisations
    folded and kept, the safe fusion list (all edges with verdict `fuse`) and a summary line; with `json` as a versioned JSON
    document. Uses the options that `fuse-boundary` and `fuse-conv-bn` left on the module, or their defaults. Changes nothing.
  }];
  let dependentDialects = ["::fuse::FuseDialect", "::mlir::bufferization::BufferizationDialect"];
  let options = [
    Option<"file", "file", "std::string", "\"\"", "write to this file instead of stderr">,
    Option<"json", "json", "bool", "false", "print JSON">,
  ];
}

def PlanKernels : Pass<"fuse-plan", "::mlir::ModuleOp"> {
  let summary = "decide which operators become one kernel, and how each is tiled";
  let description = [{
    Joins operators greedily along the edges by predicted gain, where the result is convex, a kernel class holds it, some tile
    fits the device, and the gain is positive. Writes `fuse.group` on the operators and `fuse.tile` on each kernel's root; the
    plan is read back from there by `fuse-apply`. Uses the options that `fuse-boundary` left on the module. One remark of category
    `fuse-plan` per kernel; each edge's verdict says what became of it (`plan`). Kernels that read the same value and do not need
    each other share a launch where that gains, with a decision of its own for each pair (`fuse.siblings`).
  }];
  let dependentDialects = ["::fuse::FuseDialect", "::mlir::bufferization::BufferizationDialect"];
  let options = [
    Option<"objective", "objective", "std::string", "\"time\"",
           "time: least predicted time; bytes: fewest bytes between kernels">,
    Option<"planner", "planner", "std::string", "\"greedy\"",
           "greedy; exact: the least plan of functions of fewer than 64 operators, with a remark that says whether it is proved">,
    Option<"exactLimitMs", "exact-limit-ms", "unsigned", "1000",
           "milliseconds for the exact plan of a function; after that the greedy one is taken">,
  ];
}

def VerifyPlan : Pass<"fuse-verify-plan", "::mlir::ModuleOp"> {
  let summary = "check the plan in the attributes: blocks, hazards, cycles, kernel class, tile";
  let description = [{
    Fails with a located error for each group of `fuse.group` that cannot become a kernel: operators in different blocks, an edge
    that a correctness gate keeps, a group that is not convex, a class that does not hold it, a tile that does not fit the device.
    Accepts hand-written plans. Changes nothing.
  }];
  let dependentDialects = ["::fuse::FuseDialect", "::mlir::bufferization::BufferizationDialect"];
}

def MarkParams : Pass<"fuse-mark-params", "::mlir::ModuleOp"> {
  let summary = "mark function arguments as frozen parameters (fuse.param)";
  let description = [{
    Marks arguments of every public function with a body. `args` is a comma-separated list of numbers and ranges; `1-`
    is all from 1 on. A parameter may be folded and computed with once instead of on every call.
  }];
  let dependentDialects = ["::fuse::FuseDialect"];
  let options = [
    ListOption<"args", "args", "std::string", "argument numbers and ranges, such as 1- or 1,3-5">,
    Option<"functionName", "function", "std::string", "\"\"", "only this function">,
  ];
}

#endif // FUSE_PLAN_PASSES_TD
