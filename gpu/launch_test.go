package gpu

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// entry is a function with nothing but attributes.
type entry struct{ attributes Attributes }

func (entry) Name() string             { return "k" }
func (entry) Params() []Param          { return nil }
func (e entry) Attributes() Attributes { return e.attributes }

// part is memory of which only type and length count.
type part struct {
	Buffer
	t Type
	n int
}

func (p part) Type() Type { return p.t }
func (p part) Len() int   { return p.n }

// small is a device with limits that a test can pass by one.
var small = Info{
	Name: "small", Compute: Compute{9, 0}, SMs: 3, SharedPerBlock: 100, SharedPerBlockMax: 200, ThreadsPerBlock: 64,
	MaxGrid: Dim{50, 40, 30}, MaxBlock: Dim{32, 16, 8}, Checks: CheckBlockRaces,
}

// Each limit of a launch admits the limit itself and refuses one more, with the error of its
// kind and words that name the limit.
func TestLaunchLimits(t *testing.T) {
	one := Dim{1, 1, 1}
	good := func(change func(l *Launch, a *Attributes)) (Info, Launch) {
		l, a := Launch{Grid: one, Block: one}, Attributes{}
		change(&l, &a)
		l.Entry = entry{a}
		return small, l
	}
	old := small
	old.Compute = Compute{8, 9}
	mine, foreign := part{nil, Float32, 1}, part{nil, Float32, 2}
	own := func(b Buffer) error {
		if b != mine {
			return ErrClosed
		}
		return nil
	}
	for _, c := range []struct {
		name   string
		change func(l *Launch, a *Attributes)
		words  string // of the error; "": the launch is admitted
	}{
		{"nothing", func(l *Launch, a *Attributes) {}, ""},
		{"zeros in Y and Z", func(l *Launch, a *Attributes) { l.Grid, l.Block = Dim{X: 2}, Dim{X: 2} }, ""},
		{"no block", func(l *Launch, a *Attributes) { l.Block = Dim{} }, "block (0,1,1), expected at least 1"},
		{"no grid", func(l *Launch, a *Attributes) { l.Grid = Dim{} }, "grid (0,1,1), expected at least 1"},
		{"a block below 0", func(l *Launch, a *Attributes) { l.Block = Dim{1, -1, 1} }, "at least 1"},
		{"a block below 0 in Z", func(l *Launch, a *Attributes) { l.Block = Dim{1, 1, -1} }, "at least 1"},
		{"the longest grid", func(l *Launch, a *Attributes) { l.Grid = Dim{50, 40, 30} }, ""},
		{"grid X", func(l *Launch, a *Attributes) { l.Grid = Dim{51, 1, 1} }, "grid (51,1,1), expected at most (50,40,30)"},
		{"grid Y", func(l *Launch, a *Attributes) { l.Grid = Dim{1, 41, 1} }, "at most (50,40,30)"},
		{"grid Z", func(l *Launch, a *Attributes) { l.Grid = Dim{1, 1, 31} }, "at most (50,40,30)"},
		{"block X", func(l *Launch, a *Attributes) { l.Block = Dim{33, 1, 1} }, "at most (32,16,8)"},
		{"64 threads", func(l *Launch, a *Attributes) { l.Block = Dim{32, 2, 1} }, ""},
		{"66 threads", func(l *Launch, a *Attributes) { l.Block = Dim{22, 3, 1} }, "66 threads, expected at most 64"},
		{".maxntid", func(l *Launch, a *Attributes) { l.Block, a.MaxThreads = Dim{9, 1, 1}, 9 }, ""},
		{".maxntid and one", func(l *Launch, a *Attributes) { l.Block, a.MaxThreads = Dim{10, 1, 1}, 9 }, "10 threads, expected at most 9 as .maxntid says"},
		{".maxntid of one", func(l *Launch, a *Attributes) { l.Block, a.MaxThreads = Dim{2, 1, 1}, 1 }, ".maxntid"},
		{".reqntid", func(l *Launch, a *Attributes) { l.Block, a.Block = Dim{4, 2, 1}, Dim{X: 4, Y: 2} }, ""},
		{"another shape of .reqntid", func(l *Launch, a *Attributes) { l.Block, a.Block = Dim{8, 1, 1}, Dim{X: 4, Y: 2} }, ".reqntid"},
		{"shared memory below 0", func(l *Launch, a *Attributes) { l.Shared = -1 }, "-1 bytes of dynamic"},
		{"static shared memory", func(l *Launch, a *Attributes) { a.SharedBytes = 100 }, ""},
		{"static shared memory and one", func(l *Launch, a *Attributes) { a.SharedBytes = 101 }, "101 bytes of static shared memory, expected at most 100"},
		{"dynamic shared memory", func(l *Launch, a *Attributes) { l.Shared, a.SharedBytes = 150, 50 }, ""},
		{"dynamic shared memory and one", func(l *Launch, a *Attributes) { l.Shared, a.SharedBytes = 151, 50 }, "50 static + 151 dynamic"},
		{"a portable cluster", func(l *Launch, a *Attributes) { l.Cluster, l.Grid = Dim{X: 8}, Dim{X: 16} }, ""},
		{"nine blocks", func(l *Launch, a *Attributes) { l.Cluster, l.Grid = Dim{X: 9}, Dim{X: 9} }, "at most 8 blocks, or 16 with LargeCluster"},
		{"nine blocks in two directions", func(l *Launch, a *Attributes) { l.Cluster, l.Grid = Dim{X: 3, Y: 3}, Dim{X: 3, Y: 3} }, "at most 8"},
		{"a cluster of 2^64 blocks", func(l *Launch, a *Attributes) { l.Cluster = Dim{X: 1 << 32, Y: 1 << 32} }, "at most 8"},
		{"a large cluster", func(l *Launch, a *Attributes) { l.Cluster, l.Grid, l.LargeCluster = Dim{X: 16}, Dim{X: 16}, true }, ""},
		{"17 blocks", func(l *Launch, a *Attributes) { l.Cluster, l.Grid, l.LargeCluster = Dim{X: 17}, Dim{X: 17}, true }, "(17,1,1), expected at most 16 blocks$"},
		{"a cluster below 0", func(l *Launch, a *Attributes) { l.Cluster = Dim{-1, 1, 1} }, "cluster (-1,1,1), expected at least 1"},
		{"a cluster below 0 in Y", func(l *Launch, a *Attributes) { l.Cluster = Dim{1, -1, 1} }, "at least 1"},
		{"a cluster below 0 in Z", func(l *Launch, a *Attributes) { l.Cluster = Dim{1, 1, -1} }, "at least 1"},
		{"no multiple in X", func(l *Launch, a *Attributes) { l.Cluster, l.Grid = Dim{X: 2}, Dim{3, 2, 2} }, "multiples of the cluster (2,1,1)"},
		{"no multiple in Y", func(l *Launch, a *Attributes) { l.Cluster, l.Grid = Dim{1, 2, 1}, Dim{2, 3, 2} }, "multiples"},
		{"no multiple in Z", func(l *Launch, a *Attributes) { l.Cluster, l.Grid = Dim{1, 1, 2}, Dim{2, 2, 3} }, "multiples"},
		{".reqnctapercluster", func(l *Launch, a *Attributes) { l.Grid, a.Cluster = Dim{X: 4}, Dim{X: 2} }, ""},
		{"a grid against .reqnctapercluster", func(l *Launch, a *Attributes) { l.Grid, a.Cluster = Dim{X: 3}, Dim{X: 2} }, "multiples"},
		{"another shape of .reqnctapercluster", func(l *Launch, a *Attributes) { l.Grid, l.Cluster, a.Cluster = Dim{X: 4}, Dim{X: 4}, Dim{X: 2} }, ".reqnctapercluster"},
		{"an argument too many", func(l *Launch, a *Attributes) { l.Args = []any{int32(1)} }, "1 arguments, expected 0"},
		{"a check of the device", func(l *Launch, a *Attributes) { l.Checks = CheckBlockRaces }, ""},
		{"no check", func(l *Launch, a *Attributes) { l.Checks = CheckNone }, ""},
		{"another check", func(l *Launch, a *Attributes) { l.Checks = CheckUninitialized }, "does not check accesses"},
		{"a buffer to zero", func(l *Launch, a *Attributes) { l.Zero = []Buffer{mine} }, ""},
		{"no buffer to zero", func(l *Launch, a *Attributes) { l.Zero = []Buffer{mine, nil} }, "buffer 1 to zero is nil"},
		{"a foreign buffer to zero", func(l *Launch, a *Attributes) { l.Zero = []Buffer{mine, foreign} }, "buffer 1 to zero"},
	} {
		info, l := good(c.change)
		err := CheckLaunch(info, l, own)
		if (err != nil) != (c.words != "") || err != nil && (!strings.Contains(err.Error()+"$", c.words) || !strings.HasPrefix(err.Error(), "gpu: launch k: ")) {
			t.Errorf("%s: %v, expected %q", c.name, err, c.words)
		}
		switch many := l.ClusterShape().Size() > 1; {
		case err == nil && many == (CheckCluster(old, l) == nil):
			t.Errorf("%s on sm_89: %v", c.name, CheckCluster(old, l))
		}
	}
	if err := CheckBlock(small, Launch{Block: one}); !errors.Is(err, ErrArgument) {
		t.Errorf("a launch of no entry: %v", err)
	}
	if err := CheckHasClusters(small, Launch{Entry: entry{}}); err != nil {
		t.Error(err)
	}
	if err := CheckHasClusters(old, Launch{Entry: entry{}}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("clusters of sm_89: %v", err)
	}
}

