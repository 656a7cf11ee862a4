//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gates that a verdict passes, in order. Private to lib/Plan.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_PLAN_GATES_H
#define FUSE_LIB_PLAN_GATES_H

#include "fuse/Kernel/KernelClass.h"
#include "fuse/Plan/Boundary.h"

namespace fuse {

/// Costs that the gates of one function share: seconds of each operator as a
/// kernel of its own, found when first asked for.
class AloneCosts {
public:
  AloneCosts(const FusionGraph &graph, const VerdictOptions &options)
      : graph(graph), options(options), seconds(graph.nodes.size()) {}
  /// None if no class or tile takes the operator.
  std::optional<double> of(unsigned id);

private:
  const FusionGraph &graph;
  const VerdictOptions &options;
  std::vector<std::optional<std::optional<double>>> seconds;
};

/// What a gate looks at.
struct GateInput {
  const FunctionFacts &facts;
  const VerdictOptions &options;
  const Edge &edge;
  const FusionGraph &graph;
  AloneCosts &alone;

  const OperatorFacts &producer() const {
    return facts.operators[edge.producer];
  }
  const OperatorFacts &consumer() const {
    return facts.operators[edge.consumer];
  }
  const Consumers &readers() const {
    return producer().consumers[edge.onMemory ? 0 : edge.result];
  }
};

/// A gate returns a refusal or a condition; nothing where it passes.
using GateResult = std::optional<Decision>;

GateResult dependencyGate(const GateInput &input);
GateResult shapeGate(const GateInput &input);
GateResult numericsGate(const GateInput &input);
/// Sizes over int64: refused by the resource gate before any number is used.
GateResult sizeGate(const GateInput &input);

/// The profile, resource and profit gates of policy=cost, in this order, on the
/// kernel that producer and consumer would be. Adds numbers and the answers to
/// the four questions to `record`.
GateResult costGates(const GateInput &input, Decision &record);

/// The answers alone, for an edge that another gate has decided.
Answers answersFor(const GateInput &input);

} // namespace fuse

#endif // FUSE_LIB_PLAN_GATES_H
