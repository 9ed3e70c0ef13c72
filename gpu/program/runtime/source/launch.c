// Kernels: what the compiler registers before main, and launches.
#include "internal.h"
#include <sys/types.h>

// Registration runs before the constructors of the C++ library, so its memory is that of C.
typedef struct {
  const void *host;
  const char *name;
  uint64_t unit;
  int known;        // whether the device told the rest
  cudaError_t error; // why it cannot be launched
  uint64_t number, parameters, bytes, shared, dynamic, threads, registers, local, most;
  uint32_t *size, *offset; // of each parameter
} kernel;

static kernel *kernels;
static wbVariable *variables;
static size_t kernelCount, variableCount, kernelRoom, variableRoom;

static void *grow(void *list, size_t count, size_t *room, size_t size) {
  if (count < *room) return list;
  *room = *room ? 2 * *room : 16;
  list = realloc(list, *room * size);
  if (!list) abort();
  return list;
}

// The fat binary of a source is its number: the device has its PTX.
struct wrapper {
  int magic, version;
  const char *number;
  void *unused;
};
API void **__cudaRegisterFatBinary(struct wrapper *w) { return (void **)w; }
API void __cudaRegisterFatBinaryEnd(void **handle) { wb_managed_begin(); }
API void __cudaUnregisterFatBinary(void **handle) {}
static uint64_t unit(void **handle) { return strtoull(((struct wrapper *)handle)->number, 0, 10); }

API void __cudaRegisterFunction(void **handle, const void *host, char *unused, const char *name, int limit, void *a, void *b, void *c, void *d, int *e) {
  kernels = grow(kernels, kernelCount, &kernelRoom, sizeof *kernels);
  kernels[kernelCount++] = (kernel){.host = host, .name = name, .unit = unit(handle)};
}
API void __cudaRegisterVar(void **handle, const void *host, char *unused, const char *name, int external, size_t bytes, int constant, int global) {
  variables = grow(variables, variableCount, &variableRoom, sizeof *variables);
  variables[variableCount++] = (wbVariable){host, name, unit(handle)};
}

API char __cudaInitModule(void **handle) { return 1; }

const wbVariable *wb_variable(const void *host) {
  for (size_t i = 0; i < variableCount; i++)
    if (variables[i].host == host) return &variables[i];
  return 0;
}

// find is the kernel of a host function, after the device told its parameters.
static kernel *find(const void *host) {
  static kernel *recent;
  kernel *k = recent;
  if (!k || k->host != host) {
    k = 0;
    for (size_t i = 0; i < kernelCount && !k; i++)
      if (kernels[i].host == host) k = &kernels[i];
  }
  if (!k) return 0;
  if (!k->known) {
    size_t n = strlen(k->name);
    uint64_t *m = wb_message(WB_OP_KERNEL, 0, 2, n);
    m[0] = k->unit, m[1] = n;
    memcpy(m + 2, k->name, n);
    k->error = wb_ask();
    k->known = 1;
    if (!k->error) {
      const uint64_t *v = wb_answer + WB_ANSWER_VALUES;
      k->number = v[0], k->parameters = v[1], k->bytes = v[2], k->shared = v[3], k->threads = v[4], k->registers = v[5], k->local = v[6], k->most = v[7];
      k->dynamic = 48 << 10;
      const uint32_t *list = (const uint32_t *)wb_data;
      k->size = malloc(8 * k->parameters + 1);
      if (!k->size) abort();
      k->offset = k->size + k->parameters;
      memcpy(k->size, list, 8 * k->parameters);
    }
  }
  recent = k;
  return k;
}

// The shape of a launch, from <<<>>> to the call of the kernel's stub.
static _Thread_local struct {
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
  uint64_t here;
} pushed;

API unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  pushed.grid = grid, pushed.block = block, pushed.shared = shared, pushed.stream = stream, pushed.here = HERE;
  return 0;
}
API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, cudaStream_t *stream) {
  *grid = pushed.grid, *block = pushed.block, *shared = pushed.shared, *stream = pushed.stream;
  return cudaSuccess;
}

