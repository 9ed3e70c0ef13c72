// The list of live allocations, by which calls and crashes know a pointer.
#include "internal.h"
#include <sys/mman.h>

static wbAllocation *list; // sorted by address
static size_t count, capacity;
static pthread_mutex_t listLock = PTHREAD_MUTEX_INITIALIZER;

// after is the first allocation that starts after an address.
static size_t after(uint64_t address) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (list[middle].address <= address) low = middle + 1;
    else high = middle;
  }
  return low;
}

int wb_shared;

int wb_add(wbAllocation a) {
  if (a.kind != wbDevice) wb_shared = 1;
  pthread_mutex_lock(&listLock);
  if (count == capacity) {
    size_t more = capacity ? 2 * capacity : 64;
    wbAllocation *grown = realloc(list, more * sizeof *list);
    if (!grown) {
      pthread_mutex_unlock(&listLock);
      return 0;
    }
    list = grown, capacity = more;
  }
  size_t i = after(a.address);
  memmove(list + i + 1, list + i, (count - i) * sizeof *list);
  list[i] = a;
  count++;
  pthread_mutex_unlock(&listLock);
  return 1;
}

// look is wb_find; listLock is held.
static const wbAllocation *look(const void *pointer) {
  static _Thread_local wbAllocation found;
  uint64_t at = (uint64_t)(uintptr_t)pointer;
  size_t i = after(at);
  if (i == 0 || at - list[i - 1].address >= (list[i - 1].bytes ? list[i - 1].bytes : 1)) return 0;
  found = list[i - 1];
  return &found;
}

const wbAllocation *wb_find(const void *pointer) {
  pthread_mutex_lock(&listLock);
  const wbAllocation *a = look(pointer);
  pthread_mutex_unlock(&listLock);
  return a;
}

const wbAllocation *wb_find_crashed(const void *pointer) {
  if (pthread_mutex_trylock(&listLock)) return 0;
  const wbAllocation *a = look(pointer);
  pthread_mutex_unlock(&listLock);
  return a;
}

int wb_keep(const void *pointer) {
  pthread_mutex_lock(&listLock);
  size_t i = after((uint64_t)(uintptr_t)pointer);
  int is = i > 0 && list[i - 1].address == (uint64_t)(uintptr_t)pointer;
  if (is) list[i - 1].variable = 1;
  pthread_mutex_unlock(&listLock);
  return is;
}

int wb_take(uint64_t address, wbAllocation *taken) {
  int is = 0;
  pthread_mutex_lock(&listLock);
  size_t i = after(address);
  if (i > 0 && list[i - 1].address == address) {
    *taken = list[i - 1];
    memmove(list + i - 1, list + i, (count - i) * sizeof *list);
    count--;
    is = 1;
  }
  pthread_mutex_unlock(&listLock);
  return is;
}

void wb_unmap(const wbAllocation *a) {
  if (a->kind == wbDevice) return;
  wb_open_memory(a->address, a->bytes);
  munmap((void *)(uintptr_t)a->address, (a->bytes + 4095) & ~(size_t)4095);
}

void wb_forget_all(void) {
  pthread_mutex_lock(&listLock);
  for (size_t i = 0; i < count; i++) wb_unmap(list + i);
  count = 0;
  pthread_mutex_unlock(&listLock);
}

void wb_report_leaks(void) {
  for (size_t i = 0; i < count; i++) {
    if (list[i].variable) continue;
    uint64_t *m = wb_message(WB_OP_LEAK, list[i].here, 2, 0);
    m[0] = list[i].bytes;
    m[1] = list[i].kind;
    wb_send();
  }
}
