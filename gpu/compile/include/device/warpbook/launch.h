// The parts of the runtime API that are C++: the calls behind <<<>>>, and calls that take a
// kernel, a symbol or a pointer of any type.
#pragma once
#define __WB_HOST __attribute__((host, always_inline, nodebug, unused)) static inline

extern "C" {
unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, struct CUstream_st *stream = 0);
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream);
}

// What a host function of these headers returns as its caller's place is that of the line
// in the program, because the function is inlined without lines of its own.
#define __WB_ALLOCATION(name)                                                               \
  template <class T> __WB_HOST cudaError_t name(T **pointer, size_t bytes) { return name((void **)(void *)pointer, bytes); }
__WB_ALLOCATION(cudaMalloc)
__WB_ALLOCATION(cudaMallocHost)
#undef __WB_ALLOCATION
template <class T> __WB_HOST cudaError_t cudaMallocManaged(T **pointer, size_t bytes, unsigned int flags = cudaMemAttachGlobal) {
  return cudaMallocManaged((void **)(void *)pointer, bytes, flags);
}
template <class T> __WB_HOST cudaError_t cudaHostAlloc(T **pointer, size_t bytes, unsigned int flags) {
  return cudaHostAlloc((void **)(void *)pointer, bytes, flags);
}
template <class T> __WB_HOST cudaError_t cudaMallocHost(T **pointer, size_t bytes, unsigned int flags) {
  return cudaHostAlloc((void **)(void *)pointer, bytes, flags);
}
template <class T> __WB_HOST cudaError_t cudaMallocAsync(T **pointer, size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync((void **)(void *)pointer, bytes, stream);
}
template <class T> __WB_HOST cudaError_t cudaMallocPitch(T **pointer, size_t *pitch, size_t width, size_t height) {
  return cudaMallocPitch((void **)(void *)pointer, pitch, width, height);
}
template <class T> __WB_HOST cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned int flags) {
  return cudaHostGetDevicePointer((void **)(void *)device, host, flags);
}
template <class T> __WB_HOST cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return cudaMemcpyToSymbol((const void *)&symbol, from, bytes, offset, kind);
}
template <class T> __WB_HOST cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0, cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return cudaMemcpyFromSymbol(to, (const void *)&symbol, bytes, offset, kind);
}
template <class T> __WB_HOST cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t bytes, size_t offset, cudaMemcpyKind kind, cudaStream_t stream = 0) {
  return cudaMemcpyToSymbolAsync((const void *)&symbol, from, bytes, offset, kind, stream);
}
template <class T> __WB_HOST cudaError_t cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t bytes, size_t offset, cudaMemcpyKind kind, cudaStream_t stream = 0) {
  return cudaMemcpyFromSymbolAsync(to, (const void *)&symbol, bytes, offset, kind, stream);
}
template <class T> __WB_HOST cudaError_t cudaGetSymbolAddress(void **pointer, const T &symbol) { return cudaGetSymbolAddress(pointer, (const void *)&symbol); }
template <class T> __WB_HOST cudaError_t cudaGetSymbolSize(size_t *bytes, const T &symbol) { return cudaGetSymbolSize(bytes, (const void *)&symbol); }
template <class T> __WB_HOST cudaError_t cudaFuncSetAttribute(T *kernel, cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
template <class T> __WB_HOST cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, T *kernel) {
  return cudaFuncGetAttributes(attributes, (const void *)kernel);
}
template <class T> __WB_HOST cudaError_t cudaFuncSetCacheConfig(T *kernel, cudaFuncCache config) { return cudaFuncSetCacheConfig((const void *)kernel, config); }
template <class T> __WB_HOST cudaError_t cudaLaunchKernel(T *kernel, dim3 grid, dim3 block, void **arguments, size_t shared = 0, cudaStream_t stream = 0) {
  return cudaLaunchKernel((const void *)kernel, grid, block, arguments, shared, stream);
}
template <class T> __WB_HOST cudaError_t cudaLaunchCooperativeKernel(T *kernel, dim3 grid, dim3 block, void **arguments, size_t shared = 0, cudaStream_t stream = 0) {
  return cudaLaunchCooperativeKernel((const void *)kernel, grid, block, arguments, shared, stream);
}
template <class T> __WB_HOST cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T *kernel, int threads, size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, threads, shared);
}
// The largest block, in warps, with which an SM is filled best.
template <class T, class F> __WB_HOST cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block, T *kernel, F shared, int limit = 0) {
  cudaFuncAttributes a;
  cudaError_t e = cudaFuncGetAttributes(&a, kernel);
  int device = 0, sms = 1, most = 0;
  if (e == cudaSuccess) e = cudaGetDevice(&device);
  if (e == cudaSuccess) e = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  if (e != cudaSuccess) return e;
  if (limit <= 0 || limit > a.maxThreadsPerBlock) limit = a.maxThreadsPerBlock;
  *block = *grid = 0;
  for (int threads = limit; threads > 0; threads = (threads - 1) / 32 * 32) {
    int blocks = 0;
    e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared(threads));
    if (e != cudaSuccess) return e;
    if (blocks * threads > most) most = blocks * threads, *block = threads, *grid = blocks * sms;
  }
  return cudaSuccess;
}
template <class T> __WB_HOST cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, T *kernel, size_t shared = 0, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, kernel, [=](int) { return shared; }, limit);
}
__WB_HOST cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags) { return cudaEventCreateWithFlags(event, flags); }
// The form of CUDA 13, with a place in the place of a device.
__WB_HOST cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, cudaMemLocation to, unsigned int flags, cudaStream_t stream = 0) {
  return cudaMemPrefetchAsync(pointer, bytes, to.id, stream);
}
__WB_HOST cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation at) {
  return cudaMemAdvise(pointer, bytes, advice, at.id);
}
__WB_HOST cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) { return {x, y, z, w, f}; }
template <class T> __WB_HOST cudaChannelFormatDesc cudaCreateChannelDesc() { return {0, 0, 0, 0, cudaChannelFormatKindNone}; }
#define __WB_CHANNELS(element, name, bits, kind)                                                                          \
  template <> __WB_HOST_INSTANCE cudaChannelFormatDesc cudaCreateChannelDesc<element>() { return {bits, 0, 0, 0, kind}; }   \
  template <> __WB_HOST_INSTANCE cudaChannelFormatDesc cudaCreateChannelDesc<name##1>() { return {bits, 0, 0, 0, kind}; }   \
  template <> __WB_HOST_INSTANCE cudaChannelFormatDesc cudaCreateChannelDesc<name##2>() { return {bits, bits, 0, 0, kind}; } \
  template <> __WB_HOST_INSTANCE cudaChannelFormatDesc cudaCreateChannelDesc<name##4>() { return {bits, bits, bits, bits, kind}; }
