//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loaded module and its kernels.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_EMULATOR_MODULE_H
#define FUSE_EMULATOR_MODULE_H

#include "Block.h"
#include "fuse/Emulator/Emulator.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

namespace fuse::emulator {

struct Kernel {
  std::string name;
  Entry entry = nullptr;
  std::vector<uint64_t> sharedOffsets;
  uint64_t staticShared = 0; ///< Bytes.
  uint64_t maxThreads = 0;   ///< 0: not stated.
  size_t sites = 0;
};

struct LoadedModule {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::vector<Kernel> kernels;
  std::vector<void *> globals; ///< Registered device variables.
};

} // namespace fuse::emulator

#endif // FUSE_EMULATOR_MODULE_H
