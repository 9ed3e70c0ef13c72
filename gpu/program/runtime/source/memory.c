// Memory: allocation, copies, and the variables of the device.
#include "internal.h"
#include <sys/mman.h>

static cudaError_t allocate(void **pointer, size_t bytes, int kind, uint64_t here) {
  cudaError_t e = wb_ready();
  if (e) return wb_result(e);
  if (!pointer) return wb_fail(cudaErrorInvalidValue, here, 0, "the pointer for the address is null");
  if (bytes == 0) {
    *pointer = 0;
    return cudaSuccess;
  }
  wb_lock();
  uint64_t *m = wb_message(WB_OP_ALLOCATE, here, 2, 0);
  m[0] = bytes, m[1] = kind;
  e = wb_ask();
  uint64_t address = wb_answer[WB_ANSWER_VALUES], offset = wb_answer[WB_ANSWER_VALUES + 1];
  wb_unlock();
  if (e) return e == cudaErrorMemoryAllocation ? wb_fail(e, here, 0, "%zu bytes were asked for", bytes) : wb_result(e);
  if (kind == wbArray) kind = wbDevice;
  if (kind != wbDevice) {
    size_t whole = (bytes + 4095) & ~(size_t)4095;
    void *at = mmap((void *)(uintptr_t)address, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, wb_memory(), (off_t)offset);
    if (at != (void *)(uintptr_t)address) return wb_fail(cudaErrorMemoryAllocation, here, 0, "the address %#llx is taken on the host", (unsigned long long)address);
  }
  if (!wb_add((wbAllocation){address, bytes, here, kind})) return wb_result(cudaErrorMemoryAllocation);
  *pointer = (void *)(uintptr_t)address;
  return cudaSuccess;
}

static cudaError_t release(void *pointer, uint64_t here, int host, int wait) {
  cudaError_t e = wb_ready();
  wbAllocation a;
  if (e) {
    wb_take((uint64_t)(uintptr_t)pointer, &a); // no leak: after a fault nothing can be freed
    return wb_result(e);
  }
  if (!pointer) return cudaSuccess;
  const wbAllocation *in = wb_find(pointer);
  if (in && (in->kind == wbHost) != host)
    return wb_fail(cudaErrorInvalidValue, here, in->here, "the memory is that of %s at {}: free it by %s", host ? "the device" : "the host", host ? "cudaFree" : "cudaFreeHost");
  if (in && in->address != (uint64_t)(uintptr_t)pointer)
    return wb_fail(cudaErrorInvalidValue, here, in->here, "the pointer is %llu bytes after the start of the memory of {}", (unsigned long long)((uint64_t)(uintptr_t)pointer - in->address));
  if (in && in->variable) return wb_fail(cudaErrorInvalidValue, here, 0, "%p is a variable of the device", pointer);
  if (!wb_take((uint64_t)(uintptr_t)pointer, &a))
    return wb_fail(cudaErrorInvalidValue, here, 0, "%p is no memory of the device: it was freed before, or never allocated", pointer);
  wb_lock();
  if (wait) wb_order_locked(WB_ORDER_HOST_ALL, 0, 0);
  wb_message(WB_OP_FREE, here, 1, 0)[0] = a.address;
  e = wb_ask();
  wb_print();
  wb_unmap(&a);
  wb_unlock();
  return wb_result(e);
}

