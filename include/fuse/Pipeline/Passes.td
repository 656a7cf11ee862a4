//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes that plan, rewrite and lower together.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_PIPELINE_PASSES_TD
#define FUSE_PIPELINE_PASSES_TD

include "mlir/Pass/PassBase.td"

def Replan : Pass<"fuse-replan", "::mlir::ModuleOp"> {
  let summary = "give kernels that spill registers another tile, or undo their fusion";
  let description = [{
    Lowers a copy of the module for a chip and asks `ptxas` what each `fuse.kernel` takes. One that spills gets the tile of its class
    that is predicted to need fewer registers, of those the one that needs most; where there is none it is put back into operators.
    At most two rounds; what still spills then is named in a warning. A remark says what is changed and why. Without `ptxas` a remark
    says that resources are estimates, and nothing is changed.
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"sm_80\"", "chip to compile for">,
  ];
}

#endif // FUSE_PIPELINE_PASSES_TD
