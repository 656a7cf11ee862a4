//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Index arithmetic of a GPU kernel, for several lanes at once.
//
//   linearize(delinearize(i))   ==>   i
//
// Every value is made once per scope, so that equal indices are equal values.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_LOWERING_GPUINDEX_H
#define FUSE_LIB_LOWERING_GPUINDEX_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include <map>
#include <optional>

namespace fuse {

/// An extent: a number, or a value where it is dynamic.
struct Extent {
  int64_t size = mlir::ShapedType::kDynamic;
  mlir::Value value = nullptr; ///< of type index, if dynamic

  bool isStatic() const { return !value; }
  bool operator==(const Extent &other) const {
    return size == other.size && value == other.value;
  }
};

/// An index of several lanes: lane `l` stands for `base + l * step`.
struct LaneIndex {
  mlir::Value base;     ///< of type index, never negative when it is used
  int64_t step = 0;     ///< between lanes
  int64_t multiple = 1; ///< divides `base`; 0 if `base` is 0

  bool operator==(const LaneIndex &other) const {
    return base == other.base && step == other.step;
  }
};

using Lanes = llvm::SmallVector<LaneIndex, 4>;

/// Makes index arithmetic at the insertion point of a builder. Where the lanes
/// would part (a division that cuts between them) the result is nothing.
class IndexMath {
public:
  IndexMath(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc), scopes(1) {}

  LaneIndex constant(int64_t value);
  LaneIndex of(const Extent &extent);
  LaneIndex add(LaneIndex a, LaneIndex b);
  LaneIndex sub(LaneIndex a, LaneIndex b);
  LaneIndex scale(LaneIndex a, const Extent &by);
  std::optional<LaneIndex> div(LaneIndex a, const Extent &by);
  std::optional<LaneIndex> rem(LaneIndex a, const Extent &by);
  /// The smaller one; lanes of `a` only move together.
  LaneIndex min(LaneIndex a, LaneIndex b);
  LaneIndex max(LaneIndex a, LaneIndex b);
  /// True where `a < b`, as i1; of the lanes' bases.
  mlir::Value less(LaneIndex a, LaneIndex b);

  /// The element's number in row-major order.
  std::optional<LaneIndex> linearize(llvm::ArrayRef<LaneIndex> indices,
                                     llvm::ArrayRef<Extent> extents);
  std::optional<Lanes> delinearize(LaneIndex number,
                                   llvm::ArrayRef<Extent> extents);
  Extent product(llvm::ArrayRef<Extent> extents);
  std::optional<LaneIndex> apply(mlir::AffineExpr expr,
                                 llvm::ArrayRef<LaneIndex> dims);
  std::optional<Lanes> apply(mlir::AffineMap map,
                             llvm::ArrayRef<LaneIndex> dims);
  /// Lane `lane` alone.
  LaneIndex lane(LaneIndex index, unsigned lane);

  /// Values made in a region are not used after it.
  void enter() { scopes.emplace_back(); }
  void leave() { scopes.pop_back(); }

  unsigned lanes = 1; ///< of every index with a step

private:
  enum Kind : unsigned { Add, Sub, Mul, Div, Rem, Min, Max, Less, Constant };
  using Key = std::tuple<unsigned, const void *, const void *, int64_t>;
  mlir::Value make(Kind kind, mlir::Value a, mlir::Value b);
  mlir::Value number(int64_t value);
  mlir::Value valueOf(const Extent &extent);
  bool keepsTogether(LaneIndex a, const Extent &by) const;

  struct Parts {
    mlir::Value whole;
    Extent by;
  };
  mlir::OpBuilder &builder;
  mlir::Location loc;
  llvm::SmallVector<std::map<Key, mlir::Value>, 4> scopes;
  struct Sum {
    LaneIndex high, low;
    Extent by;
  };
  std::optional<Sum> sumOf(LaneIndex index) const;

  /// What a quotient and a remainder come from.
  llvm::DenseMap<mlir::Value, Parts> quotients, remainders;
  /// `high * by + low` with `low` below `by`.
  llvm::DenseMap<mlir::Value, Sum> sums;
};

} // namespace fuse

#endif // FUSE_LIB_LOWERING_GPUINDEX_H
