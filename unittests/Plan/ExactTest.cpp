//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The exact planner against all partitions of small graphs, valued here with
// the classes alone.
//
//===----------------------------------------------------------------------===//

#include "fuse/Plan/Planner.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace fuse;

static constexpr const char *kType = "tensor<64x64xf32>";

/// Transcendental operators of one or two inputs, none of which is evaluated
/// again, and matmuls, in an order and with inputs of a fixed rule.
static std::string randomProgram(unsigned seed, unsigned count) {
  std::mt19937 random(seed);
  std::string text = "func.func @f(%v0: tensor<64x64xf32>, %v1: "
                     "tensor<64x64xf32>) -> (tensor<64x64xf32>) {\n"
                     "  %z = arith.constant 0.0 : f32\n"
                     "  %e = tensor.empty() : tensor<64x64xf32>\n"
                     "  %f = linalg.fill ins(%z : f32) outs(%e : "
                     "tensor<64x64xf32>) -> tensor<64x64xf32>\n";
  auto value = [&](unsigned index) { return "%v" + std::to_string(index); };
  for (unsigned index = 2; index < count + 2; ++index) {
    std::string first = value(random() % index), second = value(index - 1);
    std::string type = kType, line;
    if (random() % 3 == 0)
      line = "linalg.matmul ins(" + first + ", " + second + " : " + type +
             ", " + type + ") outs(%f : " + type + ")";
    else
      line = "linalg.exp ins(" + (random() % 2 ? first : second) + " : " +
             type + ") outs(%e : " + type + ")";
    text += "  " + value(index) + " = " + line + " -> " + type + "\n";
  }
  return text + "  return " + value(count + 1) + " : " + kType + "\n}\n";
}

namespace {
/// Tries all partitions.
class BruteForce {
public:
  BruteForce(const FusionGraph &graph, const VerdictOptions &options,
             Objective objective)
      : graph(graph), options(options), objective(objective) {}

  double least() {
    assign({}, 0);
    return best;
  }

private:
  /// Puts operator number `parts.size()` into each part, and into a new one.
  void assign(std::vector<unsigned> parts, unsigned count) {
    if (parts.size() == graph.nodes.size()) {
      if (std::optional<double> value = valueOfAll(parts, count))
        best = std::min(best, *value);
      return;
    }
    for (unsigned part = 0; part <= count; ++part) {
      std::vector<unsigned> next = parts;
      next.push_back(part);
      assign(std::move(next), std::max(count, part + 1));
    }
  }

  /// True if no part waits for itself through others.
  bool isAcyclic(const std::vector<unsigned> &parts, unsigned count) const {
    std::vector<std::vector<bool>> reach(count, std::vector<bool>(count));
    for (unsigned id = 0; id < parts.size(); ++id)
      for (const GraphInput &input : graph.nodes[id].inputs)
        if (input.producer && parts[*input.producer] != parts[id])
          reach[parts[*input.producer]][parts[id]] = true;
    for (unsigned by = 0; by < count; ++by)
      for (unsigned from = 0; from < count; ++from)
        for (unsigned to = 0; to < count; ++to)
          if (reach[from][by] && reach[by][to])
            reach[from][to] = true;
    for (unsigned part = 0; part < count; ++part)
      if (reach[part][part])
        return false;
    return true;
  }

  std::optional<double> valueOfAll(const std::vector<unsigned> &parts,
                                   unsigned count) const {
    if (!isAcyclic(parts, count))
      return std::nullopt;
    double sum = 0;
    for (unsigned part = 0; part < count; ++part) {
      Group group{graph, {}};
      for (unsigned id = 0; id < parts.size(); ++id)
        if (parts[id] == part)
          group.ops.push_back(id);
      Decision ignored;
      TileCost smallest;
      const KernelClass *kernel = classify(group, ignored);
      if (!kernel)
        return std::nullopt;
      std::optional<TileCost> cost =
          bestTile(*kernel, group, options.device, limitsOf(options), smallest);
      if (!cost)
        return std::nullopt;
      sum += objective == Objective::Time ? cost->estimate.seconds
                                          : cost->work.dramBytes + 1;
    }
    return sum;
  }

  const FusionGraph &graph;
  const VerdictOptions &options;
  Objective objective;
  double best = HUGE_VAL;
};

class ExactTest : public ::testing::TestWithParam<unsigned> {
protected:
  ExactTest() {
    context
        .loadDialect<arith::ArithDialect, bufferization::BufferizationDialect,
                     func::FuncDialect, linalg::LinalgDialect,
                     math::MathDialect, tensor::TensorDialect, FuseDialect>();
    options.device = llvm::cantFail(loadDevice("sm_80"));
  }
  MLIRContext context;
  VerdictOptions options;
};
} // namespace

TEST_P(ExactTest, FindsTheLeastOfAllPartitions) {
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(randomProgram(GetParam(), 7), &context);
  ASSERT_TRUE(module);
  FunctionFacts facts(functionsOf(*module).front());
  FusionGraph graph(facts);
  std::vector<Decision> decisions = decideEdges(facts, options);
  for (Objective objective : {Objective::Time, Objective::Bytes}) {
    std::optional<Plan> exact =
        planExactly(graph, decisions, options, objective, /*limitMs=*/60000);
    ASSERT_TRUE(exact);
    double least = BruteForce(graph, options, objective).least();
    EXPECT_NEAR(valueOf(*exact, objective), least, 1e-9 * least);
    Plan greedy = planGreedily(graph, decisions, options, objective);
    EXPECT_GE(valueOf(greedy, objective), least * (1 - 1e-9));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ExactTest, ::testing::Range(0u, 12u));

TEST_F(ExactTest, SaysWhenItIsTooLargeOrTooLate) {
  OwningOpRef<ModuleOp> large =
      parseSourceString<ModuleOp>(randomProgram(1, 80), &context);
  FunctionFacts facts(functionsOf(*large).front());
  FusionGraph graph(facts);
  std::vector<Decision> decisions = decideEdges(facts, options);
  EXPECT_FALSE(planExactly(graph, decisions, options, Objective::Time, 60000));
  OwningOpRef<ModuleOp> wide =
      parseSourceString<ModuleOp>(randomProgram(2, 40), &context);
  FunctionFacts more(functionsOf(*wide).front());
  FusionGraph other(more);
  EXPECT_FALSE(planExactly(other, decideEdges(more, options), options,
                           Objective::Time, 0));
}
