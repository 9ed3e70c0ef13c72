// The channel to the device: a ring of messages in memory that both processes share, and a
// socket on which each wakes the other. One thread at a time writes the ring.
#include "internal.h"
#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char *shared; // NULL before the channel is open
static int memoryFile = -1, doorbell = -1;
static uint64_t head;       // bytes written, including the message in work
static uint64_t pending;    // of the message in work
static uint32_t questions;  // that were asked
static int opened;          // 0 before the first call, 1 open, -1 if there is no device
int wb_forked;
const uint64_t *wb_answer;
const unsigned char *wb_data;

#define WORD64(at) ((_Atomic uint64_t *)(shared + (at)))
#define WORD32(at) ((_Atomic uint32_t *)(shared + (at)))

void wb_lock(void) { pthread_mutex_lock(&lock); }
void wb_unlock(void) { pthread_mutex_unlock(&lock); }

int wb_memory(void) { return memoryFile; }

// The child of a fork has no device, as with CUDA: its calls are errors.
static void child(void) {
  wb_forked = 1;
  pthread_mutex_init(&lock, 0);
}
static cudaError_t forked(void) {
  static atomic_flag said = ATOMIC_FLAG_INIT;
  if (!atomic_flag_test_and_set(&said))
    fprintf(stderr, "warpbook: process %d has no device: its parent called CUDA before fork(): call CUDA in one process only\n", (int)getpid());
  return cudaErrorInitializationError;
}

// claim makes this process the one that writes the ring. A fork before the first call of
// CUDA gives the channel to two.
static int claim(unsigned char *memory) {
  uint32_t none = 0;
  if (atomic_compare_exchange_strong((_Atomic uint32_t *)(memory + WB_CLAIM), &none, (uint32_t)getpid())) return 1;
  fprintf(stderr, "warpbook: process %d has no device: process %u of the program called CUDA first: call CUDA in one process only\n", (int)getpid(), none);
  return 0;
}

// open maps the channel; the lock is held.
static void open_channel(void) {
  opened = -1;
  const char *text = getenv(WB_VARIABLE);
  if (!text || sscanf(text, "%d,%d", &memoryFile, &doorbell) != 2) {
    fputs("warpbook: this program has no device: run it by warpbook cuda\n", stderr);
    return;
  }
  void *p = mmap(0, WB_CHANNEL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memoryFile, 0);
  if (p == MAP_FAILED || *(uint64_t *)p != WB_MAGIC) {
    fputs("warpbook: the channel to the device is broken: build the program again\n", stderr);
    return;
  }
  if (!claim(p)) return;
  shared = p;
  opened = 1;
  pthread_atfork(0, 0, child);
}

// wb_crash_record is where a crash leaves its place, also one before the first call of CUDA,
// but in a child, which would take the channel from its parent.
unsigned char *wb_crash_record(int child) {
  if (!opened && !child && getenv(WB_VARIABLE)) open_channel();
  return shared ? shared + WB_CRASH : 0;
}

cudaError_t wb_ready(void) {
  if (wb_forked) return forked();
  if (opened == 0) {
    wb_lock();
    if (opened == 0) open_channel();
    wb_unlock();
  }
  if (opened < 0) return cudaErrorNoDevice;
  return wb_sticky;
}

static void ring(void) {
  char c = 0;
  while (write(doorbell, &c, 1) < 0 && errno == EINTR) {}
}

// sleep_once waits until the device rings.
static void sleep_once(void) {
  char c;
  ssize_t n = read(doorbell, &c, 1);
  if (n == 0 || (n < 0 && errno != EINTR)) _exit(WB_STATUS_NO_DEVICE); // the device has ended
}

static uint64_t room(void) { return WB_RING_BYTES - (head - atomic_load(WORD64(WB_TAIL))); }

static void wait_for_room(uint64_t bytes) {
  for (int i = 0; room() < bytes; i++) {
    if (i < 64) {
      sched_yield();
      continue;
    }
    atomic_store(WORD32(WB_PROGRAM_SLEEPS), 2);
    if (room() >= bytes) {
      atomic_store(WORD32(WB_PROGRAM_SLEEPS), 0);
      break;
    }
    sleep_once();
  }
}

static void publish(void) {
  head += pending;
  pending = 0;
  atomic_store(WORD64(WB_HEAD), head);
  if (atomic_load(WORD32(WB_DEVICE_SLEEPS)) && atomic_exchange(WORD32(WB_DEVICE_SLEEPS), 0)) ring();
}

// wb_message begins a message of some values and room for extra bytes after them.
uint64_t *wb_message(unsigned int op, uint64_t here, size_t values, size_t extra) {
  uint64_t bytes = 16 + 8 * values + ((extra + 7) & ~(size_t)7);
  uint64_t left = WB_RING_BYTES - head % WB_RING_BYTES;
  if (left < bytes) { // messages do not wrap: the rest of the ring stays empty
    wait_for_room(left);
    uint32_t *skip = (uint32_t *)(shared + WB_RING + head % WB_RING_BYTES);
    skip[0] = WB_OP_SKIP;
    skip[1] = (uint32_t)left;
    pending = left;
    publish();
  }
  wait_for_room(bytes);
  uint32_t *m = (uint32_t *)(shared + WB_RING + head % WB_RING_BYTES);
  m[0] = op;
  m[1] = (uint32_t)bytes;
  ((uint64_t *)m)[1] = here;
  pending = bytes;
  return (uint64_t *)m + 2;
}

// wb_send sends the message, or gives it to the graph that is recorded.
void wb_send(void) {
  const uint64_t *m = (const uint64_t *)(shared + WB_RING + head % WB_RING_BYTES);
  if (wb_record((unsigned int)m[0], m[1], m + 2, pending - 16)) pending = 0;
  else publish();
}

// What kernels printed comes with an answer, in parts.
static void print_device(void) {
  uint64_t n = wb_answer[WB_ANSWER_PRINTED];
  if (n > 0 && n <= WB_DATA_BYTES) {
    fwrite(shared + WB_DATA, 1, n, stdout);
  }
}

static void wait_for_answer(void) {
  atomic_store(WORD32(WB_ASKED), ++questions);
  publish();
  for (int i = 0; atomic_load(WORD32(WB_ANSWERED)) != questions; i++) {
    if (i < 64) {
      sched_yield();
      continue;
    }
    atomic_store(WORD32(WB_PROGRAM_SLEEPS), 1);
    if (atomic_load(WORD32(WB_ANSWERED)) == questions) break;
    sleep_once();
  }
  wb_answer = (const uint64_t *)(shared + WB_ANSWER);
  wb_data = shared + WB_DATA;
}

cudaError_t wb_ask(void) {
  wait_for_answer();
  cudaError_t error = (cudaError_t)wb_answer[WB_ANSWER_STATUS];
  if (wb_answer[WB_ANSWER_STICKY]) wb_sticky = (cudaError_t)wb_answer[WB_ANSWER_STICKY];
  return error;
}

// wb_print takes what kernels have printed since the last call; the lock is held.
void wb_print(void) {
  do {
    wb_message(WB_OP_PRINTED, 0, 0, 0);
    wait_for_answer();
    print_device();
  } while (wb_answer[WB_ANSWER_MORE]);
}

// The end of the program: the device finishes what it was given, and reports.
__attribute__((destructor(101))) static void end(void) {
  if (opened != 1 || wb_forked) return;
  wb_lock();
  wb_report_leaks();
  uint64_t *m = wb_message(WB_OP_END, 0, 1, 0);
  m[0] = wb_unasked();
  wait_for_answer();
  wb_unlock();
}
