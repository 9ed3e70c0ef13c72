package collective

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"warpbook/gpu"
)

// memory is a rank whose group sends by way of the host's memory.
type memory struct {
	group  *group
	rank   int
	device gpu.Device
	why    string // it is not NCCL; "" where it was not asked for
}

// group is what the ranks share.
type group struct {
	size     int
	deadline time.Duration
	failed   chan struct{} // closed when err is set

	mu      sync.Mutex
	err     error    // that ended the group; guarded by mu
	meeting *meeting // that the next rank to come joins; guarded by mu
}

// meeting is one collective. Its fields belong to the ranks that join, under the group's
// lock, until done is closed; then nothing changes them.
type meeting struct {
	calls  []*call // by rank; nil has not come
	joined int
	done   chan struct{}
	result any
	err    error
}

// call is a rank's part in a meeting.
type call struct {
	what
	runs  runs
	input any   // elements on the host; nil if the devices exchange them
	err   error // of its arguments
}

// runs is how often Communicator.Time runs its collectives. It must be the same on all ranks.
type runs struct{ untimed, timed int }

// what must be the same on all ranks.
type what struct {
	kind   Kind
	op     Op
	root   int
	typ    gpu.Type
	length int    // of the input
	more   string // of several in a row, those after the first
}

// String is a call as an error has it.
func (w what) String() string {
	text := fmt.Sprintf("%v of %d %v", w.kind, w.length, w.typ)
	if w.kind == Broadcast {
		return fmt.Sprintf("%s from rank %d%s", text, w.root, w.more)
	}
	return fmt.Sprintf("%s, %v%s", text, w.op, w.more)
}

// InMemory makes a group of a rank for each device. A collective that has waited for the
// deadline ends the group with an error that names the ranks that did not come: it must be
// longer than the work of the devices between two collectives.
func InMemory(deadline time.Duration, devices ...gpu.Device) ([]Communicator, error) {
	if len(devices) == 0 || deadline <= 0 {
		return nil, fmt.Errorf("collective: %w: %d devices and a deadline of %v, expected at least one device and a time", gpu.ErrArgument, len(devices), deadline)
	}
	g := &group{size: len(devices), deadline: deadline, failed: make(chan struct{}), meeting: newMeeting(len(devices))}
	var all []Communicator
	for i, d := range devices {
		if d == nil {
			return nil, fmt.Errorf("collective: %w: rank %d has no device, expected one", gpu.ErrArgument, i)
		}
		if at := slices.Index(devices[:i], d); at >= 0 {
			return nil, fmt.Errorf("collective: %w: ranks %d and %d have the same device, expected one of its own for each", gpu.ErrArgument, at, i)
		}
		all = append(all, &memory{group: g, rank: i, device: d})
	}
	return all, nil
}

func newMeeting(size int) *meeting {
	return &meeting{calls: make([]*call, size), done: make(chan struct{})}
}

// Rank implements Communicator.
func (m *memory) Rank() int { return m.rank }

// Size implements Communicator.
func (m *memory) Size() int { return m.group.size }

// Device implements Communicator.
func (m *memory) Device() gpu.Device { return m.device }

// Transport implements Communicator.
func (m *memory) Transport() string {
	if m.why == "" {
		return "the host's memory"
	}
	return "the host's memory: " + m.why
}

// String is the rank and its device.
func (m *memory) String() string {
	return fmt.Sprintf("rank %d of %d, on %v, by %s", m.rank, m.group.size, m.device.Info(), m.Transport())
}

// AllReduce implements Communicator.
func (m *memory) AllReduce(in, out gpu.Buffer, op Op) error {
	return m.Run(Call{Kind: AllReduce, In: in, Out: out, Op: op})
}

// Broadcast implements Communicator.
func (m *memory) Broadcast(buffer gpu.Buffer, root int) error {
	return m.Run(Call{Kind: Broadcast, In: buffer, Out: buffer, Root: root})
}

// ReduceScatter implements Communicator.
func (m *memory) ReduceScatter(in, out gpu.Buffer, op Op) error {
	return m.Run(Call{Kind: ReduceScatter, In: in, Out: out, Op: op})
}

// Run implements Communicator.
func (m *memory) Run(calls ...Call) error {
	_, err := m.Time(once, calls...)
	return err
}

// Time implements Communicator. The first meeting agrees on all collectives and on how often
// they run, so that a disagreement is an error before anything runs.
func (m *memory) Time(t gpu.Timing, calls ...Call) (time.Duration, error) {
	next, interrupts := m.describe(t, calls), m.device.Interrupts()
	if next.err != nil {
		_, err := m.group.meet(m, next, interrupts)
		return 0, err
	}
	var start time.Time
	for i := range t.Warmup + t.Repeats {
		if i == t.Warmup {
			start = time.Now()
		}
		for _, of := range calls {
			if next == nil {
				next = m.describe(once, []Call{of})
			}
			if err := m.run(of, next, interrupts); err != nil {
				return 0, err
			}
			next = nil
		}
	}
	return time.Since(start) / time.Duration(t.Repeats), nil
}

