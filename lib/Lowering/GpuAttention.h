//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the schedules of attention share: which elements a block reads, tiles of
// them in shared memory, and the softmax of some keys at a time.
//
//   q; for keys by tile { k; s = q k^T; max, p, sum of s; v; o = c o + p v }
//   store o / sum
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_LOWERING_GPUATTENTION_H
#define FUSE_LIB_LOWERING_GPUATTENTION_H

#include "GpuGemmSchedule.h"
#include "fuse/Kernel/AttentionTile.h"
#include "fuse/Kernel/Softmax.h"

namespace fuse {

/// What an attention kernel computes.
struct GpuAttention {
  OnlineSoftmax form;
  GpuGemm second;
  GemmDim depth; ///< loops of the sum of the first contraction
  AttentionTile tile;
  int64_t threads = 0;

  /// Rows are what lies along x in the results.
  bool rowsAreX() const { return second.xOperand == form.operand; }

  /// Nothing, and `why`, if the kernel is none that the schedules hold.
  static std::optional<GpuAttention> of(GpuFrame &frame, const GpuTile &tile,
                                        bool tensorCores, std::string &why);
};

class AttentionSchedule : protected GemmSchedule {
public:
  AttentionSchedule(GpuFrame &frame, const GpuAttention &attention);
  virtual ~AttentionSchedule() = default;
  bool emit();

protected:
  enum Input { Queries, Keys, ValueRows };
  using Values = llvm::SmallVector<mlir::Value>;

  /// Lines of an input in shared memory: rows of q, k or v, filled up with
  /// zeros.
  struct Panel {
    Input input;
    int64_t lines, length, pitch; ///< of a line, elements
    int64_t extent;               ///< elements of a line that exist
    mlir::Type element;
    mlir::Value memory;
    unsigned lanes;   ///< of an access
    bool acrossLines; ///< neighbours in memory are in neighbouring lines
    bool async;       ///< brought by cp.async
  };

  /// Says in `rows`, `columns` and `distances` where the scores of this thread
  /// are, and in `numSums` and `sumType` what it sums.
  virtual void spread() = 0;
  /// Called once the queries are in shared memory.
  virtual void readQueries() {}
  /// The scores of the keys in shared memory, row by row; nothing if there is
  /// no code for them.
  virtual Values multiplyKeys() = 0;
  /// Brings `p`, which lies as the scores do, to those who multiply it.
  virtual void share(llvm::ArrayRef<mlir::Value> p) = 0;
  /// `sums` and the products of p with the values in shared memory.
  virtual Values multiplyValues(llvm::ArrayRef<mlir::Value> p,
                                llvm::ArrayRef<mlir::Value> sums) = 0;
  /// The row, by number, that the sum `number` of this thread belongs to.
  virtual unsigned rowOfSum(unsigned number) const = 0;
  /// Stores the sums, which are the results now, by finishAt.
  virtual bool storeAll(llvm::ArrayRef<mlir::Value> sums) = 0;

  mlir::Value address(const Panel &panel, LaneIndex line, LaneIndex at);
  /// Stores the `width` results from a row and column of the tile on.
  bool finishAt(LaneIndex row, LaneIndex column, int64_t width,
                mlir::Value value);
  mlir::Value number(double value);
  /// Of the first contraction, the input that the queries are.
  unsigned queryOperand() const { return rowOperand; }

  const GpuAttention &attention;
  const AttentionTile &tile;
  Panel query, key, value;
  /// In the tile; columns are the same in each row.
  Lanes rows, columns;
  /// Lanes whose numbers differ by these bits have the same rows.
  llvm::SmallVector<int64_t> distances;
  unsigned numSums = 0;
  mlir::Type sumType; ///< f32, or a vector of columns

private:
  /// A key at hand.
  struct Key {
    LaneIndex position;
    mlir::Value inside; ///< nothing if it surely exists
  };

  // Which elements there are, for positions that exist.
  std::optional<Lanes> secondLoops(Elements &on, LaneIndex row,
                                   LaneIndex column, LaneIndex key) const;
  /// The element of p.
  std::optional<ElementSource> shareOf(Elements &on, LaneIndex row,
                                       LaneIndex key) const;
  /// Loops of what the element of p is computed from, of a reduction open.
  std::optional<Lanes> loopsBehind(Elements &on, mlir::OpResult result,
                                   LaneIndex row, LaneIndex key) const;
  std::optional<Lanes> reductionLoops(mlir::OpResult result, LaneIndex row,
                                      LaneIndex key);
  std::optional<ElementSource> sourceOf(Elements &on, Input input,
                                        LaneIndex line, LaneIndex at) const;
  bool findQueries();
  LaneIndex rowAt(LaneIndex position);
  LaneIndex keyAt(LaneIndex position, mlir::Value &inside);
  const GemmDim &rowDim() const {
    return attention.rowsAreX() ? gemm.x : gemm.y;
  }
  const GemmDim &columnDim() const {
    return attention.rowsAreX() ? gemm.y : gemm.x;
  }

  Panel panelOf(Input input, llvm::StringRef name);
  bool areNeighbours(const Panel &panel, unsigned lanes, bool acrossLines);
  void groupAt(const Panel &panel, int64_t number, LaneIndex &line,
               LaneIndex &at);
  bool copyGroup(const Panel &panel, LaneIndex start, LaneIndex line,
                 LaneIndex at);
  /// Starts, or does, the copy of the lines from `start` on.
  bool copy(const Panel &panel, LaneIndex start);
  void wait(int64_t pending);

  Values startState();
  Values round(LaneIndex number, const Extent &count,
               llvm::ArrayRef<mlir::Value> carried);
  bool softmax(LaneIndex start, llvm::MutableArrayRef<mlir::Value> scores,
               llvm::MutableArrayRef<mlir::Value> state, Values &scales);
  bool updateMax(LaneIndex row, llvm::ArrayRef<Key> keys, mlir::Value &max,
                 mlir::Value &scale);
  bool updateSum(LaneIndex row, llvm::ArrayRef<Key> keys, mlir::Value &sum);
  void scaleSums(llvm::MutableArrayRef<mlir::Value> sums,
                 llvm::ArrayRef<mlir::Value> scales);
  bool finishRows(llvm::ArrayRef<mlir::Value> state);
  mlir::Value reduced(mlir::linalg::LinalgOp op, unsigned result,
                      llvm::ArrayRef<LaneIndex> loops);
  mlir::Value scoreAt(llvm::ArrayRef<LaneIndex> loops) const;
  mlir::Value acrossLanes(mlir::Value value, mlir::Operation *combiner);
  mlir::Value exponential(mlir::Value argument);
  mlir::Value where(mlir::Value inside, mlir::Value value, mlir::Value other);
  /// Of the state: sums of rows are behind their maxima.
  unsigned sumsAt() const { return attention.form.max ? rows.size() : 0; }

  unsigned rowOperand = 0; ///< of the first contraction, what queries are
  mlir::Value rowMax;      ///< of the row at hand
  struct Score {
    Lanes loops;
    mlir::Value value;
  };
  llvm::SmallVector<Score> known; ///< of the row at hand
};

/// The schedule of f32 and of chips without tensor cores. False, with the
/// reason in `why`, if it does not hold the kernel.
bool emitAttention(GpuFrame &frame, const GpuTile &tile, std::string &why);
/// The schedule of 16-bit floats by mma.sync.
bool emitTensorCoreAttention(GpuFrame &frame, const GpuTile &tile,
                             std::string &why);

} // namespace fuse

#endif // FUSE_LIB_LOWERING_GPUATTENTION_H
