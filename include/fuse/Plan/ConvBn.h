//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conv-BN folding, the decision: finds chains `conv(x, w) * scale + shift` with
// a scale and a shift per output channel, behind convolutions and linear
// layers, and says of each whether the scale may move into the weights. Changes
// nothing; lib/Rewrite carries it out.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_PLAN_CONVBN_H
#define FUSE_PLAN_CONVBN_H

#include "fuse/Device/Device.h"
#include "fuse/Dialect/Decision.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <memory>
#include <vector>

namespace fuse {

/// Which weights are folded: constants and parameters and, where that is
/// cheaper, run-time ones; constants only; all.
enum class WeightsMode { Auto, Constants, Always };

/// The mode of that name; nothing if there is none.
std::optional<WeightsMode> parseWeightsMode(llvm::StringRef name);

/// When a weight is known: in the program, before the first call (it depends on
/// arguments marked `fuse.param` only), or anew on every call.
enum class WeightKind { Constant, Parameter, RunTime };

llvm::StringRef stringifyWeightKind(WeightKind kind);

struct FoldOptions {
  WeightsMode weights = WeightsMode::Auto;
  /// Device whose times decide on run-time weights.
  Device device;
  /// Fold nothing: the baseline (`mode=off` of `fuse-boundary`).
  bool off = false;
};

/// The device and the mode that `fuse-boundary` left on `module`, and the
/// weights that `fuse-conv-bn` did, or their defaults.
FoldOptions foldOptionsFor(mlir::Operation *module);

/// For each dimension of a tensor, the axes of the convolution's result that it
/// runs over, outermost first: [[0], [1, 2], []] has a second dimension that
/// collapses axes 1 and 2. Axes of extent 1 are left out.
using Axes = llvm::SmallVector<llvm::SmallVector<unsigned, 2>, 4>;

/// An axis that a reshape splits. Its parts are axes of their own, numbered
/// from `first`, behind those of the result.
struct AxisSplit {
  unsigned axis, first;
  llvm::SmallVector<int64_t, 3> shape; ///< extents of the parts, none is 1
};

/// `axes` with the parts of each axis that is split in its place.
Axes refineAxes(const Axes &axes, llvm::ArrayRef<AxisSplit> splits);

using ExprId = unsigned;

/// A node of an expression over values per output channel.
struct ChannelNode {
  enum class Kind { Constant, Leaf, Op };
  Kind kind;
  mlir::Type type;          ///< of the scalar
  mlir::TypedAttr constant; ///< Constant
  mlir::Value leaf;         ///< Leaf: a tensor, or a scalar
  Axes axes;                ///< Leaf: of each dimension of the tensor
  mlir::Operation *prototype = nullptr;  ///< Op: to clone, or null
  llvm::StringRef name;                  ///< Op: name of the operation
  llvm::SmallVector<ExprId, 3> operands; ///< Op
  uint64_t axisSet = 0;  ///< axes that the value depends on, as bits
  bool computed = false; ///< depends on a leaf that an operation computes
};

/// Expressions over values per output channel, with shared nodes. A node comes
/// after its operands, so that ascending ids are an order of evaluation.
class ChannelExprs {
public:
  ExprId constant(mlir::TypedAttr value);
  /// A float or integer constant of `type`.
  ExprId constant(mlir::Type type, double value);
  ExprId leaf(mlir::Value value, Axes axes);
  ExprId op(mlir::Operation *prototype, llvm::ArrayRef<ExprId> operands);
  ExprId op(llvm::StringRef name, llvm::ArrayRef<ExprId> operands);

