//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What kernels take of an SM: as their class predicts it, and as ptxas says.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LOWERING_RESOURCES_H
#define FUSE_LOWERING_RESOURCES_H

#include "fuse/Device/Device.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class OpPassManager;
}

namespace fuse {

/// On a gpu.func of siblings: the names of the kernels that it is made of. On
/// one that shares no launch with its siblings: why, as text.
constexpr llvm::StringLiteral kPartsAttr = "fuse.parts";
constexpr llvm::StringLiteral kApartAttr = "fuse.apart";

struct Tile;

/// What a kernel takes, as `ptxas -v` prints it.
struct KernelResources {
  std::string kernel;
  int64_t registers = 0;   ///< 32-bit, per thread
  int64_t spillStores = 0; ///< bytes
  int64_t spillLoads = 0;  ///< bytes
  int64_t stack = 0;       ///< bytes of the frame
  int64_t shared = 0;      ///< bytes of static shared memory
  bool spills() const { return spillStores || spillLoads; }
};

/// What the kernel's class says of its tile.
struct Prediction {
  double registers = 0; ///< per thread
  double shared = 0;    ///< bytes per block
};

/// A kernel of a lowered program.
struct KernelReport {
  explicit KernelReport(mlir::Location loc) : loc(loc) {}

  std::string name, kernelClass, key;
  std::vector<std::string> parts;   ///< outlined kernels that it is made of
  std::optional<std::string> plain; ///< why it has the plain schedule
  std::optional<std::string> apart; ///< why it is not with its siblings
  /// Why it is a part of a kernel of the plan, if it is.
  std::optional<std::string> split;
  mlir::Location loc;
  int64_t threads = 0;       ///< per block
  int64_t dynamicShared = 0; ///< bytes
  std::optional<Prediction> predicted;
  std::optional<KernelResources> actual; ///< none without ptxas

  /// Resident threads of an SM / those that it can hold. Nothing where neither
  /// is known.
  std::optional<double> occupancy(const Device &device) const;
};

/// The tile of an outlined kernel's class that is predicted to need fewer
/// registers than the kernel has, and of those the most. Nothing if there is
/// none.
std::optional<Tile> smallerTile(mlir::Operation *function,
                                const Device &device);

/// The tile of an outlined kernel's class that is predicted to take the least
/// time. Nothing if no class holds it, or no tile fits the device.
std::optional<Tile> bestTileOf(mlir::Operation *function, const Device &device);

/// What the class of an outlined kernel says of its tile, or of the best one.
std::optional<Prediction> predictResources(mlir::Operation *function,
                                           const Device &device);

/// The kernels of the module's gpu.module, without resources.
std::vector<KernelReport> reportsOf(mlir::ModuleOp module);

/// Assembles the PTX of the module's gpu.binary by ptxas, if the machine has
/// it, and adds what it says to `reports`. False without ptxas.
llvm::Expected<bool> addActual(mlir::ModuleOp lowered, llvm::StringRef chip,
                               std::vector<KernelReport> &reports);

/// Kernels of a program, with what they take.
struct ProgramReport {
  std::vector<KernelReport> kernels;
  bool isActual = false; ///< ptxas was found
};

/// Lowers `module`, a copy that is thrown away, to PTX for `chip`, and reports
/// its kernels. `run` runs a pipeline; `outlined` sees the module while kernels
/// are functions on tensors.
mlir::FailureOr<ProgramReport> reportProgram(
    mlir::ModuleOp module, const Device &device, llvm::StringRef chip,
    llvm::function_ref<mlir::LogicalResult(mlir::OpPassManager &)> run,
    llvm::function_ref<void(mlir::ModuleOp)> outlined);

} // namespace fuse

#endif // FUSE_LOWERING_RESOURCES_H
