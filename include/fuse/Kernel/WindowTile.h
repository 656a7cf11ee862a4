//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles of poolings and depthwise convolutions: what the plan counts and the
// code uses.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_KERNEL_WINDOWTILE_H
#define FUSE_KERNEL_WINDOWTILE_H

#include "fuse/Kernel/GemmTile.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include <optional>
#include <string>

namespace fuse {

/// A dimension of the image: result `o` and filter point `k` read the element
/// `o * stride + k * dilation`.
struct WindowDim {
  unsigned loop; ///< of the results along it
  int64_t stride = 1;
  std::optional<unsigned> filter; ///< loop over filter points, if there are any
  int64_t taps = 1, dilation = 1;

  /// Elements that `results` neighbours read.
  int64_t covered(int64_t results) const {
    return (results - 1) * stride + (taps - 1) * dilation + 1;
  }
};

/// What a block computes, from elements of the image that it holds in shared
/// memory.
struct WindowTile {
  unsigned image;                        ///< number of the operand
  llvm::SmallVector<WindowDim, 4> dims;  ///< of the image
  llvm::SmallVector<unsigned, 4> order;  ///< loops of the result's dimensions
  llvm::SmallVector<int64_t, 6> results; ///< of a block, by loop
  unsigned stripLoop;                    ///< along which a thread has several
  int64_t strip;                         ///< as many
  int64_t elementBytes;                  ///< of the image

  /// Elements that a block holds along each dimension of the image.
  llvm::SmallVector<int64_t, 4> held() const;
  /// Of shared memory: whole units of 16, to which ptxas rounds it up where a
  /// kernel of the module has dynamic shared memory.
  int64_t bytes() const;
  /// Strips of results.
  int64_t strips() const;
  /// Filter points of a result.
  int64_t taps() const;
  /// How often each element of the image is loaded, at least: 1 without a halo.
  double evaluations() const;
  /// True if neighbouring channels are neighbours in memory.
  bool channelsLast() const;
};

/// The tile of at most `height` x `width` results and as many channels as
/// `threads` have work with, all cut evenly. Nothing where windows share no
/// element, or, with the reason in `why`, where there is no such tile.
std::optional<WindowTile> windowTile(mlir::linalg::LinalgOp op, int64_t height,
                                     int64_t width, int64_t threads,
                                     std::string &why);

} // namespace fuse

#endif // FUSE_KERNEL_WINDOWTILE_H
