package cuda

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/collective"
	"warpbook/gpu/compile/compiler"
	"warpbook/gpu/cuda/command"
)

// Device is a rank of groups that NCCL joins. Each rank is a process of its own, the
// device's worker, so that a fault, a hang or the end of one leaves the others alone.
var _ collective.Linked = (*Device)(nil)

// NCCLVariable is the environment variable with the path of an NCCL library, or of its
// folder, to use instead of one that is found.
const NCCLVariable = "WARPBOOK_NCCL"

// nvlsVariable makes NCCL use NVLink's multicast. A worker inherits it; where it is not set,
// the worker gets "0".
const nvlsVariable = "NCCL_NVLS_ENABLE"

// ncclRemedy ends the error about a missing library.
const ncclRemedy = "run pip install nvidia-nccl-cu13 (or -cu12), or set " + NCCLVariable + " to a folder with libnccl.so.2"

// Library is the name of NCCL and its version.
func (d *Device) Library() (string, error) {
	l, err := d.worker()
	if err != nil {
		return "", fmt.Errorf("cuda: NCCL: %w", err)
	}
	return d.openNCCL(l)
}

// openNCCL lets a worker open the library, once.
func (d *Device) openNCCL(l *link) (name string, err error) {
	l.opening.Lock()
	defer l.opening.Unlock()
	if l.nccl != "" {
		return l.nccl, nil
	}
	a, err := d.do(l, &command.OpenNCCL{Paths: NCCLPaths()}, "NCCL")
	if errors.Is(err, gpu.ErrNotFound) {
		return "", fmt.Errorf("%w: %s", err, ncclRemedy)
	}
	if err != nil {
		return "", err
	}
	v := a.Values[0]
	l.nccl = fmt.Sprintf("NCCL %d.%d.%d", v/10000, v/100%100, v%100)
	return l.nccl, nil
}

