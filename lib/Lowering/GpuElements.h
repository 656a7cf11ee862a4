//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements of the tensors of an outlined kernel, as code of one thread.
//
//   y[i, j], y = exp(x - broadcast m)   ==>   exp(load x[i, j] - load m[i])
//
// What is between the arguments and an element is computed where the element is
// asked for: operators by their bodies, glue by its indices. Asked for several
// lanes at once, the answer is a vector, or a scalar where all lanes agree.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_LOWERING_GPUELEMENTS_H
#define FUSE_LIB_LOWERING_GPUELEMENTS_H

#include "GpuIndex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace fuse {

/// Where an element of a tensor comes from.
struct ElementSource {
  mlir::Value tensor;
  Lanes indices;
};

class Elements {
public:
  Elements(mlir::OpBuilder &builder, mlir::Location loc)
      : math(builder, loc), builder(builder), loc(loc), scopes(1) {}

  /// An argument: a row-major buffer in global memory.
  void bindTensor(mlir::Value tensor, mlir::Value pointer,
                  llvm::ArrayRef<Extent> extents);
  void bindScalar(mlir::Value scalar, mlir::Value value);

  /// The element, in the insertion block or one around it. Nothing if there is
  /// no code for it; `failedOp` then says where.
  mlir::Value at(mlir::Value tensor, llvm::ArrayRef<LaneIndex> indices);
  /// Lets `value` be the element from here on, to the end of the region.
  void preset(mlir::Value tensor, llvm::ArrayRef<LaneIndex> indices,
              mlir::Value value);
  /// Where the element is in memory, if it is one of an argument as it is or a
  /// padded one; `inside` says then whether it is none of the padding, where
  /// the address is of some other element.
  mlir::Value addressOf(mlir::Value tensor, llvm::ArrayRef<LaneIndex> indices,
                        mlir::Value &inside);
  /// A value of `element` in its memory type, and back.
  mlir::Value toMemory(mlir::Value value, mlir::Type element);
  mlir::Value fromMemory(mlir::Value value, mlir::Type element);
  void store(mlir::Value value, mlir::Value pointer, LaneIndex number,
             mlir::Type element);
  /// Stores where `condition` holds; everywhere without one.
  void storeIf(mlir::Value condition, mlir::Value value, mlir::Value pointer,
               LaneIndex number, mlir::Type element);
  /// A scalar that the kernel computes beside the tensors.
  mlir::Value scalar(mlir::Value value);
  Extent extent(mlir::Value tensor, unsigned dim);
  llvm::SmallVector<Extent> extents(mlir::Value tensor);

  /// Loop indices of `op` where its result has the element at `indices`; those
  /// of reduction loops are left open.
  std::optional<Lanes> parallelLoops(mlir::linalg::LinalgOp op, unsigned result,
                                     llvm::ArrayRef<LaneIndex> indices);
  llvm::SmallVector<Extent> loopExtents(mlir::linalg::LinalgOp op);
  /// The elements that `op` reads at a point of its loops, none for operands
  /// that are scalars or that its body does not use; nothing where lanes would
  /// part.
  std::optional<llvm::SmallVector<std::optional<ElementSource>>>
  operandsAt(mlir::linalg::LinalgOp op, llvm::ArrayRef<LaneIndex> loops);
  /// What glue passes on; nothing where lanes would part.
  std::optional<llvm::SmallVector<ElementSource, 2>>
  glueSources(mlir::Operation *glue, llvm::ArrayRef<LaneIndex> indices);
  /// What a pad's element is read at: an element of its source that exists, and
  /// `inside`, if it is set, says whether it is that one.
  std::optional<Lanes> insidePad(mlir::tensor::PadOp pad,
                                 llvm::ArrayRef<LaneIndex> indices,
                                 mlir::Value &inside);
  /// The body of `op` on values of its block arguments.
  llvm::SmallVector<mlir::Value> inlineBody(mlir::linalg::LinalgOp op,
                                            llvm::ArrayRef<mlir::Value> values,
                                            llvm::ArrayRef<LaneIndex> loops);

