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

#include "fuse/Lowering/Resources.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace fuse {

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
