// A library with NCCL's names, for tests of the worker: ranks leave their inputs as files in
// FAKE_NCCL and add those of all, float32 only. Joining returns when all ranks have joined;
// a collective is then work of the device, which driver.c asks for with progress.
//
// FAKE_NCCL_FAILS=RANK lets all collectives of that rank fail. FAKE_NCCL_HANGS=WHERE lets a
// rank hang that is aborted: "call" in the call of a collective until the abort, "abort" in
// the abort while the device is idle, "device" in both: its collectives never end. A rank
// leaves the file RANK in FAKE_NCCL when it hangs in a call, when one collective is queued,
// and for "device" when as many are as the worker lets wait.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct { char bytes[128]; } id;
typedef struct { size_t size; unsigned magic, version; int blocking; } configuration;
typedef struct {
	const float *in;
	float *out;
	size_t count;
} work;

enum { success, remoteError = 6, invalid = 4, window = 32, room = 40 };

typedef struct {
	id group;
	int rank, size, number, begun, state, stopped;
	work queue[room]; // not done, the first one first
	int queued;
} comm;

extern int (*progress)(int works); // of the device, in driver.c
int clears(void);
int cuCtxGetDevice(int *);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static comm *present; // one at a time

static int hangs(const char *where) { return getenv("FAKE_NCCL_HANGS") && !strcmp(getenv("FAKE_NCCL_HANGS"), where); }

static void path(char *to, size_t n, comm *c, int rank) {
	snprintf(to, n, "%s/%s.%d.%d", getenv("FAKE_NCCL"), c->group.bytes, c->number, rank);
}

static void leaveAs(const char *whole, const void *data, size_t n) {
	char name[4096];
	snprintf(name, sizeof name, "%s.new", whole);
	FILE *f = fopen(name, "w");
	if (!f || fwrite(data, 1, n, f) != n || fclose(f) || rename(name, whole))
		abort();
}

static void leave(comm *c, const void *data, size_t n) {
	char name[4000];
	path(name, sizeof name, c, c->rank);
	leaveAs(name, data, n);
}

static void sign(comm *c) {
	char name[4000];
	snprintf(name, sizeof name, "%s/%d", getenv("FAKE_NCCL"), c->rank);
	leaveAs(name, "", 0);
}

static int allThere(comm *c) {
	char name[4096];
	for (int r = 0; r < c->size; r++) {
		path(name, sizeof name, c, r);
		if (access(name, R_OK))
			return 0;
	}
	return 1;
}

// advance does the first collective of the queue as far as it can, and reports whether that
// is done.
static int advance(comm *c) {
	work *w = c->queue;
	if (!c->begun) {
		leave(c, w->in, w->count * sizeof(float));
		c->begun = 1;
	}
	if (!allThere(c))
		return 0;
	memset(w->out, 0, w->count * sizeof(float));
	for (int r = 0; r < c->size; r++) {
		char name[4096];
		path(name, sizeof name, c, r);
		FILE *f = fopen(name, "r");
		for (size_t i = 0; i < w->count; i++) {
			float x;
			if (fread(&x, sizeof x, 1, f) != 1)
				abort();
			w->out[i] += x;
		}
		fclose(f);
	}
	c->number++, c->begun = 0;
	memmove(c->queue, c->queue + 1, --c->queued * sizeof(work));
	return 1;
}

// device reports whether all work is done, and works on it.
static int device(int works) {
	pthread_mutex_lock(&lock);
	comm *c = present;
	if (c && c->stopped && !hangs("device"))
		c->queued = 0;
	while (works && c && c->queued && !c->stopped && !hangs("device") && advance(c))
		;
	int idle = !c || !c->queued;
	pthread_mutex_unlock(&lock);
	return idle;
}

int ncclGetVersion(int *v) { return *v = 22705, success; }
int ncclGetUniqueId(id *g) { return memset(g, 0, sizeof *g), snprintf(g->bytes, sizeof g->bytes, "group-%d", getpid()), success; }

int ncclCommInitRankConfig(comm **to, int size, id group, int rank, configuration *k) {
	if (k->size < 20 || k->magic != 0xcafebeef || k->version < 21400 || k->blocking != 1 || rank < 0 || rank >= size)
		return invalid;
	comm *c = *to = calloc(1, sizeof(comm));
	c->group = group, c->rank = rank, c->size = size;
	leave(c, "", 0);
	while (!allThere(c))
		usleep(1000);
	c->number++;
	present = c, progress = device;
	return success;
}

int ncclCommGetAsyncError(comm *c, int *state) { return *state = c->state, success; }
int ncclCommCuDevice(comm *c, int *d) { return cuCtxGetDevice(d), success; }

int ncclCommAbort(comm *c) {
	pthread_mutex_lock(&lock);
	c->stopped = 1;
	pthread_mutex_unlock(&lock);
	while (hangs("abort") || hangs("device") || clears() || !device(1))
		usleep(1000);
	pthread_mutex_lock(&lock);
	present = NULL;
	pthread_mutex_unlock(&lock);
	return success;
}

int ncclAllReduce(const void *in, void *out, size_t n, int type, int op, comm *c, void *stream) {
	if (type != 7 || op != 0)
		return invalid;
	if (getenv("FAKE_NCCL_FAILS") && atoi(getenv("FAKE_NCCL_FAILS")) == c->rank)
		return c->state = remoteError, success;
	if (hangs("call"))
		sign(c);
	while (hangs("call") && !c->stopped)
		usleep(1000);
	pthread_mutex_lock(&lock);
	int full = c->queued == room;
	if (!full)
		c->queue[c->queued++] = (work){in, out, n};
	if (c->queued == (hangs("device") ? window : 1))
		sign(c);
	pthread_mutex_unlock(&lock);
	return full ? invalid : success; // the worker has a window of fewer
}

int ncclBroadcast(const void *in, void *out, size_t n, int type, int root, comm *c, void *stream) { return invalid; }
int ncclReduceScatter(const void *in, void *out, size_t n, int type, int op, comm *c, void *stream) { return invalid; }
const char *ncclGetErrorString(int code) { return code == remoteError ? "remote process exited or there was a network error" : "invalid argument"; }
const char *ncclGetLastError(comm *c) { return c ? "a cable is loose\n" : ""; }
