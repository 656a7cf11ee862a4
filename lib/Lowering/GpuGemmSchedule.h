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
    bool alongK;        ///< k is contiguous in memory, else the rows
    unsigned lanes;     ///< of a load
    bool async = false; ///< cp.async brings it to shared memory
    /// Elements of the argument between neighbours along k, if all are as far
    /// and a tile has no others. Of what is copied asynchronously only.
    std::optional<int64_t> kStride;
  };

  /// Of a group of lanes.
  static int32_t bytesOf(const InputRows &input) {
    return int32_t(*memoryBytes(input.element) * input.lanes);
  }

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

  /// Shared memory of `count` elements; `name` is behind that of the kernel.
  mlir::Value sharedArray(const llvm::Twine &name, mlir::Type element,
                          int64_t count);
  /// That of `elements` elements for tiles of an input.
  mlir::Value sharedMemory(const InputRows &input, int64_t elements);
  mlir::Value offset(mlir::Value pointer, mlir::Value elements,
                     mlir::Type element);
  /// Row and k, within the tile, of the `number`-th group of lanes that this
  /// thread brings to shared memory.
  void groupAt(const InputRows &input, int64_t number, LaneIndex &row,
               LaneIndex &k);
  /// Where a group of lanes of a tile is in global memory, `k` within the tile
  /// that begins at `start`; `inside` as of cp.async. Nothing without code.
  mlir::Value sourceAddress(const InputRows &input, LaneIndex row, LaneIndex k,
                            LaneIndex start, bool anyRow, mlir::Value &inside);
  /// Begins a copy of 4, 8 or 16 bytes to shared memory; of zeros where not
  /// `inside`.
  void startCopy(int32_t bytes, mlir::Value to, mlir::Value from,
                 mlir::Value inside);
  /// Waits until no more than `pending` groups of copies are on their way.
  void waitForCopies(int64_t pending);

  /// What the `width` sums at y and x of the tile start from.
  mlir::Value startOf(LaneIndex y, LaneIndex x, int64_t width);
  /// Computes the results from the `width` sums at y and x of the tile and
  /// stores them. False where there is no code for it.
  bool finish(LaneIndex y, LaneIndex x, int64_t width, mlir::Value sum);
  /// The same for sums at a point of the loops, where `inside` holds.
  bool storeSums(const Lanes &loops, mlir::Value inside, mlir::Value sums);
  /// A sum that `storeSums` is at; nothing for another one.
  mlir::Value sumAt(llvm::ArrayRef<LaneIndex> loops);
  /// Indices of the result, whose map does not name the loops of the sum.
  std::optional<Lanes> resultIndices(Lanes loops);
  /// Both conditions; nothing is true.
  mlir::Value both(mlir::Value a, mlir::Value b);

  /// True if neighbours along `loop` are neighbours in memory, `lanes` at a
  /// time.
  bool isContiguous(unsigned operand, unsigned loop, unsigned lanes);

  /// True if each group of lanes is as aligned as it is long.
  bool isAligned(const InputRows &input);

  /// Elements between neighbours along `dim` in the argument that an input is,
  /// if it is one loop of whole tiles.
  std::optional<int64_t> strideAlong(unsigned operand, const GemmDim &dim,
                                     int64_t tile);

  /// A position in `dim`, within it; `inside` says whether it was, nothing if
  /// it surely was. A `tile` of 0 may be anywhere.
  LaneIndex within(const GemmDim &dim, int64_t tile, LaneIndex position,
                   unsigned lanes, mlir::Value &inside);
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
  /// Decides whether cp.async brings the input.
  void chooseCopies(InputRows &input);
  unsigned lanesAlong(unsigned operand, const GemmDim &dim, int64_t tile,
                      mlir::Type element);
  std::optional<Lanes> loopsAt(LaneIndex y, LaneIndex x);
  bool store(const GpuOutput &output, mlir::Value condition);

  Lanes current;            ///< loops of the sums that the epilogue is at
  mlir::Value currentValue; ///< those sums
};

} // namespace fuse

#endif // FUSE_LIB_LOWERING_GPUGEMMSCHEDULE_H
