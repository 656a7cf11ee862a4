//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fuse/Plan/Boundary.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace fuse;

static constexpr const char *kProgram = R"mlir(
func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %p = linalg.exp ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %q = linalg.negf {fuse.cost_override = {registers = 7}}
      ins(%p : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %q : tensor<64xf32>
}
)mlir";

TEST(CostCallback, ChangesVerdictsAndLeavesTheLastWordToTheUser) {
  MLIRContext context;
  context.loadDialect<bufferization::BufferizationDialect, func::FuncDialect,
                      linalg::LinalgDialect, math::MathDialect,
                      tensor::TensorDialect, FuseDialect>();
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(kProgram, &context);
  ASSERT_TRUE(module);
  FunctionOpInterface function = functionsOf(*module).front();
  VerdictOptions options;
  options.device = llvm::cantFail(loadDevice("sm_80"));

  FunctionFacts counted(function);
  EXPECT_EQ(decideEdges(counted, options).front().reason, Reason::CanFuse);

  FunctionFacts own(function, [](linalg::LinalgOp, Footprint &footprint) {
    footprint.registers = 300;
  });
  EXPECT_EQ(own.operators[0].footprint.registers, 300);
  EXPECT_EQ(own.operators[1].footprint.registers, 7);
  EXPECT_EQ(decideEdges(own, options).front().reason, Reason::NoTile);
}