// describe is this rank's part in the meeting that agrees on the calls of Time.
func (m *memory) describe(t gpu.Timing, calls []Call) *call {
	c := &call{runs: runs{t.Warmup, t.Repeats}}
	if len(calls) == 0 {
		c.err = fmt.Errorf("collective: rank %d: %w: no collective, expected at least one", m.rank, gpu.ErrArgument)
		return c
	}
	switch most := math.MaxInt32 / len(calls); { // a worker counts the collectives in 32 bits
	case t.Warmup < 0 || t.Repeats < 1:
		c.err = fmt.Errorf("collective: rank %d: time: %w: %d untimed and %d timed runs, expected at least 1 timed run", m.rank, gpu.ErrArgument, t.Warmup, t.Repeats)
	case t.Warmup > most || t.Repeats > most-t.Warmup:
		c.err = fmt.Errorf("collective: rank %d: time: %w: %d untimed and %d timed runs, expected at most %d in all", m.rank, gpu.ErrArgument, t.Warmup, t.Repeats, most)
	}
	for i, of := range calls {
		w, err := m.check(of)
		if i == 0 {
			c.what = w
		} else {
			c.more += "; " + w.String()
		}
		if c.err == nil {
			c.err = err
		}
	}
	return c
}

// Abort implements Communicator.
func (m *memory) Abort(cause error) {
	if cause == nil {
		cause = errAbort
	}
	m.group.end(fmt.Errorf("collective: rank %d: %w: %w", m.rank, ErrAborted, cause))
}

// errAbort is the cause of an Abort that has none.
var errAbort = errors.New("Abort was called")

// Close implements Communicator.
func (m *memory) Close() error {
	m.group.end(fmt.Errorf("collective: rank %d: %w: %w: Close was called", m.rank, ErrAborted, gpu.ErrClosed))
	return nil
}

// run is a collective of this rank, which c describes.
func (m *memory) run(of Call, c *call, interrupts uint64) error {
	if c.err == nil {
		c.input = gpu.NewSlice(c.typ, c.length)
		if err := m.read(of.In, c); err != nil {
			return m.lost(c.kind, err)
		}
	}
	result, err := m.group.meet(m, c, interrupts)
	if err != nil {
		return err
	}
	part := reflect.ValueOf(result)
	if c.kind == ReduceScatter {
		n := c.length / m.group.size
		part = part.Slice(m.rank*n, (m.rank+1)*n)
	}
	if err := of.Out.Upload(part.Interface()); err != nil {
		return m.lost(c.kind, err)
	}
	return nil
}

// read waits for the device and reads the input, where the collective needs it.
func (m *memory) read(in gpu.Buffer, c *call) error {
	if err := m.device.Sync(); err != nil || c.kind == Broadcast && c.root != m.rank {
		return err
	}
	return in.Download(c.input)
}

// lost ends the group, because this rank's device has failed.
func (m *memory) lost(kind Kind, err error) error {
	err = fmt.Errorf("collective: rank %d: %v: %w", m.rank, kind, err)
	m.group.end(fmt.Errorf("%w: %w", ErrAborted, err))
	return err
}

// look ends the group if the device has had more interrupts than at the start of the collective.
func (m *memory) look(kind Kind, interrupts uint64) {
	if m.device.Interrupts() != interrupts {
		m.group.end(fmt.Errorf("collective: rank %d: %v: %w: %w", m.rank, kind, ErrAborted, gpu.ErrInterrupted))
	}
}

