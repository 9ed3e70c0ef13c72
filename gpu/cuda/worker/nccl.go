//go:build cuda

package main

// NCCL is opened when a client asks for it, so the worker is built without it. Its
// functions keep their numbers from release to release; the declarations here are the
// part that the worker calls, from NCCL 2.14 on.

/*
#cgo LDFLAGS: -ldl
#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct { char bytes[128]; } groupID;

// configuration is the one of NCCL 2.14, which later releases extend: they read as many
// bytes as it has.
typedef struct {
	size_t size;
	unsigned magic, version;
	int blocking;
} configuration;

static struct {
	void *handle;
	int (*version)(int *);
	int (*id)(groupID *);
	int (*join)(void **, int, groupID, int, configuration *);
	int (*state)(void *, int *);
	int (*device)(void *, int *);
	int (*abort)(void *);
	int (*allReduce)(const void *, void *, size_t, int, int, void *, CUstream);
	int (*broadcast)(const void *, void *, size_t, int, int, void *, CUstream);
	int (*reduceScatter)(const void *, void *, size_t, int, int, void *, CUstream);
	const char *(*text)(int);
	const char *(*last)(void *);
} nccl;

// openNCCL opens a library; it returns NULL, or why not, in memory that the caller frees.
static char *openNCCL(const char *path) {
	char *why = NULL;
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		if (asprintf(&why, "%s", dlerror()) < 0)
			abort();
		return why;
	}
	struct { const char *name; void **to; } names[] = {
		{"ncclGetVersion", (void **)&nccl.version}, {"ncclGetUniqueId", (void **)&nccl.id},
		{"ncclCommInitRankConfig", (void **)&nccl.join}, {"ncclCommGetAsyncError", (void **)&nccl.state},
		{"ncclCommCuDevice", (void **)&nccl.device}, {"ncclCommAbort", (void **)&nccl.abort},
		{"ncclAllReduce", (void **)&nccl.allReduce}, {"ncclBroadcast", (void **)&nccl.broadcast},
		{"ncclReduceScatter", (void **)&nccl.reduceScatter}, {"ncclGetErrorString", (void **)&nccl.text},
		{"ncclGetLastError", (void **)&nccl.last},
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!(*names[i].to = dlsym(handle, names[i].name))) {
			if (asprintf(&why, "%s has no %s, expected NCCL 2.14 or newer", path, names[i].name) < 0)
				abort();
			dlclose(handle);
			return why;
		}
	nccl.handle = handle;
	return NULL;
}

static int isOpen(void) { return nccl.handle != NULL; }
static int ncclVersion(int *version) { return nccl.version(version); }
static int newGroupID(groupID *id) { return nccl.id(id); }
static int stateOf(void *comm, int *state) { return nccl.state(comm, state); }
static int deviceOf(void *comm, int *device) { return nccl.device(comm, device); }
static int abortGroup(void *comm) { return nccl.abort(comm); }
static const char *textOf(int code) { return nccl.text(code); }
static const char *lastError(void *comm) { return nccl.last(comm); }

static int joinGroup(void **comm, int size, groupID *id, int rank) {
	configuration c = {sizeof c, 0xcafebeef, 21400, 1};
	return nccl.join(comm, size, *id, rank, &c);
}

static int collect(unsigned what, CUdeviceptr in, CUdeviceptr out, size_t count, int type, int op, int root, void *comm, CUstream stream) {
	switch (what) {
	case 0: return nccl.allReduce((void *)in, (void *)out, count, type, op, comm, stream);
	case 1: return nccl.broadcast((void *)in, (void *)out, count, type, root, comm, stream);
	default: return nccl.reduceScatter((void *)in, (void *)out, count, type, op, comm, stream);
	}
}

static CUresult newEvent(CUevent *e) { return cuEventCreate(e, 0); }
static CUresult context(CUcontext *c) { return cuCtxGetCurrent(c); }
static CUresult enter(CUcontext c) { return cuCtxSetCurrent(c); }
*/
import "C"

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"warpbook/gpu/cuda/command"
)

