//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The symbols that MLIR's gpu-to-llvm and its translation to LLVM IR call, with
// their signatures, on the CUDA driver.
//
// An error is printed by its name in CUDA, and the process ends with status 1.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include <algorithm>

using namespace fuse::cuda;

#define FUSE_EXPORT extern "C" __attribute__((visibility("default")))

/// Calls a function of the driver, and ends the process if it fails.
#define CALL(function, ...) check(driver().function(__VA_ARGS__), #function)

static DevicePointer address(void *pointer) {
  return reinterpret_cast<DevicePointer>(pointer);
}

//===----------------------------------------------------------------------===//
// Modules and launches
//===----------------------------------------------------------------------===//

/// The level is what the driver's compiler takes, 0 to 4; below 0: its default.
static void *load(void *data, int level) {
  static char log[8192];
  int options[] = {jitErrorLog, jitErrorLogBytes, jitOptimizationLevel};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log)),
                    reinterpret_cast<void *>(uintptr_t(std::min(level, 4)))};
  void *module = nullptr;
  Result result = driver().cuModuleLoadDataEx(&module, data, level < 0 ? 2 : 3,
                                              options, values);
  if (result != 0 && log[0] != 0)
    stop("CUDA could not compile the module: ", log);
  check(result, "cuModuleLoadDataEx");
  return module;
}

FUSE_EXPORT void *mgpuModuleLoad(void *data, size_t) { return load(data, -1); }

FUSE_EXPORT void *mgpuModuleLoadJIT(void *data, int level) {
  return load(data, level);
}

FUSE_EXPORT void mgpuModuleUnload(void *module) {
  CALL(cuModuleUnload, module);
}

FUSE_EXPORT void *mgpuModuleGetFunction(void *module, const char *name) {
  void *function = nullptr;
  CALL(cuModuleGetFunction, &function, module, name);
  return function;
}

/// More dynamic shared memory than 48 KiB has to be asked for.
static void allowShared(void *function, int32_t bytes) {
  int limit = 0;
  CALL(cuDeviceGetAttribute, &limit, deviceMaxSharedPerBlockOptin, device());
  if (bytes > 0 && bytes <= limit)
    CALL(cuFuncSetAttribute, function, functionMaxDynamicShared, bytes);
}

FUSE_EXPORT void mgpuLaunchKernel(void *function, intptr_t gridX,
                                  intptr_t gridY, intptr_t gridZ,
                                  intptr_t blockX, intptr_t blockY,
                                  intptr_t blockZ, int32_t shared, void *stream,
                                  void **params, void **extra, size_t) {
  allowShared(function, shared);
  CALL(cuLaunchKernel, function, gridX, gridY, gridZ, blockX, blockY, blockZ,
       shared, stream, params, extra);
}

