package collective

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/emu"
)

// never is a deadline that no test waits for.
const never = time.Hour

// ranks are a group of emulators.
func ranks(t *testing.T, n int, deadline time.Duration) []Communicator {
	t.Helper()
	var devices []gpu.Device
	for range n {
		d, err := emu.Open("")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		devices = append(devices, d)
	}
	all, err := InMemory(deadline, devices...)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// each calls f for every rank in a goroutine of its own, and returns their errors.
func each(all []Communicator, f func(c Communicator) error) []error {
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, c := range all {
		wg.Go(func() { errs[i] = f(c) })
	}
	wg.Wait()
	return errs
}

// filled is a buffer of values on the device of a rank.
func filled(t *testing.T, c Communicator, typ gpu.Type, values any, n int) gpu.Buffer {
	t.Helper()
	b, err := c.Device().Alloc(typ, n)
	if err == nil {
		err = b.Upload(values)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func floats(t *testing.T, c Communicator, values ...float32) gpu.Buffer {
	t.Helper()
	return filled(t, c, gpu.Float32, values, len(values))
}

func values(t *testing.T, b gpu.Buffer) []float32 {
	t.Helper()
	x := make([]float32, b.Len())
	if err := b.Download(x); err != nil {
		t.Fatal(err)
	}
	return x
}

func ok(t *testing.T, errs []error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// Each operation gives every rank the combination of all, in place and in a buffer of its own.
func TestAllReduce(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		all := ranks(t, n, never)
		for op, want := range map[Op][]float32{
			Sum: {float32(n * (n - 1) / 2), float32(n)}, Max: {float32(n - 1), 1}, Min: {0, 1},
		} {
			ins, outs := make([]gpu.Buffer, n), make([]gpu.Buffer, n)
			for i, c := range all {
				ins[i], outs[i] = floats(t, c, float32(i), 1), floats(t, c, -1, -1)
			}
			ok(t, each(all, func(c Communicator) error { return c.AllReduce(ins[c.Rank()], outs[c.Rank()], op) }))
			ok(t, each(all, func(c Communicator) error { return c.AllReduce(ins[c.Rank()], ins[c.Rank()], op) }))
			for i := range all {
				if got, in := values(t, outs[i]), values(t, ins[i]); !slices.Equal(got, want) || !slices.Equal(in, want) {
					t.Errorf("%v of %d ranks: rank %d has %v, and %v in place, expected %v", op, n, i, got, in, want)
				}
			}
		}
	}
}

// Elements of every type are combined, 64-bit ones in whole.
func TestTypes(t *testing.T) {
	all := ranks(t, 2, never)
	for typ, c := range map[gpu.Type][3]any{
		gpu.Int8: {[]int8{-100}, []int8{3}, []int8{-97}}, gpu.Uint8: {[]uint8{200}, []uint8{3}, []uint8{203}},
		gpu.Int16: {[]int16{-3000}, []int16{1}, []int16{-2999}}, gpu.Uint16: {[]uint16{60000}, []uint16{1}, []uint16{60001}},
		gpu.Int32: {[]int32{-1 << 30}, []int32{1}, []int32{1 - 1<<30}}, gpu.Uint32: {[]uint32{1 << 31}, []uint32{1}, []uint32{1<<31 + 1}},
		gpu.Int64: {[]int64{-1 << 60}, []int64{1}, []int64{1 - 1<<60}}, gpu.Uint64: {[]uint64{1 << 63}, []uint64{1}, []uint64{1<<63 + 1}},
		gpu.Float16: {[]uint16{0x3c00}, []uint16{0x3800}, []uint16{0x3e00}}, gpu.BFloat16: {[]uint16{0x3f80}, []uint16{0x3f00}, []uint16{0x3fc0}}, // 1 and 1/2
		gpu.Float32: {[]float32{0.5}, []float32{0.25}, []float32{0.75}}, gpu.Float64: {[]float64{1}, []float64{0x1p-50}, []float64{1 + 0x1p-50}},
	} {
		buffers := []gpu.Buffer{filled(t, all[0], typ, c[0], 1), filled(t, all[1], typ, c[1], 1)}
		ok(t, each(all, func(c Communicator) error { return c.AllReduce(buffers[c.Rank()], buffers[c.Rank()], Sum) }))
		for _, b := range buffers {
			got := gpu.NewSlice(typ, 1)
			if err := b.Download(got); err != nil || fmt.Sprint(got) != fmt.Sprint(c[2]) {
				t.Errorf("%v: %v, %v, expected %v", typ, got, err, c[2])
			}
		}
	}
}

// Numbers of 16 bits are rounded to the nearest, halfway cases to even, and each one to itself.
func TestHalves(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for name, c := range map[string]struct {
		to func(float32) uint16
		of func(uint16) float32
	}{"float16": {float16, ofFloat16}, "bfloat16": {bfloat16, ofBFloat16}} {
		for h := range 1 << 16 {
			f := c.of(uint16(h))
			if back := c.to(f); back != uint16(h) && f == f {
				t.Fatalf("%s: %#x is %v, which becomes %#x", name, h, f, back)
			}
			if f == f {
				continue
			}
			if back := c.of(c.to(f)); back == back {
				t.Fatalf("%s: NaN %#x becomes %v", name, h, back)
			}
		}
		for i := range 200_000 {
			f := math.Float32frombits(random.Uint32())
			if i%2 == 0 { // halfway between two numbers, or next to that
				a := uint16(random.Uint32() & 0x7bff)
				f = math.Float32frombits(math.Float32bits((c.of(a)+c.of(a+1))/2) + uint32(random.IntN(3)) - 1)
			}
			if f != f || math.IsInf(float64(f), 0) {
				continue
			}
			h := c.to(f)
			distance := math.Abs(float64(f) - float64(c.of(h)))
			if math.IsInf(float64(c.of(h)), 0) { // as if the exponent had another number
				distance = math.Abs(float64(f)) - (2*float64(c.of(h&0x7fff-1)) - float64(c.of(h&0x7fff-2)))
				distance = max(distance, -distance)
				if float64(f) > 2*float64(c.of(h&0x7fff-1))-float64(c.of(h&0x7fff-2)) {
					continue
				}
			}
			for _, other := range []uint16{h - 1, h + 1} {
				away := math.Abs(float64(f) - float64(c.of(other)))
				if c.of(other) != c.of(other) || h&0x7fff == 0 && other&0x7fff > 1 {
					continue
				}
				if away < distance || away == distance && h&1 == 1 {
					t.Fatalf("%s: %v becomes %v, expected %v", name, f, c.of(h), c.of(other))
				}
			}
		}
	}
}

// NaN of one rank is NaN of the maximum and the minimum.
func TestNaN(t *testing.T) {
	all := ranks(t, 2, never)
	for _, op := range []Op{Sum, Max, Min} {
		buffers := []gpu.Buffer{floats(t, all[0], float32(math.NaN()), 1), floats(t, all[1], 1, float32(math.NaN()))}
		ok(t, each(all, func(c Communicator) error { return c.AllReduce(buffers[c.Rank()], buffers[c.Rank()], op) }))
		if got := values(t, buffers[1]); got[0] == got[0] || got[1] == got[1] {
			t.Errorf("%v: %v, expected NaN", op, got)
		}
	}
}

// Every rank has what the root had, and the root is any.
func TestBroadcast(t *testing.T) {
	all := ranks(t, 3, never)
	for root := range all {
		var buffers []gpu.Buffer
		for i, c := range all {
			buffers = append(buffers, floats(t, c, float32(i), float32(10*i)))
		}
		ok(t, each(all, func(c Communicator) error { return c.Broadcast(buffers[c.Rank()], root) }))
		for i, b := range buffers {
			if got := values(t, b); !slices.Equal(got, []float32{float32(root), float32(10 * root)}) {
				t.Errorf("from rank %d: rank %d has %v", root, i, got)
			}
		}
	}
}

// Each rank has its part of the sums.
func TestReduceScatter(t *testing.T) {
	all := ranks(t, 3, never)
	var ins, outs []gpu.Buffer
	for i, c := range all {
		ins = append(ins, floats(t, c, 1, 2, 3, 4, 5, float32(i)))
		outs = append(outs, floats(t, c, -1, -1))
	}
	ok(t, each(all, func(c Communicator) error { return c.ReduceScatter(ins[c.Rank()], outs[c.Rank()], Sum) }))
	for i, want := range [][]float32{{3, 6}, {9, 12}, {15, 3}} {
		if got := values(t, outs[i]); !slices.Equal(got, want) {
			t.Errorf("rank %d has %v, expected %v", i, got, want)
		}
		if in := values(t, ins[i]); in[0] != 1 || in[5] != float32(i) {
			t.Errorf("rank %d: the input is %v", i, in)
		}
	}
	ok(t, each(all, func(c Communicator) error {
		part, err := ins[c.Rank()].View(2*c.Rank(), 2)
		return errors.Join(err, c.ReduceScatter(ins[c.Rank()], part, Sum))
	}))
	if got := values(t, ins[1]); !slices.Equal(got, []float32{1, 2, 9, 12, 5, 1}) {
		t.Errorf("in place: rank 1 has %v", got)
	}
}

// A collective of no elements, and very many in a row.
func TestMany(t *testing.T) {
	all := ranks(t, 3, never)
	var empty, one []gpu.Buffer
	for _, c := range all {
		empty, one = append(empty, floats(t, c)), append(one, floats(t, c, 1))
	}
	ok(t, each(all, func(c Communicator) error {
		err := c.AllReduce(empty[c.Rank()], empty[c.Rank()], Max)
		for i := range 200 {
			err = errors.Join(err, c.AllReduce(one[c.Rank()], one[c.Rank()], Max), c.Broadcast(one[c.Rank()], i%3))
		}
		return err
	}))
	if got := values(t, one[2]); got[0] != 1 {
		t.Errorf("%v", got)
	}
}

// Arguments that do not fit are an error of one line on every rank; the group goes on.
func TestArguments(t *testing.T) {
	all := ranks(t, 2, never)
	a, b := []gpu.Buffer{floats(t, all[0], 1, 2), floats(t, all[1], 3, 4)}, []gpu.Buffer{floats(t, all[0], 0, 0, 0), floats(t, all[1], 0, 0, 0)}
	wide := []gpu.Buffer{floats(t, all[0], 1, 2, 3, 4), floats(t, all[1], 5, 6, 7, 8)}
	part := func(b gpu.Buffer, from, n int) gpu.Buffer {
		v, err := b.View(from, n)
		if err != nil {
			t.Error(err)
		}
		return v
	}
	freed := floats(t, all[1], 1, 2)
	if err := freed.Free(); err != nil {
		t.Fatal(err)
	}
	for want, f := range map[string]func(c Communicator) error{
		"rank 0 calls all-reduce of 2 float32, sum, rank 1 calls all-reduce of 3 float32, sum": func(c Communicator) error {
			x := []gpu.Buffer{a[0], b[1]}[c.Rank()]
			return c.AllReduce(x, x, Sum)
		},
		"rank 0 calls all-reduce of 2 float32, sum, rank 1 calls all-reduce of 2 float32, max": func(c Communicator) error {
			return c.AllReduce(a[c.Rank()], a[c.Rank()], Op(c.Rank()))
		},
		"rank 1 calls broadcast of 2 float32 from rank 0": func(c Communicator) error {
			if c.Rank() == 0 {
				return c.AllReduce(a[0], a[0], Sum)
			}
			return c.Broadcast(a[1], 0)
		},
		"rank 0: all-reduce: invalid argument: 3 elements of output, expected 2": func(c Communicator) error { return c.AllReduce(a[c.Rank()], b[c.Rank()], Sum) },
		"a buffer of another device": func(c Communicator) error { return c.AllReduce(a[0], a[0], Sum) },
		"rank 1: all-reduce: invalid argument: no buffer": func(c Communicator) error {
			return c.AllReduce(a[c.Rank()], []gpu.Buffer{a[0], nil}[c.Rank()], Sum)
		},
		"rank 1: all-reduce: ": func(c Communicator) error {
			x := []gpu.Buffer{a[0], freed}[c.Rank()]
			return c.AllReduce(x, x, Sum)
		},
		"root 2, expected 0 to 1":         func(c Communicator) error { return c.Broadcast(a[c.Rank()], 2) },
		"Op(9), expected sum, max or min": func(c Communicator) error { return c.AllReduce(a[c.Rank()], a[c.Rank()], 9) },
		"rank 1: all-reduce: invalid argument: the output shares elements with the input, expected those from element 0 of": func(c Communicator) error {
			x := wide[c.Rank()]
			if c.Rank() == 1 {
				return c.AllReduce(part(x, 0, 2), part(x, 1, 2), Sum)
			}
			return c.AllReduce(part(x, 0, 2), part(x, 2, 2), Sum)
		},
		"rank 1: reduce-scatter: invalid argument: the output shares elements with the input, expected those from element 2 of": func(c Communicator) error {
			return c.ReduceScatter(wide[c.Rank()], part(wide[c.Rank()], 0, 2), Sum)
		},
		"3 elements for 2 ranks, expected a m": func(c Communicator) error { return c.ReduceScatter(b[c.Rank()], a[c.Rank()], Sum) },
	} {
		for rank, err := range each(all, f) {
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") ||
				!errors.Is(err, gpu.ErrArgument) && !errors.Is(err, gpu.ErrClosed) {
				t.Errorf("rank %d: %v, expected one line with %q", rank, err, want)
			}
		}
	}
	ok(t, each(all, func(c Communicator) error { return c.AllReduce(a[c.Rank()], a[c.Rank()], Sum) }))
	if got := values(t, a[1]); !slices.Equal(got, []float32{4, 6}) {
		t.Errorf("%v", got)
	}
	if _, err := InMemory(never, all[0].Device(), all[0].Device()); !errors.Is(err, gpu.ErrArgument) || !strings.Contains(err.Error(), "ranks 0 and 1 have the same device") {
		t.Errorf("one device twice: %v", err)
	}
	if _, err := InMemory(never, all[0].Device(), nil); !errors.Is(err, gpu.ErrArgument) || !strings.Contains(err.Error(), "rank 1 has no device") {
		t.Errorf("a missing device: %v", err)
	}
	for _, deadline := range []time.Duration{0, -1} {
		if _, err := InMemory(deadline, all[0].Device()); !errors.Is(err, gpu.ErrArgument) {
			t.Errorf("deadline %v: %v", deadline, err)
		}
	}
	if _, err := InMemory(never); !errors.Is(err, gpu.ErrArgument) {
		t.Errorf("no device: %v", err)
	}
}

// A rank that is killed in the middle is an error of every other rank that waits for it, and
// of each later call. Buffers are as before, and the ranks that are left make a new group.
func TestKilledRank(t *testing.T) {
	all := ranks(t, 3, never)
	var buffers []gpu.Buffer
	for i, c := range all {
		buffers = append(buffers, floats(t, c, float32(i)))
	}
	cause := errors.New("killed by a test")
	errs := each(all, func(c Communicator) error {
		if c.Rank() == 1 {
			c.Abort(cause)
			return nil
		}
		return c.AllReduce(buffers[c.Rank()], buffers[c.Rank()], Sum)
	})
	for _, rank := range []int{0, 2} {
		if err := errs[rank]; !errors.Is(err, ErrAborted) || !errors.Is(err, cause) || !strings.Contains(err.Error(), "rank 1") || strings.Contains(err.Error(), "\n") {
			t.Errorf("rank %d: %v, expected one line that names rank 1", rank, err)
		}
		if got := values(t, buffers[rank]); got[0] != float32(rank) {
			t.Errorf("rank %d: the buffer is %v", rank, got)
		}
	}
	for rank, err := range each(all, func(c Communicator) error { return c.Broadcast(buffers[c.Rank()], 0) }) {
		if !errors.Is(err, ErrAborted) {
			t.Errorf("rank %d afterwards: %v", rank, err)
		}
	}
	left, err := InMemory(never, all[0].Device(), all[2].Device())
	if err != nil {
		t.Fatal(err)
	}
	two := []gpu.Buffer{buffers[0], buffers[2]}
	ok(t, each(left, func(c Communicator) error { return c.AllReduce(two[c.Rank()], two[c.Rank()], Sum) }))
	if got := values(t, two[0]); got[0] != 2 {
		t.Errorf("the ranks that are left: %v", got)
	}
}

// A rank whose device is lost has the device's error, and ends the others.
func TestLostDevice(t *testing.T) {
	all := ranks(t, 3, never)
	var buffers []gpu.Buffer
	for _, c := range all {
		buffers = append(buffers, floats(t, c, 1))
	}
	errs := each(all, func(c Communicator) error {
		m := c.(*memory)
		if c.Rank() == 1 {
			m.device = lost{m.device}
			return m.lost(AllReduce, m.read(buffers[1], &call{}))
		}
		return c.AllReduce(buffers[c.Rank()], buffers[c.Rank()], Sum)
	})
	for rank, err := range errs {
		if !errors.Is(err, gpu.ErrClosed) || errors.Is(err, ErrAborted) != (rank != 1) || !strings.Contains(err.Error(), "rank 1") {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// lost is a device whose context is gone.
type lost struct{ gpu.Device }

func (lost) Sync() error { return gpu.ErrClosed }

// A rank that never comes is named after the deadline, on every other rank.
func TestMissingRank(t *testing.T) {
	all := ranks(t, 3, time.Millisecond)
	var buffers []gpu.Buffer
	for _, c := range all {
		buffers = append(buffers, floats(t, c, 1))
	}
	present := []Communicator{all[0], all[2]}
	for rank, err := range each(present, func(c Communicator) error { return c.AllReduce(buffers[c.Rank()], buffers[c.Rank()], Sum) }) {
		// One of the two may come after the deadline of the other: then both it and rank 1 are missing.
		if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "1") || !strings.Contains(err.Error(), "did not join within 1ms") {
			t.Errorf("rank %d: %v, expected it to name rank 1", rank, err)
		}
	}
	if err := all[1].AllReduce(buffers[1], buffers[1], Sum); !errors.Is(err, ErrMissing) {
		t.Errorf("the rank that comes late: %v", err)
	}
}

// An interrupt of a device ends a rank that waits for others, and with it the group.
func TestInterrupt(t *testing.T) {
	all := ranks(t, 2, never)
	buffer := floats(t, all[0], 1)
	ended := make(chan error, 1)
	go func() { ended <- all[0].AllReduce(buffer, buffer, Sum) }()
	for {
		all[0].Device().Interrupt()
		select {
		case err := <-ended:
			if !errors.Is(err, gpu.ErrInterrupted) {
				t.Errorf("%v, expected an interrupt", err)
			}
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// An interrupt ends a row of collectives in which no rank waits long for another.
func TestInterruptedRow(t *testing.T) {
	all := ranks(t, 2, never)
	buffers := []gpu.Buffer{floats(t, all[0], 1), floats(t, all[1], 1)}
	time.AfterFunc(10*time.Millisecond, all[1].Device().Interrupt)
	for rank, err := range each(all, func(c Communicator) error {
		b := buffers[c.Rank()]
		_, err := c.Time(gpu.Timing{Repeats: 1 << 20}, Call{In: b, Out: b})
		return err
	}) {
		if !errors.Is(err, gpu.ErrInterrupted) || !errors.Is(err, ErrAborted) || !strings.Contains(err.Error(), "rank 1") || strings.Contains(err.Error(), "\n") {
			t.Errorf("rank %d: %v, expected one line with the interrupt of rank 1", rank, err)
		}
	}
}

// A second goroutine that calls a rank, as a loop does that passes the same rank to all, is
// refused; the first one still meets the other rank.
func TestOneRankTwice(t *testing.T) {
	all := ranks(t, 2, never)
	x := []gpu.Buffer{floats(t, all[0], 1), floats(t, all[1], 2)}
	ended := make(chan error, 2)
	for range 2 {
		go func() { ended <- all[0].AllReduce(x[0], x[0], Sum) }()
	}
	want := "collective: rank 0: all-reduce: invalid argument: another goroutine of this rank waits in all-reduce of 1 float32, sum, expected one goroutine for each rank"
	if err := <-ended; !errors.Is(err, gpu.ErrArgument) || err.Error() != want {
		t.Errorf("%v, expected %s", err, want)
	}
	if err := all[1].AllReduce(x[1], x[1], Sum); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil || values(t, x[0])[0] != 3 {
		t.Errorf("%v, %v", err, values(t, x[0]))
	}
}

// Abort without a cause is an error in words, too.
func TestAbortWithoutCause(t *testing.T) {
	all := ranks(t, 2, never)
	all[0].Abort(nil)
	x := floats(t, all[1], 1)
	if err := all[1].AllReduce(x, x, Sum); !errors.Is(err, ErrAborted) || err.Error() != "collective: rank 0: group ended: Abort was called" {
		t.Errorf("%v", err)
	}
}

// The factors are those of nccl-tests.
func TestFactors(t *testing.T) {
	if AllReduceFactor(2) != 1 || AllReduceFactor(4) != 1.5 || ReduceScatterFactor(4) != 0.75 || BroadcastFactor(8) != 1 {
		t.Error("factors of 2, 4 and 8 ranks")
	}
}