  /// One step of a reduction: result `result` after the point `loops`, which
  /// was `carried` before it.
  mlir::Value step(mlir::linalg::LinalgOp op, unsigned result,
                   llvm::ArrayRef<LaneIndex> loops, mlir::Value carried);

  /// Says how a result of an operator with reduction loops is made; nothing: by
  /// a loop of the thread.
  using Reduce = std::function<mlir::Value(mlir::linalg::LinalgOp, unsigned,
                                           llvm::ArrayRef<LaneIndex>)>;
  Reduce reduce;

  /// Says how elements of tensors that are on chip are read.
  using Held = std::function<mlir::Value(llvm::ArrayRef<LaneIndex>)>;
  llvm::DenseMap<mlir::Value, Held> held;

  /// What is made in a region is not used after it.
  void enter();
  void leave();
  /// Loops of one thread over `extents`, innermost last.
  llvm::SmallVector<mlir::Value>
  loops(llvm::ArrayRef<Extent> extents, llvm::ArrayRef<mlir::Value> start,
        llvm::function_ref<llvm::SmallVector<mlir::Value>(
            llvm::ArrayRef<LaneIndex>, llvm::ArrayRef<mlir::Value>)>
            body);
  mlir::Value splat(mlir::Value value);

  IndexMath math;
  /// The first operation that there was no code for, and what of it.
  mlir::Operation *failedOp = nullptr;
  std::string failure;

private:
  using Key = std::pair<const void *,
                        llvm::SmallVector<std::pair<const void *, int64_t>, 4>>;
  Key keyOf(mlir::Value tensor, llvm::ArrayRef<LaneIndex> indices) const;
  mlir::Value compute(mlir::Value tensor, llvm::ArrayRef<LaneIndex> indices);
  mlir::Value computeGlue(mlir::Operation *op,
                          llvm::ArrayRef<LaneIndex> indices);
  mlir::Value computePad(mlir::tensor::PadOp pad,
                         llvm::ArrayRef<LaneIndex> indices);
  mlir::Value computeConcat(mlir::tensor::ConcatOp concat,
                            llvm::ArrayRef<LaneIndex> indices);
  mlir::Value computeInsert(mlir::tensor::InsertSliceOp insert,
                            llvm::ArrayRef<LaneIndex> indices);
  mlir::Value choose(mlir::Value condition, mlir::Type type,
                     llvm::function_ref<mlir::Value()> yes,
                     llvm::function_ref<mlir::Value()> no);
  mlir::Type typeOf(mlir::Value tensor, llvm::ArrayRef<LaneIndex> indices);
  Extent extentOf(mlir::OpFoldResult size);
  mlir::Value computeOperator(mlir::linalg::LinalgOp op, unsigned result,
                              llvm::ArrayRef<LaneIndex> indices);
  mlir::Value reduceSerially(mlir::linalg::LinalgOp op, unsigned result,
                             llvm::ArrayRef<LaneIndex> loops);
  mlir::Value lanesApart(mlir::Value tensor, llvm::ArrayRef<LaneIndex> indices);
  mlir::Value load(mlir::Value pointer, LaneIndex number, mlir::Type element);
  mlir::Value address(mlir::Value pointer, LaneIndex number, mlir::Type memory);
  mlir::Value inlineOp(mlir::Operation *op, mlir::IRMapping &mapping,
                       llvm::ArrayRef<LaneIndex> loops);
  mlir::Value fail(mlir::Operation *op, llvm::StringRef what);

  struct Argument {
    mlir::Value pointer;
    llvm::SmallVector<Extent> extents;
  };
  mlir::OpBuilder &builder;
  mlir::Location loc;
  llvm::DenseMap<mlir::Value, Argument> arguments;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  llvm::SmallVector<std::map<Key, mlir::Value>, 4> scopes;
};

/// Type of `element` in memory: i1 is a byte, index 64 bits.
mlir::Type memoryType(mlir::Type element);
/// Bytes of `element` in memory; nothing for a type that no GPU code is made
/// for.
std::optional<unsigned> memoryBytes(mlir::Type element);

} // namespace fuse

#endif // FUSE_LIB_LOWERING_GPUELEMENTS_H
