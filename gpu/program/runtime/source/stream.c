// Streams and events. The device runs all work in the order of its submission, so every
// stream is that one queue; handles are numbers, and one that was destroyed is an error.
#include "internal.h"

enum { streams = 16, mostEvents = 1 << 16 };
static pthread_mutex_t handleLock = PTHREAD_MUTEX_INITIALIZER;

typedef struct {
  unsigned char *state; // 0 free, 1 made, 2 recorded
  size_t room, next;
} handles;
static handles eventHandles, streamHandles;

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
API cudaError_t cudaStreamCreate(cudaStream_t *s) { return create((void **)s, &streamHandles); }
API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned int flags) { return create_with((void **)s, &streamHandles, flags & cudaStreamNonBlocking); }
API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned int flags, int priority) { return create_with((void **)s, &streamHandles, flags & cudaStreamNonBlocking); }
API cudaError_t cudaStreamGetFlags(cudaStream_t s, unsigned int *flags) {
  cudaError_t e = stream(s, HERE);
  if (!e) *flags = (uintptr_t)s > 2 ? *state(&streamHandles, (uintptr_t)s) >> 2 : 0;
  return e;
}
API cudaError_t cudaStreamGetPriority(cudaStream_t s, int *priority) { // all streams are one queue
  *priority = 0;
  return stream(s, HERE);
}
API cudaError_t cudaStreamDestroy(cudaStream_t s) {
  cudaError_t e = stream(s, HERE);
  if (!e && (uintptr_t)s > 2) *state(&streamHandles, (uintptr_t)s) = 0;
  return e;
}
API cudaError_t cudaStreamSynchronize(cudaStream_t s) {
  cudaError_t e = stream(s, HERE);
  return e ? e : wb_synchronize(HERE);
}
API cudaError_t cudaStreamQuery(cudaStream_t s) {
  cudaError_t e = stream(s, HERE);
  return e ? e : wb_synchronize(HERE);
}
API cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t v, unsigned int flags) {
  cudaError_t e = stream(s, HERE);
  return e ? e : event(v, HERE);
}
API cudaError_t cudaStreamAttachMemAsync(cudaStream_t s, void *pointer, size_t bytes, unsigned int flags) { return stream(s, HERE); }
API cudaError_t cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t call, void *data, unsigned int flags) {
  cudaError_t e = stream(s, HERE);
  if (e) return e;
  e = wb_synchronize(HERE);
  call(s, e, data);
  return cudaSuccess;
}
API cudaError_t cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t call, void *data) {
  cudaError_t e = stream(s, HERE);
  if (e || wb_record_call(call, data)) return e;
  e = wb_synchronize(HERE);
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
  wb_message(WB_OP_RECORD, HERE, 1, 0)[0] = (uintptr_t)v;
  wb_send();
  wb_unlock();
  return cudaSuccess;
}
API cudaError_t cudaEventRecordWithFlags(cudaEvent_t v, cudaStream_t s, unsigned int flags) { return cudaEventRecord(v, s); }
API cudaError_t cudaEventSynchronize(cudaEvent_t v) {
  cudaError_t e = event(v, HERE);
  return e ? e : wb_synchronize(HERE);
}
API cudaError_t cudaEventQuery(cudaEvent_t v) {
  cudaError_t e = event(v, HERE);
  return e ? e : wb_synchronize(HERE);
}
API cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to) {
  cudaError_t e = event(from, HERE);
  if (!e) e = event(to, HERE);
  if (e) return e;
  if (*state(&eventHandles, (uintptr_t)from) < 2 || *state(&eventHandles, (uintptr_t)to) < 2)
    return wb_fail(cudaErrorInvalidResourceHandle, HERE, 0, "an event was not recorded");
  wb_lock();
  uint64_t *m = wb_message(WB_OP_ELAPSED, HERE, 2, 0);
  m[0] = (uintptr_t)from, m[1] = (uintptr_t)to;
  e = wb_ask();
  *ms = (float)((double)(int64_t)wb_answer[WB_ANSWER_VALUES] / 1e6);
  wb_unlock();
  return wb_result(e);
}
