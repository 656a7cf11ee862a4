//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime library's functions by name.
//
//===----------------------------------------------------------------------===//

#include "fuse/Runtime/DeviceMemory.h"
#include "llvm/Support/DynamicLibrary.h"

using namespace llvm;
using namespace fuse;

Expected<DeviceMemory> DeviceMemory::load(const std::string &library) {
  std::string message;
  auto loaded =
      sys::DynamicLibrary::getPermanentLibrary(library.c_str(), &message);
  if (!loaded.isValid())
    return createStringError("cannot load " + library + ": " + message);
  DeviceMemory memory;
  std::string missing;
  auto find = [&](const char *name, auto &function) {
    void *address = loaded.getAddressOfSymbol(name);
    function = reinterpret_cast<std::decay_t<decltype(function)>>(address);
    if (!address)
      missing += " " + std::string(name);
  };
  find("mgpuMemAlloc", memory.memAlloc);
  find("mgpuMemFree", memory.memFree);
  find("mgpuMemcpy", memory.memcpy);
  find("mgpuStreamCreate", memory.streamCreate);
  find("mgpuStreamSynchronize", memory.streamSynchronize);
  find("mgpuStreamDestroy", memory.streamDestroy);
  if (!missing.empty())
    return createStringError(library + " lacks" + missing);
  return memory;
}

void *DeviceMemory::allocate(size_t bytes) const {
  return memAlloc(bytes, nullptr, false);
}

void DeviceMemory::release(void *memory) const {
  if (memory)
    memFree(memory, nullptr);
}

void DeviceMemory::copy(void *to, const void *from, size_t bytes) const {
  if (bytes == 0)
    return;
  void *stream = streamCreate();
  memcpy(to, const_cast<void *>(from), bytes, stream);
  streamSynchronize(stream);
  streamDestroy(stream);
}
