// Devices: one, its properties, and waiting for it.
#include "internal.h"

const wbDevice_t *wb_device(void) {
  static wbDevice_t device;
  static int known;
  wb_lock();
  if (!known) {
    wb_message(WB_OP_DEVICE, 0, 0, 0);
    if (!wb_ask()) {
      memcpy(&device, wb_data, sizeof device);
      device.name[sizeof device.name - 1] = 0;
      known = 1;
    }
  }
  wb_unlock();
  return &device;
}

API cudaError_t cudaGetDeviceCount(int *count) {
  cudaError_t e = wb_ready();
  *count = e ? 0 : 1;
  return wb_result(e);
}
API cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return wb_result(wb_ready());
}
static cudaError_t one(int device, uint64_t here) {
  cudaError_t e = wb_ready();
  if (e) return wb_result(e);
  return device ? wb_fail(cudaErrorInvalidDevice, here, 0, "device %d, and there is device 0 only", device) : cudaSuccess;
}
API cudaError_t cudaSetDevice(int device) { return one(device, HERE); }
static unsigned int deviceFlags;
API cudaError_t cudaSetDeviceFlags(unsigned int flags) { return deviceFlags = flags, wb_result(wb_ready()); }
API cudaError_t cudaGetDeviceFlags(unsigned int *flags) { return *flags = deviceFlags | cudaDeviceMapHost, wb_result(wb_ready()); }
API cudaError_t cudaSetValidDevices(int *list, int count) { return wb_result(wb_ready()); }
API cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id) { return cudaGetDevice(device); }
API cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop) { return cudaGetDevice(device); }

API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device) {
  cudaError_t e = one(device, HERE);
  if (e) return e;
  const uint64_t *v = wb_device()->value;
  memset(p, 0, sizeof *p);
  strcpy(p->name, wb_device()->name);
  p->totalGlobalMem = v[WB_DEVICE_MEMORY];
  p->sharedMemPerBlock = v[WB_DEVICE_SHARED_BLOCK];
  p->sharedMemPerBlockOptin = v[WB_DEVICE_SHARED_OPTIN];
  p->sharedMemPerMultiprocessor = v[WB_DEVICE_SHARED_SM];
  p->reservedSharedMemPerBlock = 1024;
  p->regsPerBlock = p->regsPerMultiprocessor = (int)v[WB_DEVICE_REGISTERS];
  p->warpSize = 32;
  p->memPitch = 2147483647;
  p->maxThreadsPerBlock = 1024;
  p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024, p->maxThreadsDim[2] = 64;
  p->maxGridSize[0] = 2147483647, p->maxGridSize[1] = p->maxGridSize[2] = 65535;
  p->clockRate = (int)v[WB_DEVICE_CLOCK];
  p->memoryClockRate = (int)v[WB_DEVICE_MEMORY_CLOCK];
  p->memoryBusWidth = (int)v[WB_DEVICE_BUS];
  p->totalConstMem = 65536;
  p->major = (int)v[WB_DEVICE_MAJOR], p->minor = (int)v[WB_DEVICE_MINOR];
  p->textureAlignment = p->surfaceAlignment = 512, p->texturePitchAlignment = 32;
  p->maxTexture1D = 131072, p->maxTexture2D[0] = 131072, p->maxTexture2D[1] = 65536;
  p->maxTexture3D[0] = p->maxTexture3D[1] = p->maxTexture3D[2] = 16384;
  // The others of the programming guide's table, those of mipmaps and cubemaps too.
  p->maxTexture1DMipmap = p->maxTextureCubemap = p->maxSurface1D = p->maxSurfaceCubemap = 32768, p->maxTexture1DLinear = 1 << 28;
  p->maxTexture2DLinear[0] = 131072, p->maxTexture2DLinear[1] = 65000, p->maxTexture2DLinear[2] = 2097120;
  p->maxTexture3DAlt[0] = p->maxTexture3DAlt[1] = 8192, p->maxTexture3DAlt[2] = 32768;
  p->maxTexture1DLayered[0] = p->maxSurface1DLayered[0] = p->maxTextureCubemapLayered[0] = p->maxSurfaceCubemapLayered[0] = 32768;
  p->maxTexture1DLayered[1] = p->maxSurface1DLayered[1] = p->maxTexture2DLayered[2] = p->maxSurface2DLayered[2] = 2048;
  p->maxTextureCubemapLayered[1] = p->maxSurfaceCubemapLayered[1] = 2046;
  p->maxSurface2D[0] = 131072, p->maxSurface2D[1] = 65536;
  for (int i = 0; i < 3; i++) p->maxSurface3D[i] = 16384;
  for (int i = 0; i < 2; i++) p->maxTexture2DMipmap[i] = p->maxTexture2DGather[i] = p->maxTexture2DLayered[i] = p->maxSurface2DLayered[i] = 32768;
  p->hostRegisterSupported = p->memoryPoolsSupported = 1, p->clusterLaunch = p->major >= 9;
  p->multiProcessorCount = (int)v[WB_DEVICE_SMS];
  p->maxThreadsPerMultiProcessor = (int)v[WB_DEVICE_THREADS_SM];
  p->maxBlocksPerMultiProcessor = (int)v[WB_DEVICE_BLOCKS_SM];
  p->l2CacheSize = (int)v[WB_DEVICE_L2];
  p->deviceOverlap = p->canMapHostMemory = p->concurrentKernels = p->unifiedAddressing = p->managedMemory = p->concurrentManagedAccess = 1;
  p->streamPrioritiesSupported = p->globalL1CacheSupported = p->localL1CacheSupported = p->cooperativeLaunch = p->computePreemptionSupported = p->ECCEnabled = 1;
  p->asyncEngineCount = 3;
  p->singleToDoublePrecisionPerfRatio = p->minor == 0 ? 2 : p->major == 7 ? 32 : 64;
  return cudaSuccess;
}

API cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
  cudaError_t e = one(device, HERE);
  if (e) return e;
  struct cudaDeviceProp p;
  e = cudaGetDeviceProperties(&p, 0);
  if (e) return e;
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; break;
    case cudaDevAttrMaxBlockDimX: case cudaDevAttrMaxBlockDimY: case cudaDevAttrMaxBlockDimZ: *value = p.maxThreadsDim[attribute - cudaDevAttrMaxBlockDimX]; break;
    case cudaDevAttrMaxGridDimX: case cudaDevAttrMaxGridDimY: case cudaDevAttrMaxGridDimZ: *value = p.maxGridSize[attribute - cudaDevAttrMaxGridDimX]; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)p.sharedMemPerBlock; break;
    case cudaDevAttrTotalConstantMemory: *value = (int)p.totalConstMem; break;
    case cudaDevAttrWarpSize: *value = p.warpSize; break;
    case cudaDevAttrMaxPitch: *value = (int)p.memPitch; break;
    case cudaDevAttrMaxRegistersPerBlock: case cudaDevAttrMaxRegistersPerMultiprocessor: *value = p.regsPerBlock; break;
    case cudaDevAttrClockRate: *value = p.clockRate; break;
    case cudaDevAttrTextureAlignment: *value = (int)p.textureAlignment; break;
    case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; break;
    case cudaDevAttrMemoryClockRate: *value = p.memoryClockRate; break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = p.memoryBusWidth; break;
    case cudaDevAttrL2CacheSize: *value = p.l2CacheSize; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = p.maxThreadsPerMultiProcessor; break;
    case cudaDevAttrAsyncEngineCount: *value = p.asyncEngineCount; break;
    case cudaDevAttrComputeCapabilityMajor: *value = p.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = p.minor; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = (int)p.sharedMemPerMultiprocessor; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)p.sharedMemPerBlockOptin; break;
    case cudaDevAttrMaxBlocksPerMultiprocessor: *value = p.maxBlocksPerMultiProcessor; break;
    case cudaDevAttrGpuOverlap: case cudaDevAttrCanMapHostMemory: case cudaDevAttrConcurrentKernels: case cudaDevAttrEccEnabled:
    case cudaDevAttrUnifiedAddressing: case cudaDevAttrManagedMemory: case cudaDevAttrConcurrentManagedAccess: case cudaDevAttrCooperativeLaunch: *value = 1; break;
    case cudaDevAttrMaxTexture1DWidth: *value = p.maxTexture1D; break;
    case cudaDevAttrMaxTexture2DWidth: *value = p.maxTexture2D[0]; break;
    case cudaDevAttrMaxTexture2DHeight: *value = p.maxTexture2D[1]; break;
    case cudaDevAttrMaxTexture3DWidth: case cudaDevAttrMaxTexture3DHeight: case cudaDevAttrMaxTexture3DDepth: *value = p.maxTexture3D[0]; break;
    case cudaDevAttrSurfaceAlignment: *value = (int)p.surfaceAlignment; break;
    case cudaDevAttrTexturePitchAlignment: *value = (int)p.texturePitchAlignment; break;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio: *value = p.singleToDoublePrecisionPerfRatio; break;
    case cudaDevAttrReservedSharedMemoryPerBlock: *value = (int)p.reservedSharedMemPerBlock; break;
    case cudaDevAttrStreamPrioritiesSupported: case cudaDevAttrGlobalL1CacheSupported: case cudaDevAttrLocalL1CacheSupported: case cudaDevAttrComputePreemptionSupported:
    case cudaDevAttrHostRegisterSupported: case cudaDevAttrMemoryPoolsSupported: *value = 1; break;
    case cudaDevAttrIsMultiGpuBoard: case cudaDevAttrMultiGpuBoardGroupID: case cudaDevAttrHostNativeAtomicSupported: case cudaDevAttrCanUseHostPointerForRegisteredMem:
    case cudaDevAttrCooperativeMultiDeviceLaunch: case cudaDevAttrPageableMemoryAccessUsesHostPageTables: case cudaDevAttrDirectManagedMemAccessFromHost: case cudaDevAttrTccDriver:
    case cudaDevAttrPciDomainId: case cudaDevAttrMaxPersistingL2CacheSize: case cudaDevAttrMaxAccessPolicyWindowSize: *value = 0; break;
    case cudaDevAttrKernelExecTimeout: case cudaDevAttrIntegrated: case cudaDevAttrComputeMode: case cudaDevAttrPciBusId: case cudaDevAttrPciDeviceId: case cudaDevAttrPageableMemoryAccess: *value = 0; break;
    default: return wb_fail(cudaErrorInvalidValue, HERE, 0, "attribute %d is not known here", (int)attribute);
  }
  return cudaSuccess;
}

