// What a program for a GPU needs beside NVIDIA's runtime: conversions to bfloat16, and
// variables of both sides.
//
// nvcc makes a __managed__ variable of the host a pointer to memory of both sides, which clang
// does not. Each side has a variable of its own here. What the host has changed is copied to
// the device before a launch, and what kernels have changed is copied back after a call that
// waits. The functions here are found before those of the library, which they call. The host's
// variables are registered, so that a kernel that is given their address can use it.
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bfloat16.c"
#include "warpbook/api.h"

typedef struct {
  unsigned int x, y, z;
} dim3;
typedef struct {
  const void *host;
  uint64_t bytes;
  void *device;        // 0 before it is known
  unsigned char *same; // what both sides had last
  unsigned char *now;  // room for what the device has
} managed;
static managed *list;
static size_t count;
static int launched; // since the last copy from the device
static cudaStream_t copies;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

extern char __start_wb_managed[] __attribute__((weak)), __stop_wb_managed[] __attribute__((weak)); // of the linker

void __cudaRegisterVar(void **handle, char *host, char *address, const char *name, int external, size_t bytes, int constant, int global);
void __cudaRegisterFatBinaryEnd(void **handle);
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream);
cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream);
cudaError_t cudaLaunchKernelExC(const void *config, const void *kernel, void **arguments);

// REAL is the library's function of a name.
#define REAL(name) ({ static __typeof__(&name) real_; if (!real_) real_ = (__typeof__(&name))dlsym(RTLD_NEXT, #name); if (!real_) abort(); real_; })

void __cudaRegisterVar(void **handle, char *host, char *address, const char *name, int external, size_t bytes, int constant, int global) {
  REAL(__cudaRegisterVar)(handle, host, address, name, external, bytes, constant, global);
  if (host < __start_wb_managed || host >= __stop_wb_managed) return;
  list = realloc(list, (count + 1) * sizeof *list);
  if (!list) abort();
  list[count++] = (managed){host, bytes, 0, calloc(1, bytes), calloc(1, bytes)};
  memcpy(list[count - 1].same, host, bytes);
}

// place asks for the addresses on the device, once.
static int place(void) {
  if (copies) return 1;
  if (cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking)) return copies = 0, 0;
  for (size_t i = 0; i < count; i++)
    if (!list[i].same || !list[i].now || cudaGetSymbolAddress(&list[i].device, list[i].host)) return copies = 0, 0;
  uintptr_t from = (uintptr_t)__start_wb_managed & -4096, to = ((uintptr_t)__stop_wb_managed + 4095) & -4096;
  if (cudaHostRegister((void *)from, to - from, cudaHostRegisterMapped)) cudaGetLastError(); // then an address of the host is a fault in the kernel
  return 1;
}

// changed is the first word from a place on that the host has changed, or not; the end if there
// is none.
static uint64_t changed(const managed *v, uint64_t at, int is) {
  for (; at < v->bytes; at += 4) {
    uint64_t n = v->bytes - at < 4 ? v->bytes - at : 4;
    if ((memcmp(v->same + at, (const char *)v->host + at, n) != 0) == is) return at;
  }
  return v->bytes;
}

static void to_device(void) {
  if (!count) return;
  pthread_mutex_lock(&lock);
  launched = 1;
  for (size_t i = 0; i < count && place(); i++) {
    managed *v = &list[i];
    for (uint64_t from = 0, to; (from = changed(v, from, 1)) < v->bytes; from = to) {
      to = changed(v, from, 0);
      memcpy(v->same + from, (const char *)v->host + from, to - from);
      cudaMemcpyAsync((char *)v->device + from, v->same + from, to - from, cudaMemcpyHostToDevice, copies);
    }
  }
  if (copies) REAL(cudaStreamSynchronize)(copies);
  pthread_mutex_unlock(&lock);
}

static cudaError_t from_device(cudaError_t e) {
  if (e || !count) return e;
  pthread_mutex_lock(&lock);
  for (size_t i = 0; launched && i < count && place(); i++) {
    managed *v = &list[i];
    if (cudaMemcpyAsync(v->now, v->device, v->bytes, cudaMemcpyDeviceToHost, copies) || REAL(cudaStreamSynchronize)(copies)) break;
    for (uint64_t k = 0; k < v->bytes; k++)
      if (v->now[k] != v->same[k]) ((unsigned char *)v->host)[k] = v->same[k] = v->now[k];
  }
  launched = 0;
  pthread_mutex_unlock(&lock);
  return e;
}

// The compiler gives the host's variables no values of their own, so they get the device's
// before main.
void __cudaRegisterFatBinaryEnd(void **handle) {
  REAL(__cudaRegisterFatBinaryEnd)(handle);
  launched = 1;
  from_device(cudaSuccess);
  if (count) cudaGetLastError(); // without a GPU the program meets the error at its own call
}
// Launches.
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream) { return to_device(), REAL(cudaLaunchKernel)(kernel, grid, block, arguments, shared, stream); }
cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream) { return to_device(), REAL(cudaLaunchCooperativeKernel)(kernel, grid, block, arguments, shared, stream); }
cudaError_t cudaLaunchKernelExC(const void *config, const void *kernel, void **arguments) { return to_device(), REAL(cudaLaunchKernelExC)(config, kernel, arguments); }
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) { return to_device(), REAL(cudaGraphLaunch)(graph, stream); }
// Calls that wait.
cudaError_t cudaDeviceSynchronize(void) { return from_device(REAL(cudaDeviceSynchronize)()); }
cudaError_t cudaThreadSynchronize(void) { return from_device(REAL(cudaThreadSynchronize)()); }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return from_device(REAL(cudaStreamSynchronize)(stream)); }
cudaError_t cudaStreamQuery(cudaStream_t stream) { return from_device(REAL(cudaStreamQuery)(stream)); }
cudaError_t cudaEventSynchronize(cudaEvent_t event) { return from_device(REAL(cudaEventSynchronize)(event)); }
cudaError_t cudaEventQuery(cudaEvent_t event) { return from_device(REAL(cudaEventQuery)(event)); }
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) { return from_device(REAL(cudaMemcpy)(to, from, bytes, kind)); }
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind) {
  to_device();
  return from_device(REAL(cudaMemcpyToSymbol)(symbol, from, bytes, offset, kind));
}
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind) {
  to_device();
  return from_device(REAL(cudaMemcpyFromSymbol)(to, symbol, bytes, offset, kind));
}
