//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Window kernels: one pooling or depthwise convolution over tiles of the output
// image with a halo in shared memory, with prologues and epilogues.
//
//===----------------------------------------------------------------------===//

#include "Classes.h"
#include "fuse/Kernel/WindowTile.h"

using namespace mlir;
using namespace fuse;

namespace {

class Window : public KernelClass {
public:
  llvm::StringRef name() const override { return "window"; }
  llvm::ArrayRef<llvm::StringLiteral> sizeNames() const override {
    static constexpr llvm::StringLiteral names[] = {"tile_h", "tile_w"};
    return names;
  }

  SmallVector<double, 2> rowsOf(const Group &group) const override {
    return {group.node(anchorOf(group)).parallel};
  }

  std::optional<Decision> match(const Group &group) const override {
    std::optional<unsigned> anchor;
    for (unsigned id : group.ops) {
      Role role = group.node(id).role;
      if (role == Role::Reduction)
        return Decision::keep(Reason::NoChain,
                              "an elementwise operator in its place");
      if (!isWindow(role))
        continue;
      if (anchor)
        return Decision::keep(
            Reason::NoChain,
            "a kernel class for chains that holds the first window's halo");
      anchor = id;
    }
    return matchAroundAnchor(group, *anchor);
  }

  SmallVector<Tile> tiles(const Group &group,
                          const Device &device) const override {
    if (device.maxThreadsPerBlock == 1)
      return {{{16, 16}, 1}};
    std::optional<WindowTile> held = tileOf(group, {{8, 8}, 64}, device);
    // Threads of a warp are neighbouring channels.
    if (held && held->channelsLast())
      return {{{8, 8}, 256}, {{4, 8}, 256}, {{4, 4}, 128}};
    return {{{16, 16}, 256}, {{8, 8}, 64}};
  }

  TileCost cost(const Group &group, const Tile &tile,
                const Device &device) const override {
    unsigned anchor = anchorOf(group);
    const GraphNode &node = group.node(anchor);
    // A w x w window needs a halo of w - 1 around the tile.
    double side = std::sqrt(std::max(1.0, node.reduction));
    double halo = (tile.sizes[0] + side - 1) * (tile.sizes[1] + side - 1) /
                  (tile.sizes[0] * tile.sizes[1]);
    double blocks = node.parallel / (tile.sizes[0] * tile.sizes[1]);
    TileCost cost;
    cost.tile = tile;
    cost.registers =
        addressRegisters(device) + node.registers + liveRegisters(group);
    if (device.maxThreadsPerBlock == 1)
      cost.shared = halo * tile.sizes[0] * tile.sizes[1] * 4;
    else if (std::optional<WindowTile> held = tileOf(group, tile, device)) {
      halo = held->evaluations();
      blocks = blocksOf(node, *held);
      cost.shared = held->bytes();
      cost.registers += registersOf(*held);
    }
    Traffic traffic = trafficOf(group);
    cost.work.dramBytes = traffic.read + traffic.written;
    cost.work.cacheBytes = (halo - 1) * traffic.read;
    addWork(group, anchor, [&](unsigned) { return halo; }, device, cost.work);
    launch(cost, std::ceil(blocks), device);
    return cost;
  }

private:
  /// What a block of a GPU holds; nothing where each thread reads for itself.
  static std::optional<WindowTile> tileOf(const Group &group, const Tile &tile,
                                          const Device &device) {
    std::string why;
    return windowTile(group.graph.op(anchorOf(group)), tile.sizes[0],
                      tile.sizes[1], tile.threads, why);
  }

  static double blocksOf(const GraphNode &node, const WindowTile &tile) {
    double blocks = 1;
    for (unsigned loop : tile.order) {
      int64_t extent = node.extents[loop];
      if (ShapedType::isDynamic(extent))
        extent = kAssumedExtent;
      blocks *= std::ceil(double(extent) / double(tile.results[loop]));
    }
    return blocks;
  }

  /// A sum for each row of a thread's column, and a column of the image.
  static double registersOf(const WindowTile &tile) {
    double read = 0;
    for (const WindowDim &dim : tile.dims)
      if (dim.loop == tile.stripLoop)
        read = double(dim.covered(tile.strip));
    return double(tile.strip) + read;
  }

  static unsigned anchorOf(const Group &group) {
    return *llvm::find_if(
        group.ops, [&](unsigned id) { return isWindow(group.node(id).role); });
  }

  static bool isWindow(Role role) {
    return role == Role::Depthwise || role == Role::Window;
  }
};

} // namespace

const KernelClass &fuse::windowClass() {
  static const Window instance;
  return instance;
}