// check describes a call, and refuses what this rank cannot do.
func (m *memory) check(c Call) (w what, err error) {
	if w.kind = c.Kind; w.kind == Broadcast {
		w.root = c.Root
	} else {
		w.op = c.Op
	}
	fail := func(kind error, format string, args ...any) (what, error) {
		return w, fmt.Errorf("collective: rank %d: %v: %w: "+format, append([]any{m.rank, w.kind, kind}, args...)...)
	}
	if int(w.kind) >= len(kinds) {
		return fail(gpu.ErrArgument, "no such collective, expected one of %s", strings.Join(kinds, ", "))
	}
	var places [2]gpu.Place
	for i, b := range []gpu.Buffer{c.In, c.Out} {
		if b == nil {
			return fail(gpu.ErrArgument, "no buffer, expected one of %s", m.device.Info().Name)
		}
		switch places[i], err = b.Place(); {
		case err != nil:
			return fail(gpu.ErrClosed, "%v", err)
		case places[i].Device != m.device:
			return fail(gpu.ErrArgument, "a buffer of another device, expected one of this rank's")
		}
	}
	w.typ, w.length = c.In.Type(), c.In.Len()
	want, shared := w.length, 0 // length of out, and the element of in that out may start at
	if w.kind == ReduceScatter {
		want = w.length / m.group.size
		shared = m.rank * want
	}
	switch {
	case w.root < 0 || w.root >= m.group.size:
		return fail(gpu.ErrArgument, "root %d, expected 0 to %d", w.root, m.group.size-1)
	case int(w.op) >= len(names):
		return fail(gpu.ErrArgument, "%v, expected sum, max or min", w.op)
	case c.Out.Type() != w.typ:
		return fail(gpu.ErrArgument, "%v to %v, expected one type", w.typ, c.Out.Type())
	case w.kind == ReduceScatter && w.length%m.group.size != 0:
		return fail(gpu.ErrArgument, "%d elements for %d ranks, expected a multiple", w.length, m.group.size)
	case c.Out.Len() != want:
		return fail(gpu.ErrArgument, "%d elements of output, expected %d", c.Out.Len(), want)
	case places[0].Overlaps(places[1]) && places[1].Start != places[0].Start+int64(shared*w.typ.Bytes()):
		return fail(gpu.ErrArgument, "the output shares elements with the input, expected those from element %d of the input on, or memory of its own", shared)
	}
	return w, nil
}

// end ends the group with its first error.
func (g *group) end(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil {
		g.err = err
		close(g.failed)
	}
}

// ended is the error that ended the group, nil if it goes on.
func (g *group) ended() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// meet joins the present meeting with a rank's call, and waits until all ranks have. It ends
// the group if the rank's device is interrupted, or was since its interrupts were counted.
func (g *group) meet(rank *memory, c *call, interrupts uint64) (any, error) {
	rank.look(c.kind, interrupts)
	m, err := g.join(rank.rank, c)
	if err != nil {
		return nil, err
	}
	timer, look := time.NewTimer(g.deadline), time.NewTicker(20*time.Millisecond)
	defer timer.Stop()
	defer look.Stop()
	for {
		select {
		case <-m.done:
			return m.result, m.err
		case <-g.failed:
			select {
			case <-m.done: // it was complete all the same
				return m.result, m.err
			default:
				return nil, g.ended()
			}
		case <-timer.C:
			g.missing(m, c)
		case <-look.C:
			rank.look(c.kind, interrupts)
		}
	}
}

// join adds a call to the present meeting. The last rank to come computes the result.
func (g *group) join(rank int, c *call) (*meeting, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return nil, g.err
	}
	m := g.meeting
	if before := m.calls[rank]; before != nil {
		return nil, fmt.Errorf("collective: rank %d: %v: %w: another goroutine of this rank waits in %v, expected one goroutine for each rank", rank, c.kind, gpu.ErrArgument, before.what)
	}
	m.calls[rank] = c
	m.joined++
	if m.joined == g.size {
		m.result, m.err = combine(m.calls)
		close(m.done)
		g.meeting = newMeeting(g.size)
	}
	return m, nil
}

// missing ends the group after the deadline, unless all ranks have come.
func (g *group) missing(m *meeting, c *call) {
	g.mu.Lock()
	var absent []string
	for rank, c := range m.calls {
		if c == nil {
			absent = append(absent, fmt.Sprint(rank))
		}
	}
	g.mu.Unlock()
	if len(absent) > 0 {
		g.end(fmt.Errorf("collective: %v: %w: rank %s did not join within %v: the group has ended, make another of the ranks that are left",
			c.kind, ErrMissing, strings.Join(absent, ", "), g.deadline))
	}
}

// combine is the result of calls of all ranks, or why they do not fit.
func combine(calls []*call) (any, error) {
	for _, c := range calls {
		if c.err != nil {
			return nil, c.err
		}
	}
	first, often := calls[0].what, calls[0].runs
	var inputs []any
	for rank, c := range calls {
		if c.what != first {
			return nil, fmt.Errorf("collective: %w: rank 0 calls %v, rank %d calls %v, expected the same of all ranks", gpu.ErrArgument, first, rank, c.what)
		}
		if c.runs != often {
			return nil, fmt.Errorf("collective: time: %w: rank 0 has %d untimed and %d timed runs, rank %d has %d and %d, expected the same of all ranks",
				gpu.ErrArgument, often.untimed, often.timed, rank, c.runs.untimed, c.runs.timed)
		}
		inputs = append(inputs, c.input)
	}
	switch {
	case inputs[first.root] == nil:
		return nil, nil
	case first.kind == Broadcast:
		return inputs[first.root], nil
	}
	return reduced(first, inputs), nil
}
