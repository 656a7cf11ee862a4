//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of the CUDA driver API that programs need, found when they are
// first used: nothing of CUDA is needed to build or to load this.
//
//===----------------------------------------------------------------------===//

#ifndef FUSE_CUDA_DRIVER_H
#define FUSE_CUDA_DRIVER_H

#include <cstddef>
#include <cstdint>

namespace fuse::cuda {

/// Results, handles and options as in "CUDA Driver API", with their values.
using Result = int;
using DevicePointer = unsigned long long;
constexpr int jitErrorLog = 5, jitErrorLogBytes = 6, jitOptimizationLevel = 7;
constexpr int functionMaxDynamicShared = 8;
constexpr int deviceMaxSharedPerBlockOptin = 97;
constexpr unsigned streamNonBlocking = 1, eventDisableTiming = 2;
constexpr unsigned memoryAttachGlobal = 1;
constexpr int launchAttributeClusterDimension = 4;

struct LaunchAttribute {
  int id;
  char padding[4];
  union {
    char bytes[64];
    unsigned cluster[3];
  } value;
};

struct LaunchConfig {
  unsigned grid[3], block[3], sharedBytes;
  void *stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};

/// Pointers to the driver's functions, under their names.
struct Driver {
  Result (*cuInit)(unsigned);
  Result (*cuGetErrorName)(Result, const char **);
  Result (*cuDeviceGet)(int *, int);
  Result (*cuDeviceGetCount)(int *);
  Result (*cuDeviceGetAttribute)(int *, int, int);
  Result (*cuDevicePrimaryCtxRetain)(void **, int);
  Result (*cuCtxSetCurrent)(void *);
  Result (*cuModuleLoadDataEx)(void **, const void *, unsigned, int *, void **);
  Result (*cuModuleUnload)(void *);
  Result (*cuModuleGetFunction)(void **, void *, const char *);
  Result (*cuFuncSetAttribute)(void *, int, int);
  Result (*cuLaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned,
                           unsigned, unsigned, unsigned, void *, void **,
                           void **);
  Result (*cuStreamCreate)(void **, unsigned);
  Result (*cuStreamDestroy)(void *);
  Result (*cuStreamSynchronize)(void *);
  Result (*cuStreamWaitEvent)(void *, void *, unsigned);
  Result (*cuEventCreate)(void **, unsigned);
  Result (*cuEventDestroy)(void *);
  Result (*cuEventSynchronize)(void *);
  Result (*cuEventRecord)(void *, void *);
  Result (*cuMemAlloc)(DevicePointer *, size_t);
  Result (*cuMemAllocManaged)(DevicePointer *, size_t, unsigned);
  Result (*cuMemFree)(DevicePointer);
  Result (*cuMemcpyAsync)(DevicePointer, DevicePointer, size_t, void *);
  Result (*cuMemsetD16Async)(DevicePointer, unsigned short, size_t, void *);
  Result (*cuMemsetD32Async)(DevicePointer, unsigned, size_t, void *);
  Result (*cuMemHostRegister)(void *, size_t, unsigned);
  Result (*cuMemHostUnregister)(void *);
  /// Null in drivers before CUDA 11.8.
  Result (*cuLaunchKernelEx)(const LaunchConfig *, void *, void **, void **);
};

/// The driver, initialised, with a context of the default device current in
/// this thread. Ends the process with status 1 if there is no driver or device.
const Driver &driver();

/// The device that `driver` uses from now on (the first one by default).
void setDevice(int index);
int device();

/// Ends the process with status 1 unless the result is success.
void check(Result result, const char *function);
[[noreturn]] void stop(const char *message, const char *detail);

} // namespace fuse::cuda

#endif // FUSE_CUDA_DRIVER_H
