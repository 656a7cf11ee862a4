//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NVIDIA's assembler, where the machine has one.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_LIB_LOWERING_PTXAS_H
#define FUSE_LIB_LOWERING_PTXAS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace fuse {

/// What a kernel takes, as `ptxas -v` prints it.
struct KernelResources {
  std::string kernel;
  int64_t registers = 0;   ///< 32-bit, per thread
  int64_t spillStores = 0; ///< bytes
  int64_t spillLoads = 0;  ///< bytes
  int64_t stack = 0;       ///< bytes of the frame
  int64_t shared = 0;      ///< bytes of static shared memory
};

struct AssembledModule {
  std::string binary;
  std::vector<KernelResources> kernels;
};

/// The path of ptxas: on PATH, in CUDA_HOME or CUDA_PATH, or in the Python
/// package nvidia-cuda-nvcc (PYTHONPATH, the virtual environment, and what
/// `python3` names).
std::optional<std::string> findPtxas();

/// Assembles PTX for a chip. The error is what ptxas prints.
llvm::Expected<AssembledModule>
runPtxas(llvm::StringRef ptxas, llvm::StringRef ptx, llvm::StringRef chip);

} // namespace fuse

#endif // FUSE_LIB_LOWERING_PTXAS_H
