//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emulator: runs NVVM kernels, given as LLVM bitcode, on the CPU.
//
// A module is translated (special registers, barriers, warp operations and
// matrix instructions become loads from a thread's state or calls into the
// emulator), instrumented with bounds checks, and compiled for the host.
// Blocks run on host threads, the threads of a block as fibers.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_EMULATOR_EMULATOR_H
#define FUSE_EMULATOR_EMULATOR_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>

namespace fuse::emulator {

struct Kernel;
struct LoadedModule;

using Dim3 = std::array<uint64_t, 3>;

/// What a launch asks for.
struct LaunchShape {
  Dim3 grid, block;
  uint64_t dynamicShared = 0; ///< Bytes.
};

/// Compiles device bitcode for the host. An error begins with the name that
/// CUDA gives to it, and names the intrinsic or function that is not known.
llvm::Expected<LoadedModule *> loadModule(llvm::StringRef image);
void unloadModule(LoadedModule *module);

/// The kernel of that name, or null.
const Kernel *findKernel(const LoadedModule &module, llvm::StringRef name);

/// What diagnostics call a kernel.
llvm::StringRef nameOf(const Kernel &kernel);

/// Runs a kernel to its end; `params` points to the value of each argument.
/// An error begins with CUDA's name for it or says what the kernel did wrong,
/// where, and in which thread.
llvm::Error launch(const Kernel &kernel, const LaunchShape &shape,
                   void **params);

/// Memory that kernels may touch.
void *allocate(uint64_t bytes);
/// False where `address` is not the start of an allocation.
bool deallocate(void *address);
void registerHost(void *address, uint64_t bytes);
bool unregisterHost(void *address);
/// Bytes from `address` to the end of the allocation around it; -1 where no
/// allocation is.
int64_t bytesToEnd(const void *address);

} // namespace fuse::emulator

#endif // FUSE_EMULATOR_EMULATOR_H
