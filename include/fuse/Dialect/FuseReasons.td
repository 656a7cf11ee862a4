//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one list of reasons. Each entry feeds the C++ enum, the message that
// attributes, remarks and tables print, and docs/Reasons.md. The message of a
// refusal begins with its gate.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_REASONS_TD
#define FUSE_REASONS_TD

include "mlir/IR/EnumAttr.td"

/// One reason: the C++ case, its number, its message, and a paragraph for the
/// documentation (what was found, what would flip it).
class FuseReason<string sym, int val, string message, string paragraph>
    : I32EnumAttrCase<sym, val, message> {
  string doc = paragraph;
}

def Reason_CanFuse : FuseReason<"CanFuse", 0, "can fuse",
  "Every gate passed. The numbers give the bytes that no longer cross memory and the predicted gain.">;

// Gate `dependency`.
def Reason_AntiOutput : FuseReason<"AntiOutput", 1, "dependency: anti/output dependency found",
  "The later operator writes data that the earlier one reads (WAR) or writes (WAW). In one parallel kernel the order "
  "between the two accesses would be lost. Two memref arguments count as the same data unless marked `llvm.noalias`.">;
def Reason_SideEffect : FuseReason<"SideEffect", 2, "dependency: side effect",
  "One of the two operators, or an operation between them, has an effect that must happen exactly once and in order: a "
  "store, an atomic, a call whose effects are unknown, an unregistered operation.">;
def Reason_MultiConsumer : FuseReason<"MultiConsumer", 3, "dependency: multiple consumers",
  "More than one reader needs the intermediate value. The edge is `conditional` where all readers can join the kernel, "
  "where the producer is cheap enough to be recomputed, or where the kernel may have several results; it is kept where "
  "a reader can do none of these.">;
def Reason_InPlaceProducer : FuseReason<"InPlaceProducer", 4, "dependency: producer updates its output in place",
  "The producer reads the data that it overwrites, so it must be evaluated exactly once per element; its consumer would "
  "have to evaluate it again, or would read elements that are not updated yet.">;
def Reason_OtherBlock : FuseReason<"OtherBlock", 5, "dependency: operators are in different blocks",
  "Operators in different blocks or regions never fuse across the boundary: the consumer may run never, or many times.">;
def Reason_Cycle : FuseReason<"Cycle", 6, "dependency: fusing would make a cycle",
  "Between producer and consumer stands an operation that needs the producer, is needed by the consumer, and can be part "
  "of no kernel.">;
def Reason_CopyNeeded : FuseReason<"CopyNeeded", 7, "dependency: a copy is needed",
  "The operator overwrites a tensor (an `outs` operand that carries data) which is a function argument, a constant, or is "
  "read later. The old value must survive, so the buffer has to be copied before the operator runs. A fresh "
  "`tensor.empty` as destination flips it.">;
def Reason_Captured : FuseReason<"Captured", 8, "dependency: consumer captures the producer's value",
  "The consumer's body reads the whole intermediate tensor (a captured `tensor.extract`), so the intermediate must be "
  "complete before the first element of the consumer.">;
def Reason_BatchStatistics : FuseReason<"BatchStatistics", 9, "dependency: statistics depend on the convolution's result",
  "The normalisation uses mean and variance of the very tensor it normalises (training mode), so there is nothing constant "
  "to fold into the weights.">;

// Gate `shape`.
def Reason_Shape : FuseReason<"Shape", 20, "shape: iteration spaces do not compose",
  "The consumer's access to the intermediate cannot be written as a function of the producer's iteration space.">;
def Reason_DynamicShape : FuseReason<"DynamicShape", 21, "shape: dynamic extents cannot be proved equal",
  "The intermediate passes a reshape or cast whose dynamic extents cannot be proved to agree.">;
def Reason_Encoding : FuseReason<"Encoding", 22, "shape: tensor encoding is not understood",
  "An operand carries an encoding attribute (a sparse layout, say): dense byte counts and index maps do not hold for it.">;
def Reason_WrongAxis : FuseReason<"WrongAxis", 23, "shape: scale is not along the output channel",
  "The affine chain scales along another axis than the convolution's output channel, so it cannot move into the filter, "
  "even if the extents agree.">;
def Reason_UnsupportedConv : FuseReason<"UnsupportedConv", 24, "shape: convolution form is not supported",
  "The convolution's filter has no axis for its output channel, or the form (quantised, transposed through another op) has "
  "no folding rule.">;
