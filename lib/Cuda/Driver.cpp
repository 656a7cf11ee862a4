//===----------------------------------------------------------------------===//
//
// Part of the fuse project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the CUDA driver, and says cleanly that there is none.
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

using namespace fuse::cuda;

void fuse::cuda::stop(const char *message, const char *detail) {
  std::fflush(stdout);
  std::fprintf(stderr, "error: %s%s\n", message, detail);
  std::fflush(stderr);
  std::_Exit(1);
}

namespace {
/// A function's name in the library, which may end in its version, and where
/// its pointer goes.
struct Symbol {
  const char *name;
  void **place;
  bool isOptional = false;
};
} // namespace

template <typename T> static void **place(T *&pointer) {
  return reinterpret_cast<void **>(&pointer);
}

static Driver find(void *library) {
  Driver d{};
  const Symbol symbols[] = {
      {"cuInit", place(d.cuInit)},
      {"cuGetErrorName", place(d.cuGetErrorName)},
      {"cuDeviceGet", place(d.cuDeviceGet)},
      {"cuDeviceGetCount", place(d.cuDeviceGetCount)},
      {"cuDeviceGetAttribute", place(d.cuDeviceGetAttribute)},
      {"cuDevicePrimaryCtxRetain", place(d.cuDevicePrimaryCtxRetain)},
      {"cuCtxSetCurrent", place(d.cuCtxSetCurrent)},
      {"cuModuleLoadDataEx", place(d.cuModuleLoadDataEx)},
      {"cuModuleUnload", place(d.cuModuleUnload)},
      {"cuModuleGetFunction", place(d.cuModuleGetFunction)},
      {"cuFuncSetAttribute", place(d.cuFuncSetAttribute)},
      {"cuLaunchKernel", place(d.cuLaunchKernel)},
      {"cuStreamCreate", place(d.cuStreamCreate)},
      {"cuStreamDestroy_v2", place(d.cuStreamDestroy)},
      {"cuStreamSynchronize", place(d.cuStreamSynchronize)},
      {"cuStreamWaitEvent", place(d.cuStreamWaitEvent)},
      {"cuEventCreate", place(d.cuEventCreate)},
      {"cuEventDestroy_v2", place(d.cuEventDestroy)},
      {"cuEventSynchronize", place(d.cuEventSynchronize)},
      {"cuEventRecord", place(d.cuEventRecord)},
      {"cuMemAlloc_v2", place(d.cuMemAlloc)},
      {"cuMemAllocManaged", place(d.cuMemAllocManaged)},
      {"cuMemFree_v2", place(d.cuMemFree)},
      {"cuMemcpyAsync", place(d.cuMemcpyAsync)},
      {"cuMemsetD16Async", place(d.cuMemsetD16Async)},
      {"cuMemsetD32Async", place(d.cuMemsetD32Async)},
      {"cuMemHostRegister_v2", place(d.cuMemHostRegister)},
      {"cuMemHostUnregister", place(d.cuMemHostUnregister)},
      {"cuLaunchKernelEx", place(d.cuLaunchKernelEx), true},
  };
  for (const Symbol &symbol : symbols) {
    *symbol.place = dlsym(library, symbol.name);
    if (!*symbol.place && !symbol.isOptional)
      stop("the CUDA driver lacks ", symbol.name);
  }
  return d;
}

static Driver load() {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    stop("no CUDA driver found: ", dlerror());
  Driver d = find(library);
  if (Result result = d.cuInit(0)) {
    const char *name = nullptr;
    d.cuGetErrorName(result, &name);
    stop("no CUDA device found: ", name ? name : "unknown error of cuInit");
  }
  return d;
}

static const Driver &loaded() {
  static const Driver d = load();
  return d;
}

void fuse::cuda::check(Result result, const char *function) {
  if (result == 0)
    return;
  const char *name = nullptr;
  loaded().cuGetErrorName(result, &name);
  char message[64];
  std::snprintf(message, sizeof(message), "%s: ", name ? name : "unknown");
  stop(message, function);
}

static thread_local int deviceIndex = 0;
static thread_local void *current = nullptr;

int fuse::cuda::device() {
  int handle = 0;
  check(loaded().cuDeviceGet(&handle, deviceIndex), "cuDeviceGet");
  return handle;
}

void fuse::cuda::setDevice(int index) {
  deviceIndex = index;
  current = nullptr;
}

const Driver &fuse::cuda::driver() {
  const Driver &d = loaded();
  if (!current) {
    check(d.cuDevicePrimaryCtxRetain(&current, device()),
          "cuDevicePrimaryCtxRetain");
    check(d.cuCtxSetCurrent(current), "cuCtxSetCurrent");
  }
  return d;
}
