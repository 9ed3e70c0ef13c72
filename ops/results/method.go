package results

import (
	"fmt"
	"slices"
	"warpbook/gpu"
)

// Method is the method by which a GPU times a rung. The zero value is each run between
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

// ParseMethod finds a method by the names in records: "events", "back to back",
// "graph"; "warm", "flushed", "rotated".
func ParseMethod(clock, cache string) (Method, error) {
	c := slices.IndexFunc(clocks, func(c Clock) bool { return c.String() == clock })
	l2 := slices.IndexFunc(caches, func(c Cache) bool { return c.String() == cache })
	if c < 0 || l2 < 0 {
		return Method{}, fmt.Errorf("ops: method %q with L2 %q: %w, expected one of %q with one of %q", clock, cache, gpu.ErrArgument, clocks, caches)
	}
	m := Method{clocks[c], caches[l2]}
	return m, m.Check()
}

// Check rejects contradictory options.
func (m Method) Check() error {
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

// Describe is the method as an environment block has it.
func (m Method) Describe(info gpu.Info) string {
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

func (c Cache) String() string {
	if c == Warm {
		return "warm"
	}
	return string(c)
}
