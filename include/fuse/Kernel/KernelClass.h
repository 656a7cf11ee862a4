//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernel classes: each says which groups it can hold, which tiles exist, and
// what registers, shared memory and time each tile costs. (Its lowering will
// live here too, so that gate, cost model and code cannot drift apart.)
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_KERNEL_KERNELCLASS_H
#define FUSE_KERNEL_KERNELCLASS_H

#include "fuse/Cost/KernelTime.h"
#include "fuse/Dialect/Decision.h"
#include "fuse/Kernel/Graph.h"

namespace fuse {

/// One way to cut a kernel into blocks.
struct Tile {
  llvm::SmallVector<int64_t, 3>
      sizes;       ///< of a block, in the class's own dimensions
  int64_t threads; ///< per block
};

/// Where a row kernel keeps its rows: the third size of its tiles. Shared
/// memory is the cache of a CPU's core; GPU code has no such kernels.
enum RowStorage : int64_t { InRegisters = 0, InShared = 1, Streamed = 2 };

/// Elements of a row that a thread of a GPU holds at most.
constexpr int64_t kHeldElements = 64;

/// Share of the device that a kernel may use.
struct Limits {
  double registers; ///< per thread
  double shared;    ///< bytes per block
};

/// A tile with what it costs.
struct TileCost {
  Tile tile;
  double registers = 0; ///< per thread
  double shared = 0;    ///< bytes per block
  KernelWork work;
  KernelEstimate estimate;
};

class KernelClass {
public:
  virtual ~KernelClass() = default;

  virtual llvm::StringRef name() const = 0;
  /// What the sizes of a tile are called in a decision's numbers.
  virtual llvm::ArrayRef<llvm::StringLiteral> sizeNames() const = 0;
  /// True if the kernel evaluates a value that it broadcasts once and keeps it,
  /// instead of again for each use.
  virtual bool keepsBroadcasts() const { return false; }
  /// How many of a tile's sizes, the last ones, are no lengths but choices that
  /// may be 0.
  virtual unsigned choicesOf(const Group &) const { return 0; }
  /// Extents along which a kernel is cut into blocks. Kernels that share one
  /// launch have the same.
  virtual llvm::SmallVector<double, 2> rowsOf(const Group &group) const = 0;
  /// A refusal with its reason; nothing if the class holds the group.
  virtual std::optional<Decision> match(const Group &group) const = 0;
  /// Why there is no code for a group that matches on `device`; nothing if
  /// there is.
  virtual std::optional<Decision> refusedOn(const Group &,
                                            const Device &) const {
    return std::nullopt;
  }
  /// All tiles, larger first. Never empty for a group that matches.
  virtual llvm::SmallVector<Tile> tiles(const Group &group,
                                        const Device &device) const = 0;
  /// Registers, shared memory, work and time of one tile.
  virtual TileCost cost(const Group &group, const Tile &tile,
                        const Device &device) const = 0;
};

/// All classes, in the order they are tried.
llvm::ArrayRef<const KernelClass *> kernelClasses();

/// The class for operators of these roles that read each other.
const KernelClass &classForRoles(llvm::ArrayRef<Role> roles);

/// Names of classes whose kernels hold several loop nests with a reduction of
/// their own: those that share one launch, and those that read each other.
llvm::StringRef siblingsClassName();
llvm::StringRef attentionClassName();
llvm::StringRef chainClassName();

/// The parts of `group` that do not read each other, each with what it
/// evaluates again of `internal`; `group` itself if there is just one.
std::vector<Group> componentsOf(const Group &group);
/// True if there are several.
bool hasSiblings(const Group &group);

/// True if all of them read one value from outside.
bool readInCommon(llvm::ArrayRef<Group> parts);

/// The class that holds `group`. Without one, `refusal` is the reason of the
/// class that comes closest: the one for the group's heaviest operator.
const KernelClass *classify(const Group &group, Decision &refusal);

/// Bytes of parameters that kernels of every GPU and PTX version take ("CUDA
/// C++ Programming Guide", __global__ functions).
constexpr double kMostParameters = 4096;

/// Bytes of the parameters of the group's kernel: 8 for each pointer and each
/// dynamic extent. 0 on a CPU, whose calls have no limit.
double parameterBytes(const Group &group, const Device &device);

/// Why a group is no kernel, whose smallest tile costs `smallest`.
Decision noTile(const KernelClass &kernel, const Group &group,
                const Device &device, const TileCost &smallest,
                const Limits &limits);

/// The tile of least time that fits `limits`; nothing if none fits or there is
/// no code for the device, and `smallest` is the cost of the last one tried.
std::optional<TileCost> bestTile(const KernelClass &kernel, const Group &group,
                                 const Device &device, const Limits &limits,
                                 TileCost &smallest);

} // namespace fuse

#endif // FUSE_KERNEL_KERNELCLASS_H
