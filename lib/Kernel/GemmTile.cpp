//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How blocks and warps share a tile of a matrix product, and the registers that
// it takes.
//
//===----------------------------------------------------------------------===//

#include "fuse/Kernel/GemmTile.h"
#include <algorithm>
#include <cmath>

using namespace fuse;

std::optional<GemmBlock> GemmBlock::split(int64_t y, int64_t x, int64_t k,
                                          int64_t threads) {
  std::optional<GemmBlock> best;
  for (int64_t perX = 1; perX <= 16 && perX <= x; perX *= 2) {
    int64_t total = y * x;
    if (x % perX || total % threads || (total / threads) % perX)
      continue;
    int64_t perY = total / threads / perX, across = x / perX;
    if (y % perY || y / perY * across != threads)
      continue;
    auto distance = [](int64_t a, int64_t b) {
      return std::max(a, b) / std::max<int64_t>(std::min(a, b), 1);
    };
    if (!best ||
        distance(perX, perY) < distance(best->perThreadX, best->perThreadY))
      best = GemmBlock{y, x, k, y / perY, across, perY, perX};
  }
  return best;
}

std::optional<WarpTiles> WarpTiles::split(int64_t y, int64_t x,
                                          int64_t threads) {
  constexpr int64_t warp = 32, most = 64; // 128 sums a thread
  std::optional<WarpTiles> best;
  for (int64_t across = 1; across <= threads / warp; across *= 2) {
    if (threads % (warp * across))
      continue;
    int64_t down = threads / warp / across;
    // ldmatrix brings two tiles along x at a time.
    if (x % (across * 2 * kMmaX) || y % (down * kMmaY) || x / across > most ||
        y / down > most)
      continue;
    WarpTiles own{y / down, x / across, down, across};
    auto distance = [](const WarpTiles &tiles) {
      return std::max(tiles.y, tiles.x) / std::min(tiles.y, tiles.x);
    };
    if (!best || distance(own) < distance(*best))
      best = own;
  }
  return best;
}

/// Elements along one dimension that a thread has of a tile of `tile`, of which
/// `extent` exist: it has `near` neighbours, and the next so many threads on.
static double existing(int64_t perThread, int64_t near, int64_t tile,
                       double extent) {
  double apart = double(tile) / perThread * near;
  return std::min<double>(perThread, std::ceil(extent / apart) * near);
}

/// Registers of `elements` elements: narrow ones share one only in memory.
static double words(int64_t bytes, double elements) {
  return elements * std::max<int64_t>(1, bytes / 4);
}

double fuse::gemmRegisters(const GemmBlock &block, const GemmInput &y,
                           const GemmInput &x, int64_t sumBytes) {
  double ownY = existing(block.perThreadY, gemmNeighbours(block.perThreadY),
                         block.y, y.extent),
         ownX = existing(block.perThreadX, gemmNeighbours(block.perThreadX),
                         block.x, x.extent);
  auto operands = [&](const GemmInput &input, double own) {
    return words(input.bytes, own * (input.alongK ? gemmSteps(block.k) : 1));
  };
  auto staged = [&](const GemmInput &input, int64_t rows) {
    double elements = std::ceil(double(rows * block.k) / block.threads());
    return std::ceil(elements * input.bytes / 4);
  };
  return words(sumBytes, ownY * ownX) + operands(y, ownY) + operands(x, ownX) +
         staged(y, block.y) + staged(x, block.x);
}

double fuse::gemmRegisters(const WarpTiles &warps, int64_t k,
                           const GemmInput &y, const GemmInput &x) {
  constexpr double warp = 32, chunkBytes = 16, perCopy = 2;
  double sums = warps.y * warps.x / warp,
         fragments = double(k) / kMmaK *
                     (4.0 * warps.y / kMmaY + 2.0 * warps.x / kMmaX);
  double bytes = warps.y * warps.warpsY * k * y.bytes +
                 warps.x * warps.warpsX * k * x.bytes,
         copies = bytes / chunkBytes / (warp * warps.warpsY * warps.warpsX);
  return sums + fragments + perCopy * copies;
}
