//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles of windows. Decides how a block's results are cut; makes no code.
//
//===----------------------------------------------------------------------===//

#include "fuse/Kernel/WindowTile.h"
#include "fuse/Analysis/Footprint.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace fuse;

static int64_t productOf(ArrayRef<int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t(1),
                         std::multiplies<>());
}

SmallVector<int64_t, 4> WindowTile::held() const {
  SmallVector<int64_t, 4> extents;
  for (const WindowDim &dim : dims)
    extents.push_back(dim.covered(results[dim.loop]));
  return extents;
}

int64_t WindowTile::bytes() const {
  return llvm::alignTo(productOf(held()) * elementBytes, 16);
}

int64_t WindowTile::strips() const { return productOf(results) / strip; }

int64_t WindowTile::taps() const {
  int64_t product = 1;
  for (const WindowDim &dim : dims)
    product *= dim.taps;
  return product;
}

double WindowTile::evaluations() const {
  double product = 1;
  for (const WindowDim &dim : dims)
    product *= std::max(1.0, double(dim.covered(results[dim.loop])) /
                                 double(results[dim.loop] * dim.stride));
  return product;
}

bool WindowTile::channelsLast() const {
  return llvm::none_of(dims, [&](const WindowDim &dim) {
    return dim.filter && dim.loop == order.back();
  });
}

/// Adds the terms of `expr`, loops with their factors. False for any other.
static bool addTerms(AffineExpr expr,
                     SmallVectorImpl<std::pair<unsigned, int64_t>> &terms) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    terms.push_back({dim.getPosition(), 1});
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (expr.getKind() == AffineExprKind::Add)
    return addTerms(binary.getLHS(), terms) && addTerms(binary.getRHS(), terms);
  auto dim = dyn_cast<AffineDimExpr>(binary.getLHS());
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() != AffineExprKind::Mul || !dim || !factor)
    return false;
  terms.push_back({dim.getPosition(), factor.getValue()});
  return true;
}

/// A dimension of the image by how it is indexed.
static std::optional<WindowDim> dimOf(linalg::LinalgOp op, AffineExpr expr,
                                      ArrayRef<int64_t> ranges) {
  SmallVector<std::pair<unsigned, int64_t>> terms;
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  if (!addTerms(expr, terms) || terms.size() > 2)
    return std::nullopt;
  std::optional<WindowDim> result;
  for (auto [loop, factor] : terms)
    if (kinds[loop] == utils::IteratorType::parallel && factor > 0 && !result)
      result = WindowDim{loop, factor, std::nullopt};
  if (!result)
    return std::nullopt;
  for (auto [loop, factor] : terms) {
    if (loop == result->loop)
      continue;
    if (kinds[loop] != utils::IteratorType::reduction || factor < 1 ||
        ShapedType::isDynamic(ranges[loop]))
      return std::nullopt;
    result->filter = loop;
    result->taps = ranges[loop];
    result->dilation = factor;
  }
  return result;
}

/// The loops and dimensions of `op`; nothing if it is no window over one image.
static std::optional<WindowTile> shapeOf(linalg::LinalgOp op,
                                         ArrayRef<int64_t> ranges) {
  WindowTile tile{};
  if (op->getNumResults() != 1)
    return std::nullopt;
  for (AffineExpr expr :
       op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      return std::nullopt;
    tile.order.push_back(dim.getPosition());
  }
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (map.isProjectedPermutation())
      continue;
    if (!tile.dims.empty())
      return std::nullopt;
    tile.image = input->getOperandNumber();
    for (AffineExpr expr : map.getResults()) {
      std::optional<WindowDim> dim = dimOf(op, expr, ranges);
      if (!dim)
        return std::nullopt;
      tile.dims.push_back(*dim);
    }
  }
  unsigned filters = llvm::count_if(
      tile.dims, [](const WindowDim &dim) { return bool(dim.filter); });
  if (filters == 0 || filters != op.getNumReductionLoops() ||
      tile.order.size() != op.getNumParallelLoops())
    return std::nullopt;
  Type image = op->getOperand(tile.image).getType();
  std::optional<int64_t> bytes = elementBytes(getElementTypeOrSelf(image));
  tile.elementBytes = bytes.value_or(0);
  return bytes ? std::optional(tile) : std::nullopt;
}

/// True if two results along `dim` read one element by different points.
static bool overlaps(const WindowDim &dim, int64_t extent) {
  int64_t common = std::gcd(dim.stride, dim.dilation);
  return dim.stride / common < dim.taps &&
         (ShapedType::isDynamic(extent) || dim.dilation / common < extent);
}

/// The largest part of at most `most`, if `extent` is cut evenly.
static int64_t cut(int64_t extent, int64_t most) {
  most = std::max<int64_t>(most, 1);
  if (ShapedType::isDynamic(extent) || extent < 1)
    return most;
  int64_t parts = llvm::divideCeil(extent, most);
  return llvm::divideCeil(extent, parts);
}

/// Results along the image, and those of a thread: a column of them, so that it
/// reads a row of the filter's for several.
static void cutImage(WindowTile &tile, ArrayRef<int64_t> ranges, int64_t height,
                     int64_t width) {
  constexpr int64_t most = 7; // sums in registers
  SmallVector<unsigned> along;
  for (unsigned loop : tile.order)
    if (llvm::any_of(tile.dims, [&](const WindowDim &dim) {
          return dim.filter && dim.loop == loop;
        }))
      along.push_back(loop);
  tile.results[along.back()] = cut(ranges[along.back()], width);
  if (along.size() > 1)
    tile.results[along[along.size() - 2]] =
        cut(ranges[along[along.size() - 2]], height);
  tile.stripLoop = along.size() > 1 ? along[along.size() - 2] : along.back();
  tile.strip = 1;
  if (tile.stripLoop != tile.order.back())
    for (int64_t count = 2; count <= most; ++count)
      if (tile.results[tile.stripLoop] % count == 0)
        tile.strip = count;
}

std::optional<WindowTile> fuse::windowTile(linalg::LinalgOp op, int64_t height,
                                           int64_t width, int64_t threads,
                                           std::string &why) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  std::optional<WindowTile> tile = shapeOf(op, ranges);
  if (!tile) {
    why = "its windows are not over one image";
    return std::nullopt;
  }
  if (llvm::none_of(tile->dims, [&](const WindowDim &dim) {
        return overlaps(dim, ranges[dim.loop]);
      }))
    return std::nullopt;
  tile->results.assign(op.getNumLoops(), 1);
  cutImage(*tile, ranges, height, width);
  std::optional<unsigned> channel;
  for (unsigned loop : tile->order)
    for (const WindowDim &dim : tile->dims)
      if (dim.loop == loop && !dim.filter && ranges[loop] != 1)
        channel = loop;
  if (channel)
    tile->results[*channel] = cut(ranges[*channel], threads / tile->strips());
  while (channel && tile->bytes() > kStaticShared &&
         tile->results[*channel] > 1)
    tile->results[*channel] /= 2;
  if (tile->bytes() <= kStaticShared)
    return tile;
  why = llvm::formatv("a tile of {0} x {1} results takes {2} bytes of shared "
                      "memory, {3} are there",
                      height, width, tile->bytes(), kStaticShared);
  return std::nullopt;
}