// shape returns an error for a launch that no device runs.
static cudaError_t shape(const kernel *k, dim3 g, dim3 b, size_t shared, uint64_t here) {
  uint64_t threads = (uint64_t)b.x * b.y * b.z;
  if (!g.x || !g.y || !g.z || !b.x || !b.y || !b.z)
    return wb_fail(cudaErrorInvalidConfiguration, here, 0, "launch of a grid of (%u,%u,%u) blocks of (%u,%u,%u) threads: no size may be 0", g.x, g.y, g.z, b.x, b.y, b.z);
  if (threads > 1024 || b.x > 1024 || b.y > 1024 || b.z > 64)
    return wb_fail(cudaErrorInvalidConfiguration, here, 0, "launch of blocks of (%u,%u,%u) threads: expected at most 1024, and (1024,1024,64)", b.x, b.y, b.z);
  if (g.x > 2147483647u || g.y > 65535 || g.z > 65535)
    return wb_fail(cudaErrorInvalidConfiguration, here, 0, "launch of a grid of (%u,%u,%u) blocks: expected at most (2147483647,65535,65535)", g.x, g.y, g.z);
  if (k->threads && threads > k->threads)
    return wb_fail(cudaErrorInvalidValue, here, 0, "launch of %llu threads per block, and the kernel's __launch_bounds__ are %llu", (unsigned long long)threads, (unsigned long long)k->threads);
  if (shared + k->shared > k->dynamic && shared + k->shared > 48 << 10)
    return wb_fail(cudaErrorInvalidValue, here, 0, "launch with %zu bytes of shared memory: more than 48 KiB need cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) before", shared + (size_t)k->shared);
  return cudaSuccess;
}

// resident returns an error for a cooperative launch of more blocks than the device holds.
static cudaError_t resident(const void *host, dim3 g, dim3 b, size_t shared, uint64_t here) {
  struct cudaDeviceProp p;
  int each;
  if (wb_recording()) return cudaSuccess; // the graph's launch meets it
  cudaError_t e = cudaGetDeviceProperties(&p, 0);
  if (!e) e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, host, (int)(b.x * b.y * b.z), shared);
  if (e) return e;
  uint64_t blocks = (uint64_t)g.x * g.y * g.z, most = (uint64_t)each * (uint64_t)p.multiProcessorCount;
  return blocks <= most ? cudaSuccess : wb_fail(cudaErrorCooperativeLaunchTooLarge, here, 0, "cooperative launch of %llu blocks: the device holds %llu of them at a time", (unsigned long long)blocks, (unsigned long long)most);
}

static cudaError_t launch(const void *host, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream, uint64_t cooperative, dim3 cluster, uint64_t here) {
  cudaError_t e = wb_ready();
  if (e) return wb_result(e);
  wb_lock();
  kernel *k = find(host);
  wb_unlock();
  if (!k) return wb_fail(cudaErrorInvalidDeviceFunction, here, 0, "it is no kernel of this program");
  if (k->error) return wb_result(k->error);
  e = shape(k, grid, block, shared, here);
  if (!e && cooperative) e = resident(host, grid, block, shared, here);
  if (e) return e;
  wb_lock();
  wb_managed_to_device(here);
  uint64_t *m = wb_message(WB_OP_LAUNCH, here, 6, k->bytes);
  m[0] = k->number | cooperative << 32; // a cluster without blocks is that of the kernel
  m[0] |= (uint64_t)(cluster.x & 255) << 40 | (uint64_t)(cluster.y & 255) << 48 | (uint64_t)(cluster.z & 255) << 56;
  m[1] = (uint64_t)grid.y << 32 | grid.x;
  m[2] = (uint64_t)block.x << 32 | grid.z;
  m[3] = (uint64_t)block.z << 32 | block.y;
  m[4] = shared;
  m[5] = (uint64_t)(uintptr_t)stream;
  unsigned char *to = (unsigned char *)(m + 6);
  for (uint64_t i = 0; i < k->parameters; i++) memcpy(to + k->offset[i], arguments[i], k->size[i]);
  wb_close_arguments(to, k->bytes, (uint64_t)(uintptr_t)stream);
  wb_send();
  wb_unlock();
  return cudaSuccess;
}

