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
static CUresult query(CUstream s) { return cuStreamQuery(s); }
static CUresult elapsed(float *ms, CUevent from, CUevent to) { return cuEventElapsedTime(ms, from, to); }
*/
import "C"

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
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

// window is how many collectives of a member are in the stream. NCCL's kernels look for an
// abort once in 10 000 polls, one kernel after the other.
const window = 32

// These limit a poll, so that the worker can execute other commands. While collectives are
// put into the stream, the device would be idle during a pause between two polls.
const (
	pollTime  = 500 * time.Microsecond
	queueTime = 5 * time.Millisecond
)

// These limit how a member is stopped: how long a call of NCCL may take to return by itself,
// and how long an abort may take before an idle device is enough.
const (
	callTime = 300 * time.Millisecond
	idleTime = time.Second
)

// leaveTime is how long leaveGroup waits for other work than the member's before it lets the
// client ask again.
const leaveTime = 100 * time.Millisecond

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

// collect begins collectives, and ends them if that takes no longer than a poll.
func (w *worker) collect(c *command.Collect) ([]int64, error) {
	m, err := find(w.members, c.Group, "group")
	if err != nil {
		return nil, err
	}
	if m.stopped != nil || m.phase != idle {
		return nil, &failure{code: command.CodeProtocol, text: fmt.Sprintf("a collective of a group in phase %d: %v", m.phase, m.stopped)}
	}
	for _, r := range c.Runs {
		for _, of := range []command.Range{r.In, r.Out} {
			if _, err := w.part(of); err != nil {
				return nil, err
			}
		}
	}
	if err := w.earlier(); err != nil {
		return nil, err
	}
	m.run, m.times, m.took, m.phase = *c, 0, 0, queueing
	m.run.Runs = slices.Clone(c.Runs) // the next command gets the memory of c
	return w.poll(m)
}

// earlier is the error of a command before, which the next one that waits for the default
// stream returns.
func (w *worker) earlier() error {
	s, err := find(w.streams, command.DefaultStream, "stream")
	if err != nil {
		return err
	}
	err, s.err = s.err, nil
	return err
}

// cause is the fault of the default stream's work that a failure of NCCL comes from, or the
// failure where there is none.
func (w *worker) cause(err error) error {
	s := w.streams[command.DefaultStream]
	if s == nil {
		return err
	}
	if r := C.query(streamHandle(s.stream)); r != C.CUDA_SUCCESS && r != C.CUDA_ERROR_NOT_READY {
		return failed(r, "collective")
	}
	return err
}

func (w *worker) pollGroup(number uint32) ([]int64, error) {
	m, err := find(w.members, number, "group")
	if err != nil {
		return nil, err
	}
	return w.poll(m)
}

// poll waits a short time for the end of what a member does.
func (w *worker) poll(m *member) ([]int64, error) {
	for began := time.Now(); ; C.sched_yield() { // a sleep of Go may take a millisecond
		if err := w.advance(m); err != nil {
			return nil, w.cause(err)
		}
		past := time.Since(began)
		switch {
		case m.phase == idle:
			return []int64{command.GroupIdle, m.took}, nil
		case m.phase == queueing && past > queueTime:
			return []int64{command.GroupQueueing, 0}, nil
		case m.phase != queueing && past > pollTime:
			return []int64{command.GroupBusy, 0}, nil
		}
	}
}

// advance goes on with the member's command as far as it can without waiting.
func (w *worker) advance(m *member) error {
	if m.stopped != nil {
		return m.stopped
	}
	if m.stop.Load() != 0 {
		w.end(m, &failure{code: command.CodeInterrupted, text: "the collective was stopped"})
		return m.stopped
	}
	if m.phase == joining {
		select {
		case err := <-m.joined:
			if err != nil {
				return err
			}
			return w.joined(m)
		default:
			return nil
		}
	}
	var state C.int
	if err := ncclError(C.stateOf(*m.comm, &state), m, "state"); err != nil {
		return err
	}
	if err := ncclError(state, m, "collective"); err != nil {
		return err
	}
	switch m.phase {
	case queueing:
		return w.queue(m)
	case running:
		done, err := ended(m.events[lastEvent])
		if !done {
			return err
		}
		var ms C.float
		if err := failed(C.elapsed(&ms, m.events[firstEvent], m.events[lastEvent]), "elapsed"); err != nil {
			return err
		}
		m.took, m.begun, m.phase = command.Nanoseconds(float64(ms)), false, idle
	}
	return nil
}

