// Reads of the host that do not wait for the work that writes. Pages of managed and pinned
// memory that a launch or an asynchronous copy may write are closed to the host until it
// waits. A read opens its page, and the device is told: it knows which bytes have changed. A
// page that the host writes meanwhile is not judged. The library's own accesses are.
#include "internal.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { pageBytes = 4096, mostPages = 16, mostClosed = 64 };

// closing are the first pages of a range. The lock is held for a few instructions, none of
// which can fault, because a signal's handler takes it.
typedef struct {
  uint64_t from, stream;
  uint32_t closed, wrote; // a bit for each page: closed, and written by the host since
} closing;
static closing closings[mostClosed];
static size_t closingCount;
static uint64_t permits; // how often a page was closed or opened
static atomic_flag closingLock = ATOMIC_FLAG_INIT;

static void take_closings(void) {
  while (atomic_flag_test_and_set_explicit(&closingLock, memory_order_acquire)) sched_yield();
}
static void give_closings(void) { atomic_flag_clear_explicit(&closingLock, memory_order_release); }

static void permit(uint64_t page, int access) {
  mprotect((void *)(uintptr_t)page, pageBytes, access);
  permits++;
}

// watching reports whether a fault of a page comes to this library.
static int watching(void) {
#if defined(__x86_64__) // where the handler can tell a read from a write
  struct sigaction now;
  return !sigaction(SIGSEGV, 0, &now) && now.sa_flags & SA_SIGINFO && now.sa_sigaction == crashed;
#else
  return 0;
#endif
}

// wb_close closes the first whole pages of a range of an allocation to the host.
void wb_close(const wbAllocation *a, uint64_t at, uint64_t bytes, uint64_t stream) {
  if (a->kind == wbDevice || a->variable || !watching()) return;
  uint64_t end = at + bytes < a->address + a->bytes ? (at + bytes) & ~(uint64_t)(pageBytes - 1) : (a->address + a->bytes + pageBytes - 1) & ~(uint64_t)(pageBytes - 1);
  uint64_t from = (at + pageBytes - 1) & ~(uint64_t)(pageBytes - 1);
  take_closings();
  size_t i = 0;
  while (i < closingCount && closings[i].from != from) i++;
  if (i == closingCount && i < mostClosed) closings[closingCount++] = (closing){from, stream, 0, 0};
  if (i < mostClosed) {
    closing *c = &closings[i];
    if (c->stream != stream) c->stream = 0;
    for (int k = 0; k < mostPages && from + (uint64_t)(k + 1) * pageBytes <= end; k++) {
      if ((c->closed | c->wrote) >> k & 1) continue;
      c->closed |= 1u << k;
      permit(from + (uint64_t)k * pageBytes, PROT_NONE);
    }
  }
  give_closings();
}

// wb_close_arguments closes the memory whose addresses a launch is given; the lock is held.
void wb_close_arguments(const unsigned char *arguments, uint64_t bytes, uint64_t stream) {
  if (!wb_shared || wb_recording()) return;
  for (uint64_t i = 0; i + 8 <= bytes; i += 8) {
    uint64_t word;
    memcpy(&word, arguments + i, 8);
    const wbAllocation *a = wb_find((void *)(uintptr_t)word);
    if (a) wb_close(a, a->address, a->bytes, stream);
  }
}

// open_page opens a page for a read or for everything. 0 means that it was not closed.
static int open_page(uint64_t at, int writes) {
  int was = 0;
  take_closings();
  for (size_t i = 0; i < closingCount; i++) {
    closing *c = &closings[i];
    uint64_t k = (at - c->from) / pageBytes;
    if (at < c->from || k >= mostPages || !(c->closed >> k & 1)) continue;
    was = 1;
    if (writes) c->closed &= ~(1u << k), c->wrote |= 1u << k;
  }
  if (was) permit(at & ~(uint64_t)(pageBytes - 1), writes ? PROT_READ | PROT_WRITE : PROT_READ);
  give_closings();
  return was;
}

// read_unwaited tells the device of a read. The handler of a signal does not wait for the
// lock: its holder may wait for what this thread does next.
static void read_unwaited(uint64_t at, uint64_t bytes, const uint64_t *places, size_t count) {
  if (wb_forked || pthread_mutex_trylock(&lock)) return;
  uint64_t *m = wb_message(WB_OP_READ, 0, 2, 8 * count);
  m[0] = at, m[1] = bytes;
  memcpy(m + 2, places, 8 * count);
  publish();
  wb_unlock();
}

