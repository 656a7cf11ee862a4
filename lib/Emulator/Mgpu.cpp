//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The symbols that MLIR's gpu-to-llvm and its translation to LLVM IR call, with
// their signatures, on the emulator. Streams do everything at once.
//
// An error is printed, and the process ends with status 1: callers look at no
// result.
//
//===----------------------------------------------------------------------===//

#include "Watchdog.h"
#include "fuse/Emulator/Emulator.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <vector>

using namespace fuse::emulator;
using llvm::formatv;

#define FUSE_EXPORT extern "C" __attribute__((visibility("default")))

[[noreturn]] static void stop(const std::string &message) {
  std::cout.flush();
  std::fflush(stdout);
  llvm::outs().flush();
  llvm::errs() << "error: " << message << "\n";
  llvm::errs().flush();
  std::_Exit(1);
}

[[noreturn]] static void stop(llvm::Error error) {
  stop(llvm::toString(std::move(error)));
}

/// Seconds that a launch may take; 0 if FUSE_EMULATOR_TIMEOUT is not set.
static unsigned timeout() {
  const char *text = std::getenv("FUSE_EMULATOR_TIMEOUT");
  unsigned seconds = 0;
  if (text && (llvm::StringRef(text).getAsInteger(10, seconds) || seconds == 0))
    stop(formatv("FUSE_EMULATOR_TIMEOUT is '{0}', expected a number of seconds "
                 "of at least 1",
                 text));
  return seconds;
}

//===----------------------------------------------------------------------===//
// Modules and launches
//===----------------------------------------------------------------------===//

FUSE_EXPORT void *mgpuModuleLoad(void *data, size_t size) {
  auto module = loadModule({static_cast<const char *>(data), size});
  if (!module)
    stop(module.takeError());
  return *module;
}

/// For modules of format `isa`: text that ends in a zero byte.
FUSE_EXPORT void *mgpuModuleLoadJIT(void *data, int) {
  return mgpuModuleLoad(data, std::strlen(static_cast<char *>(data)));
}

FUSE_EXPORT void mgpuModuleUnload(void *module) {
  unloadModule(static_cast<LoadedModule *>(module));
}

FUSE_EXPORT void *mgpuModuleGetFunction(void *module, const char *name) {
  const Kernel *kernel = findKernel(*static_cast<LoadedModule *>(module), name);
  if (!kernel)
    stop(formatv("CUDA_ERROR_NOT_FOUND: the module has no kernel '{0}'", name));
  return const_cast<Kernel *>(kernel);
}

FUSE_EXPORT void mgpuLaunchKernel(void *kernel, intptr_t gridX, intptr_t gridY,
                                  intptr_t gridZ, intptr_t blockX,
                                  intptr_t blockY, intptr_t blockZ,
                                  int32_t dynamicShared, void *, void **params,
                                  void **, size_t) {
  LaunchShape shape;
  shape.grid = {uint64_t(gridX), uint64_t(gridY), uint64_t(gridZ)};
  shape.block = {uint64_t(blockX), uint64_t(blockY), uint64_t(blockZ)};
  shape.dynamicShared = uint32_t(dynamicShared);
  const Kernel &launched = *static_cast<Kernel *>(kernel);
  unsigned seconds = timeout();
  Watchdog watchdog(seconds, [&] {
    stop(formatv("CUDA_ERROR_LAUNCH_TIMEOUT: kernel '{0}' still runs after {1} "
                 "s (FUSE_EMULATOR_TIMEOUT)",
                 nameOf(launched), seconds));
  });
  if (llvm::Error error = launch(launched, shape, params))
    stop(std::move(error));
}

FUSE_EXPORT void mgpuLaunchClusterKernel(void *kernel, intptr_t clusterX,
                                         intptr_t clusterY, intptr_t clusterZ,
                                         intptr_t gridX, intptr_t gridY,
                                         intptr_t gridZ, intptr_t blockX,
                                         intptr_t blockY, intptr_t blockZ,
                                         int32_t dynamicShared, void *stream,
                                         void **params, void **extra) {
  if (clusterX * clusterY * clusterZ != 1)
    stop(formatv("clusters of {0} x {1} x {2} blocks are not emulated, "
                 "expected 1 x 1 x 1",
                 clusterX, clusterY, clusterZ));
  mgpuLaunchKernel(kernel, gridX, gridY, gridZ, blockX, blockY, blockZ,
                   dynamicShared, stream, params, extra, 0);
}

