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
  let summary = "fold batch normalisation into the weights of the convolution before it";
  let description = [{
    Finds every per-channel affine chain `y * scale + shift` behind a convolution, however it is spelled, and replaces it by
    scaled weights `w' = w * s` and an initial value `b' = (b - mean) * s + beta`, with `s = gamma / sqrt(var + eps)`. Constant
    weights are folded at compile time; weights that are parameters (`fuse.param`) are scaled in IR that depends on
    parameters only. One remark of category `fuse-fold` per chain. Refreshes the verdicts that `fuse-boundary` left.
  }];
  let dependentDialects = ["::fuse::FuseDialect", "::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"weights", "weights", "std::string", "\"auto\"",
           "auto: fold constants and parameters, run-time weights only where that is cheaper; constants: only "
           "constants; always: whatever the weights are">,
    Option<"contractions", "contractions", "bool", "false",
           "fold into matmuls too (a linear layer with batch normalisation)">,
  ];
}

#endif // FUSE_REWRITE_PASSES_TD