def Reason_InitPerElement : FuseReason<"InitPerElement", 25, "shape: initial value is not per channel",
  "The convolution accumulates onto a tensor with a value of its own for each element (a residual, say), which a scale per "
  "channel would have to multiply in a pass of its own. Starting from zero or from a bias per channel flips it.">;
def Reason_PaddedInput : FuseReason<"PaddedInput", 26, "shape: padding stands between scale and convolution",
  "The convolution reads a border that the chain in front of it does not scale and shift: the border's zeros would have to "
  "become values that the chain maps to zero. Only a scale alone commutes with a border of zeros.">;

// Gate `numerics`.
def Reason_ElementType : FuseReason<"ElementType", 40, "numerics: element type has no fusion rule",
  "The element type is neither a float, an integer nor index.">;
def Reason_FoldOverflow : FuseReason<"FoldOverflow", 41, "numerics: folded weights are not finite",
  "Scaling the filter or the bias overflows the weight type although the unfolded program stays finite.">;
def Reason_FoldPrecision : FuseReason<"FoldPrecision", 42, "numerics: fold would elide a rounding",
  "The chain computes in another element type than the convolution's result; folding it would skip a rounding step.">;
def Reason_FoldUnderflow : FuseReason<"FoldUnderflow", 43, "numerics: folded weights underflow",
  "The scaled filter falls into the subnormal range of the weight type and loses more than a rounding.">;
def Reason_FoldUnchecked : FuseReason<"FoldUnchecked", 44, "numerics: range of folded 16-bit weights is not known",
  "Scaled 16-bit weights may overflow or underflow, which can be ruled out only where they are constants. `weights=always` "
  "folds them unchecked.">;
def Reason_FoldAccumulator : FuseReason<"FoldAccumulator", 45, "numerics: sums in 16 bits round more than the tolerance",
  "The convolution accumulates in f16 or bf16. A sum of K products is known only within K * u of the sum of their magnitudes, "
  "u being half a unit in the last place (2^-11 for f16, 2^-8 for bf16; Higham, Accuracy and Stability of Numerical Algorithms, "
  "2nd ed., sections 3.1 and 4.2), and a fold sums other products. It is done where K * u is within the tolerance: 1e-3 for f16, "
  "1e-2 for bf16, times sqrt(K / 1024) for more than 1024 terms. Otherwise scale and shift stay an epilogue.">;

// Gate `profile`.
def Reason_IntensityMismatch : FuseReason<"IntensityMismatch", 60, "profile: compute intensity mismatch",
  "`|ia - ib| / max(ia, ib, 1)` is above the tolerance (strict policy).">;
def Reason_TwoHeavy : FuseReason<"TwoHeavy", 61, "profile: two heavy loop nests in one kernel",
  "Producer and consumer are both contractions or convolutions with their own reduction: one kernel would recompute the "
  "producer's tile for every tile of the consumer.">;
def Reason_RowAcrossTiles : FuseReason<"RowAcrossTiles", 62, "profile: reduction crosses the producer's tiles",
  "The consumer reduces along an axis that the heavy producer computes in tiles by different thread blocks.">;
def Reason_UnknownIntensity : FuseReason<"UnknownIntensity", 63, "profile: compute intensity depends on dynamic extents",
  "The strict policy compares two numbers, and an extent is `?`.">;

def Reason_NoChain : FuseReason<"NoChain", 64, "profile: no kernel class chains these loop nests",
  "A window (pooling, depthwise convolution) and another loop nest with its own reduction follow one another. A kernel for both "
  "would have to hold the first one's tile with its halo.">;
def Reason_RowsDiffer : FuseReason<"RowsDiffer", 65, "profile: operators do not share their rows",
  "A row kernel gives each block whole rows. One operator reduces, moves or reshapes along what another has as rows.">;
def Reason_PrologueOutput : FuseReason<"PrologueOutput", 66, "profile: prologue has readers outside the kernel",
  "What a kernel evaluates while it loads a tile is evaluated once per tile: it cannot also be stored for other readers.">;
def Reason_EpilogueShape : FuseReason<"EpilogueShape", 67, "profile: epilogue does not run over the output tile",
  "An epilogue runs once per element of the tile that the contraction or window computed. This operator has another iteration "
  "space: it broadcasts the result.">;