// Results of NCCL.
const (
	ncclSuccess    = 0
	ncclInProgress = 7
)

// member is this worker's rank of a group. Its communicator blocks: without that, NCCL
// starts a thread for each collective. Joining and aborting have threads of their own; all
// other calls are made on the worker's, and end soon, because only so many collectives are
// in the stream. One that does not is ended by watch.
type member struct {
	comm    *unsafe.Pointer // memory of C: NCCL writes it while it joins
	context C.CUcontext
	stop    *atomic.Uint32 // in the arena; not 0 ends what the member does
	events  [allEvents]C.CUevent
	phase   phase
	run     command.Collect
	times   uint32       // of run that were put into the stream
	took    int64        // the time of the repeats in ns; 0 before their end
	begun   bool         // some of run may be in the stream, and have not ended
	stopped error        // why comm was aborted
	pending uint32       // collectives that may have been in the stream then
	calling atomic.Int64 // when the worker's thread has called NCCL, 0 if it has returned
	joined  chan error   // capacity 1
	left    chan struct{}
	once    sync.Once
	aborted chan struct{} // closed when the abort of comm has returned
}

// The events of a member: before untimed runs, around the repeats, and in turn behind each
// half of a window.
const (
	warmupEvent = iota
	firstEvent
	lastEvent
	markEvents
	allEvents = markEvents + 2
)

// phase is what a member waits for.
type phase int

const (
	idle     phase = iota
	joining        // the other ranks
	queueing       // room in the stream for more collectives
	running        // the device
)

// These limit how a member is stopped: how long a call of NCCL may take to return by itself,
// and how long an abort may take before an idle device is enough.
const (
	callTime = 300 * time.Millisecond
	idleTime = time.Second
)

// openNCCL opens the library once.
func (w *worker) openNCCL(c *command.OpenNCCL) ([]int64, error) {
	if C.isOpen() != 0 {
		return w.version(0)
	}
	var reasons []string
	for i, path := range c.Paths {
		name := C.CString(path)
		why := C.openNCCL(name)
		C.free(unsafe.Pointer(name))
		if why == nil {
			return w.version(i)
		}
		reasons = append(reasons, C.GoString(why))
		C.free(unsafe.Pointer(why))
	}
	return nil, &failure{code: command.CodeMissing, text: strings.ReplaceAll(strings.Join(reasons, "; "), "\n", " ")}
}

func (w *worker) version(path int) ([]int64, error) {
	var version C.int
	err := ncclError(C.ncclVersion(&version), nil, "version")
	return []int64{int64(version), int64(path)}, err
}

// ncclError turns a result of NCCL into an error; ncclInProgress is none.
func ncclError(code C.int, m *member, what string) error {
	if code == ncclSuccess || code == ncclInProgress {
		return nil
	}
	var comm unsafe.Pointer
	if m != nil {
		comm = *m.comm
	}
	text := fmt.Sprintf("%s: %s", what, C.GoString(C.textOf(code)))
	if last := strings.TrimSpace(C.GoString(C.lastError(comm))); last != "" {
		text += ": " + strings.ReplaceAll(last, "\n", " ")
	}
	return &failure{code: command.CodeNCCL, text: text}
}

func isOpen() error {
	if C.isOpen() == 0 {
		return &failure{code: command.CodeProtocol, text: "NCCL is not open"}
	}
	return nil
}

func (w *worker) groupID() ([]int64, error) {
	if err := isOpen(); err != nil {
		return nil, err
	}
	var id C.groupID
	if err := ncclError(C.newGroupID(&id), nil, "group"); err != nil {
		return nil, err
	}
	var values []int64
	for bytes := C.GoBytes(unsafe.Pointer(&id), C.int(unsafe.Sizeof(id))); len(bytes) > 0; bytes = bytes[8:] {
		values = append(values, int64(binary.LittleEndian.Uint64(bytes)))
	}
	return values, nil
}

