/* A CUDA driver that prints what it is asked: enough of the API to test libfuse_cuda.so without a device. Memory is the
 * host's; a launch prints its shape and its first argument. FAKE_FAIL names a function that fails with
 * CUDA_ERROR_INVALID_VALUE. Compiled with -DNO_STREAMS it lacks a function. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int result_of(const char *function) {
  const char *fails = getenv("FAKE_FAIL");
  return fails && strcmp(fails, function) == 0;
}

#define SAY(name, ...) (printf(name " " __VA_ARGS__), printf("\n"), fflush(stdout), result_of(name))

int cuInit(unsigned flags) { return getenv("FAKE_NO_DEVICE") ? 100 : result_of("cuInit"); }
int cuGetErrorName(int error, const char **name) {
  *name = error == 100 ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_INVALID_VALUE";
  return 0;
}
int cuDeviceGet(int *device, int index) { return *device = index, 0; }
int cuDeviceGetCount(int *count) { return *count = 1, 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device) { return *value = attribute == 97 ? 166912 : 0, 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) {
  *context = (void *)1;
  return SAY("cuDevicePrimaryCtxRetain", "%d", device);
}
int cuCtxSetCurrent(void *context) { return 0; }
int cuModuleLoadDataEx(void **module, const void *data, unsigned count, int *options, void **values) {
  *module = (void *)2;
  if (result_of("cuModuleLoadDataEx"))
    strcpy((char *)values[0], "ptxas: no such instruction");
  return SAY("cuModuleLoadDataEx", "%u options, image %.8s", count, (const char *)data);
}
int cuModuleUnload(void *module) { return SAY("cuModuleUnload", ""); }
int cuModuleGetFunction(void **function, void *module, const char *name) {
  *function = (void *)3;
  return SAY("cuModuleGetFunction", "%s", name);
}
int cuFuncSetAttribute(void *function, int attribute, int value) {
  return SAY("cuFuncSetAttribute", "%d = %d", attribute, value);
}
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **params, void **extra) {
  float *data = *(float **)params[0];
  data[1] += 1;
  return SAY("cuLaunchKernel", "grid %u %u %u block %u %u %u shared %u data %g", gx, gy, gz, bx, by, bz, shared, data[1]);
}
#ifndef NO_STREAMS
int cuStreamCreate(void **stream, unsigned flags) { return *stream = malloc(1), SAY("cuStreamCreate", "%u", flags); }
#endif
int cuStreamDestroy_v2(void *stream) { return free(stream), SAY("cuStreamDestroy", ""); }
int cuStreamSynchronize(void *stream) { return SAY("cuStreamSynchronize", ""); }
int cuStreamWaitEvent(void *stream, void *event, unsigned flags) { return SAY("cuStreamWaitEvent", ""); }
int cuEventCreate(void **event, unsigned flags) { return *event = malloc(1), SAY("cuEventCreate", "%u", flags); }
int cuEventDestroy_v2(void *event) { return free(event), SAY("cuEventDestroy", ""); }
int cuEventSynchronize(void *event) { return SAY("cuEventSynchronize", ""); }
int cuEventRecord(void *event, void *stream) { return SAY("cuEventRecord", ""); }
int cuMemAlloc_v2(unsigned long long *memory, size_t bytes) {
  *memory = (unsigned long long)malloc(bytes);
  return SAY("cuMemAlloc", "%zu", bytes);
}
int cuMemAllocManaged(unsigned long long *memory, size_t bytes, unsigned flags) {
  *memory = (unsigned long long)malloc(bytes);
  return SAY("cuMemAllocManaged", "%zu", bytes);
}
int cuMemFree_v2(unsigned long long memory) { return free((void *)memory), SAY("cuMemFree", ""); }
int cuMemcpyAsync(unsigned long long to, unsigned long long from, size_t bytes, void *stream) {
  memcpy((void *)to, (void *)from, bytes);
  return SAY("cuMemcpyAsync", "%zu", bytes);
}
int cuMemsetD16Async(unsigned long long memory, unsigned short value, size_t count, void *stream) {
  return SAY("cuMemsetD16Async", "%u x %zu", value, count);
}
int cuMemsetD32Async(unsigned long long memory, unsigned value, size_t count, void *stream) {
  for (size_t at = 0; at < count; ++at)
    ((unsigned *)memory)[at] = value;
  return SAY("cuMemsetD32Async", "%u x %zu", value, count);
}
int cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags) { return SAY("cuMemHostRegister", "%zu", bytes); }
int cuMemHostUnregister(void *memory) { return SAY("cuMemHostUnregister", ""); }
