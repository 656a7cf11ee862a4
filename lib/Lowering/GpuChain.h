//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The schedule of a chain kernel.
//
//   d = depthwise x; y = conv 1x1 d   ==>
//     d of the block's pixels, all channels, to shared memory; barrier
//     for columns { sums += d * weights; epilogue; store }
//
//   e = conv 1x1 x; d = depthwise e; y = conv 1x1 d   ==>
//     for channels between by 32 {
//       e of the pixels and their halo to shared memory; barrier
//       d of the pixels to shared memory; barrier
//       sums += d * weights }
//     epilogue; store
//
// Weights go through shared memory a few rounds of the sum at a time.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_LOWERING_GPUCHAIN_H
#define FUSE_LIB_LOWERING_GPUCHAIN_H

#include "GpuGemmSchedule.h"
#include "GpuRowSpace.h"
#include "fuse/Kernel/ChainTile.h"

namespace fuse {

/// The chain that `body` computes, if the schedule holds it with a block of
/// `tile`. Nothing, with the reason in `why`, if not. `shared`: bytes that a
/// block may have.
std::optional<ChainOps> scheduledChain(mlir::Block &body, const GpuTile &tile,
                                       double shared, std::string &why);

/// The plan's tile, or what is used without one.
GpuTile chainTile(TileAttr tile);

/// A kernel of a chain. False, with the reason in `why`, if the schedule does
/// not hold it; nothing of the kernel may be used then.
bool emitChain(GpuFrame &frame, double shared, std::string &why);

class ChainSchedule : GemmSchedule {
public:
  ChainSchedule(GpuFrame &frame, const GpuGemm &gemm, const ChainOps &ops,
                const ChainTile &tile, int64_t columns, int64_t threads)
      : GemmSchedule(frame, gemm, 0, 0, 0, threads), ops(ops), tile(tile),
        blockColumns(columns), anchor(ops.anchor),
        extents(frame.elements.loopExtents(anchor)) {}

  bool emit();

private:
  /// A box of a tensor's elements in shared memory.
  struct Box {
    mlir::Value tensor, memory;
    llvm::SmallVector<int64_t> sizes;  ///< per dimension
    llvm::SmallVector<int64_t> reach;  ///< per dimension, of all boxes together
    llvm::SmallVector<unsigned> order; ///< as they lie, the slowest first
    Lanes start;                       ///< indices of the first element
    bool isCut = false; ///< what is beyond the slowest dimension is 0
  };

  // Blocks and boxes.
  void place();
  void allocate();
  mlir::Value memory(int64_t offset, mlir::Type element, int64_t count);
  Box rowsBox();
  Box readBox();
  void boxFrom(Box &box, mlir::linalg::LinalgOp op, unsigned input,
               llvm::ArrayRef<LaneIndex> start, llvm::ArrayRef<int64_t> reach);
  bool fits(const Box &box, unsigned dim);
  /// Where the element `local` of a box is.
  std::optional<LaneIndex> placeIn(const Box &box,
                                   llvm::ArrayRef<LaneIndex> local);

  // What is in front of the last contraction.
  bool fill(const Box &box, bool isContraction);
  bool fillGroup(const Box &box, const ChainGroup &group, int64_t columns,
                 LaneIndex item, mlir::Value inside);
  Lanes pointOf(const Box &box, llvm::ArrayRef<LaneIndex> local);
  bool storeAt(const Box &box, const Lanes &local, const Lanes &indices,
               mlir::Value inside);
  bool reduceAll(const Box &box, llvm::ArrayRef<Lanes> points);
  llvm::SmallVector<mlir::Value> reduce(llvm::ArrayRef<RowReduction> needed);
  mlir::Value sumOf(mlir::linalg::LinalgOp op, llvm::ArrayRef<LaneIndex> loops);
  void hold(const Box &box);
  void storeShared(mlir::Value value, mlir::Value memory, LaneIndex place,
                   mlir::Value inside);

  // Weights and products.
  llvm::SmallVector<Extent> heldRounds() const;
  mlir::Value weightAt(LaneIndex k, LaneIndex column);
  bool stage(LaneIndex half, LaneIndex k, int64_t steps, LaneIndex column);
  llvm::SmallVector<mlir::Value> read(mlir::Value memory, LaneIndex place,
                                      int64_t width);
  llvm::SmallVector<mlir::Value> rowValues(LaneIndex k);
  llvm::SmallVector<mlir::Value> weightValues(LaneIndex half, int64_t step);
  llvm::SmallVector<mlir::Value> multiply(LaneIndex half, LaneIndex k,
                                          int64_t steps,
                                          llvm::ArrayRef<mlir::Value> sums);
  llvm::SmallVector<mlir::Value> multiplyAll(LaneIndex column,
                                             llvm::ArrayRef<mlir::Value> sums);

  // Sums and results.
  std::optional<Lanes> columnsAt(LaneIndex column, int64_t lanes,
                                 mlir::Value &inside);
  std::optional<Lanes> pointAt(LaneIndex m, LaneIndex column, LaneIndex n,
                               int64_t lanes, mlir::Value &inside);
  llvm::SmallVector<mlir::Value> start(LaneIndex column);
  int64_t storedTogether() const;
  bool storeAll(LaneIndex column, llvm::ArrayRef<mlir::Value> sums);
  bool sumColumns();
  bool sumChunks();

  /// The `number`-th position of a thread: groups of `near` neighbours.
  LaneIndex position(LaneIndex thread, int64_t threads, int64_t near,
                     int64_t number);
  LaneIndex mAt(int64_t number) {
    return position(threadM, tile.split.threadsM, nearM, number);
  }
  /// Columns of all threads, at least those that are summed.
  int64_t threadColumns() const {
    return tile.split.threadsN * tile.split.perN;
  }
  LaneIndex nAt(int64_t number) {
    return position(threadN, tile.split.threadsN, nearN, number);
  }

  const ChainOps &ops;
  const ChainTile &tile;
  int64_t blockColumns; ///< of the block, some of which are summed at a time
  mlir::linalg::LinalgOp anchor;
  llvm::SmallVector<Extent> extents; ///< of its loops
  bool alongPixels = false; ///< neighbouring pixels are neighbours in memory
  int64_t nearM = 1, nearN = 1;
  LaneIndex threadM, threadN;
  Lanes startM; ///< of the block, along `ops.m`
  LaneIndex startN;
  LaneIndex channel; ///< first one that the block has
  mlir::Value rowsMemory, readMemory, weightsMemory;
  Box rows;
  std::map<std::pair<mlir::Operation *, llvm::SmallVector<const void *, 4>>,
           mlir::Value>
      done; ///< sums by operator and loops
};

} // namespace fuse

#endif // FUSE_LIB_LOWERING_GPUCHAIN_H