API cudaError_t cudaMalloc(void **pointer, size_t bytes) { return allocate(pointer, bytes, wbDevice, HERE); }
API cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream) { return allocate(pointer, bytes, wbDevice, HERE); }
API cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned int flags) { return allocate(pointer, bytes, wbManaged, HERE); }
API cudaError_t cudaMallocHost(void **pointer, size_t bytes) { return allocate(pointer, bytes, wbHost, HERE); }
API cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned int flags) { return allocate(pointer, bytes, wbHost, HERE); }
// Pools keep attributes, which change nothing. The first is the device's default, and is always there.
// A destroyed one is created again as late as possible, so that old handles are noticed.
static struct pool {
  uint64_t attributes[16];
  int there;
} pools[64] = {{.there = 1}};
#define POOLS (sizeof pools / sizeof *pools)
static struct pool *currentPool = pools;
static struct pool *found(cudaMemPool_t p) {
  for (size_t i = 0; i < POOLS; i++)
    if ((void *)&pools[i] == (void *)p && pools[i].there) return &pools[i];
  return 0;
}
static cudaError_t used(cudaMemPool_t p, uint64_t here) {
  if (!found(p)) return wb_fail(cudaErrorInvalidValue, here, 0, "%p is no pool of memory: it was destroyed before, or never created", (void *)p);
  return wb_result(wb_ready());
}
static cudaError_t attribute(cudaMemPool_t p, enum cudaMemPoolAttr attribute, void *value, int set, uint64_t here) {
  if ((unsigned int)attribute >= 16) return wb_fail(cudaErrorInvalidValue, here, 0, "%u is no attribute of a pool", attribute);
  cudaError_t e = used(p, here);
  if (e) return e;
  uint64_t *own = &found(p)->attributes[attribute];
  memcpy(set ? (void *)own : value, set ? value : (void *)own, attribute < cudaMemPoolAttrReleaseThreshold ? sizeof(int) : sizeof(uint64_t));
  return cudaSuccess;
}
API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *p, int device) { return *p = (cudaMemPool_t)(void *)pools, wb_result(wb_ready()); }
API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *p, int device) { return *p = (cudaMemPool_t)(void *)currentPool, wb_result(wb_ready()); }
API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t p) {
  cudaError_t e = used(p, HERE);
  if (!e) currentPool = found(p);
  return e;
}
API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t p, enum cudaMemPoolAttr name, void *value) { return attribute(p, name, value, 1, HERE); }
API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t p, enum cudaMemPoolAttr name, void *value) { return attribute(p, name, value, 0, HERE); }
API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t p, size_t bytes) { return used(p, HERE); }
API cudaError_t cudaMemPoolCreate(cudaMemPool_t *p, const struct cudaMemPoolProps *properties) {
  static size_t last;
  if (!p || !properties) return wb_fail(cudaErrorInvalidValue, HERE, 0, "the pointer for the pool, or to its properties, is null");
  if (properties->handleTypes) return wb_fail(cudaErrorNotSupported, HERE, 0, "memory of pools is not for other processes");
  if (properties->allocType != cudaMemAllocationTypePinned || properties->location.type != cudaMemLocationTypeDevice)
    return wb_fail(cudaErrorInvalidValue, HERE, 0, "allocType is %d and location.type %d, expected cudaMemAllocationTypePinned and cudaMemLocationTypeDevice", properties->allocType, properties->location.type);
  if (properties->location.id) return wb_fail(cudaErrorInvalidDevice, HERE, 0, "there is one device, number 0");
  cudaError_t e = wb_ready();
  if (e) return wb_result(e);
  wb_lock();
  size_t tries = 0;
  do last = (last + 1) % POOLS;
  while (pools[last].there && ++tries < POOLS);
  int room = !pools[last].there;
  if (room) pools[last] = (struct pool){.there = 1};
  wb_unlock();
  if (!room) return wb_fail(cudaErrorMemoryAllocation, HERE, 0, "there are %zu pools of memory already", POOLS);
  *p = (cudaMemPool_t)(void *)&pools[last];
  return cudaSuccess;
}
API cudaError_t cudaMemPoolDestroy(cudaMemPool_t p) {
  cudaError_t e = used(p, HERE);
  if (e) return e;
  if (found(p) == pools) return wb_fail(cudaErrorInvalidValue, HERE, 0, "the device's default pool cannot be destroyed");
  if (found(p) == currentPool) currentPool = pools;
  return found(p)->there = 0, cudaSuccess;
}
API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t p, const struct cudaMemAccessDesc *list, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (list[i].location.id) return wb_fail(cudaErrorInvalidDevice, HERE, 0, "there is one device, number 0");
  return used(p, HERE);
}
API cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t bytes, cudaMemPool_t p, cudaStream_t stream) {
  cudaError_t e = used(p, HERE);
  return e ? e : allocate(pointer, bytes, wbDevice, HERE);
}
API cudaError_t cudaFree(void *pointer) { return release(pointer, HERE, 0, 1); }
// What a graph frees stays: its launches use it again.
API cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream) { return wb_recording() && wb_keep(pointer) ? cudaSuccess : release(pointer, HERE, 0, 0); }
API cudaError_t cudaFreeHost(void *pointer) { return release(pointer, HERE, 1, 1); }