API cudaError_t cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream) {
  uint64_t here = pushed.here ? pushed.here : HERE;
  pushed.here = 0;
  return launch(host, grid, block, arguments, shared, stream, 0, (dim3){0, 0, 0}, here);
}
API cudaError_t cudaLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream) {
  return launch(host, grid, block, arguments, shared, stream, 1, (dim3){0, 0, 0}, HERE);
}
// cudaLaunchConfig_t, which is C++.
struct launchConfig {
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
  const struct launchAttribute {
    int id;
    char pad[4];
    union {
      unsigned int words[16];
    } value;
  } *list;
  unsigned int count;
};
API cudaError_t cudaLaunchKernelExC(const struct launchConfig *c, const void *host, void **arguments) {
  dim3 cluster = {0, 0, 0};
  uint64_t cooperative = 0;
  for (unsigned int i = 0; i < c->count; i++) {
    const struct launchAttribute *a = &c->list[i];
    if (a->id == cudaLaunchAttributeCooperative) cooperative = a->value.words[0] != 0;
    else if (a->id == cudaLaunchAttributeClusterDimension) {
      dim3 g = c->grid;
      cluster = (dim3){a->value.words[0], a->value.words[1], a->value.words[2]};
      if (!cluster.x || !cluster.y || !cluster.z || cluster.x > 8 || cluster.y > 8 || cluster.z > 8 || cluster.x * cluster.y * cluster.z > 8 || g.x % cluster.x || g.y % cluster.y || g.z % cluster.z)
        return wb_fail(cudaErrorInvalidClusterSize, HERE, 0, "clusters of (%u,%u,%u) blocks in a grid of (%u,%u,%u): expected at most 8 blocks, and sizes that divide those of the grid", cluster.x, cluster.y, cluster.z, g.x, g.y, g.z);
    }
    else if (a->id != cudaLaunchAttributeIgnore && a->id != cudaLaunchAttributePriority)
      return wb_fail(cudaErrorNotSupported, HERE, 0, "attribute %d of a launch is not there", a->id);
  }
  return launch(host, c->grid, c->block, arguments, c->shared, c->stream, cooperative, cluster, HERE);
}

// known is the kernel of a host function, for questions about it.
static const kernel *known(const void *host, cudaError_t *e, uint64_t here) {
  *e = wb_ready();
  if (*e) return wb_result(*e), (kernel *)0;
  wb_lock();
  kernel *k = find(host);
  wb_unlock();
  if (!k) *e = wb_fail(cudaErrorInvalidDeviceFunction, here, 0, "it is no kernel of this program");
  else if (k->error) *e = wb_result(k->error);
  return *e ? 0 : k;
}

API cudaError_t cudaFuncSetAttribute(const void *host, enum cudaFuncAttribute attribute, int value) {
  cudaError_t e;
  kernel *k = (kernel *)known(host, &e, HERE);
  if (!k || attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return e;
  uint64_t most = wb_device()->value[WB_DEVICE_SHARED_OPTIN];
  if (value < 0 || value + k->shared > most)
    return wb_fail(cudaErrorInvalidValue, HERE, 0, "%d bytes of dynamic shared memory: expected at most %llu", value, (unsigned long long)(most - k->shared));
  k->dynamic = value + k->shared;
  return cudaSuccess;
}
API cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *a, const void *host) {
  cudaError_t e;
  const kernel *k = known(host, &e, HERE);
  if (!k) return e;
  *a = (struct cudaFuncAttributes){.sharedSizeBytes = k->shared, .localSizeBytes = k->local, .maxThreadsPerBlock = (int)(k->threads ? k->threads : 1024), .numRegs = (int)k->registers,
                                   .maxDynamicSharedSizeBytes = (int)(k->dynamic - k->shared), .preferredShmemCarveout = -1};
  a->ptxVersion = a->binaryVersion = (int)(10 * wb_device()->value[WB_DEVICE_MAJOR] + wb_device()->value[WB_DEVICE_MINOR]);
  return cudaSuccess;
}
API cudaError_t cudaFuncSetCacheConfig(const void *host, enum cudaFuncCache config) { return wb_result(wb_ready()); }
API cudaError_t cudaFuncSetSharedMemConfig(const void *host, enum cudaSharedMemConfig config) { return wb_result(wb_ready()); }
API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int threads, size_t shared) {
  cudaError_t e;
  const kernel *k = known(host, &e, HERE);
  if (!k) return e;
  if (threads < 1) return wb_fail(cudaErrorInvalidValue, HERE, 0, "blocks of %d threads", threads);
  wb_lock();
  uint64_t *m = wb_message(WB_OP_OCCUPANCY, HERE, 3, 0);
  m[0] = k->number, m[1] = threads, m[2] = shared;
  e = wb_ask();
  *blocks = (int)wb_answer[WB_ANSWER_VALUES];
  wb_unlock();
  return wb_result(e);
}
