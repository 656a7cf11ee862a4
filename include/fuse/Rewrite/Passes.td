//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes that rewrite the program. Each carries out a decision of lib/Plan.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_REWRITE_PASSES_TD
#define FUSE_REWRITE_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvBn : Pass<"fuse-conv-bn", "::mlir::ModuleOp"> {
  let summary = "fold batch normalisation into the weights of the convolution or linear layer before it";
  let description = [{
    Finds every per-channel affine chain `y * scale + shift` behind a convolution or a linear layer (a contraction with an
    operand that is known before the call), however it is spelled, and replaces it by scaled weights `w' = w * s` and an initial
    value `b' = (b - mean) * s + beta`, with `s = gamma / sqrt(var + eps)`. Constant weights are folded at compile time; weights
    that are parameters (`fuse.param`) are scaled in IR that depends on parameters only. A product of two values of the call is
    no linear layer, but with `weights=always` and a scale per channel. A bias alone becomes the initial value where it is
    known. A chain per input channel in front of a convolution or linear layer folds too,
    `conv(x * s + t, w) = conv(x, w * s) + sum(w * t)`, where no padding stands between or `t` is zero. Sums in f16 or bf16 are
    left alone from three terms on. One remark of category `fuse-fold` per chain. Refreshes the verdicts that `fuse-boundary`
    left. Leaves `weights` on the module (`fuse.weights`), unless it is `auto`, so that `fuse-explain` judges by the same.
  }];
  let dependentDialects = ["::fuse::FuseDialect", "::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"weights", "weights", "std::string", "\"auto\"",
           "auto: fold constants and parameters, run-time weights only where that is cheaper; constants: only "
           "constants; always: whatever the weights are">,
  ];
}

def Apply : Pass<"fuse-apply", "::mlir::ModuleOp"> {
  let summary = "form a fuse.kernel of each planned group";
  let description = [{
    Reads the plan from `fuse.group` and `fuse.tile`, checks it as `fuse-verify-plan` does, and moves each group with its glue
    into a `fuse.kernel`. A group that cannot become one is named in a warning and left as it is, so that the program still
    compiles. Then what depends on constants and `fuse.param` arguments only moves out of each public function `f` into
    `f.prepare`, which `f` calls before `f.body(inputs, prepared...)`: a runner calls it once.
  }];
  let dependentDialects = ["::fuse::FuseDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::func::FuncDialect"];
}

def Greedy : Pass<"fuse-greedy", "::mlir::ModuleOp"> {
  let summary = "fuse-plan and fuse-apply";
  let description = [{
    Plans with the options that `fuse-boundary` left on the module, forms the kernels and splits off the preparation. On its
    own output it changes nothing.
  }];
  let dependentDialects = ["::fuse::FuseDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::func::FuncDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"objective", "objective", "std::string", "\"time\"",
           "time: least predicted time; bytes: fewest bytes between kernels">,
    Option<"pack", "pack", "bool", "false",
           "bring weights of linear layers that are parameters into panels of columns, in the preparation">,
  ];
}

def Unfuse : Pass<"fuse-unfuse", "::mlir::ModuleOp"> {
  let summary = "put the operators of each fuse.kernel back in its place";
  let description = [{
    Inlines every `fuse.kernel`, so that upstream passes can lower the program; the values stay what they were.
  }];
  let dependentDialects = ["::fuse::FuseDialect"];
}

#endif // FUSE_REWRITE_PASSES_TD
