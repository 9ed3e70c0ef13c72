// Streams and events. The device runs all work in the order of its submission. It is told the
// order that streams, events and waits give, so that it finds races which a GPU may have.
// Handles are numbers, and one that was destroyed is an error.
#include "internal.h"

enum { streams = 16, mostEvents = 1 << 16 };
static pthread_mutex_t handleLock = PTHREAD_MUTEX_INITIALIZER;

typedef struct {
  unsigned char *state; // 0 free, 1 made, 2 recorded
  size_t room, next;
} handles;
static handles eventHandles, streamHandles;
_Thread_local uint64_t wb_stream;

// wb_order tells the device what comes before what; the lock is held in wb_order_locked. In a
// capture nothing runs.
void wb_order_locked(unsigned int what, uint64_t a, uint64_t b) {
  wb_open(what, a);
  uint64_t *m = wb_message(WB_OP_ORDER, 0, 3, 0);
  m[0] = what, m[1] = a, m[2] = b;
  wb_send();
}
void wb_order(unsigned int what, uint64_t a, uint64_t b) {
  if (wb_recording()) return;
  wb_lock();
  wb_order_locked(what, a, b);
  wb_unlock();
}

static uint64_t make(handles *h) {
  pthread_mutex_lock(&handleLock);
  size_t i = h->next++; // numbers are not used again, so that a destroyed handle stays known
  if (i >= h->room) {
    size_t room = h->room ? 2 * h->room : 64;
    unsigned char *grown = realloc(h->state, room);
    if (!grown) {
      pthread_mutex_unlock(&handleLock);
      return 0;
    }
    memset(grown + h->room, 0, room - h->room);
    h->state = grown, h->room = room;
  }
  h->state[i] = 1;
  pthread_mutex_unlock(&handleLock);
  return i + streams;
}
static unsigned char *state(handles *h, uint64_t number) {
  uint64_t i = number - streams;
  return number >= streams && i < h->next && h->state[i] ? &h->state[i] : 0;
}

static cudaError_t stream(cudaStream_t s, uint64_t here) {
  cudaError_t e = wb_ready();
  if (e) return wb_result(e);
  if ((uintptr_t)s <= 2 || state(&streamHandles, (uintptr_t)s)) return cudaSuccess;
  return wb_fail(cudaErrorInvalidResourceHandle, here, 0, "%p is no stream: it was destroyed, or never created", (void *)s);
}
static cudaError_t event(cudaEvent_t v, uint64_t here) {
  cudaError_t e = wb_ready();
  if (e) return wb_result(e);
  if (state(&eventHandles, (uintptr_t)v)) return cudaSuccess;
  return wb_fail(cudaErrorInvalidResourceHandle, here, 0, "%p is no event: it was destroyed, or never created", (void *)v);
}

