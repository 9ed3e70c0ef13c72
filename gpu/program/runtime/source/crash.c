// A crash of the host: its place is left in the shared memory, for the line that reports it.
#include "internal.h"
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

extern char __executable_start[], etext[]; // of the linker

// places_of are the instruction of a fault and the words of its stack that point into the
// program, which may be returns of calls.
static void places_of(const ucontext_t *c, uint64_t *places) {
#if defined(__x86_64__)
  uint64_t place = c->uc_mcontext.gregs[REG_RIP], stack = c->uc_mcontext.gregs[REG_RSP];
#else
  uint64_t place = c->uc_mcontext.pc, stack = c->uc_mcontext.sp;
#endif
  places[0] = place;
  const uint64_t *word = (const uint64_t *)((stack + 7) & ~7ull);
  for (int i = 1, n = 0; i < WB_CRASH_PLACES && n < 512; n++) {
    unsigned char there;
    if (((uintptr_t)(word + n) & 4095) == 0 && mincore((void *)(word + n), 4096, &there)) break; // the end of the stack
    if (word[n] >= (uint64_t)(uintptr_t)__executable_start && word[n] < (uint64_t)(uintptr_t)etext) places[i++] = word[n];
  }
}

static pid_t started; // the process of the program

static void crashed(int number, siginfo_t *info, void *context) {
  if (number == SIGSEGV && wb_trapped(info, context)) return;
  uint64_t *record = (uint64_t *)wb_crash_record(getpid() != started);
  if (record && !record[0] && !wb_forked) { // the record is the program's, not that of its children
    const wbAllocation *a = wb_find_crashed(info->si_addr);
    record[1] = (uint64_t)(uintptr_t)info->si_addr;
    if (a) record[2] = a->here, record[3] = a->bytes, record[4] = a->address;
    record[0] = number; // an overflow of the stack ends the program below
    places_of(context, record + 5);
  }
  signal(number, SIG_DFL);
  raise(number);
}

// watch comes before the constructors of the program, which may crash.
__attribute__((constructor(101))) static void watch(void) {
  started = getpid();
  static char stack[64 << 10]; // for an overflow of the program's own
  stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&own, 0);
  static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    struct sigaction old, action = {.sa_sigaction = crashed, .sa_flags = SA_SIGINFO | SA_ONSTACK | (numbers[i] == SIGSEGV ? 0 : SA_RESETHAND)};
    if (!sigaction(numbers[i], 0, &old) && old.sa_handler == SIG_DFL) sigaction(numbers[i], &action, 0);
  }
}