#define __WB_HOST_INSTANCE __attribute__((host, always_inline, nodebug, unused)) inline
__WB_CHANNELS(signed char, char, 8, cudaChannelFormatKindSigned)
__WB_CHANNELS(unsigned char, uchar, 8, cudaChannelFormatKindUnsigned)
__WB_CHANNELS(short, short, 16, cudaChannelFormatKindSigned)
__WB_CHANNELS(unsigned short, ushort, 16, cudaChannelFormatKindUnsigned)
__WB_CHANNELS(int, int, 32, cudaChannelFormatKindSigned)
__WB_CHANNELS(unsigned int, uint, 32, cudaChannelFormatKindUnsigned)
__WB_CHANNELS(float, float, 32, cudaChannelFormatKindFloat)
template <> __WB_HOST_INSTANCE cudaChannelFormatDesc cudaCreateChannelDesc<char>() { return {8, 0, 0, 0, cudaChannelFormatKindSigned}; }
#undef __WB_CHANNELS
#undef __WB_HOST_INSTANCE
__WB_HOST cudaPitchedPtr make_cudaPitchedPtr(void *pointer, size_t pitch, size_t x, size_t y) { return {pointer, pitch, x, y}; }
__WB_HOST cudaExtent make_cudaExtent(size_t w, size_t h, size_t d) { return {w, h, d}; }
__WB_HOST cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
// The forms of CUDA 12, and of the releases before.
__WB_HOST cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags = 0) { return cudaGraphInstantiateWithFlags(exec, graph, flags); }
__WB_HOST cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *wrong, char *log, size_t bytes) { return cudaGraphInstantiateWithFlags(exec, graph, 0); }
__WB_HOST cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *node, cudaGraphExecUpdateResult *result) {
  cudaGraphExecUpdateResultInfo info;
  cudaError_t e = cudaGraphExecUpdate(exec, graph, &info);
  if (node) *node = info.errorNode;
  if (result) *result = info.result;
  return e;
}
template <class T> __WB_HOST cudaError_t cudaMallocAsync(T **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return cudaMallocFromPoolAsync((void **)(void *)pointer, bytes, pool, stream);
}
template <class T> __WB_HOST cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, T *kernel, int threads, size_t shared, unsigned int) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, threads, shared);
}
template <class T> __WB_HOST cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, T *kernel, size_t shared = 0, int limit = 0, unsigned int = 0) {
  return cudaOccupancyMaxPotentialBlockSize(grid, block, kernel, shared, limit);
}
template <class... P, class... A> __WB_HOST cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(P...), A &&...given) {
  return [&](P... converted) __attribute__((always_inline, nodebug)) {
    void *arguments[] = {&converted..., nullptr};
    return cudaLaunchKernelExC(config, (const void *)kernel, arguments);
  }((A &&)given...);
}