// A cooperative grid fills the device and no more; a cluster must fit at least once.
func TestResidence(t *testing.T) {
	l := Launch{Entry: entry{Attributes{SharedBytes: 30}}, Block: Dim{X: 64}, Shared: 12}
	for grid, fits := range map[int]bool{1: true, 6: true, 7: false} {
		l.Grid = Dim{X: grid}
		if err := CheckCooperative(small, l, 2); (err == nil) != fits {
			t.Errorf("%d blocks on 3 SMs with 2 each: %v", grid, err)
		}
	}
	if err := CheckResident(small, l, 1, 8); err != nil {
		t.Error(err)
	}
	if err := CheckResident(small, l, 0, 8); !errors.Is(err, ErrShape) || !strings.Contains(err.Error(), "64 threads and 42 bytes") {
		t.Errorf("no cluster fits: %v", err)
	}
}

// Bytes of an allocation, and the two sides of a copy.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		t     Type
		n     int
		bytes int64 // -1: refused
	}{{Float32, 0, 0}, {Float64, 3, 24}, {Int8, 3, 3}, {Float32, -1, -1}, {Invalid, 1, -1}, {Int8, math.MaxInt64 / 8, math.MaxInt64 / 8}, {Int8, math.MaxInt64/8 + 1, -1}} {
		bytes, err := CheckAlloc(c.t, c.n)
		if (err != nil) != (c.bytes < 0) || bytes != max(c.bytes, 0) {
			t.Errorf("%d of %v: %d bytes, %v; expected %d", c.n, c.t, bytes, err, c.bytes)
		}
	}
	a := part{nil, Float32, 2}
	for _, c := range []struct {
		dst, src Memory
		fits     bool
	}{{a, a, true}, {nil, a, false}, {a, nil, false}, {a, part{nil, Float32, 3}, false}, {a, part{nil, Int32, 2}, false}, {a, part{nil, Int32, 3}, false}} {
		if err := CheckCopy(c.dst, c.src); (err == nil) != c.fits {
			t.Errorf("%v to %v: %v", c.src, c.dst, err)
		}
	}
	values := []float32{1, 2}
	if b, err := SliceBytes(values, Float32, 2); err != nil || len(b) != 8 || b[7] != 0x40 {
		t.Errorf("%v, %v", b, err)
	}
	for _, wrong := range []any{values[:1], []int32{1, 2}, [2]float32{}, 1} {
		if _, err := SliceBytes(wrong, Float32, 2); !errors.Is(err, ErrArgument) {
			t.Errorf("%T: %v", wrong, err)
		}
	}
	if s, ok := NewSlice(Float16, 3).([]uint16); !ok || len(s) != 3 {
		t.Errorf("%v, expected 3 elements", s)
	}
	for _, d := range []struct {
		Dim
		size int
	}{{Dim{X: 3}, 3}, {Dim{3, 2, 0}, 6}, {Dim{3, 0, 2}, 6}, {Dim{2, 3, 4}, 24}, {Dim{}, 0}} {
		if d.Size() != d.size {
			t.Errorf("%v has %d, expected %d", d.Dim, d.Size(), d.size)
		}
	}
}
