//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the schedules of a matrix product share: where blocks are, elements of
// the inputs, what sums start from, and the epilogue.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_LOWERING_GPUGEMMSCHEDULE_H
#define FUSE_LIB_LOWERING_GPUGEMMSCHEDULE_H

#include "GpuGemm.h"

namespace fuse {

/// Loops of more than one round that move fastest; the last if none does.
unsigned fastestLoop(const GemmDim &dim);

class GemmSchedule {
protected:
  /// A tile of an input: `rows` along `dim` from `start` of the block on.
  struct InputRows {
    unsigned operand;
    const GemmDim *dim;
    int64_t rows;
    LaneIndex start;
    mlir::Type element;
    bool alongK;    ///< k is contiguous in memory, else the rows
    unsigned lanes; ///< of a load
  };

  GemmSchedule(GpuFrame &frame, const GpuGemm &gemm, int64_t tileY,
               int64_t tileX, int64_t tileK, int64_t threads)
      : frame(frame), gemm(gemm), elements(frame.elements),
        math(frame.elements.math), builder(frame.builder), loc(frame.loc),
        tileY(tileY), tileX(tileX), tileK(tileK), threads(threads) {}

  /// Finds block and thread, and states the launch.
  void place();
  InputRows inputRows(unsigned operand, const GemmDim &dim, int64_t rows,
                      LaneIndex start);
  /// Tiles of `tileK` in k.
  Extent rounds();

  /// The element of an input at a row of its tile and at `k`, or lanes of them
  /// along what is contiguous: positions that do not exist become ones that do,
  /// and `insideK` says whether k was one. `anyRow`: rows beyond the tile too.
  std::optional<ElementSource> inputAt(const InputRows &input, LaneIndex row,
                                       LaneIndex k, bool anyRow,
                                       mlir::Value &insideK);
  /// Its value; 0 beyond the last k.
  mlir::Value loadInput(const InputRows &input, LaneIndex row, LaneIndex k,
                        bool anyRow);

  /// What the `width` sums at y and x of the tile start from.
  mlir::Value startOf(LaneIndex y, LaneIndex x, int64_t width);
  /// Computes the results from the `width` sums at y and x of the tile and
  /// stores them. False where there is no code for it.
  bool finish(LaneIndex y, LaneIndex x, int64_t width, mlir::Value sum);

  /// True if neighbours along `loop` are neighbours in memory, `lanes` at a
  /// time.
  bool isContiguous(unsigned operand, unsigned loop, unsigned lanes);

  /// Elements between neighbours along `dim` in the argument that an input is,
  /// if it is one loop of whole tiles.
  std::optional<int64_t> strideAlong(unsigned operand, const GemmDim &dim,
                                     int64_t tile);

  /// A position in `dim`, within it; `inside` says whether it was, nothing if
  /// it surely was. A `tile` of 0 may be anywhere.
  LaneIndex within(const GemmDim &dim, int64_t tile, LaneIndex position,
                   unsigned lanes, mlir::Value &inside);
  /// The sums that the epilogue is at, or the one of them that is asked for.
  mlir::Value sumAt(llvm::ArrayRef<LaneIndex> loops);
  mlir::Value both(mlir::Value a, mlir::Value b);

  GpuFrame &frame;
  const GpuGemm &gemm;
  Elements &elements;
  IndexMath &math;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  int64_t tileY, tileX, tileK, threads;
  LaneIndex thread, startY, startX;
  Lanes batch;

private:
  unsigned lanesAlong(unsigned operand, const GemmDim &dim, int64_t tile,
                      mlir::Type element);
  std::optional<Lanes> loopsAt(LaneIndex y, LaneIndex x);
  bool store(const GpuOutput &output, mlir::Value condition);

  Lanes current;            ///< loops of the sums that the epilogue is at
  mlir::Value currentValue; ///< those sums
};

} // namespace fuse

#endif // FUSE_LIB_LOWERING_GPUGEMMSCHEDULE_H
