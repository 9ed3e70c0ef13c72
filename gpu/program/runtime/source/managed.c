// Variables of both sides. What the host has changed in its variable is copied to the device
// before a launch, and what kernels have changed is copied back after a synchronisation. The
// host may write while kernels run, so neither copies what the other side has changed.
#include "internal.h"

typedef struct {
  wbVariable variable;
  uint64_t address, bytes; // on the device; 0 before they are known
  unsigned char *same;     // what both sides had last
  unsigned char *now;      // room for what the device has
} managed;
static managed *shared_variables;
static size_t managedCount, managedRoom;
static int launched; // since the last copy from the device

extern char __start_wb_managed[] __attribute__((weak)), __stop_wb_managed[] __attribute__((weak)); // of the linker

int wb_is_managed(const void *host) { return (const char *)host >= __start_wb_managed && (const char *)host < __stop_wb_managed; }

// place asks for the address of a variable; the lock is held.
static cudaError_t place(managed *v) {
  if (v->address) return cudaSuccess;
  cudaError_t e = locate(&v->variable, &v->address, &v->bytes, 0);
  if (e) return e;
  if (!v->same) v->same = calloc(1, v->bytes), v->now = calloc(1, v->bytes);
  return v->same && v->now ? cudaSuccess : cudaErrorMemoryAllocation;
}

// wb_managed_from_device copies to the host what kernels wrote; the lock is held.
void wb_managed_from_device(uint64_t here) {
  if (!launched) return;
  launched = 0;
  uint64_t stream = wb_stream;
  wb_stream = WB_NO_STREAM;
  for (size_t i = 0; i < managedCount; i++) {
    managed *v = &shared_variables[i];
    if (place(v) || download(v->now, v->address, v->bytes, here)) break;
    for (uint64_t k = 0; k < v->bytes; k++)
      if (v->now[k] != v->same[k]) ((unsigned char *)v->variable.host)[k] = v->same[k] = v->now[k];
  }
  wb_stream = stream;
}

// changed is the first word from a place on that the host has changed, or not; the end if there
// is none.
static uint64_t changed(const managed *v, uint64_t at, int is) {
  for (; at < v->bytes; at += 4) {
    uint64_t n = v->bytes - at < 4 ? v->bytes - at : 4;
    if ((memcmp(v->same + at, (const char *)v->variable.host + at, n) != 0) == is) return at;
  }
  return v->bytes;
}

// wb_managed_to_device copies what the host wrote; the lock is held.
void wb_managed_to_device(uint64_t here) {
  uint64_t stream = wb_stream;
  wb_stream = WB_NO_STREAM;
  for (size_t i = 0; i < managedCount; i++) {
    managed *v = &shared_variables[i];
    launched = 1;
    if (place(v) || memcmp(v->same, v->variable.host, v->bytes) == 0) continue;
    for (uint64_t from = 0, to; (from = changed(v, from, 1)) < v->bytes; from = to) {
      to = changed(v, from, 0);
      memcpy(v->same + from, (const char *)v->variable.host + from, to - from);
      upload(v->address + from, v->same + from, to - from, here);
    }
  }
  wb_stream = stream;
}

// wb_managed_begin gives the host's variables of a source their first values, before main.
void wb_managed_begin(void) {
  static size_t seen;
  size_t before = managedCount;
  for (; seen < variableCount; seen++) {
    if (!wb_is_managed(variables[seen].host)) continue;
    shared_variables = grow(shared_variables, managedCount, &managedRoom, sizeof *shared_variables);
    shared_variables[managedCount++] = (managed){variables[seen]};
  }
  if (managedCount == before || wb_ready()) return;
  wb_lock();
  launched = 1;
  wb_managed_from_device(0);
  wb_unlock();
}

// wb_managed_reset forgets addresses that a reset of the device has ended; the lock is held.
void wb_managed_reset(void) {
  for (size_t i = 0; i < managedCount; i++) shared_variables[i].address = 0;
}