#define PITCH 512
API cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
  size_t row = (width + PITCH - 1) / PITCH * PITCH;
  if (!pitch) return wb_fail(cudaErrorInvalidValue, HERE, 0, "the pointer for the pitch is null");
  cudaError_t e = allocate(pointer, row * height, wbDevice, HERE);
  if (!e) *pitch = row;
  return e;
}
API cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pointer, struct cudaExtent extent) {
  size_t row = (extent.width + PITCH - 1) / PITCH * PITCH;
  void *p = 0;
  cudaError_t e = allocate(&p, row * extent.height * extent.depth, wbDevice, HERE);
  if (!e) *pointer = (struct cudaPitchedPtr){p, row, extent.width, extent.height};
  return e;
}

API cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned int flags) {
  const wbAllocation *a = wb_find(host);
  uint64_t registered = a ? 0 : wb_registered(host);
  if (!registered && (!a || a->kind == wbDevice)) return wb_fail(cudaErrorInvalidValue, HERE, 0, "%p is no memory of cudaHostAlloc, cudaMallocHost or cudaHostRegister", host);
  *device = registered ? (void *)(uintptr_t)registered : host; // memory of both sides has one address
  return cudaSuccess;
}
API cudaError_t cudaHostGetFlags(unsigned int *flags, void *host) {
  const wbAllocation *a = wb_find(host);
  if (!a || a->kind != wbHost) return wb_fail(cudaErrorInvalidValue, HERE, 0, "%p is no memory of cudaHostAlloc or cudaMallocHost", host);
  *flags = cudaHostAllocMapped;
  return cudaSuccess;
}
API cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer) {
  cudaError_t e = wb_ready();
  if (e) return wb_result(e);
  const wbAllocation *a = wb_find(pointer);
  *attributes = (struct cudaPointerAttributes){cudaMemoryTypeUnregistered, -2, 0, (void *)pointer};
  if (wb_is_managed(pointer)) attributes->type = cudaMemoryTypeManaged, attributes->device = 0, attributes->devicePointer = (void *)pointer;
  if (!a) return cudaSuccess;
  attributes->device = 0;
  attributes->devicePointer = (void *)pointer;
  attributes->type = a->kind == wbDevice ? cudaMemoryTypeDevice : a->kind == wbManaged ? cudaMemoryTypeManaged : cudaMemoryTypeHost;
  if (a->kind == wbDevice) attributes->hostPointer = 0;
  return cudaSuccess;
}
API cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
  cudaError_t e = wb_ready();
  if (e) return wb_result(e);
  wb_lock();
  wb_message(WB_OP_MEMORY, HERE, 0, 0);
  e = wb_ask();
  if (available) *available = wb_answer[WB_ANSWER_VALUES];
  if (total) *total = wb_answer[WB_ANSWER_VALUES + 1];
  wb_unlock();
  return wb_result(e);
}
API cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device, cudaStream_t stream) { return wb_result(wb_ready()); }
API cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice, int device) { return wb_result(wb_ready()); }

// side is where a pointer lies: on the device, on the host, or on both.
enum { onHost = 1, onDevice = 2 };
static int side(const wbAllocation *a) { return !a ? onHost : a->kind == wbDevice ? onDevice : onHost | onDevice; }

// Parts of a transfer: several are in the ring at a time.
#define PART (WB_RING_BYTES / 8)

static void upload(uint64_t to, const unsigned char *from, size_t bytes, uint64_t here) {
  for (size_t n; bytes > 0; to += n, from += n, bytes -= n) {
    n = bytes < PART ? bytes : PART;
    uint64_t *m = wb_message(WB_OP_UPLOAD, here, 3, n);
    m[0] = to, m[1] = n, m[2] = wb_stream;
    memcpy(m + 3, from, n);
    wb_send();
  }
}

static cudaError_t download(unsigned char *to, uint64_t from, size_t bytes, uint64_t here) {
  for (size_t n; bytes > 0; to += n, from += n, bytes -= n) {
    n = bytes < WB_DATA_BYTES ? bytes : WB_DATA_BYTES;
    uint64_t *m = wb_message(WB_OP_DOWNLOAD, here, 3, 0);
    m[0] = from, m[1] = n, m[2] = wb_stream;
    cudaError_t e = wb_ask();
    if (e) return e;
    memcpy(to, wb_data, n);
  }
  return cudaSuccess;
}

