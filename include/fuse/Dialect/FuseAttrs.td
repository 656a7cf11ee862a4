//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The `fuse` dialect's attributes. Facts (`#fuse.cost`, `#fuse.dep`) and
// verdicts (`#fuse.boundary`) are output: every pass that needs them computes
// them anew and none reads them back. `#fuse.target` is an input.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_ATTRS_TD
#define FUSE_ATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "fuse/Dialect/FuseReasons.td"

def Fuse_Dialect : Dialect {
  let name = "fuse";
  let cppNamespace = "::fuse";
  let summary = "facts, verdicts and plans of operator fusion";
  let description = [{
    The dialect holds what the passes of `fuse` state about a linalg program.

    Attributes on an operator:

    | name | holds |
    |---|---|
    | `fuse.id` | its number in the function, in program order |
    | `fuse.cost` | `#fuse.cost`: FLOPs, bytes, intensity, extents |
    | `fuse.dep` | array of `#fuse.dep`: dependences, copies, effects, consumers |
    | `fuse.boundary` | array of `#fuse.boundary`, one per incoming edge |
    | `fuse.group`, `fuse.tile` | the plan: `#fuse.group`, and on the root `#fuse.tile` |
    | `fuse.siblings` | the plan: array of `#fuse.sibling`, on the root of the later one |
    | `fuse.recompute` | the plan: the operator is evaluated again in every kernel that reads it |
    | `fuse.folded` | on a convolution: the chain that was folded into it |
    | `fuse.folded_input` | on a convolution: the chain in front that was folded into it |

    What the user states, on an operator:

    | name | holds |
    |---|---|
    | `fuse.hint` | `"never"` or `"always"`, for all edges of the operator |
    | `fuse.edge_hints` | on the consumer: `{"0" = "never"}` by operand number, `{"0.1" = "never"}` for its second edge |
    | `fuse.cost_override` | `{flops = 4096, bytes = 512, registers = 32}`: any of flops, bytes, read, written, registers |

    On a function, `fuse.dim_hint = {"arg0.0" = 128}` gives dynamic extents, by the names that costs print, the numbers to
    evaluate them under. On a function argument, `fuse.param` marks a frozen parameter. On the module, `fuse.options` keeps the options of
    `fuse-boundary`, so that a later pass refreshes the verdicts it touched with the same options, and `fuse.weights` the weights
    that `fuse-conv-bn` was told to fold, where it was told.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
}

class Fuse_Attr<string name, string attrMnemonic> : AttrDef<Fuse_Dialect, name> {
  let mnemonic = attrMnemonic;
}

// The generic EnumParameter prints bare keywords; a reason's message has
// spaces and is printed as a string.
def Fuse_GateParam : EnumParameter<Fuse_Gate>;
def Fuse_VerdictParam : EnumParameter<Fuse_VerdictKind>;
def Fuse_NumericParam : EnumParameter<Fuse_NumericClass>;
def Fuse_DepParam : EnumParameter<Fuse_DepKind>;
def Fuse_ReasonParam : AttrOrTypeParameter<"::fuse::Reason", "the reason"> {
  let parser = "::fuse::parseReason($_parser)";
  let printer = "$_printer << '\"' << ::fuse::stringifyReason($_self) << '\"'";
}

/// A count: a non-negative integer, or a polynomial in dynamic extents.
def Fuse_CountParam : AttrOrTypeParameter<"::mlir::Attribute", "a count: integer, or string with dynamic extents"> {
  let parser = "::fuse::parseCount($_parser)";
  let printer = "::fuse::printCount($_printer, $_self)";
}

def Fuse_CostAttr : Fuse_Attr<"Cost", "cost"> {
  let summary = "what an operator costs";
  let description = [{
    FLOPs, bytes read and written (each distinct element once), iteration-space size (`points`), the extents of its
    parallel and reduction loops, transcendental functions evaluated, and arithmetic intensity
    `flops / max(read + written, 1)` in FLOP per byte. Counts that depend on dynamic extents are strings with a
    polynomial in them (`"1024*arg0.0"`); the intensity is absent then, unless `fuse.dim_hint` gives them numbers: `hint` holds the
    counts that result. `overridden` names what `fuse.cost_override` states.

    Example: `#fuse.cost<flops = 256, read = 1024, written = 1024, points = 256, parallel = 256, reduction = 1, transcendentals = 0, intensity = 1.250000e-01>`
  }];
  let parameters = (ins
    Fuse_CountParam:$flops, Fuse_CountParam:$read, Fuse_CountParam:$written, Fuse_CountParam:$points,
    Fuse_CountParam:$parallel, Fuse_CountParam:$reduction, Fuse_CountParam:$transcendentals,
    OptionalParameter<"::mlir::FloatAttr">:$intensity,
    OptionalParameter<"::mlir::DictionaryAttr">:$hint,
    OptionalParameter<"::mlir::ArrayAttr">:$overridden);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Fuse_DepAttr : Fuse_Attr<"Dep", "dep"> {
  let summary = "one fact about an operator's data";
  let description = [{
    `raw`, `war`, `waw`: this operator touches the data of the earlier operator `op` through `operand`.
    `copy`: `operand` (an `outs` that carries data) needs a copy, `detail` says why. `effect`: the body or the operation
    has the side effect `detail`. `consumers`: result `operand` is read by `count` readers.

    Example: `#fuse.dep<raw, op = 2, operand = 0>`
  }];
  let parameters = (ins
    Fuse_DepParam:$kind,
    OptionalParameter<"std::optional<int64_t>">:$op,
    OptionalParameter<"std::optional<int64_t>">:$operand,
    OptionalParameter<"std::optional<int64_t>">:$count,
    OptionalParameter<"::mlir::StringAttr">:$detail);
  let assemblyFormat = "`<` $kind (`,` struct($op, $operand, $count, $detail)^)? `>`";
  let genVerifyDecl = 1;
}

def Fuse_BoundaryAttr : Fuse_Attr<"Boundary", "boundary"> {
  let summary = "the verdict on one edge";
  let description = [{
    On the consumer, one entry per edge: the verdict, the `producer`'s `fuse.id`, the consumer's `operand` number, the
    `gate` that decided, the `reason`, what the edge looks through (`via`), the condition of a conditional verdict (`when`), the
    numbers the gate compared, what would flip the verdict (`flip`), what fusing does to the values (`numeric`), and what the
    planner made of the edge (`plan`).

    Example: `#fuse.boundary<keep, producer = 3, operand = 0, gate = profile, reason = "profile: two heavy loop nests in one kernel", flip = "...">`
  }];
  let parameters = (ins
    Fuse_VerdictParam:$verdict,
    "int64_t":$producer, "int64_t":$operand,
    Fuse_GateParam:$gate, Fuse_ReasonParam:$reason,
    OptionalParameter<"::mlir::StringAttr">:$when,
    OptionalParameter<"::mlir::ArrayAttr">:$via,
    OptionalParameter<"::mlir::DictionaryAttr">:$numbers,
    OptionalParameter<"::mlir::StringAttr">:$flip,
    OptionalParameter<"std::optional<::fuse::NumericClass>">:$numeric,
    OptionalParameter<"::mlir::StringAttr">:$plan);
  let assemblyFormat = [{
    `<` $verdict `,` struct($producer, $operand, $gate, $reason, $when, $via, $numbers, $flip, $numeric, $plan) `>`
  }];
  let genVerifyDecl = 1;
}

def Fuse_SiblingAttr : Fuse_Attr<"Sibling", "sibling"> {
  let summary = "the decision on two kernels that read the same value";
  let description = [{
    No edge leads between siblings, so the planner gives each pair that it looked at a record of its own, on the root of the later
    kernel: whether they share one launch, the `fuse.id` of the earlier kernel's root (`with`), the `gate` and the `reason`, the
    numbers that were compared and what would flip the decision.

    Example: `#fuse.sibling<keep, with = 3, gate = dependency, reason = "dependency: fusing would make a cycle", flip = "...">`
  }];
  let parameters = (ins
    Fuse_VerdictParam:$verdict, "int64_t":$with, Fuse_GateParam:$gate, Fuse_ReasonParam:$reason,
    OptionalParameter<"::mlir::DictionaryAttr">:$numbers,
    OptionalParameter<"::mlir::StringAttr">:$flip);
  let assemblyFormat = "`<` $verdict `,` struct($with, $gate, $reason, $numbers, $flip) `>`";
  let genVerifyDecl = 1;
}

def Fuse_TargetAttr : Fuse_Attr<"Target", "target"> {
  let summary = "a device";
  let description = [{
    Name and numbers of the device that verdicts are computed for. The keys of `numbers` are those of a device JSON file
    (docs/Devices.md); every number is positive.

    Example: `#fuse.target<"sm_80", {bandwidth = 1.555000e+12 : f64, sm_count = 1.080000e+02 : f64}>`
  }];
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::DictionaryAttr":$numbers);
  let assemblyFormat = "`<` $name `,` $numbers `>`";
  let genVerifyDecl = 1;
}

def Fuse_TileAttr : Fuse_Attr<"Tile", "tile"> {
  let summary = "how a kernel's work is cut into blocks";
  let description = [{
    Sizes of a block in the kernel class's own dimensions (contraction and chain: m, n, k; attention: rows, keys;
    row: rows, length, storage; window: image; pointwise: elements; siblings: those of the class of each) and threads per block.

    Example: `#fuse.tile<sizes = [128, 128, 8], threads = 256>`
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$sizes, "int64_t":$threads);
  let assemblyFormat = "`<` `sizes` `=` `[` $sizes `]` `,` `threads` `=` $threads `>`";
  let genVerifyDecl = 1;
}

def Fuse_GroupAttr : Fuse_Attr<"Group", "group"> {
  let summary = "the kernel that an operator is planned into";
  let description = [{
    Operators with the same `id` in one function become one kernel of class `kernel`. The `root` carries the tile.

    Example: `#fuse.group<id = 3, kernel = "row", root>`
  }];
  let parameters = (ins "int64_t":$id, "::mlir::StringAttr":$kernel, DefaultValuedParameter<"bool", "false">:$root);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // FUSE_ATTRS_TD
