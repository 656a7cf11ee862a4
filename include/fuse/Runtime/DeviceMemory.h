//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory of a GPU, real or emulated, behind the symbols of its runtime library.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_RUNTIME_DEVICEMEMORY_H
#define FUSE_RUNTIME_DEVICEMEMORY_H

#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace fuse {

/// A failure of the device ends the process with a message: the libraries do.
class DeviceMemory {
public:
  /// `library` holds the mgpu* symbols.
  static llvm::Expected<DeviceMemory> load(const std::string &library);

  void *allocate(size_t bytes) const;
  void release(void *memory) const;
  /// Copies between device and host in either direction, and waits for it.
  void copy(void *to, const void *from, size_t bytes) const;

private:
  void *(*memAlloc)(uint64_t, void *, bool) = nullptr;
  void (*memFree)(void *, void *) = nullptr;
  void (*memcpy)(void *, void *, size_t, void *) = nullptr;
  void *(*streamCreate)() = nullptr;
  void (*streamSynchronize)(void *) = nullptr;
  void (*streamDestroy)(void *) = nullptr;
};

} // namespace fuse

#endif // FUSE_RUNTIME_DEVICEMEMORY_H
