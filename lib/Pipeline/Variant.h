//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One form of a program, compiled: unfused, folded or fused.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_PIPELINE_VARIANT_H
#define FUSE_LIB_PIPELINE_VARIANT_H

#include "GpuProgram.h"
#include "fuse/Lowering/Resources.h"
#include "fuse/Pipeline/Run.h"
#include "fuse/Runtime/Limits.h"
#include "fuse/Runtime/Program.h"
#include "fuse/Runtime/Statistics.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace fuse {

/// A call of a kernel in the program; on the GPU a kernel, with all its
/// launches.
struct KernelInfo {
  std::string name, kernelClass, key;
  std::optional<int64_t> flops, bytes;
  unsigned launches = 0;            ///< on the GPU
  std::optional<std::string> plain; ///< why it has the plain schedule
  std::optional<std::string> split; ///< why it is a part of a planned kernel
  std::optional<KernelResources> resources; ///< on the GPU, for the profile
  std::vector<double> seconds;              ///< per timed run
};

/// The arguments of the entry function.
struct Arguments {
  Signature signature;
  std::vector<HostTensor> values;
  llvm::SmallVector<unsigned> buffers; ///< memrefs, which the program may write
};

/// Signature of a function; the error names the argument or result.
llvm::Expected<Signature> signatureOf(mlir::func::FuncOp function);

class Variant {
public:
  /// Plans, lowers and compiles a copy of `module`.
  static llvm::Expected<std::unique_ptr<Variant>>
  create(mlir::ModuleOp module, const RunOptions &options, RunMode mode,
         const Arguments &arguments);

  /// Runs the body once; returns seconds.
  double run();
  /// Runs the form with hooks once, and adds to the kernels' seconds.
  void runTimed();
  /// What the last run computed: results, then memref arguments.
  std::vector<HostTensor> results() const;

  std::vector<KernelInfo> kernels; ///< that a run of the body calls
  std::vector<double> seconds;     ///< of measured runs
  double compileSeconds = 0, prepareSeconds = 0;
  size_t peakBytes = 0; ///< of what the program allocates in a run

private:
  llvm::Error plan(mlir::ModuleOp module, const RunOptions &options,
                   RunMode mode);
  llvm::Error compile(mlir::ModuleOp module, const RunOptions &options);
  /// A program that launches kernels itself.
  llvm::Error compileLaunching(mlir::ModuleOp module, const GpuTarget &target);
  llvm::Error compileForGpu(mlir::ModuleOp module, const RunOptions &options,
                            const GpuTarget &target);
  /// Loads the GPU's runtime library, and what the options name.
  llvm::Error loadForGpu(mlir::ModuleOp module, const RunOptions &options,
                         const GpuTarget &target);
  llvm::Error bind(mlir::ModuleOp planned, const RunOptions &options);
  void readKernels(mlir::ModuleOp lowered);
  void readGpuKernels(mlir::ModuleOp lowered);
  llvm::Error readResources(mlir::ModuleOp lowered, const GpuTarget &target);
  llvm::Error prepareCalls(bool hasHooks);

  /// A function of the planned program with its arguments.
  struct Entry {
    std::string name;
    Signature signature;
    std::vector<HostTensor *> arguments;
  };
  llvm::Expected<Entry> entryOf(mlir::ModuleOp planned, llvm::StringRef name);

  bool relaxes = false;
  bool onDevice = false; ///< tensors of the entry are memory of the GPU
  std::vector<HostTensor> arguments, prepared;
  llvm::SmallVector<unsigned> buffers;
  std::optional<Entry> prepare;
  Entry body;
  std::unique_ptr<Program> program;
  std::unique_ptr<Program::Call> call, timedCall;
};

/// The table and the files of a finished run.
struct RunResult {
  const RunOptions &options;
  Variant &main;
  Variant *unfused = nullptr;
  std::vector<Difference> differences; ///< per result, with --compare
  Limits limits;                       ///< of this machine, if measured
  bool passed() const;
};

void printTable(const RunResult &result, llvm::raw_ostream &out);
llvm::Error writeReports(const RunResult &result);
/// Adds the kernels' times to the profile that the options name.
llvm::Error writeProfile(const RunResult &result);

} // namespace fuse

#endif // FUSE_LIB_PIPELINE_VARIANT_H