// NCCLPaths are the files that may be the library, best first; the loader finds the last.
func NCCLPaths() (paths []string) {
	if named := os.Getenv(NCCLVariable); named != "" {
		if info, err := os.Stat(named); err == nil && info.IsDir() {
			return append(ncclIn(named), filepath.Join(named, "libnccl.so.2"))
		}
		return []string{named}
	}
	for _, dir := range compiler.Folders() {
		for _, path := range ncclIn(dir) {
			if !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	return append(paths, "libnccl.so.2")
}

// ncclIn are the libraries below a folder of a toolkit or of Python's packages.
func ncclIn(dir string) (paths []string) {
	for _, pattern := range []string{"libnccl.so.2", "lib64/libnccl.so.2", "lib/libnccl.so.2", "nvidia/nccl/lib/libnccl.so.2"} {
		found, _ := filepath.Glob(filepath.Join(dir, pattern)) // errs on a malformed pattern only
		paths = append(paths, found...)
	}
	return paths
}

// GroupID is the number of a new group.
func (d *Device) GroupID() ([]byte, error) {
	l, err := d.worker()
	if err != nil {
		return nil, fmt.Errorf("cuda: NCCL: %w", err)
	}
	a, err := d.do(l, &command.GroupID{}, "NCCL")
	if err != nil {
		return nil, err
	}
	var id []byte
	for _, v := range a.Values {
		id = binary.LittleEndian.AppendUint64(id, uint64(v))
	}
	return id, nil
}

// member is a rank of a group of NCCL, in one worker.
type member struct {
	dev    *Device
	link   *link
	handle uint32
	stop   *atomic.Uint32 // that the worker looks at
}

// Join makes the device a rank of a group of NCCL.
func (d *Device) Join(ctx context.Context, id []byte, rank, size int) (collective.Member, error) {
	l, err := d.worker()
	if err != nil {
		return nil, fmt.Errorf("cuda: NCCL: %w", err)
	}
	if _, err := d.openNCCL(l); err != nil { // it may be another worker than that of Library
		return nil, err
	}
	at, stop := d.arena.word()
	stop.Store(0)
	m := &member{dev: d, link: l, handle: d.handle(), stop: stop}
	c := &command.JoinGroup{Group: m.handle, Rank: uint32(rank), Size: uint32(size), StopAt: at, ID: id}
	if _, err := m.await(ctx, c, "join"); err != nil {
		if e := m.Close(); e != nil {
			err = fmt.Errorf("%w; %w", err, e) // in one line
		}
		return nil, err
	}
	return m, nil
}

// unresponsive is how long a worker may take to answer after a stop. Then it is killed.
var unresponsive = command.AbortTime + 500*time.Millisecond // tests wait less

// await lets the worker begin a command and waits for its end. When ctx ends, it stops the
// command and returns the cause. The worker waits, not the client, for up to a few
// milliseconds a poll. A short sleep of Go takes a millisecond: there are pauses between polls
// when that is a small part of the time that has passed.
func (m *member) await(ctx context.Context, c command.Command, what string) (ns int64, err error) {
	start := time.Now()
	a, err := m.ask(ctx, c, what)
	for err == nil && (len(a.Values) == 0 || a.Values[0] != command.GroupIdle) {
		if time.Since(start) > 32*time.Millisecond && (len(a.Values) == 0 || a.Values[0] == command.GroupBusy) {
			time.Sleep(time.Millisecond)
		}
		a, err = m.ask(ctx, &command.PollGroup{Group: m.handle}, what)
	}
	if err != nil {
		return 0, err
	}
	return a.Values[1], nil
}

// ask is Device.do that does not wait for a worker in a call of NCCL that does not return.
func (m *member) ask(ctx context.Context, c command.Command, what string) (a command.Answer, err error) {
	what = "NCCL: " + what
	answer := make(chan reply, 1)
	go func() { answer <- <-m.link.ask(c) }() // asking may have to wait, too
	var r reply
	select {
	case r = <-answer:
	case <-ctx.Done():
		m.stop.Store(1)
		select {
		case r = <-answer:
		case <-time.After(unresponsive):
			m.kill(fmt.Sprintf("%s: NCCL did not stop within %v", what, unresponsive))
			return a, context.Cause(ctx)
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		return a, cause
	}
	return r.Answer, m.judge(r, what)
}

// judge turns a reply into an error.
func (m *member) judge(r reply, what string) error {
	if _, ok := r.err.(*gpu.Fault); ok {
		return r.err
	}
	if r.err != nil {
		return fmt.Errorf("cuda: %s: %w", what, r.err)
	}
	return m.dev.judge(m.link, r.Answer, what)
}

// kill ends the worker for a reason, with all buffers in it.
func (m *member) kill(why string) {
	f := &gpu.Fault{Kind: gpu.ErrClosed, Detail: why + ", the worker was killed"}
	f.Detail += m.dev.losses(m.link)
	m.link.end(f)
}

// Types of NCCL; what it does not know is sent as bytes.
var ncclTypes = map[gpu.Type]uint32{
	gpu.Int8: 0, gpu.Uint8: 1, gpu.Int32: 2, gpu.Uint32: 3, gpu.Int64: 4, gpu.Uint64: 5,
	gpu.Float16: 6, gpu.Float32: 7, gpu.Float64: 8, gpu.BFloat16: 9,
}

// ncclOps are NCCL's numbers of operations.
var ncclOps = map[collective.Op]uint32{collective.Sum: 0, collective.Max: 2, collective.Min: 3}

// inFlight is how many commands without an answer may be on the way to the worker before a
// collective. The driver queues about 1024 launches: behind more the worker waits for the
// device, and would be taken for one that NCCL does not return to.
const inFlight = 512

// Run runs collectives on the device's default stream.
func (m *member) Run(ctx context.Context, t gpu.Timing, calls ...collective.Call) (time.Duration, error) {
	// The work before the collective would be recorded, and not run.
	if err := m.dev.main.captured.Refuse(calls[0].Kind.String()); err != nil {
		return 0, err
	}
	if m.link.unanswered() > inFlight {
		if _, err := m.dev.do(m.link, &command.PollGroup{Group: m.handle}, "NCCL: "+calls[0].Kind.String()); err != nil {
			return 0, err
		}
	}
	all := &command.Collect{Group: m.handle, Warmup: uint32(t.Warmup), Repeats: uint32(t.Repeats)}
	for _, c := range calls {
		r, err := m.encode(c)
		if err != nil {
			return 0, fmt.Errorf("cuda: NCCL: %v: %w", c.Kind, err)
		}
		all.Runs = append(all.Runs, r)
		c.Out.(*buffer).memory.written() // also if it fails: the contents are not known then
	}
	ns, err := m.await(ctx, all, calls[0].Kind.String())
	if err != nil {
		return 0, err
	}
	m.dev.mirrorAll(m.link)
	return time.Duration(ns) / time.Duration(t.Repeats), nil
}

// encode puts a collective into a part of a command.
func (m *member) encode(c collective.Call) (r command.Run, err error) {
	in, out := c.In.(*buffer), c.Out.(*buffer)
	for _, b := range []*buffer{in, out} {
		if err := m.dev.own(m.link, b); err != nil {
			return r, err
		}
	}
	r = command.Run{
		Collective: map[collective.Kind]command.Collective{collective.AllReduce: command.AllReduce,
			collective.Broadcast: command.Broadcast, collective.ReduceScatter: command.ReduceScatter}[c.Kind],
		Op: ncclOps[c.Op], Root: uint32(c.Root), In: in.span(), Out: out.span(), Count: int64(out.n),
	}
	var known bool
	if r.Type, known = ncclTypes[in.typ]; !known {
		if c.Kind != collective.Broadcast {
			return r, fmt.Errorf("%w: %v", gpu.ErrUnsupported, in.typ)
		}
		r.Type, r.Count = ncclTypes[gpu.Uint8], out.bytes()
	}
	return r, nil
}

// Lost is why the member's worker has ended, nil while it runs.
func (m *member) Lost() error { return m.link.err() }

// leaving gets a line about the end of a group; tests set it.
var leaving = func(string) {}

// Close aborts the member's collectives and leaves the group, after other work that the
// device is busy with. A worker that has ended has left it already. A worker that cannot end
// its collectives is killed, and Close returns an error.
func (m *member) Close() error {
	m.stop.Store(1)
	if m.link.err() != nil {
		return nil
	}
	for {
		if again, err := m.leave(); !again {
			return err
		}
	}
}

// leave lets the worker leave the group. It reports whether to call it again, because the
// device is busy with other work than the group's.
func (m *member) leave() (again bool, err error) {
	answer := make(chan reply, 1)
	go func() { answer <- <-m.link.ask(&command.LeaveGroup{Group: m.handle}) }()
	select {
	case r := <-answer:
		switch {
		case r.err != nil: // the worker has ended
		case r.Code == command.CodeNCCL:
			m.kill("NCCL: leave: " + r.Text)
		case r.Code != 0:
			return false, m.judge(r, "NCCL: leave")
		case len(r.Values) == 1:
			return true, nil
		case len(r.Values) == 2:
			leaving(fmt.Sprintf("the group was left in %d ms, ncclCommAbort has returned: %v", r.Values[0], r.Values[1] == 0))
		}
	case <-time.After(unresponsive):
		m.kill(fmt.Sprintf("NCCL: leave: NCCL did not stop within %v", unresponsive))
	}
	return false, m.link.err()
}