func (w *worker) joinGroup(c *command.JoinGroup) error {
	if err := isOpen(); err != nil {
		return err
	}
	var id C.groupID
	if len(c.ID) != int(unsafe.Sizeof(id)) {
		return &failure{code: command.CodeProtocol, text: fmt.Sprintf("the number of a group has %d bytes, expected %d", len(c.ID), unsafe.Sizeof(id))}
	}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&id)), len(c.ID)), c.ID)
	word, err := w.host(c.StopAt, 4)
	if err != nil {
		return err
	}
	m := &member{
		stop: (*atomic.Uint32)(unsafe.Pointer(&word[0])), phase: joining,
		joined: make(chan error, 1), left: make(chan struct{}), aborted: make(chan struct{}),
	}
	var current C.CUcontext
	if err := failed(C.context(&current), "context"); err != nil {
		return err
	}
	m.context = current
	for i := range m.events {
		var e C.CUevent // C may not get a pointer into m, which has pointers of Go
		if err := failed(C.newEvent(&e), "event"); err != nil {
			m.destroyEvents(i) // the error of the creation matters more
			return err
		}
		m.events[i] = e
	}
	m.comm = (*unsafe.Pointer)(C.calloc(1, C.size_t(unsafe.Sizeof(uintptr(0)))))
	w.members[c.Group] = m                     // also if NCCL fails to join: LeaveGroup follows
	size, rank := C.int(c.Size), C.int(c.Rank) // the next command gets the memory of c
	go m.thread(func() { m.joined <- ncclError(C.joinGroup(m.comm, size, &id, rank), m, "join") })
	go m.watch()
	return nil
}

// destroyEvents destroys the first n events, and returns the first error.
func (m *member) destroyEvents(n int) (err error) {
	for _, e := range m.events[:n] {
		if e := failed(C.cuEventDestroy(e), "event"); err == nil {
			err = e
		}
	}
	return err
}

// thread runs f on a thread of its own with the worker's context.
func (m *member) thread(f func()) {
	runtime.LockOSThread() // and never unlocked: the thread ends with f
	C.enter(m.context)     // of a context that is current elsewhere: this does not fail
	f()
}

// watch ends a call of NCCL on the worker's thread that does not return after a stop. A
// crash that this may cause costs as much as the end of the worker, which follows otherwise.
func (m *member) watch() {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-m.left:
			return
		case <-tick.C:
		}
		if at := m.calling.Load(); at != 0 && m.stop.Load() != 0 && time.Since(time.Unix(0, at)) > callTime {
			m.abort()
		}
	}
}

// abort begins to end the member's communicator and its work on the device. It waits for
// that work, so that it has a thread of its own.
func (m *member) abort() {
	m.once.Do(func() {
		go m.thread(func() {
			defer close(m.aborted)
			if comm := atomic.LoadPointer(m.comm); comm != nil {
				C.abortGroup(comm) // its error would not change anything: the communicator is gone
			}
		})
	})
}

// joined checks that NCCL took the worker's GPU.
func (w *worker) joined(m *member) error {
	var device C.int
	if err := ncclError(C.deviceOf(*m.comm, &device), m, "device"); err != nil {
		return err
	}
	if int(device) != int(w.device) {
		return &failure{code: command.CodeNCCL, text: fmt.Sprintf("NCCL has joined GPU %d, expected GPU %d of this worker", device, int(w.device))}
	}
	m.phase = idle
	return nil
}

// state is the error of the member's communicator.
func (m *member) state() error {
	var state C.int
	if err := ncclError(C.stateOf(*m.comm, &state), m, "state"); err != nil {
		return err
	}
	return ncclError(state, m, "collective")
}

// put puts one collective into a stream.
func (m *member) put(c *command.Run, in, out C.CUdeviceptr, stream C.CUstream) C.int {
	return C.collect(C.uint(c.Collective), in, out, C.size_t(c.Count), C.int(c.Type), C.int(c.Op), C.int(c.Root), *m.comm, stream)
}
