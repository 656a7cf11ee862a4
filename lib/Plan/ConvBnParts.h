//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parts of the conv-BN decision. Private to lib/Plan.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_PLAN_CONVBNPARTS_H
#define FUSE_LIB_PLAN_CONVBNPARTS_H

#include "fuse/Analysis/Operators.h"
#include "fuse/Plan/ConvBn.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <variant>

namespace fuse {

/// Stands for a part of an axis that has no name of its own, where a reshape
/// splits an axis.
constexpr unsigned kOpaqueAxis = 63;

/// Axes of a tensor whose reassociation groups are collapsed.
Axes collapseAxes(const Axes &axes,
                  llvm::ArrayRef<mlir::ReassociationIndices> groups);
/// Axes of the result of expanding a tensor to `shape`. Where that splits an
/// axis of `extents`, the dimensions are opaque.
Axes expandAxes(const Axes &axes,
                llvm::ArrayRef<mlir::ReassociationIndices> groups,
                llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> extents);
/// The axes as a set of bits.
uint64_t axisSetOf(const Axes &axes);

/// A structured operation on tensors with parallel loops only.
bool isElementwise(mlir::Operation *op);

/// An operation that multiplies two operands and accumulates, and what each
/// axis of its result means.
class ConvSite {
public:
  /// Nothing if `op` is not such an operation on tensors.
  static std::optional<ConvSite> get(mlir::Operation *op);

  mutable mlir::linalg::LinalgOp conv; ///< interface methods are not const
  /// Of the axes of the result, then of the parts of those that are split.
  llvm::SmallVector<int64_t> extents;
  llvm::SmallVector<AxisSplit, 1> splits;
  /// Operands that can be scaled, the usual one first, each with the axes that
  /// index it.
  llvm::SmallVector<std::pair<unsigned, uint64_t>, 2> filters;
  /// A matmul or the like, where either operand may be the weights.
  bool isContraction = false;

  mlir::RankedTensorType resultType() const;
  Axes axes() const; ///< of the result
  /// Of them there are so many.
  unsigned rank() const {
    return splits.empty() ? extents.size() : splits.front().first;
  }
  /// Splits a channel axis into parts of `shape`, unless it is split otherwise.
  void split(unsigned axis, llvm::ArrayRef<int64_t> shape);
  /// All axes of an extent other than 1.
  uint64_t allAxes() const;
  /// Channels if operand `filter` is scaled, ascending.
  llvm::SmallVector<unsigned, 2> channels(unsigned filter) const;
  /// True if `set` leaves no axis over which a value is broadcast.
  bool isFull(uint64_t set) const;
  bool isPerChannel(uint64_t set) const;
  /// True if the body is `acc + a * b` and linear in operand `filter`.
  bool hasLinearBody(unsigned filter) const;
  /// True if operand `filter` is of another type than the result, or cast.
  bool roundsFilter(unsigned filter) const;
  /// True if `value` is computed from the result. Says yes where the search
  /// would take too long.
  bool reaches(mlir::Value value);

private:
  llvm::DenseSet<mlir::Value> independent; ///< values known not to depend
};

/// The convolution's result times `scale` plus `shift`; absent ones are 1 and
/// 0.
struct Affine {
  std::optional<ExprId> scale, shift;
  bool cast = false; ///< changed its element type on the way

  bool operator==(const Affine &other) const {
    return scale == other.scale && shift == other.shift && cast == other.cast;
  }
};

/// What a scalar in the body of an elementwise operation is: unknown, a value
/// per channel, or affine in the convolution's result.
using Scalar = std::variant<std::monostate, ExprId, Affine>;

using Scalars = llvm::DenseMap<mlir::Value, Scalar>;

/// Symbolic evaluation of bodies, and of where an operand's values come from.
class ChannelTracer {
public:
  ChannelTracer(ConvSite &site, ChannelExprs &exprs)
      : site(site), exprs(exprs) {}

