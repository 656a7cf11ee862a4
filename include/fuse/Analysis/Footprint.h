//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Footprint: FLOPs, bytes and extents of one operator (SPEC section 1).
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_ANALYSIS_FOOTPRINT_H
#define FUSE_ANALYSIS_FOOTPRINT_H

#include "fuse/Support/Count.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseMap.h"

namespace fuse {

/// What one operator costs. Counts are exact; they are polynomials where an
/// extent is dynamic.
struct Footprint {
  Count flops;     ///< weighted arithmetic operations of the body x points
  Count read;      ///< bytes of distinct elements read
  Count written;   ///< bytes of distinct elements written
  Count points;    ///< size of the iteration space
  Count parallel;  ///< product of the parallel extents
  Count reduction; ///< product of the reduction extents
  Count transcendentals; ///< exp, log, tanh, erf, sqrt, pow, ... evaluated
  double registers =
      0; ///< 32-bit registers of one point: live scalars of the body
  double flopsPerPoint = 0; ///< of one point, a transcendental weighed by what
                            ///< it takes (see transcendentalFlops)
  std::optional<int64_t> statedBytes; ///< read and written together, as
                                      ///< `fuse.cost_override` states them
  llvm::SmallVector<std::string, 2>
      overridden; ///< what `fuse.cost_override` states

  bool overflowed() const;
  Count bytes() const {
    return statedBytes ? Count(*statedBytes) : read + written;
  }
  /// FLOP per byte: `flops / max(read + written, 1)`; none where dynamic.
  std::optional<double> intensity() const;
};

/// Names dynamic extents so that two extents get the same symbol only where
/// they are provably equal: function arguments are `argN.D`, index arguments
/// `argN`, any other root `vK.D` with K in order of first use.
class ExtentNamer {
public:
  Count extent(mlir::Value shaped, int64_t dim);
  Count index(mlir::Value value);
  /// States the extent of an operator's result, found from its loops.
  void remember(mlir::Value result, int64_t dim, const Count &extent) {
    known[{result, dim}] = extent;
  }

private:
  std::string nameOf(mlir::Value value);
  llvm::DenseMap<mlir::Value, unsigned> numbers;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, Count> known;
};

/// Extents of the loops of `op`, outermost first.
llvm::SmallVector<Count> loopExtents(mlir::linalg::LinalgOp op,
                                     ExtentNamer &namer);

/// Number of distinct elements that `map` touches over loops of `extents`.
/// Exact for results of one or two dimensions each (any strides); an upper
/// bound otherwise.
Count touchedElements(mlir::AffineMap map, llvm::ArrayRef<Count> extents);

/// Bytes of one element; index counts 8 (the data layout's default), i1 one.
/// None for element types that are neither int, float, index nor complex.
std::optional<int64_t> elementBytes(mlir::Type element);

/// Bytes of the distinct elements of `operand` that `op` touches; 0 for
/// scalars.
Count touchedBytes(mlir::linalg::LinalgOp op, mlir::OpOperand &operand,
                   ExtentNamer &namer);

/// FLOPs that one transcendental takes on a GPU, relative to an f32 add: the
/// special function unit gives 16 results a clock per SM where 64 FMAs run
/// (CUDA C++ Programming Guide, arithmetic instructions), so 8 FLOPs for a bare
/// rsqrt. A sqrt is an rsqrt and a reciprocal; others add a range reduction,
/// taken to be as much.
double transcendentalFlops(mlir::Operation *op);

Footprint footprintOf(mlir::linalg::LinalgOp op, ExtentNamer &namer);

} // namespace fuse

#endif // FUSE_ANALYSIS_FOOTPRINT_H