//===----------------------------------------------------------------------===//
// Streams and events: all is done when a call returns
//===----------------------------------------------------------------------===//

FUSE_EXPORT void *mgpuStreamCreate() { return new char; }
FUSE_EXPORT void mgpuStreamDestroy(void *stream) {
  delete static_cast<char *>(stream);
}
FUSE_EXPORT void mgpuStreamSynchronize(void *) {}
FUSE_EXPORT void mgpuStreamWaitEvent(void *, void *) {}
FUSE_EXPORT void *mgpuEventCreate() { return new char; }
FUSE_EXPORT void mgpuEventDestroy(void *event) {
  delete static_cast<char *>(event);
}
FUSE_EXPORT void mgpuEventSynchronize(void *) {}
FUSE_EXPORT void mgpuEventRecord(void *, void *) {}
FUSE_EXPORT void mgpuSetDefaultDevice(int32_t) {}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Stops where the bytes go past the end of an allocation of the device.
static void checkRange(const char *what, const void *address, uint64_t bytes) {
  int64_t left = bytesToEnd(address);
  if (left >= 0 && uint64_t(left) < bytes)
    stop(formatv("CUDA_ERROR_INVALID_VALUE: {0} of {1} bytes where {2} are "
                 "left in the allocation",
                 what, bytes, left));
}

FUSE_EXPORT void *mgpuMemAlloc(uint64_t bytes, void *, bool) {
  void *memory = allocate(bytes);
  if (!memory)
    stop(formatv("CUDA_ERROR_OUT_OF_MEMORY: allocation of {0} bytes", bytes));
  return memory;
}

FUSE_EXPORT void mgpuMemFree(void *memory, void *) {
  if (!deallocate(memory))
    stop("CUDA_ERROR_INVALID_VALUE: free of what is no allocation");
}

FUSE_EXPORT void mgpuMemcpy(void *to, void *from, size_t bytes, void *) {
  checkRange("copy to memory", to, bytes);
  checkRange("copy from memory", from, bytes);
  std::memmove(to, from, bytes);
}

template <typename T> static void fill(void *memory, T value, size_t count) {
  checkRange("fill", memory, count * sizeof(T));
  T *elements = static_cast<T *>(memory);
  for (size_t index = 0; index < count; ++index)
    elements[index] = value;
}

FUSE_EXPORT void mgpuMemset32(void *memory, unsigned value, size_t count,
                              void *) {
  fill<uint32_t>(memory, value, count);
}

FUSE_EXPORT void mgpuMemset16(void *memory, unsigned short value, size_t count,
                              void *) {
  fill<uint16_t>(memory, value, count);
}

FUSE_EXPORT void mgpuMemHostRegister(void *memory, uint64_t bytes) {
  registerHost(memory, bytes);
}

FUSE_EXPORT void mgpuMemHostUnregister(void *memory) {
  if (!unregisterHost(memory))
    stop("CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED: unregistered memory that was "
         "not registered");
}

/// The bytes that a memref's descriptor spans: the two pointers, the offset,
/// then sizes and strides (int64_t each).
static std::pair<char *, uint64_t> span(int64_t rank, void *descriptor,
                                        int64_t elementBytes) {
  auto *words = static_cast<int64_t *>(descriptor);
  auto *aligned = reinterpret_cast<char *>(words[1]);
  int64_t last = 0;
  for (int64_t d = 0; d < rank; ++d) {
    if (words[3 + d] == 0)
      return {aligned + words[2] * elementBytes, 0};
    last += (words[3 + d] - 1) * words[3 + rank + d];
  }
  return {aligned + words[2] * elementBytes, uint64_t(last + 1) * elementBytes};
}

FUSE_EXPORT void mgpuMemHostRegisterMemRef(int64_t rank, void *descriptor,
                                           int64_t elementBytes) {
  auto [memory, bytes] = span(rank, descriptor, elementBytes);
  registerHost(memory, bytes);
}

FUSE_EXPORT void mgpuMemHostUnregisterMemRef(int64_t rank, void *descriptor,
                                             int64_t elementBytes) {
  mgpuMemHostUnregister(span(rank, descriptor, elementBytes).first);
}
