// A driver without a GPU, for tests of the worker: memory is the host's, and all work is
// done when it is submitted, except that of nccl.c, which progress does. What is not here
// fails.
//
// FAKE_ZERO_MS=N lets the clearing of memory take so long, before all later work.
// FAKE_EVENTS=FILE gets a + for each event that is made and a - for each that is destroyed.
// FAKE_EVENT_FAILS=N lets the N-th event of the process fail.

#include <cuda.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int current;
int (*progress)(int works); // reports whether all collectives are done, and works on them; set by nccl.c
static double cleared;      // when the last clearing ends, in ms

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

int clears(void) { return now() < cleared; }
static CUresult state(void) { return clears() || progress && !progress(1) ? CUDA_ERROR_NOT_READY : 0; }

CUresult cuInit(unsigned flags) { return 0; }
CUresult cuDriverGetVersion(int *v) { return *v = 13000, 0; }
CUresult cuDeviceGetCount(int *n) { return *n = 4, 0; }
CUresult cuDeviceGet(CUdevice *d, int number) { return *d = current = number, 0; }
CUresult cuCtxGetDevice(CUdevice *d) { return *d = current, 0; }
CUresult cuDeviceGetName(char *name, int n, CUdevice d) { return strncpy(name, "no GPU", n), 0; }
CUresult cuDeviceGetUuid(CUuuid *id, CUdevice d) { return memset(id, d, sizeof *id), 0; }
CUresult cuDeviceTotalMem(size_t *n, CUdevice d) { return *n = 1 << 30, 0; }
CUresult cuDeviceGetAttribute(int *v, CUdevice_attribute a, CUdevice d) { return *v = a == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 : a == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? 0 : 1024, 0; }
CUresult cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice d) { return *c = (CUcontext)&current, 0; }
CUresult cuCtxSetCurrent(CUcontext c) { return c != (CUcontext)&current; }
CUresult cuCtxGetCurrent(CUcontext *c) { return *c = (CUcontext)&current, 0; }
CUresult cuCtxSynchronize(void) { return 0; }
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *p, CUdevice d) { return *p = (CUmemoryPool)&current, 0; }
CUresult cuMemPoolSetAttribute(CUmemoryPool p, CUmemPool_attribute a, void *v) { return 0; }
CUresult cuMemHostAlloc(void **at, size_t n, unsigned flags) { return (*at = calloc(1, n)) ? 0 : 2; }
CUresult cuMemHostGetDevicePointer(CUdeviceptr *d, void *host, unsigned flags) { return *d = (CUdeviceptr)host, 0; }
CUresult cuMemHostRegister(void *at, size_t n, unsigned flags) { return 0; }
CUresult cuMemHostUnregister(void *at) { return 0; }
CUresult cuMemAlloc(CUdeviceptr *d, size_t n) { return (*d = (CUdeviceptr)malloc(n)) ? 0 : 2; }
CUresult cuMemFree(CUdeviceptr d) { return free((void *)d), 0; }
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) { return memcpy((void *)to, (void *)from, n), 0; }
CUresult cuMemsetD8Async(CUdeviceptr d, unsigned char v, size_t n, CUstream s) {
	if (getenv("FAKE_ZERO_MS"))
		cleared = now() + atoi(getenv("FAKE_ZERO_MS"));
	return memset((void *)d, v, n), 0;
}
CUresult cuStreamCreate(CUstream *s, unsigned flags) { return *s = malloc(1), 0; }
CUresult cuStreamDestroy(CUstream s) { return free(s), 0; }
CUresult cuStreamQuery(CUstream s) { return state(); }
CUresult cuStreamSynchronize(CUstream s) {
	while (state())
		usleep(100);
	return 0;
}
typedef struct {
	double at, clearing; // when it was recorded, and when the clearing before it ends
	int collectives;     // there were some before it
} event;
static void note(const char *sign) {
	if (!getenv("FAKE_EVENTS"))
		return;
	int f = open(getenv("FAKE_EVENTS"), O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (f < 0 || write(f, sign, 1) != 1 || close(f))
		abort();
}
CUresult cuEventCreate(CUevent *e, unsigned flags) {
	static int number;
	if (getenv("FAKE_EVENT_FAILS") && ++number == atoi(getenv("FAKE_EVENT_FAILS")))
		return CUDA_ERROR_OUT_OF_MEMORY;
	return note("+"), *e = calloc(1, sizeof(event)), 0;
}
CUresult cuEventDestroy(CUevent e) { return note("-"), free(e), 0; }
CUresult cuEventRecord(CUevent e, CUstream s) { return *(event *)e = (event){now(), cleared, progress && !progress(0)}, 0; }
CUresult cuEventQuery(CUevent e) { return now() < ((event *)e)->clearing ? CUDA_ERROR_NOT_READY : ((event *)e)->collectives ? state() : 0; }
CUresult cuEventSynchronize(CUevent e) { return 0; }
CUresult cuEventElapsedTime(float *ms, CUevent from, CUevent to) {
	return *ms = ((event *)to)->at - ((event *)from)->at, 0;
}