static const char *const kinds[] = {"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost", "cudaMemcpyDeviceToDevice", "cudaMemcpyDefault"};

// fits reports a range of a copy that leaves its allocation.
static cudaError_t fits(const wbAllocation *a, uint64_t at, size_t bytes, const char *what, uint64_t here) {
  if (!a || bytes <= a->bytes - (at - a->address)) return cudaSuccess;
  return wb_fail(cudaErrorInvalidValue, here, a->here, "%s: %zu bytes from byte %llu of the %llu bytes of {}", what, bytes, (unsigned long long)(at - a->address), (unsigned long long)a->bytes);
}

// ofVariable says more of an address that is no memory of the device, and is the host's of a variable
// there.
static const char *ofVariable(const void *pointer) {
  return wb_variable(pointer) ? ": it is a variable of the device, which the host knows by another address: call cudaMemcpyToSymbol or cudaMemcpyFromSymbol, or take its address by cudaGetSymbolAddress" : "";
}

// check returns an error for a copy whose kind or sizes do not fit its pointers.
static cudaError_t check(void *to, const wbAllocation *t, const void *from, const wbAllocation *f, size_t bytes, unsigned int kind, uint64_t here) {
  if (kind > cudaMemcpyDefault) return wb_fail(cudaErrorInvalidMemcpyDirection, here, 0, "%u is no kind of copy", kind);
  if (!to || !from) return wb_fail(cudaErrorInvalidValue, here, 0, "the %s is null", to ? "source" : "destination");
  int toDevice = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  int fromDevice = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (kind != cudaMemcpyDefault) {
    if (toDevice && !(side(t) & onDevice)) return wb_fail(cudaErrorInvalidValue, here, 0, "%s, and the destination %p is no memory of the device%s", kinds[kind], to, ofVariable(to));
    if (!toDevice && !(side(t) & onHost)) return wb_fail(cudaErrorInvalidValue, here, t->here, "%s, and the destination is memory of the device, from {}", kinds[kind]);
    if (fromDevice && !(side(f) & onDevice)) return wb_fail(cudaErrorInvalidValue, here, 0, "%s, and the source %p is no memory of the device%s", kinds[kind], from, ofVariable(from));
    if (!fromDevice && !(side(f) & onHost)) return wb_fail(cudaErrorInvalidValue, here, f->here, "%s, and the source is memory of the device, from {}", kinds[kind]);
  }
  cudaError_t e = fits(t, (uint64_t)(uintptr_t)to, bytes, "destination", here);
  return e ? e : fits(f, (uint64_t)(uintptr_t)from, bytes, "source", here);
}

// arrive closes memory of both sides that an asynchronous copy has written, until the host
// waits for it; the lock is held.
static void arrive(const wbAllocation *a, uint64_t at, size_t bytes, uint64_t here) {
  uint64_t *m = wb_message(WB_OP_ARRIVED, here, 3, 0);
  m[0] = at, m[1] = bytes, m[2] = wb_stream;
  wb_send();
  wb_close(a, at, bytes, wb_stream);
}

// move copies after its check; the lock is held. Memory of both sides is written by the
// host, after the device has finished.
static cudaError_t move(void *to, const wbAllocation *t, const void *from, const wbAllocation *f, size_t bytes, int wait, uint64_t here) {
  cudaError_t e = cudaSuccess;
  int device = t && t->kind == wbDevice, source = f && f->kind == wbDevice;
  if (device && source) {
    uint64_t *m = wb_message(WB_OP_COPY, here, 4, 0);
    m[0] = (uint64_t)(uintptr_t)to, m[1] = (uint64_t)(uintptr_t)from, m[2] = bytes, m[3] = wb_stream;
    wb_send();
  } else if (device) {
    if (f) e = wb_synchronize_locked(here);
    upload((uint64_t)(uintptr_t)to, from, bytes, here);
  } else if (source) {
    e = download(to, (uint64_t)(uintptr_t)from, bytes, here);
    if (wait || !t) wb_order_locked(WB_ORDER_HOST_STREAM, wb_stream, 0); // also a copy to pageable memory ends before the call
    wb_print();
    wb_managed_from_device(here);
    if (!e && !wait && t) arrive(t, (uint64_t)(uintptr_t)to, bytes, here);
    return e;
  } else {
    e = wb_synchronize_locked(here);
    memmove(to, from, bytes);
    if (wait) wb_order_locked(WB_ORDER_HOST_STREAM, wb_stream, 0);
    return e;
  }
  if (!e && wait) e = wb_synchronize_locked(here);
  if (!e && wait) wb_order_locked(WB_ORDER_HOST_STREAM, wb_stream, 0);
  return e;
}