def Reason_EpilogueTiles : FuseReason<"EpilogueTiles", 68, "profile: epilogue reads other tiles",
  "A block holds one tile of the contraction's or window's output. This operator also needs elements of other tiles: it reads the "
  "result twice in different orders (a matrix plus its transpose), or a part of it that is moved (a rotated half). Reading it in "
  "one order only flips it.">;

def Reason_SiblingsDiffer : FuseReason<"SiblingsDiffer", 69, "profile: siblings are not cut alike",
  "Siblings share one launch: each has blocks of its own, of one shape and along the same rows. Two that are of different kernel "
  "classes, or that have different rows, stay kernels of their own.">;
def Reason_NothingShared : FuseReason<"NothingShared", 70, "profile: nothing is read in common",
  "The operators neither read each other nor one value: one launch for both would save no bytes.">;

def Reason_ScoresShape : FuseReason<"ScoresShape", 71, "profile: scores change shape between the contractions",
  "An attention kernel computes each row of scores once, and masks, scales and normalises it where it is. Here an operator between "
  "the two contractions has a larger iteration space than the scores: a mask with a dimension of its own, say.">;

// Gate `resource`.
def Reason_Memory : FuseReason<"Memory", 80, "resource: intermediate data exceeds memory",
  "The bytes of both operators together exceed the device memory.">;
def Reason_MemoryBound : FuseReason<"MemoryBound", 81, "resource: memory-bound, low profit",
  "Strict policy: the larger intensity is below half of the ridge point.">;
def Reason_Registers : FuseReason<"Registers", 82, "resource: registers exceed limit",
  "The registers of the fused kernel exceed the limit.">;
def Reason_NoTile : FuseReason<"NoTile", 83, "resource: no tile of the fused kernel fits",
  "Even the smallest tile of the fused kernel needs more shared memory or registers than `boundary` allows.">;
def Reason_TooLarge : FuseReason<"TooLarge", 84, "resource: sizes exceed 64-bit arithmetic",
  "The product of the extents, or the byte or FLOP count, does not fit into a signed 64-bit integer.">;
def Reason_Parameters : FuseReason<"Parameters", 85, "resource: kernel parameters exceed limit",
  "A GPU kernel takes 4096 bytes of parameters: 8 for each tensor and 8 for each of its dynamic extents. Below, a kernel has fewer "
  "inputs and results.">;

// Gate `profit`.
def Reason_NoGain : FuseReason<"NoGain", 100, "profit: fusing costs more than it saves",
  "The predicted gain `bytes_removed / bandwidth + t_launch - recomputation - lost parallelism` is not positive.">;
def Reason_Recomputed : FuseReason<"Recomputed", 103, "profit: producer would be recomputed",
  "The consumer broadcasts the intermediate, and evaluating the producer again for each use (`evaluations`) takes longer than "
  "loading the stored value from the cache. A cheaper producer, or hoisting it out of the broadcast loops, flips it.">;
def Reason_ComputedOnce : FuseReason<"ComputedOnce", 104, "profit: producer is computed once from parameters",
  "The producer depends on constants and `fuse.param` arguments only, so it can run once before the first call. In the "
  "consumer's kernel it would run on every call. Without the mark on the arguments the edge is judged like any other.">;
def Reason_RunTimeWeights : FuseReason<"RunTimeWeights", 101, "profit: run-time weights cost more to fold than an epilogue",
  "The weights may change on every call, and scaling them each time costs more than the scale and shift as an epilogue. "
  "Mark them as `fuse.param` or pass `weights=always` to flip it.">;
def Reason_NonConstantWeights : FuseReason<"NonConstantWeights", 102, "profit: weights are not constant",
  "`weights=constants` folds only weights that are constants of the program.">;

// Gate `override`: the user's word.
def Reason_HintNever : FuseReason<"HintNever", 120, "override: kept by hint",
  "`fuse.hint = \"never\"` on one of the operators, or `fuse.edge_hints` on the consumer.">;
def Reason_HintAlways : FuseReason<"HintAlways", 121, "override: fused by hint",
  "`fuse.hint = \"always\"` or `fuse.edge_hints` overrides the profile, resource or profit gate; never a correctness gate.">;
def Reason_BlockListed : FuseReason<"BlockListed", 122, "override: kept by the blocklist",
  "The blocklist names this edge's structural key.">;
