//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code of a loop nest, as loops over vectors.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_LOWERING_NESTEMITTER_H
#define FUSE_LIB_LOWERING_NESTEMITTER_H

#include "LoopNest.h"
#include "fuse/Lowering/Passes.h"

namespace fuse {

/// A vector within a tile: where it starts, and how many of its lanes count.
struct Slot {
  int64_t offset;
  unsigned count;
};

/// Makes the code of one nest.
class NestEmitter {
public:
  NestEmitter(mlir::OpBuilder &builder, const LoopNest &nest,
              const RegisterTile &tile)
      : builder(builder), loc(nest.op.getLoc()), nest(nest), tile(tile),
        ivs(nest.extents.size()) {}
  void emit();

private:
  // Loops.
  mlir::Value index(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(builder, loc, value);
  }
  void forEach(unsigned loop, int64_t from, int64_t to, int64_t step,
               llvm::function_ref<void()> body);
  void emitParallel(unsigned loop);
  void emitVectorBlocks();
  void emitRowBlocks(llvm::ArrayRef<Slot> slots);
  void emitTile(unsigned rows, llvm::ArrayRef<Slot> slots);
  llvm::SmallVector<mlir::Value>
  reduce(unsigned loop, llvm::SmallVector<mlir::Value> accumulators,
         unsigned rows, llvm::ArrayRef<Slot> slots);
  llvm::SmallVector<mlir::Value>
  reduceAlong(llvm::SmallVector<mlir::Value> accumulators);
  llvm::SmallVector<mlir::Value>
  advance(llvm::SmallVector<mlir::Value> accumulators,
          llvm::ArrayRef<Slot> slots);
  void compensate(llvm::ArrayRef<mlir::Value> terms,
                  llvm::MutableArrayRef<mlir::Value> accumulators);
  void emitHorizontal();

  // Values.
  mlir::Value flatten(const NestOperand &operand);
  mlir::Value address(const NestOperand &operand, int64_t constant);
  mlir::VectorType vectorOf(mlir::Type element) {
    return mlir::VectorType::get(tile.lanes, element);
  }
  mlir::Value maskOf(unsigned count);
  mlir::Value loadRun(unsigned number, int64_t start, int64_t count);
  mlir::Value loadEverySecond(unsigned number, int64_t start, int64_t count);
  mlir::Value load(unsigned number, int64_t row, const Slot &slot);
  void store(unsigned number, int64_t row, const Slot &slot, mlir::Value value);
  mlir::Value asVector(mlir::Value scalar, mlir::IRMapping &mapping);
  llvm::SmallVector<mlir::Value>
  evaluate(llvm::MutableArrayRef<mlir::IRMapping> points);
  llvm::SmallVector<mlir::Value> step(llvm::ArrayRef<mlir::Value> accumulators,
                                      unsigned rows,
                                      llvm::ArrayRef<Slot> slots);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  const LoopNest &nest;
  const RegisterTile &tile;
  llvm::SmallVector<mlir::Value> ivs; ///< per loop; null: not yet in it
  /// Per operand: its buffer in one dimension.
  llvm::SmallVector<mlir::Value> flat;
};

} // namespace fuse

#endif // FUSE_LIB_LOWERING_NESTEMITTER_H