// wb_synchronize_locked waits for all work; the lock is held.
cudaError_t wb_synchronize_locked(uint64_t here) {
  wb_message(WB_OP_SYNCHRONIZE, here, 0, 0);
  cudaError_t e = wb_ask();
  wb_print();
  wb_managed_from_device(here);
  return e;
}
cudaError_t wb_synchronize(uint64_t here) {
  cudaError_t e = wb_ready();
  if (e) return wb_result(e);
  if (wb_recording()) return wb_uncapturable(here);
  wb_lock();
  e = wb_synchronize_locked(here);
  wb_unlock();
  return wb_result(e);
}
static cudaError_t wait_for_all(uint64_t here) {
  cudaError_t e = wb_synchronize(here);
  if (!e) wb_order(WB_ORDER_HOST_ALL, 0, 0);
  return e;
}
API cudaError_t cudaDeviceSynchronize(void) { return wait_for_all(HERE); }
API cudaError_t cudaThreadSynchronize(void) { return wait_for_all(HERE); }

#define DEFAULT_LIMITS {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0} // as cudaLimit numbers them
static size_t limits[] = DEFAULT_LIMITS;
API cudaError_t cudaDeviceReset(void) {
  cudaError_t e = wb_ready();
  if (e == cudaErrorNoDevice || e == cudaErrorInitializationError) return wb_result(e);
  wb_lock();
  e = wb_synchronize_locked(HERE);
  wb_unregister_all();
  wb_message(WB_OP_RESET, HERE, 0, 0);
  wb_ask();
  wb_forget_all();
  wb_managed_reset();
  memcpy(limits, (size_t[])DEFAULT_LIMITS, sizeof limits);
  wb_sticky = cudaSuccess;
  wb_unlock();
  return wb_result(e);
}
API cudaError_t cudaThreadExit(void) { return cudaDeviceReset(); }

API cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config) { return wb_result(wb_ready()); }
API cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config) { return *config = cudaFuncCachePreferNone, wb_result(wb_ready()); }
API cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config) { return wb_result(wb_ready()); }
API cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value) {
  cudaError_t e = wb_ready();
  if (e) return wb_result(e);
  if ((unsigned int)limit >= sizeof limits / sizeof *limits) return wb_fail(cudaErrorUnsupportedLimit, HERE, 0, "%u is no limit", limit);
  limits[limit] = value;
  wb_lock();
  uint64_t *m = wb_message(WB_OP_LIMIT, HERE, 2, 0);
  m[0] = limit, m[1] = value;
  wb_send();
  wb_unlock();
  return cudaSuccess;
}
API cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit) {
  if ((unsigned int)limit >= sizeof limits / sizeof *limits) return wb_fail(cudaErrorUnsupportedLimit, HERE, 0, "%u is no limit", limit);
  *value = limits[limit];
  return wb_result(wb_ready());
}
API cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
  *can = 0;
  return one(device, HERE) ? cudaErrorInvalidDevice : one(peer, HERE);
}
API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) { return wb_fail(cudaErrorInvalidDevice, HERE, 0, "there is one device, and it has no peer"); }
API cudaError_t cudaDeviceDisablePeerAccess(int peer) { return wb_fail(cudaErrorPeerAccessNotEnabled, HERE, 0, "there is one device, and it has no peer"); }
API cudaError_t cudaDeviceGetPCIBusId(char *id, int bytes, int device) {
  cudaError_t e = one(device, HERE);
  if (!e) snprintf(id, bytes, "0000:00:00.0");
  return e;
}
API cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return wb_result(wb_ready());
}
API cudaError_t cudaDriverGetVersion(int *version) { return *version = 12000, cudaSuccess; }
API cudaError_t cudaRuntimeGetVersion(int *version) { return *version = 12000, cudaSuccess; }
API cudaError_t cudaProfilerStart(void) { return wb_result(wb_ready()); }
API cudaError_t cudaProfilerStop(void) { return wb_result(wb_ready()); }