  /// All scalars in the body of `op` that are used. `read` gives those that
  /// operands pass to it.
  Scalars evaluate(mlir::linalg::LinalgOp op,
                   llvm::function_ref<Scalar(mlir::OpOperand &)> read);
  /// Where the elements of a tensor with these axes, or a scalar, come from:
  /// looks through reshapes, broadcasts, fills and elementwise operations.
  ExprId trace(mlir::Value value, const Axes &axes);
  /// `trace` for an operand of an elementwise operation; unknown if the map
  /// has other results than dimensions.
  Scalar traceOperand(mlir::linalg::LinalgOp op, mlir::OpOperand &operand,
                      const Axes &loopAxes);

private:
  ExprId scalar(mlir::Value value);
  ExprId negate(ExprId value);
  Scalar apply(mlir::Operation &op, llvm::ArrayRef<Scalar> operands);
  Scalar unary(mlir::Operation &op, Affine y);
  Scalar binary(llvm::StringRef name, Scalar a, Scalar b);
  std::optional<ExprId> inlineProducer(mlir::Value value, const Axes &axes);

  ConvSite &site;
  ChannelExprs &exprs;
  unsigned depth = 0, inlined = 0;
};

/// The last affine value of a body that all uses of the convolution's result in
/// it go through: the end of a batch normalisation that is followed by an
/// activation in the same body. Null if there is none.
mlir::Value affineHead(mlir::linalg::LinalgOp op, const Scalars &scalars);

/// When values are known, with what was found remembered.
class WeightKinds {
public:
  explicit WeightKinds(mlir::FunctionOpInterface function)
      : function(function) {}
  WeightKind of(mlir::Value value);

private:
  bool visit(mlir::Value value, llvm::SmallVectorImpl<mlir::Value> &stack);
  mlir::FunctionOpInterface function;
  llvm::DenseMap<mlir::Value, WeightKind> known;
  llvm::DenseSet<mlir::Value> open;
};

/// A prefix of a chain that ends with a scale or shift.
struct Cut {
  Affine affine;
  llvm::SmallVector<mlir::Operation *> ops;
  mlir::Value head;        ///< see BnChain
  unsigned consumers = 1;  ///< most readers of a value before the end
  bool otherBlock = false; ///< an operation is in another block
  std::string effect;      ///< of a body; empty if none
};

/// Fills in the decision on `cut` and what it rests on. Runs the gates in
/// order and stops at the first refusal.
BnChain decideFold(ConvSite &site, std::shared_ptr<ChannelExprs> exprs,
                   const Cut &cut, const FoldOptions &options,
                   WeightKinds &kinds);

/// Refuses sums in f16 or bf16 of so many terms that their rounding errors may
/// exceed the tolerance of the type.
std::optional<Decision> accumulatorGate(const ConvSite &site);

/// The user's word on `path`, operations of which each reads the one before:
/// `never` and `mode=off` keep what the gates would fold, and `always` folds
/// what does not pay, never what is not right.
Decision overridden(llvm::ArrayRef<mlir::Operation *> path,
                    const FoldOptions &options, Decision decision);

/// The folded weights, or why there are none.
struct FoldResult {
  std::optional<FoldedConstants> constants;
  std::optional<Reason> refusal;
};
FoldResult foldConstants(const ConvSite &site, const BnChain &chain);
FoldResult foldInputConstants(const ConvSite &site, const BnInput &input);

/// Runs over the points of a box, the last dimension fastest, and keeps the
/// linear index of what is read with `strides`.
class StridedIndex {
public:
  StridedIndex(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides)
      : shape(shape), strides(strides), point(shape.size(), 0) {}
  int64_t index() const { return linear; }
  void next() {
    for (size_t dim = shape.size(); dim-- > 0;) {
      linear += strides[dim];
      if (++point[dim] < shape[dim])
        return;
      linear -= strides[dim] * shape[dim];
      point[dim] = 0;
    }
  }

private:
  llvm::ArrayRef<int64_t> shape, strides;
  llvm::SmallVector<int64_t> point;
  int64_t linear = 0;
};

/// Elements of a constant, and the key of the resource that holds them, if any.
struct ConstantElements {
  std::vector<double> values;
  std::string resource;
};

/// The elements of a float constant, a splat repeated, through reshapes, casts
/// and transposes; nothing if `value` is none or its data are not there.
std::optional<ConstantElements> constantElements(mlir::Value value);

/// `value` rounded to `type`, to nearest even.
double roundTo(mlir::FloatType type, double value);
/// The elements as they lie in an attribute; `values` are of `type` already.
std::vector<char> encodeElements(mlir::FloatType type,
                                 llvm::ArrayRef<double> values);

} // namespace fuse

#endif // FUSE_LIB_PLAN_CONVBNPARTS_H