def Reason_AllowListed : FuseReason<"AllowListed", 123, "override: fused by the allowlist",
  "The allowlist names this edge's structural key and overrides the profile, resource or profit gate.">;
def Reason_ModeOff : FuseReason<"ModeOff", 124, "override: mode fuses nothing",
  "`mode=off` is the baseline that fuses and folds nothing.">;
def Reason_ModeFoldOnly : FuseReason<"ModeFoldOnly", 125, "override: mode folds only",
  "`mode=fold-only` folds algebraically (convolution and batch norm) and fuses no loops, for devices with tiny on-chip memory.">;

def Fuse_Reason : I32EnumAttr<"Reason", "why a verdict is what it is", [
  Reason_CanFuse,
  Reason_AntiOutput, Reason_SideEffect, Reason_MultiConsumer, Reason_InPlaceProducer, Reason_OtherBlock, Reason_Cycle,
  Reason_CopyNeeded, Reason_Captured, Reason_BatchStatistics,
  Reason_Shape, Reason_DynamicShape, Reason_Encoding, Reason_WrongAxis, Reason_UnsupportedConv, Reason_InitPerElement,
  Reason_PaddedInput,
  Reason_ElementType, Reason_FoldOverflow, Reason_FoldPrecision, Reason_FoldUnderflow, Reason_FoldUnchecked,
  Reason_FoldAccumulator,
  Reason_IntensityMismatch, Reason_TwoHeavy, Reason_RowAcrossTiles, Reason_UnknownIntensity, Reason_NoChain, Reason_RowsDiffer,
  Reason_PrologueOutput, Reason_EpilogueShape, Reason_EpilogueTiles, Reason_SiblingsDiffer, Reason_NothingShared, Reason_ScoresShape,
  Reason_Memory, Reason_MemoryBound, Reason_Registers, Reason_NoTile, Reason_TooLarge, Reason_Parameters,
  Reason_NoGain, Reason_Recomputed, Reason_ComputedOnce, Reason_RunTimeWeights, Reason_NonConstantWeights,
  Reason_HintNever, Reason_HintAlways, Reason_BlockListed, Reason_AllowListed, Reason_ModeOff, Reason_ModeFoldOnly]> {
  let cppNamespace = "::fuse";
  let genSpecializedAttr = 0;
}

def Fuse_Gate : I32EnumAttr<"Gate", "the gate that decided", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"Dependency", 1, "dependency">,
  I32EnumAttrCase<"Shape", 2, "shape">,
  I32EnumAttrCase<"Numerics", 3, "numerics">,
  I32EnumAttrCase<"Profile", 4, "profile">,
  I32EnumAttrCase<"Resource", 5, "resource">,
  I32EnumAttrCase<"Profit", 6, "profit">,
  I32EnumAttrCase<"Override", 7, "override">]> {
  let cppNamespace = "::fuse";
  let genSpecializedAttr = 0;
}

def Fuse_VerdictKind : I32EnumAttr<"VerdictKind", "may the edge be fused", [
  I32EnumAttrCase<"Fuse", 0, "fuse">,
  I32EnumAttrCase<"Conditional", 1, "conditional">,
  I32EnumAttrCase<"Keep", 2, "keep">]> {
  let cppNamespace = "::fuse";
  let genSpecializedAttr = 0;
}

def Fuse_NumericClass : I32EnumAttr<"NumericClass", "what fusing does to the values", [
  I32EnumAttrCase<"BitExact", 0, "bit_exact">,
  I32EnumAttrCase<"Reassociates", 1, "reassociates">,
  I32EnumAttrCase<"ChangesRounding", 2, "changes_rounding">]> {
  let cppNamespace = "::fuse";
  let genSpecializedAttr = 0;
}

def Fuse_DepKind : I32EnumAttr<"DepKind", "kind of a fact about data", [
  I32EnumAttrCase<"RAW", 0, "raw">,
  I32EnumAttrCase<"WAR", 1, "war">,
  I32EnumAttrCase<"WAW", 2, "waw">,
  I32EnumAttrCase<"Copy", 3, "copy">,
  I32EnumAttrCase<"Effect", 4, "effect">,
  I32EnumAttrCase<"Consumers", 5, "consumers">]> {
  let cppNamespace = "::fuse";
  let genSpecializedAttr = 0;
}

#endif // FUSE_REASONS_TD
