//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program compiled in memory: its functions are called with tensors.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_RUNTIME_PROGRAM_H
#define FUSE_RUNTIME_PROGRAM_H

#include "fuse/Runtime/DeviceMemory.h"
#include "fuse/Runtime/HostTensor.h"
#include "mlir/IR/BuiltinOps.h"
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace mlir {
class ExecutionEngine;
}

namespace fuse {

/// A type of an argument or a result: a tensor, or a scalar (rank 0 here,
/// passed by value).
struct ValueType {
  ElementType element;
  llvm::SmallVector<int64_t, 4> shape; ///< dynamic extents as in MLIR
  bool isScalar = false;

  static llvm::Expected<ValueType> of(mlir::Type type);
  bool accepts(const HostTensor &tensor) const;
  /// `4x?xf32`
  std::string str() const;
};

struct Signature {
  std::vector<ValueType> arguments, results;
};

/// Seconds and calls that the hooks around kernels counted, by kernel number.
struct KernelTimes {
  std::vector<double> seconds;
  void reset() { seconds.assign(seconds.size(), 0.0); }
};

class Program {
public:
  /// Compiles a module in the LLVM dialect, whose entry functions have the C
  /// interface. `sharedLibs` are libraries that it calls into.
  static llvm::Expected<std::unique_ptr<Program>>
  compile(mlir::ModuleOp module, unsigned optLevel,
          llvm::ArrayRef<std::string> sharedLibs);
  ~Program();

  /// Runs the program's global constructors (they load GPU modules).
  void initialize();

  /// Tensors of calls that are prepared from now on are in this memory:
  /// arguments are copied there once, results are copied back when asked for.
  void useDevice(const DeviceMemory &memory) { device = memory; }

  /// A call that was prepared: arguments are bound, run it as often as wanted.
  class Call;
  llvm::Expected<std::unique_ptr<Call>>
  prepare(llvm::StringRef function, const Signature &signature,
          llvm::ArrayRef<HostTensor *> arguments);

private:
  Program();
  std::unique_ptr<mlir::ExecutionEngine> engine;
  std::optional<DeviceMemory> device;
};

class Program::Call {
public:
  /// Calls the function; results of the last run are released first.
  void run();
  /// Gives the results of the last run back; the next run would.
  void release();
  /// Copies of the results of the last run.
  std::vector<HostTensor> results() const;
  /// Copies what the program wrote to its arguments back to them.
  void fetchArguments() const;
  ~Call();

private:
  friend class Program;
  void sendArguments();
  HostTensor fetch(const int64_t *words, const ValueType &type) const;

  void (*function)(void **) = nullptr;
  Signature signature;
  std::vector<HostTensor *> arguments;
  std::vector<std::vector<int64_t>> descriptors; ///< of the arguments
  std::vector<void *> pointers;                  ///< to descriptors or scalars
  std::vector<void *> packed;                    ///< to `pointers`
  std::vector<int64_t> resultStorage;
  void *resultPointer = nullptr;
  std::optional<DeviceMemory> device;
  std::vector<void *> sent; ///< the arguments on the device
  bool hasResults = false;
};

/// What the hooks count into; numbers beyond its size are ignored.
KernelTimes &kernelTimes();

/// Seconds of a monotonic clock.
double now();

} // namespace fuse

#endif // FUSE_RUNTIME_PROGRAM_H