static cudaError_t copy(void *to, const void *from, size_t bytes, unsigned int kind, int wait, uint64_t here) {
  cudaError_t e = wb_ready();
  if (e) return wb_result(e);
  if (bytes == 0) return cudaSuccess;
  if (wb_recording() && wait) return wb_uncapturable(here);
  if (wb_record_copy(to, from, bytes, kind, here)) return cudaSuccess;
  wbAllocation a, b, *t = 0, *f = 0;
  const wbAllocation *found;
  if ((found = wb_find(to))) a = *found, t = &a;
  if ((found = wb_find(from))) b = *found, f = &b;
  int shared = wb_is_managed(to) || wb_is_managed(from); // of both sides, whatever the kind says
  e = check(to, t, from, f, bytes, shared ? cudaMemcpyDefault : kind, here);
  if (e) return e;
  wb_lock();
  if (shared) wb_synchronize_locked(here);
  e = move(to, t, from, f, bytes, wait, here);
  wb_unlock();
  return wb_result(e);
}

API cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) { return copy(to, from, bytes, kind, 1, HERE); }
API cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) { return IN(stream, copy(to, from, bytes, kind, 0, HERE)); }
API cudaError_t cudaMemcpyPeer(void *to, int device, const void *from, int fromDevice, size_t bytes) { return copy(to, from, bytes, cudaMemcpyDeviceToDevice, 1, HERE); }
API cudaError_t cudaMemcpyPeerAsync(void *to, int device, const void *from, int fromDevice, size_t bytes, cudaStream_t stream) { return IN(stream, copy(to, from, bytes, cudaMemcpyDeviceToDevice, 0, HERE)); }

static cudaError_t copy2d(void *to, size_t pitch, const void *from, size_t fromPitch, size_t width, size_t height, unsigned int kind, int wait, uint64_t here) {
  if (width > pitch || width > fromPitch) return wb_fail(cudaErrorInvalidPitchValue, here, 0, "rows of %zu bytes, and pitches of %zu and %zu", width, pitch, fromPitch);
  for (size_t i = 0; i < height; i++) {
    cudaError_t e = copy((char *)to + i * pitch, (const char *)from + i * fromPitch, width, kind, wait && i + 1 == height, here);
    if (e) return e;
  }
  return cudaSuccess;
}
API cudaError_t cudaMemcpy2D(void *to, size_t pitch, const void *from, size_t fromPitch, size_t width, size_t height, enum cudaMemcpyKind kind) {
  return copy2d(to, pitch, from, fromPitch, width, height, kind, 1, HERE);
}
API cudaError_t cudaMemcpy2DAsync(void *to, size_t pitch, const void *from, size_t fromPitch, size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
  return IN(stream, copy2d(to, pitch, from, fromPitch, width, height, kind, 0, HERE));
}

static cudaError_t set(void *pointer, int value, size_t bytes, uint64_t here) {
  cudaError_t e = wb_ready();
  if (e) return wb_result(e);
  if (bytes == 0) return cudaSuccess;
  const wbAllocation *a = wb_find(pointer);
  if (wb_is_managed(pointer)) {
    e = wb_synchronize(here);
    if (!e) memset(pointer, value, bytes);
    return e;
  }
  if (!a) return wb_fail(cudaErrorInvalidValue, here, 0, "%p is no memory of the device%s", pointer, ofVariable(pointer));
  e = fits(a, (uint64_t)(uintptr_t)pointer, bytes, "memset", here);
  if (e) return e;
  wb_lock();
  uint64_t *m = wb_message(WB_OP_SET, here, 4, 0);
  m[0] = (uint64_t)(uintptr_t)pointer, m[1] = bytes, m[2] = (unsigned char)value, m[3] = wb_stream;
  wb_send();
  wb_unlock();
  return cudaSuccess;
}
API cudaError_t cudaMemset(void *pointer, int value, size_t bytes) { return set(pointer, value, bytes, HERE); }
API cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream) { return IN(stream, set(pointer, value, bytes, HERE)); }
static cudaError_t set2d(void *pointer, size_t pitch, int value, size_t width, size_t height, uint64_t here) {
  if (width > pitch) return wb_fail(cudaErrorInvalidPitchValue, here, 0, "rows of %zu bytes, and a pitch of %zu", width, pitch);
  for (size_t i = 0; i < height; i++) {
    cudaError_t e = set((char *)pointer + i * pitch, value, width, here);
    if (e) return e;
  }
  return cudaSuccess;
}
API cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height) { return set2d(pointer, pitch, value, width, height, HERE); }
API cudaError_t cudaMemset2DAsync(void *pointer, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
  return IN(stream, set2d(pointer, pitch, value, width, height, HERE));
}

