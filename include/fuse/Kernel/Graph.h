//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// FusionGraph: the operators of a function as nodes with numbers, and groups of
// them that would be one kernel.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_KERNEL_GRAPH_H
#define FUSE_KERNEL_GRAPH_H

#include "fuse/Analysis/Facts.h"
#include "fuse/Device/Device.h"

namespace fuse {

/// One source of one operand of an operator, glue looked through.
struct GraphInput {
  unsigned operand;
  std::optional<unsigned>
      producer;     ///< the operator that computes it, if one does
  mlir::Value root; ///< the value behind the glue
  double bytes;     ///< that the operator touches of it
  llvm::SmallVector<mlir::Operation *, 2>
      glue;              ///< from the root to the operator
  bool identity = false; ///< reads the producer's element of its own number
};

/// One operator. Counts with dynamic extents take kAssumedExtent for those that
/// no `fuse.dim_hint` names.
struct GraphNode {
  Role role;
  llvm::SmallVector<int64_t, 4> extents; ///< of the loops, dynamic ones as such
  double flops = 0, transcendentals = 0, flopsPerPoint = 0;
  double points = 0, parallel = 0, reduction = 0;
  double registers = 0;
  unsigned floatBits =
      32; ///< widest float that the operator computes in; 32 for integers
  bool halfInputs = false; ///< all inputs are 16-bit floats
  bool fromParameters = false;
  llvm::SmallVector<GraphInput, 3> inputs;
  llvm::SmallVector<unsigned, 2>
      consumers; ///< operators, ascending, of all results
  llvm::SmallVector<double, 1> bytesWritten;                    ///< per result
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>, 1> readers; ///< per result
  llvm::SmallVector<bool, 1>
      escapes; ///< per result: used by something that is no operator
};

/// What a dynamic extent counts as where nothing is known of it. Decisions that
/// rest on it name it.
constexpr int64_t kAssumedExtent = 128;

/// FLOPs on the vector units in units of f32 FLOPs: an f64 FLOP takes
/// `peak_f32 / peak_f64` times as long, an f16 one `peak_f32 / peak_f16`.
double vectorFlops(const GraphNode &node, double flops, const Device &device);

class FusionGraph {
public:
  explicit FusionGraph(const FunctionFacts &facts);

  const FunctionFacts &facts;
  std::vector<GraphNode> nodes; ///< by operator id

  mlir::linalg::LinalgOp op(unsigned id) const {
    return facts.operators[id].op;
  }
};

/// What crosses the border of a group.
struct Traffic {
  double read = 0, written = 0; ///< bytes, each distinct value once
  unsigned inputs = 0, outputs = 0;
  unsigned extents = 0; ///< dynamic ones of inputs and outputs
};

/// The rows that all operators of a group share.
struct RowSpace {
  double rows = 1;   ///< how many
  double length = 1; ///< elements of the longest reduced row
};

/// Operators that would be one kernel, by ascending id (which is an order of
/// evaluation).
struct Group {
  const FusionGraph &graph;
  llvm::SmallVector<unsigned, 4> ops;
  /// Operators whose other readers are no reason to store their results: they
  /// join the kernel, or the operator is evaluated again for them.
  llvm::SmallVector<unsigned, 1> internal = {};

  bool contains(unsigned id) const;
  const GraphNode &node(unsigned id) const { return graph.nodes[id]; }
  /// True if result `result` of `id` is needed outside.
  bool isOutput(unsigned id, unsigned result) const;
  bool hasOutput(unsigned id) const;

  /// What the group's tiles are measured by, found once: a group does not
  /// change.
  mutable std::optional<Traffic> traffic = std::nullopt;
  mutable std::optional<double> registers = std::nullopt;
  mutable std::optional<std::pair<double, double>> pointwiseWork =
      std::nullopt; ///< FLOPs and transcendentals
  mutable std::optional<std::optional<RowSpace>> rowSpace = std::nullopt;
};

const Traffic &trafficOf(const Group &group);

/// How often each element of `producer` is evaluated if it is fused into the
/// elementwise or reducing `consumer` that reads it through `operand`: more
/// than once only where a loop of the consumer does not index the operand.
double evaluationsAlong(const FusionGraph &graph, unsigned producer,
                        unsigned consumer, unsigned operand);

/// Most 32-bit registers that are live at one point of a fused body: values of
/// the group that later operators need, and those of the operator's own body.
double liveRegisters(const Group &group);

} // namespace fuse

#endif // FUSE_KERNEL_GRAPH_H