static cudaError_t create_with(void **to, handles *h, unsigned int flags) {
  cudaError_t e = wb_ready();
  if (e) return wb_result(e);
  uint64_t n = make(h);
  if (!n) return wb_result(cudaErrorMemoryAllocation);
  *to = (void *)(uintptr_t)n;
  *state(h, n) = (unsigned char)(1 | flags << 2);
  return cudaSuccess;
}
static cudaError_t create(void **to, handles *h) { return create_with(to, h, 0); }
static cudaError_t create_stream(cudaStream_t *s, unsigned int flags) {
  cudaError_t e = create_with((void **)s, &streamHandles, flags & cudaStreamNonBlocking);
  if (!e) wb_order(WB_ORDER_MAKE, (uintptr_t)*s, flags & cudaStreamNonBlocking);
  return e;
}
API cudaError_t cudaStreamCreate(cudaStream_t *s) { return create_stream(s, 0); }
API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned int flags) { return create_stream(s, flags); }
API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned int flags, int priority) { return create_stream(s, flags); }
API cudaError_t cudaStreamGetFlags(cudaStream_t s, unsigned int *flags) {
  cudaError_t e = stream(s, HERE);
  if (!e) *flags = (uintptr_t)s > 2 ? *state(&streamHandles, (uintptr_t)s) >> 2 : 0;
  return e;
}
API cudaError_t cudaStreamGetPriority(cudaStream_t s, int *priority) { // the device runs one piece of work at a time
  *priority = 0;
  return stream(s, HERE);
}
// Attributes change how fast work is, and nothing here.
API cudaError_t cudaStreamSetAttribute(cudaStream_t s, enum cudaLaunchAttributeID attribute, const union cudaLaunchAttributeValue *value) {
  if (attribute != cudaLaunchAttributeAccessPolicyWindow && attribute != cudaLaunchAttributeSynchronizationPolicy && attribute != cudaLaunchAttributePriority)
    return wb_fail(cudaErrorInvalidValue, HERE, 0, "%d is no attribute of a stream", attribute);
  return stream(s, HERE);
}
API cudaError_t cudaCtxResetPersistingL2Cache(void) { return wb_result(wb_ready()); }
API cudaError_t cudaStreamDestroy(cudaStream_t s) {
  cudaError_t e = stream(s, HERE);
  if (!e && (uintptr_t)s > 2) *state(&streamHandles, (uintptr_t)s) = 0;
  return e;
}
// wait_for is the end of a call after which the host knows that work has ended.
static cudaError_t wait_for(cudaError_t e, unsigned int what, uint64_t number, uint64_t here) {
  if (!e) e = wb_synchronize(here);
  if (!e) wb_order(what, number, 0);
  return e;
}
API cudaError_t cudaStreamSynchronize(cudaStream_t s) { return wait_for(stream(s, HERE), WB_ORDER_HOST_STREAM, (uintptr_t)s, HERE); }
API cudaError_t cudaStreamQuery(cudaStream_t s) { return wait_for(stream(s, HERE), WB_ORDER_HOST_STREAM, (uintptr_t)s, HERE); }
API cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t v, unsigned int flags) {
  cudaError_t e = stream(s, HERE);
  if (!e) e = event(v, HERE);
  if (!e) wb_order(WB_ORDER_WAIT, (uintptr_t)s, (uintptr_t)v);
  return e;
}
API cudaError_t cudaStreamAttachMemAsync(cudaStream_t s, void *pointer, size_t bytes, unsigned int flags) { return stream(s, HERE); }
API cudaError_t cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t call, void *data, unsigned int flags) {
  cudaError_t e = stream(s, HERE);
  if (e) return e;
  e = wait_for(e, WB_ORDER_HOST_STREAM, (uintptr_t)s, HERE);
  call(s, e, data);
  return cudaSuccess;
}
API cudaError_t cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t call, void *data) {
  cudaError_t e = stream(s, HERE);
  if (e || wb_record_call(call, data)) return e;
  e = wait_for(e, WB_ORDER_HOST_STREAM, (uintptr_t)s, HERE);
  if (!e) call(data);
  return e;
}

API cudaError_t cudaEventCreate(cudaEvent_t *v) { return create((void **)v, &eventHandles); }
API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *v, unsigned int flags) { return create((void **)v, &eventHandles); }
API cudaError_t cudaEventDestroy(cudaEvent_t v) {
  cudaError_t e = event(v, HERE);
  if (!e) *state(&eventHandles, (uintptr_t)v) = 0;
  return e;
}
API cudaError_t cudaEventRecord(cudaEvent_t v, cudaStream_t s) {
  cudaError_t e = stream(s, HERE);
  if (!e) e = event(v, HERE);
  if (e || wb_recording()) return e;
  *state(&eventHandles, (uintptr_t)v) = 2;
  wb_lock();
  uint64_t *m = wb_message(WB_OP_RECORD, HERE, 2, 0);
  m[0] = (uintptr_t)v, m[1] = (uintptr_t)s;
  wb_send();
  wb_unlock();
  return cudaSuccess;
}
API cudaError_t cudaEventRecordWithFlags(cudaEvent_t v, cudaStream_t s, unsigned int flags) { return cudaEventRecord(v, s); }
API cudaError_t cudaEventSynchronize(cudaEvent_t v) { return wait_for(event(v, HERE), WB_ORDER_HOST_EVENT, (uintptr_t)v, HERE); }
API cudaError_t cudaEventQuery(cudaEvent_t v) { return wait_for(event(v, HERE), WB_ORDER_HOST_EVENT, (uintptr_t)v, HERE); }
API cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to) {
  cudaError_t e = event(from, HERE);
  if (!e) e = event(to, HERE);
  if (e) return e;
  if (*state(&eventHandles, (uintptr_t)from) < 2 || *state(&eventHandles, (uintptr_t)to) < 2)
    return wb_fail(cudaErrorInvalidResourceHandle, HERE, 0, "an event was not recorded");
  wb_order(WB_ORDER_HOST_EVENT, (uintptr_t)from, 0);
  wb_order(WB_ORDER_HOST_EVENT, (uintptr_t)to, 0);
  wb_lock();
  uint64_t *m = wb_message(WB_OP_ELAPSED, HERE, 2, 0);
  m[0] = (uintptr_t)from, m[1] = (uintptr_t)to;
  e = wb_ask();
  *ms = (float)((double)(int64_t)wb_answer[WB_ANSWER_VALUES] / 1e6);
  wb_unlock();
  return wb_result(e);
}
