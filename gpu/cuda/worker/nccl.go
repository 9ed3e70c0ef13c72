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
#include <sched.h>
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
	void *library;
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
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
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
		if (!(*names[i].to = dlsym(library, names[i].name))) {
			if (asprintf(&why, "%s has no %s, expected NCCL 2.14 or newer", path, names[i].name) < 0)
				abort();
			dlclose(library);
			return why;
		}
	nccl.library = library;
	return NULL;
}

static int isOpen(void) { return nccl.library != NULL; }
static int ncclVersion(int *version) { return nccl.version(version); }
static int newGroupID(groupID *id) { return nccl.id(id); }
static int stateOf(void *comm, int *state) { return nccl.state(comm, state); }
static int deviceOf(void *comm, int *device) { return nccl.device(comm, device); }
static int abortGroup(void *comm) { return nccl.abort(comm); }
static const char *textOf(int code) { return nccl.text(code); }
static const char *lastError(void *comm) { return nccl.last(comm); }

static int joinGroup(void **comm, int size, groupID *id, int rank) {
	configuration c = {sizeof c, 0xcafebeef, 21400, 0};
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
static CUresult elapsed(float *ms, CUevent from, CUevent to) { return cuEventElapsedTime(ms, from, to); }
*/
import "C"

import (
	"encoding/binary"
	"fmt"
	"strings"
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

// member is this worker's rank of a group. Its communicator does not block: calls that
// wait for other ranks are only begun, and advance looks how far they are.
type member struct {
	comm       *unsafe.Pointer // memory of C: NCCL may write it after joinGroup has returned
	stop       *atomic.Uint32  // in the arena; not 0 ends what the member does
	start, end C.CUevent
	phase      phase
	run        command.Collect
	times      uint32 // of run that were begun
	stopped    error  // why comm was aborted
}

// phase is what a member waits for.
type phase int

const (
	idle     phase = iota
	joining        // the other ranks
	queueing       // NCCL, to put a collective into the stream
	running        // the device
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
	m := &member{comm: (*unsafe.Pointer)(C.calloc(1, C.size_t(unsafe.Sizeof(uintptr(0))))), stop: (*atomic.Uint32)(unsafe.Pointer(&word[0])), phase: joining}
	for _, e := range []*C.CUevent{&m.start, &m.end} {
		if err := failed(C.newEvent(e), "event"); err != nil {
			return err
		}
	}
	w.members[c.Group] = m // also if it fails: LeaveGroup follows
	return ncclError(C.joinGroup(m.comm, C.int(c.Size), &id, C.int(c.Rank)), m, "join")
}

func (w *worker) collect(c *command.Collect) error {
	m, err := find(w.members, c.Group, "group")
	if err != nil {
		return err
	}
	if m.stopped != nil || m.phase != idle {
		return &failure{code: command.CodeProtocol, text: fmt.Sprintf("a collective of a group in phase %d: %v", m.phase, m.stopped)}
	}
	for _, r := range []command.Range{c.In, c.Out} {
		if _, err := w.part(r); err != nil {
			return err
		}
	}
	m.run, m.times, m.phase = *c, 0, queueing
	return nil
}

// These limit a poll, so that the worker can execute other commands. While collectives are
// put into the stream, a pause between two polls would be one of the device.
const (
	pollTime  = 200 * time.Microsecond
	queueTime = 5 * time.Millisecond
)

func (w *worker) pollGroup(number uint32) ([]int64, error) {
	m, err := find(w.members, number, "group")
	if err != nil {
		return nil, err
	}
	for start := time.Now(); ; C.sched_yield() { // a sleep of Go may take a millisecond
		ns, err := w.advance(m)
		if err != nil {
			return nil, err
		}
		if m.phase == idle {
			return []int64{1, ns}, nil
		}
		if past := time.Since(start); past > queueTime || past > pollTime && m.phase != queueing {
			return []int64{0, 0}, nil
		}
	}
}

// advance goes on with the member's command as far as it can without waiting. It returns
// the time of the repeats with the phase idle.
func (w *worker) advance(m *member) (ns int64, err error) {
	if m.stopped != nil {
		return 0, m.stopped
	}
	if m.stop.Load() != 0 {
		w.abort(m, &failure{code: command.CodeInterrupted, text: "the collective was stopped"})
		return 0, m.stopped
	}
	var state C.int
	if err := ncclError(C.stateOf(*m.comm, &state), m, "state"); err != nil {
		return 0, err
	}
	if err := ncclError(state, m, "collective"); err != nil || state == ncclInProgress {
		return 0, err
	}
	switch m.phase {
	case joining:
		return 0, w.joined(m)
	case queueing:
		return 0, w.queue(m)
	case running:
		switch r := C.cuEventQuery(m.end); r {
		case C.CUDA_ERROR_NOT_READY:
			return 0, nil
		case C.CUDA_SUCCESS:
			m.phase = idle
			var ms C.float
			err := failed(C.elapsed(&ms, m.start, m.end), "elapsed")
			return command.Nanoseconds(float64(ms)), err
		default:
			return 0, failed(r, "collective")
		}
	}
	return 0, nil
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

// queue puts the next run of the collective, or the event behind the last one, into the
// stream.
func (w *worker) queue(m *member) error {
	c := &m.run
	s, err := find(w.streams, command.DefaultStream, "stream")
	if err != nil {
		return err
	}
	stream := streamHandle(s.stream)
	if m.times == c.Warmup {
		if err := failed(C.cuEventRecord(m.start, stream), "record"); err != nil {
			return err
		}
	}
	if m.times == c.Warmup+c.Repeats {
		m.phase = running
		return failed(C.cuEventRecord(m.end, stream), "record")
	}
	m.times++
	in, err := w.part(c.In)
	if err != nil {
		return err
	}
	out, err := w.part(c.Out)
	if err != nil {
		return err
	}
	return ncclError(C.collect(C.uint(c.Collective), C.CUdeviceptr(in), C.CUdeviceptr(out), C.size_t(c.Count), C.int(c.Type), C.int(c.Op), C.int(c.Root), *m.comm, stream), m, "collective")
}

// abort ends a member's work on the device and its communicator.
func (w *worker) abort(m *member, why error) {
	m.stopped, m.phase = why, idle
	if *m.comm != nil {
		C.abortGroup(*m.comm) // its error would not change anything: the communicator is gone
		*m.comm = nil
	}
}

func (w *worker) leaveGroup(number uint32) error {
	m, err := find(w.members, number, "group")
	if err != nil {
		return err
	}
	delete(w.members, number)
	if m.stopped == nil {
		w.abort(m, errInterrupted)
	}
	for _, e := range []C.CUevent{m.start, m.end} {
		if err := failed(C.cuEventDestroy(e), "event"); err != nil {
			return err
		}
	}
	return nil
}

// settle waits for the collectives on the device, and ends those that are stopped: a wait
// for a stream would not end for a stop.
func (w *worker) settle() {
	for _, m := range w.members {
		for m.phase == queueing || m.phase == running {
			if _, err := w.advance(m); err != nil {
				break // the next poll returns it, or that the group was stopped
			}
			C.sched_yield()
		}
	}
}