// ended reports whether the work before an event is done.
func ended(e C.CUevent) (bool, error) {
	switch r := C.cuEventQuery(e); r {
	case C.CUDA_ERROR_NOT_READY:
		return false, nil
	case C.CUDA_SUCCESS:
		return true, nil
	default:
		return false, failed(r, "collective")
	}
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

// queue puts runs of the collective into the stream while it has room, and the events
// around them. Up to a window of them have no other work between, so that their time is
// that of a program that calls NCCL in a loop.
func (w *worker) queue(m *member) error {
	runs := uint32(len(m.run.Runs))
	all := (m.run.Warmup + m.run.Repeats) * runs
	s, err := find(w.streams, command.DefaultStream, "stream")
	if err != nil {
		return err
	}
	stream := streamHandle(s.stream)
	for ; m.times < all && m.stop.Load() == 0; m.times++ {
		if m.times >= window && m.times%(window/2) == 0 {
			if done, err := ended(m.events[markEvents+m.times/(window/2)%2]); !done {
				return err
			}
		}
		if m.times == 0 && m.run.Warmup > 0 {
			if err := failed(C.cuEventRecord(m.events[warmupEvent], stream), "record"); err != nil {
				return err
			}
		}
		if m.times == m.run.Warmup*runs {
			if err := failed(C.cuEventRecord(m.events[firstEvent], stream), "record"); err != nil {
				return err
			}
		}
		c := &m.run.Runs[m.times%runs]
		in, err1 := w.part(c.In)
		out, err2 := w.part(c.Out)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		m.begun = true
		m.calling.Store(time.Now().UnixNano())
		code := C.collect(C.uint(c.Collective), C.CUdeviceptr(in), C.CUdeviceptr(out), C.size_t(c.Count), C.int(c.Type), C.int(c.Op), C.int(c.Root), *m.comm, stream)
		m.calling.Store(0)
		if m.stop.Load() != 0 {
			return nil // advance ends it; the code may come from that
		}
		if err := ncclError(code, m, "collective"); err != nil {
			return err
		}
		if number := m.times + 1; all > window && number%(window/2) == 0 {
			if err := failed(C.cuEventRecord(m.events[markEvents+(number/(window/2)-1)%2], stream), "record"); err != nil {
				return err
			}
		}
	}
	if m.times < all {
		return nil // advance ends it
	}
	m.phase = running
	return failed(C.cuEventRecord(m.events[lastEvent], stream), "record")
}

// end begins to end a member for a reason.
func (w *worker) end(m *member, why error) {
	if m.stopped != nil {
		return
	}
	if m.phase == queueing || m.phase == running {
		m.pending = min(m.times, window)
	}
	m.stopped, m.phase = why, idle
	m.abort()
}

// leaveGroup ends a member and waits for that. It answers the milliseconds that this took,
// and 1 if the abort has not returned: the buffers can be used when the device is idle, and
// the memory of the communicator is left behind. While the device is busy with other work it
// answers that alone, and is asked again: the work ends by itself, or an interrupt ends the
// worker. A group whose joinGroup has failed answers nothing: it has no member.
func (w *worker) leaveGroup(number uint32) ([]int64, error) {
	m := w.members[number]
	if m == nil {
		return nil, nil
	}
	s, err := find(w.streams, command.DefaultStream, "stream")
	if err != nil {
		return nil, err
	}
	w.end(m, errInterrupted)
	began := time.Now()
	var behind int64
	for waits := true; waits; {
		select {
		case <-m.aborted:
			waits = false
		case <-time.After(10 * time.Millisecond):
			past, busy := time.Since(began), C.query(streamHandle(s.stream)) == C.CUDA_ERROR_NOT_READY
			switch {
			case past > leaveTime && busy && m.waits():
				return []int64{command.GroupBusy}, nil
			case past > command.AbortTime && busy:
				return nil, &failure{code: command.CodeNCCL, text: fmt.Sprintf("NCCL did not stop within %v: ncclCommAbort has not returned, and the device is busy with up to %d collectives", command.AbortTime, m.pending)}
			case past > idleTime && !busy:
				behind, waits = 1, false
			}
		}
	}
	delete(w.members, number)
	close(m.left)
	if err := m.destroyEvents(allEvents); err != nil {
		return nil, err
	}
	return []int64{time.Since(began).Milliseconds(), behind}, nil
}

// waits reports whether a device that is busy has none of the member's collectives, or has
// not come to the first of them.
func (m *member) waits() bool {
	before := firstEvent
	if m.run.Warmup > 0 {
		before = warmupEvent
	}
	come := false
	if m.begun {
		come, _ = ended(m.events[before]) // an error ends all work: the device is not busy then
	}
	return !come
}

// settle waits for the collectives on the device, and ends those that are stopped: a wait
// for a stream would not end for a stop.
func (w *worker) settle() {
	for _, m := range w.members {
		for m.phase == queueing || m.phase == running {
			if w.advance(m) != nil {
				break // the next poll returns it, or that the group was stopped
			}
			C.sched_yield()
		}
	}
}
