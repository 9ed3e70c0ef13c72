// Declarations that the parts of the library share. wire.h is made by package wire, api.h
// is the header of the programs.
#ifndef WARPBOOK_INTERNAL_H
#define WARPBOOK_INTERNAL_H
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "warpbook/api.h"
#include "wire.h"

typedef struct {
  unsigned int x, y, z;
} dim3; // of C++, with its layout

// The place of the call in the program, by which the device names its line.
#define HERE ((uint64_t)(uintptr_t)__builtin_return_address(0))
#define API __attribute__((visibility("default")))

// channel.c: messages to the device. wb_lock is held from wb_message to wb_unlock.
void wb_lock(void);
void wb_unlock(void);
uint64_t *wb_message(unsigned int op, uint64_t here, size_t values, size_t extra);
void wb_send(void);
cudaError_t wb_ask(void); // sends, and waits for the answer
cudaError_t wb_ready(void);
extern const uint64_t *wb_answer;   // values of the last answer
extern const unsigned char *wb_data; // bytes of the last answer
extern int wb_forked;
void wb_print(void);       // what kernels have printed; the lock is held
int wb_memory(void);       // the descriptor of the shared memory
unsigned char *wb_crash_record(int child);

// stream.c: the order of work in streams, by which the device finds races between them.
extern _Thread_local uint64_t wb_stream; // of the call in work
// IN is a call whose work is in a stream.
#define IN(stream, call) ({ wb_stream = (uint64_t)(uintptr_t)(stream); cudaError_t in_ = (call); wb_stream = 0; in_; })
void wb_order(unsigned int what, uint64_t a, uint64_t b);
void wb_order_locked(unsigned int what, uint64_t a, uint64_t b);

// error.c
cudaError_t wb_fail(cudaError_t error, uint64_t here, uint64_t other, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
cudaError_t wb_result(cudaError_t error); // notes an error as the last one
cudaError_t wb_unasked(void);
extern cudaError_t wb_sticky;             // of a fault: every later call returns it

// allocations.c
typedef struct {
  uint64_t address, bytes, here;
  enum { wbDevice, wbManaged, wbHost, wbArray } kind; // wbArray is only asked for: it is of the device
  int variable; // of a module or a graph: the program cannot free it
} wbAllocation;
const wbAllocation *wb_find(const void *pointer); // the allocation that a pointer lies in
const wbAllocation *wb_find_crashed(const void *pointer); // does not wait: the crash may be that of the lock's holder
int wb_add(wbAllocation a);                       // 0 if there is no memory
extern int wb_shared; // whether memory of both sides was ever added
int wb_keep(const void *pointer);                 // keeps the allocation that starts there to the end; 0 if none does
int wb_take(uint64_t address, wbAllocation *taken); // removes the one that starts there; 0 if none does
void wb_unmap(const wbAllocation *a);             // removes memory of both sides from the host
void wb_forget_all(void);
void wb_report_leaks(void);

// registered.c
uint64_t wb_registered(const void *pointer);
void wb_unregister_all(void);

// managed.c
int wb_is_managed(const void *host); // whether it is in a __managed__ variable
void wb_managed_begin(void);
void wb_managed_to_device(uint64_t here);
void wb_managed_from_device(uint64_t here);
void wb_managed_reset(void);

// graph.c
int wb_record(unsigned int op, uint64_t here, const uint64_t *body, size_t bytes);
int wb_record_copy(void *to, const void *from, size_t bytes, unsigned int kind, uint64_t here);
int wb_record_call(cudaHostFn_t call, void *data);
int wb_recording(void); // whether work is recorded rather than done
cudaError_t wb_uncapturable(uint64_t here);

// device.c
typedef struct {
  char name[256];
  uint64_t value[WB_DEVICE_VALUES];
} wbDevice_t;
const wbDevice_t *wb_device(void);
cudaError_t wb_synchronize(uint64_t here);
cudaError_t wb_synchronize_locked(uint64_t here);

// launch.c
typedef struct {
  const void *host; // the address of the host's variable
  const char *name; // in the PTX
  uint64_t unit;
} wbVariable;
const wbVariable *wb_variable(const void *host);

// unwaited.c: reads of the host that do not wait.
void wb_close(const wbAllocation *a, uint64_t at, uint64_t bytes, uint64_t stream);
void wb_close_arguments(const unsigned char *arguments, uint64_t bytes, uint64_t stream);
void wb_open(unsigned int what, uint64_t stream);
void wb_open_memory(uint64_t from, uint64_t bytes);
int wb_trapped(const siginfo_t *info, void *context);
#endif
