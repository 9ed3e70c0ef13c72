// Memory of malloc that the program registers: its pages become memory of both sides, at the
// host's address and at one of the device.
#include "internal.h"
#include <sys/mman.h>

typedef struct {
  uint64_t host, bytes, device; // of whole pages
  const void *pointer;          // that was registered
} registered;
static registered *registrations;
static size_t registrationCount, registrationRoom;

// registration is that of a pointer, 0 for none; the lock is held.
static registered *registration(const void *pointer) {
  for (size_t i = 0; i < registrationCount; i++)
    if ((uint64_t)(uintptr_t)pointer - registrations[i].host < registrations[i].bytes) return &registrations[i];
  return 0;
}

// wb_registered is the device's address of registered memory, 0 for other memory.
uint64_t wb_registered(const void *pointer) {
  wb_lock();
  const registered *r = registration(pointer);
  uint64_t at = r ? r->device + ((uint64_t)(uintptr_t)pointer - r->host) : 0;
  wb_unlock();
  return at;
}

// kept is a copy of pages, outside of the heap, whose own pages they may be; 0 if there is no
// memory.
static void *kept(const void *pages, size_t bytes) {
  void *copy = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return copy == MAP_FAILED ? 0 : memcpy(copy, pages, bytes);
}

// remap puts other pages in the place of some, with what these hold: also *r, perhaps, of
// which it has a copy.
static cudaError_t remap(registered r, int flags, int file, off_t offset) {
  void *at = (void *)(uintptr_t)r.host, *copy = kept(at, r.bytes);
  if (!copy) return cudaErrorMemoryAllocation;
  void *now = mmap(at, r.bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, file, offset);
  if (now != MAP_FAILED) memcpy(at, copy, r.bytes);
  munmap(copy, r.bytes);
  return now == MAP_FAILED ? cudaErrorMemoryAllocation : cudaSuccess;
}

// share moves pages to memory of both sides, and keeps what they hold. The stack of the
// caller may not be among them.
static cudaError_t share(registered *r, uint64_t here) {
  uint64_t *m = wb_message(WB_OP_ALLOCATE, here, 2, 0);
  m[0] = r->bytes, m[1] = wbHost;
  cudaError_t e = wb_ask();
  r->device = wb_answer[WB_ANSWER_VALUES];
  return e ? e : remap(*r, MAP_SHARED, wb_memory(), (off_t)wb_answer[WB_ANSWER_VALUES + 1]);
}

// give_back gives pages back to the host alone; the lock is held, and the device has finished.
static cudaError_t give_back(const registered *r) { return remap(*r, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }

// wb_unregister_all gives all pages back before the device forgets its memory; the lock is
// held.
void wb_unregister_all(void) {
  while (registrationCount > 0) give_back(&registrations[--registrationCount]); // what fails stays shared
}

API cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned int flags) {
  cudaError_t e = wb_ready();
  if (e) return wb_result(e);
  if (!pointer || !bytes) return wb_fail(cudaErrorInvalidValue, HERE, 0, "no memory: %zu bytes at %p", bytes, pointer);
  uint64_t from = (uint64_t)(uintptr_t)pointer & ~4095ull, to = ((uint64_t)(uintptr_t)pointer + bytes + 4095) & ~4095ull, stack = (uint64_t)(uintptr_t)&e;
  if (stack >= from - 65536 && stack < to + 65536) return wb_fail(cudaErrorNotSupported, HERE, 0, "the memory is of the stack: register memory of malloc");
  if (wb_find(pointer)) return wb_fail(cudaErrorHostMemoryAlreadyRegistered, HERE, 0, "%p is memory of CUDA already", pointer);
  wb_lock();
  registered r = {from, to - from, 0, pointer};
  for (size_t i = 0; i < registrationCount && !e; i++)
    if (registrations[i].host < to && from < registrations[i].host + registrations[i].bytes) e = cudaErrorHostMemoryAlreadyRegistered;
  if (!e) e = share(&r, HERE);
  if (!e) {
    registrations = grow(registrations, registrationCount, &registrationRoom, sizeof r);
    registrations[registrationCount++] = r;
  }
  wb_unlock();
  if (e == cudaErrorHostMemoryAlreadyRegistered) return wb_fail(e, HERE, 0, "a page of the %zu bytes at %p is registered already", bytes, pointer);
  return wb_result(e);
}
API cudaError_t cudaHostUnregister(void *pointer) {
  cudaError_t e = wb_ready();
  if (e) return wb_result(e);
  wb_lock();
  registered *r = registration(pointer);
  if (r && r->pointer == pointer) {
    e = wb_synchronize_locked(HERE);
    if (!give_back(r)) {
      wb_message(WB_OP_FREE, HERE, 1, 0)[0] = r->device;
      e = wb_ask();
    }
    *r = registrations[--registrationCount];
  } else {
    r = 0;
  }
  wb_unlock();
  return r ? wb_result(e) : wb_fail(cudaErrorHostMemoryNotRegistered, HERE, 0, "%p was not registered", pointer);
}
