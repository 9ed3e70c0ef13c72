/* gorgonia.org/cu v0.9.6 was written for CUDA 11: it calls five entry points
   by names that CUDA 13's header has given to newer forms with more
   parameters. This file is found before that header and gives the names back
   to the older forms, which the driver still has. */
#include_next <cuda.h>

#if !defined(WARPBOOK_CUDA_SHIM) && CUDA_VERSION >= 13000
#define WARPBOOK_CUDA_SHIM
#undef cuCtxCreate
#undef cuMemAdvise
#undef cuMemPrefetchAsync
#undef cuGraphAddDependencies
#undef cuGraphGetEdges
#define cuCtxCreate cuCtxCreate_v2
CUresult CUDAAPI cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev);
CUresult CUDAAPI cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device);
CUresult CUDAAPI cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream);
CUresult CUDAAPI cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode *from, const CUgraphNode *to, size_t numDependencies);
CUresult CUDAAPI cuGraphGetEdges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, size_t *numEdges);
#endif