FUSE_EXPORT void mgpuLaunchClusterKernel(void *function, intptr_t clusterX,
                                         intptr_t clusterY, intptr_t clusterZ,
                                         intptr_t gridX, intptr_t gridY,
                                         intptr_t gridZ, intptr_t blockX,
                                         intptr_t blockY, intptr_t blockZ,
                                         int32_t shared, void *stream,
                                         void **params, void **extra) {
  if (!driver().cuLaunchKernelEx)
    stop("the CUDA driver lacks ", "cuLaunchKernelEx");
  allowShared(function, shared);
  LaunchAttribute attribute{};
  attribute.id = launchAttributeClusterDimension;
  attribute.value.cluster[0] = clusterX;
  attribute.value.cluster[1] = clusterY;
  attribute.value.cluster[2] = clusterZ;
  LaunchConfig config{{unsigned(gridX), unsigned(gridY), unsigned(gridZ)},
                      {unsigned(blockX), unsigned(blockY), unsigned(blockZ)},
                      unsigned(shared),
                      stream,
                      &attribute,
                      1};
  CALL(cuLaunchKernelEx, &config, function, params, extra);
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

FUSE_EXPORT void *mgpuStreamCreate() {
  void *stream = nullptr;
  CALL(cuStreamCreate, &stream, streamNonBlocking);
  return stream;
}

FUSE_EXPORT void mgpuStreamDestroy(void *stream) {
  CALL(cuStreamDestroy, stream);
}

FUSE_EXPORT void mgpuStreamSynchronize(void *stream) {
  CALL(cuStreamSynchronize, stream);
}

FUSE_EXPORT void mgpuStreamWaitEvent(void *stream, void *event) {
  CALL(cuStreamWaitEvent, stream, event, 0);
}

FUSE_EXPORT void *mgpuEventCreate() {
  void *event = nullptr;
  CALL(cuEventCreate, &event, eventDisableTiming);
  return event;
}

FUSE_EXPORT void mgpuEventDestroy(void *event) { CALL(cuEventDestroy, event); }

FUSE_EXPORT void mgpuEventSynchronize(void *event) {
  CALL(cuEventSynchronize, event);
}

FUSE_EXPORT void mgpuEventRecord(void *event, void *stream) {
  CALL(cuEventRecord, event, stream);
}

FUSE_EXPORT void mgpuSetDefaultDevice(int32_t index) { setDevice(index); }

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

FUSE_EXPORT void *mgpuMemAlloc(uint64_t bytes, void *, bool isHostShared) {
  DevicePointer memory = 0;
  if (bytes == 0)
    return nullptr;
  if (isHostShared)
    CALL(cuMemAllocManaged, &memory, bytes, memoryAttachGlobal);
  else
    CALL(cuMemAlloc, &memory, bytes);
  return reinterpret_cast<void *>(memory);
}

FUSE_EXPORT void mgpuMemFree(void *memory, void *) {
  CALL(cuMemFree, address(memory));
}

FUSE_EXPORT void mgpuMemcpy(void *to, void *from, size_t bytes, void *stream) {
  CALL(cuMemcpyAsync, address(to), address(from), bytes, stream);
}

FUSE_EXPORT void mgpuMemset32(void *memory, unsigned value, size_t count,
                              void *stream) {
  CALL(cuMemsetD32Async, address(memory), value, count, stream);
}

FUSE_EXPORT void mgpuMemset16(void *memory, unsigned short value, size_t count,
                              void *stream) {
  CALL(cuMemsetD16Async, address(memory), value, count, stream);
}

FUSE_EXPORT void mgpuMemHostRegister(void *memory, uint64_t bytes) {
  CALL(cuMemHostRegister, memory, bytes, 0);
}

FUSE_EXPORT void mgpuMemHostUnregister(void *memory) {
  CALL(cuMemHostUnregister, memory);
}

/// The bytes that a memref's descriptor spans: the two pointers, the offset,
/// then sizes and strides (int64_t each).
FUSE_EXPORT void mgpuMemHostRegisterMemRef(int64_t rank, void *descriptor,
                                           int64_t elementBytes) {
  auto *words = static_cast<int64_t *>(descriptor);
  int64_t last = 0;
  for (int64_t d = 0; d < rank; ++d) {
    if (words[3 + d] == 0)
      return;
    last += (words[3 + d] - 1) * words[3 + rank + d];
  }
  mgpuMemHostRegister(reinterpret_cast<char *>(words[1]) +
                          words[2] * elementBytes,
                      uint64_t(last + 1) * elementBytes);
}

FUSE_EXPORT void mgpuMemHostUnregisterMemRef(int64_t rank, void *descriptor,
                                             int64_t elementBytes) {
  auto *words = static_cast<int64_t *>(descriptor);
  for (int64_t d = 0; d < rank; ++d)
    if (words[3 + d] == 0)
      return;
  mgpuMemHostUnregister(reinterpret_cast<char *>(words[1]) +
                        words[2] * elementBytes);
}