#if defined(__x86_64__)
// opened_meanwhile reports whether another thread may have opened the page of a fault before
// its handler. The access is made again, and if it fails although no page has changed, it is a
// crash.
static int opened_meanwhile(const siginfo_t *info) {
  static _Thread_local uint64_t last, seen;
  if (info->si_code != SEGV_ACCERR) return 0;
  uint64_t at = (uint64_t)(uintptr_t)info->si_addr;
  take_closings();
  uint64_t now = permits;
  give_closings();
  if (!now || (at == last && now == seen)) return 0;
  last = at, seen = now;
  return 1;
}

// bytes_read is how many bytes an instruction reads, of those that compilers use for loads.
static uint64_t bytes_read(const unsigned char *code) {
  int repeated = 0, operand = 0, wide = 4;
  for (;; code++) {
    if (*code == 0xf2 || *code == 0xf3) repeated = *code;
    else if (*code == 0x66) operand = 1;
    else if ((*code & 0xf0) == 0x40) wide = *code & 8 ? 8 : 4;
    else break;
  }
  if (*code != 0x0f) return wide;
  unsigned char op = code[1];
  if ((op & 0xf6) == 0xb6) return op & 1 ? 2 : 1;                       // movzx, movsx
  if ((op & 0xf0) == 0x40 || op == 0xaf) return wide;                   // cmov, imul
  if (repeated == 0xf2 || (repeated == 0xf3 && op == 0x7e)) return 8;   // of a double
  if (repeated == 0xf3 && op != 0x6f) return 4;                         // of a float
  if (op == 0x2e || op == 0x2f) return operand ? 8 : 4;                 // comparisons
  return 16;                                                            // of a vector
}
#endif

// wb_trapped opens a closed page that the program accesses. 0 means that it is none.
int wb_trapped(const siginfo_t *info, void *context) {
#if defined(__x86_64__)
  uint64_t at = (uint64_t)(uintptr_t)info->si_addr;
  int writes = (((const ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
  if (!open_page(at, writes)) return opened_meanwhile(info);
  if (!writes) {
    uint64_t places[WB_CRASH_PLACES] = {0};
    int before = errno; // of the program
    places_of(context, places);
    errno = before;
    read_unwaited(at, bytes_read((const unsigned char *)(uintptr_t)places[0]), places, WB_CRASH_PLACES);
  }
  return 1;
#else
  return 0;
#endif
}

// dropped are closings whose pages are open again.
typedef struct {
  closing list[mostClosed];
  size_t count;
} dropped;

static void forget(dropped *d, size_t i) {
  closing c = d->list[d->count++] = closings[i];
  closings[i] = closings[--closingCount];
  for (int k = 0; k < mostPages; k++)
    if (c.closed >> k & 1) permit(c.from + (uint64_t)k * pageBytes, PROT_READ | PROT_WRITE);
}

// tell_written tells the device which pages the host wrote; the lock is held.
static void tell_written(const dropped *d) {
  for (size_t i = 0; i < d->count; i++) {
    if (!d->list[i].wrote) continue;
    uint64_t *m = wb_message(WB_OP_WROTE, 0, 2, 0);
    m[0] = d->list[i].from, m[1] = d->list[i].wrote;
    publish();
  }
}

// wb_open opens what the host has waited for, of all streams where the order is not that of
// one; the lock is held.
void wb_open(unsigned int what, uint64_t stream) {
  if (what == WB_ORDER_MAKE || what == WB_ORDER_WAIT || !closingCount) return;
  int one = what == WB_ORDER_HOST_STREAM && stream > 1;
  dropped gone = {.count = 0};
  take_closings();
  for (size_t i = closingCount; i-- > 0;)
    if (!one || closings[i].stream <= 1 || closings[i].stream == stream) forget(&gone, i);
  give_closings();
  tell_written(&gone);
}

// wb_open_memory opens memory that is freed; the lock is held.
void wb_open_memory(uint64_t from, uint64_t bytes) {
  dropped gone = {.count = 0};
  take_closings();
  for (size_t i = closingCount; i-- > 0;)
    if (closings[i].from - from < bytes + pageBytes) forget(&gone, i);
  give_closings();
  tell_written(&gone);
}