  const ChannelNode &operator[](ExprId id) const { return nodes[id]; }
  /// All nodes that `root` needs, `root` last.
  llvm::SmallVector<ExprId> reachable(ExprId root) const;

private:
  ExprId add(ChannelNode node);
  std::vector<ChannelNode> nodes;
};

/// Folded constant weights, as raw elements of the convolution's type.
struct FoldedConstants {
  std::vector<char> filter;
  std::string resource;    ///< key of the old filter's resource, if it is one
  std::vector<char> shift; ///< per channel; empty if there is no shift
  bool shiftIsZero = true;
};

/// A per-channel affine chain behind a convolution, and whether to fold it.
struct BnChain {
  mutable mlir::linalg::LinalgOp conv; ///< interface methods are not const
  /// From the convolution to the last scale or shift: elementwise operations,
  /// and reshapes in between.
  llvm::SmallVector<mlir::Operation *> ops;
  /// Where the last operation goes on with something else: the value in its
  /// body that the chain ends with. Null where the whole operation is affine.
  mlir::Value head;
  unsigned index = 0; ///< in the function, in program order
  Decision decision;
  WeightKind weights = WeightKind::RunTime;

  /// Operand of `conv` that is scaled, and the axes of the result that index
  /// it, ascending: the channels.
  unsigned filter = 1;
  llvm::SmallVector<unsigned, 2> channels;
  /// Channels of which the expressions know the parts.
  llvm::SmallVector<AxisSplit, 1> splits;
  std::shared_ptr<const ChannelExprs> exprs;
  ExprId scale = 0;
  /// What each accumulator starts from; the convolution's own initial value
  /// included. None if that is zero.
  std::optional<ExprId> shift;
  bool initIsZero = false; ///< the convolution's own initial value is
  /// A bias alone: the filter stays as it is, only the initial value changes.
  bool shiftOnly = false;
  /// Present if the weights are constants whose value could be computed.
  std::shared_ptr<const FoldedConstants> constants;

  bool foldable() const { return decision.verdict == VerdictKind::Fuse; }
  mlir::Operation *last() const { return ops.back(); }
};

/// All chains with a scale in `function`, by convolution in program order. A
/// convolution that was folded before (`fuse.folded`) is left out.
std::vector<BnChain> findBnChains(mlir::FunctionOpInterface function,
                                  const FoldOptions &options);

/// A per-channel affine chain in front of a convolution, and whether to fold it
/// into the weights.
struct BnInput {
  mutable mlir::linalg::LinalgOp conv; ///< interface methods are not const
  mlir::Value source;                  ///< what the chain starts from
  llvm::SmallVector<mlir::Operation *> ops;
  /// Between the chain and the convolution, if it is there.
  mutable mlir::tensor::PadOp pad;
  unsigned index = 0; ///< in the function, in program order
  Decision decision;
  WeightKind weights = WeightKind::RunTime;

  unsigned filter = 1; ///< operand of `conv`; the other one is the input
  /// Dimensions of the input that index the filter, ascending.
  llvm::SmallVector<unsigned, 2> channels;
  std::shared_ptr<const ChannelExprs> exprs;
  ExprId scale = 0;
  std::optional<ExprId> shift;
  /// What the accumulators start from, per channel of the result; none if that
  /// is zero, or if there is no shift to add to it.
  std::shared_ptr<const ChannelExprs> startExprs;
  std::optional<ExprId> start;
  llvm::SmallVector<unsigned, 2> outputs; ///< axes that index the filter
  /// Present if the weights are constants whose value could be computed; their
  /// shift is what the accumulators start from.
  std::shared_ptr<const FoldedConstants> constants;

  bool foldable() const { return decision.verdict == VerdictKind::Fuse; }
};

/// All chains with a scale in front of the convolutions and linear layers of
/// `function`, each value of them with one reader.
std::vector<BnInput> findBnInputs(mlir::FunctionOpInterface function,
                                  const FoldOptions &options);

/// For each dimension of an elementwise operation's result, the dimension of
/// `operand` that is read along it; nothing if `operand` is broadcast, sliced
/// or read diagonally.
std::optional<llvm::SmallVector<int64_t>>
permutationOf(mlir::linalg::LinalgOp op, mlir::OpOperand &operand);

} // namespace fuse

#endif // FUSE_PLAN_CONVBN_H
