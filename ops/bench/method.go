package bench

import (
	"fmt"
	"slices"
	"time"

	"warpbook/gpu"
)

// Method is the method by which a GPU times a variant. The zero value is each run between
// two events, with what the run before left in L2. The emulator times every
// run by itself and has no caches.
type Method struct {
	Clock Clock
	Cache Cache
}

// Clock is the interval that is timed.
type Clock string

// The clocks.
const (
	Events     Clock = ""             // each run between two events
	BackToBack Clock = "back to back" // runs in a row between two events: their mean
	Graph      Clock = "graph"        // runs in a row, replayed as one graph: their mean
)

// Cache is the state of L2 when a run starts.
type Cache string

// The states of L2.
const (
	Warm    Cache = ""        // what the run before left
	Flushed Cache = "flushed" // nothing of the run's: memory of twice the size of L2 is read before each run, outside of its time
	Rotated Cache = "rotated" // runs in a row take turns on copies of the data, together at least twice the size of L2
)

// Methods are the clocks and states of L2 by the names that records have.
var (
	clocks = []Clock{Events, BackToBack, Graph}
	caches = []Cache{Warm, Flushed, Rotated}
)

func (c Clock) String() string {
	if c == Events {
		return "events"
	}
	return string(c)
}

func (c Cache) String() string {
	if c == Warm {
		return "warm"
	}
	return string(c)
}

// ParseMethod finds a method by the names in records: "events", "back to back",
// "graph"; "warm", "flushed", "rotated".
func ParseMethod(clock, cache string) (Method, error) {
	c := slices.IndexFunc(clocks, func(c Clock) bool { return c.String() == clock })
	l2 := slices.IndexFunc(caches, func(c Cache) bool { return c.String() == cache })
	if c < 0 || l2 < 0 {
		return Method{}, fmt.Errorf("ops: method %q with L2 %q: %w, expected one of %q with one of %q", clock, cache, gpu.ErrArgument, clocks, caches)
	}
	m := Method{clocks[c], caches[l2]}
	return m, m.check()
}

// check rejects contradictory options.
func (m Method) check() error {
	switch {
	case !slices.Contains(clocks, m.Clock) || !slices.Contains(caches, m.Cache):
		return fmt.Errorf("ops: method %q with L2 %q: %w, expected one of %q with one of %q", m.Clock, m.Cache, gpu.ErrArgument, clocks, caches)
	case m.Cache == Flushed && m.Clock != Events:
		return fmt.Errorf("ops: method %v with L2 flushed: %w: there is no room between runs in a row: take rotated, or events", m.Clock, gpu.ErrArgument)
	case m.Cache == Rotated && m.Clock == Events:
		return fmt.Errorf("ops: method events with L2 rotated: %w: runs take turns only in a row: take flushed, or back to back", gpu.ErrArgument)
	}
	return nil
}

// describe is the method as an environment block has it.
func (m Method) describe(info gpu.Info) string {
	if info.Emulated {
		return "times of the emulation on this host, not of a GPU"
	}
	clock := map[Clock]string{
		Events:     "device events around each run",
		BackToBack: "device events around runs in a row, divided by their number",
		Graph:      "device events around a graph of runs in a row, divided by their number",
	}[m.Clock]
	mib := info.L2Bytes >> 20
	return clock + map[Cache]string{
		Warm:    ", inputs warm in L2 as far as they fit",
		Flushed: fmt.Sprintf(", L2 (%d MiB) flushed before each by reading %d MiB of other memory, outside of the time", mib, 2*mib),
		Rotated: fmt.Sprintf(", which take turns on copies of the data, of %d MiB or more in all", 2*mib),
	}[m.Cache]
}

// Runs in a row are as many as take rowTime, and at most mostInRow.
const (
	rowTime   = 2 * time.Millisecond
	mostInRow = 100
)

// runsInRow is how many runs that take so long are timed together.
func runsInRow(took time.Duration) int {
	return int(min(mostInRow, max(1, rowTime/max(took, time.Microsecond))))
}

// timeLaunches times launches, of which one run took so long, by the bench's
// method.
func (r *run) timeLaunches(launches []gpu.Launch, took time.Duration, repeats int) (Sample, error) {
	if len(launches) == 0 { // a problem without elements
		return Sample{}, nil
	}
	m := r.bench.Method
	timing := gpu.Timing{Warmup: 3, Repeats: repeats, Flush: m.Cache == Flushed, Graph: m.Clock == Graph}
	inRow := 1
	switch {
	case r.bench.device.Info().Emulated:
		timing.Warmup = 0 // the check before was the warm-up
	case m.Clock != Events:
		inRow = runsInRow(took)
		turns, err := r.turns(launches)
		if err != nil {
			return Sample{}, err
		}
		inRow = max(inRow/len(turns), 1) * len(turns)
		launches = nil
		for i := range inRow {
			launches = append(launches, turns[i%len(turns)]...)
		}
	}
	times, err := r.bench.device.Time(timing, launches...)
	if err != nil {
		return Sample{}, fmt.Errorf("ops: %s: time: %w", r.variant.Name, err)
	}
	for i := range times {
		times[i] /= time.Duration(inRow)
	}
	return summarize(times), nil
}

// mostTurns bounds the copies of the data that runs take turns on.
const mostTurns = 64

// turns are the launches on each copy of the data: on the data alone unless L2
// is to be rotated.
func (r *run) turns(launches []gpu.Launch) ([][]gpu.Launch, error) {
	b := r.bench
	turns := [][]gpu.Launch{launches}
	if b.Method.Cache != Rotated {
		return turns, nil
	}
	bytes := b.operator.Work(b.size).Bytes
	wanted := min(mostTurns, 1+int(2*float64(b.device.Info().L2Bytes)/max(bytes, 1)))
	if err := b.copyData(wanted - 1); err != nil {
		return nil, fmt.Errorf("ops: %s: copies of the data: %w", b.operator.Name, err)
	}
	for _, memory := range b.copies[:wanted-1] {
		of := *b
		of.memory = memory
		other := *r
		other.bench = &of
		var turn []gpu.Launch
		for _, s := range r.plan.Steps[:len(launches)] {
			l, err := other.launch(s)
			if err != nil {
				return nil, err
			}
			turn = append(turn, l)
		}
		turns = append(turns, turn)
	}
	return turns, nil
}

// copyData makes copies of the inputs and outputs until there are so many.
func (b *Bench) copyData(wanted int) error {
	for len(b.copies) < wanted {
		made := map[string]gpu.Buffer{}
		b.copies = append(b.copies, made)
		for _, t := range append(b.operator.Inputs(b.size), b.operator.Outputs(b.size)...) {
			buffer, err := b.device.Alloc(t.Elements(), t.Len)
			if err != nil {
				return err
			}
			made[t.Name] = buffer.Label(fmt.Sprintf("%s of copy %d", t.Name, len(b.copies)))
			if err := b.device.Copy(buffer, b.memory[t.Name]); err != nil {
				return err
			}
		}
	}
	return b.device.Sync()
}

// freeCopies releases what copyData made: the data changes, or the bench ends.
func (b *Bench) freeCopies() (errs []error) {
	for _, memory := range b.copies {
		for _, buffer := range memory {
			errs = append(errs, buffer.Free())
		}
	}
	b.copies = nil
	return errs
}