// Variables of the device: the host knows each by the address of its own variable of that
// name, which the device is told if kernels may be given it.

// locate asks for the address of a variable; the lock is held.
static cudaError_t locate(const wbVariable *v, uint64_t *address, uint64_t *bytes, uint64_t here) {
  size_t n = strlen(v->name);
  uint64_t *m = wb_message(WB_OP_VARIABLE, here, 3, n);
  m[0] = v->unit, m[1] = n, m[2] = wb_is_managed(v->host) ? (uintptr_t)v->host : 0;
  memcpy(m + 3, v->name, n);
  cudaError_t e = wb_ask();
  *address = e ? 0 : wb_answer[WB_ANSWER_VALUES], *bytes = wb_answer[WB_ANSWER_VALUES + 1];
  return e;
}
static cudaError_t symbol(const void *variable, uint64_t *address, uint64_t *bytes, uint64_t here) {
  cudaError_t e = wb_ready();
  if (e) return wb_result(e);
  const wbVariable *v = wb_variable(variable);
  if (!v) return wb_fail(cudaErrorInvalidSymbol, here, 0, "it is no __device__ or __constant__ variable: give the variable itself, not its address or its name");
  wb_lock();
  e = locate(v, address, bytes, here);
  wb_unlock();
  return wb_result(e);
}
// place_of is where calls and kernels find a variable: memory of the device, which is noted, or
// of both sides.
static void *place_of(const void *variable, uint64_t address, uint64_t bytes, uint64_t here) {
  void *at = wb_is_managed(variable) ? (void *)variable : (void *)(uintptr_t)address;
  if (at != variable && !wb_find(at)) wb_add((wbAllocation){address, bytes, here, wbDevice, 1});
  return at;
}
static cudaError_t copySymbol(const void *variable, void *to, const void *from, size_t bytes, size_t offset, int wait, uint64_t here) {
  uint64_t address, size;
  cudaError_t e = symbol(variable, &address, &size, here);
  if (e) return e;
  if (offset > size || bytes > size - offset)
    return wb_fail(cudaErrorInvalidValue, here, 0, "%zu bytes from byte %zu of a variable of %llu bytes", bytes, offset, (unsigned long long)size);
  void *at = (char *)place_of(variable, address, size, here) + offset;
  return to ? copy(to, at, bytes, cudaMemcpyDefault, wait, here) : copy(at, from, bytes, cudaMemcpyDefault, wait, here);
}
API cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind) { return copySymbol(symbol, 0, from, bytes, offset, 1, HERE); }
API cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind) { return copySymbol(symbol, to, 0, bytes, offset, 1, HERE); }
API cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream) { return IN(stream, copySymbol(symbol, 0, from, bytes, offset, 0, HERE)); }
API cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream) { return IN(stream, copySymbol(symbol, to, 0, bytes, offset, 0, HERE)); }
API cudaError_t cudaGetSymbolAddress(void **pointer, const void *variable) {
  uint64_t address = 0, bytes;
  cudaError_t e = symbol(variable, &address, &bytes, HERE);
  if (e) return e;
  *pointer = place_of(variable, address, bytes, HERE);
  return e;
}
API cudaError_t cudaGetSymbolSize(size_t *size, const void *variable) {
  uint64_t address, bytes = 0;
  cudaError_t e = symbol(variable, &address, &bytes, HERE);
  if (!e) *size = bytes;
  return e;
}
