package cuda

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/collective"
)

// The time of a repeat is the device's over the repeats.
func TestTimedCollective(t *testing.T) {
	all := fakeGroup(t, longTime, "emulator", "emulator")
	buffers := onAll(t, all)
	if err := errors.Join(each(all, func(c collective.Communicator) error {
		b := buffers[c.Rank()]
		took, err := c.Time(gpu.Timing{Warmup: 2, Repeats: 3}, collective.Call{Kind: collective.AllReduce, In: b, Out: b, Op: collective.Sum})
		if took != time.Millisecond {
			t.Errorf("rank %d: %v, expected the 1ms of the fake", c.Rank(), took)
		}
		return err
	})...); err != nil {
		t.Fatal(err)
	}
	got := make([]float32, 1)
	if err := buffers[1].Download(got); err != nil || got[0] != 16 { // 1, then 2, 4, 8, 16
		t.Errorf("%v, %v, expected five sums", got, err)
	}
}

// shortsOn is a buffer of one int16, 3, for each rank; sums of int16 go by way of the host.
func shortsOn(t *testing.T, all []collective.Communicator) []gpu.Buffer {
	t.Helper()
	shorts := make([]gpu.Buffer, len(all))
	for i, c := range all {
		shorts[i] = on(t, c, gpu.Int16, []int16{3})
	}
	return shorts
}

// sum is the sum of a buffer over all ranks.
func sum(b gpu.Buffer) collective.Call {
	return collective.Call{Kind: collective.AllReduce, In: b, Out: b}
}

// Ranks whose lists or whose numbers of runs differ, or are not possible, all get the same
// error at once, by NCCL and by the host. Nothing has run then, and the group goes on.
func TestDisagreements(t *testing.T) {
	run := func(t *testing.T, all []collective.Communicator) {
		ones, shorts := onAll(t, all), shortsOn(t, all)
		for _, c := range []struct {
			timings [2]gpu.Timing // of rank 1, and before it those of the others
			lengths [2]int        // of their lists
			want    string
		}{
			{[2]gpu.Timing{{Warmup: 2, Repeats: 3}, {Warmup: 1, Repeats: 3}}, [2]int{1, 1},
				"rank 0 has 2 untimed and 3 timed runs, rank 1 has 1 and 3, expected the same of all ranks"},
			{[2]gpu.Timing{{Repeats: 1}, {Repeats: 2}}, [2]int{1, 1},
				"rank 0 has 0 untimed and 1 timed runs, rank 1 has 0 and 2, expected the same of all ranks"},
			{[2]gpu.Timing{{Repeats: 3}, {Warmup: 1, Repeats: 2}}, [2]int{2, 2}, // as many in all
				"rank 0 has 0 untimed and 3 timed runs, rank 1 has 1 and 2, expected the same of all ranks"},
			{[2]gpu.Timing{{Repeats: 1}, {}}, [2]int{1, 1},
				"rank 1: time: invalid argument: 0 untimed and 0 timed runs, expected at least 1 timed run"},
			{[2]gpu.Timing{{Warmup: 1, Repeats: 1}, {Warmup: -1, Repeats: 1}}, [2]int{1, 1},
				"rank 1: time: invalid argument: -1 untimed and 1 timed runs, expected at least 1 timed run"},
			{[2]gpu.Timing{{Repeats: 1 << 30}, {Warmup: 1 << 30, Repeats: 1}}, [2]int{1, 2},
				"rank 1: time: invalid argument: 1073741824 untimed and 1 timed runs, expected at most 1073741823 in all"},
			{[2]gpu.Timing{{Repeats: 1}, {Repeats: 1<<32 + 1}}, [2]int{1, 1}, // 1 in 32 bits
				"rank 1: time: invalid argument: 0 untimed and 4294967297 timed runs, expected at most 2147483647 in all"},
			{[2]gpu.Timing{{Repeats: 1}, {Repeats: 1}}, [2]int{2, 1},
				"rank 0 calls all-reduce of 1 float32, sum; all-reduce of 1 int16, sum, rank 1 calls all-reduce of 1 float32, sum, expected the same of all ranks"},
			{[2]gpu.Timing{{Repeats: 1}, {Repeats: 1}}, [2]int{1, 0},
				"rank 1: invalid argument: no collective, expected at least one"},
		} {
			errs := each(all, func(r collective.Communicator) error {
				which := 0
				if r.Rank() == 1 {
					which = 1
				}
				calls := []collective.Call{sum(ones[r.Rank()]), sum(shorts[r.Rank()])}
				_, err := r.Time(c.timings[which], calls[:c.lengths[which]]...)
				return err
			})
			for rank, err := range errs {
				if !errors.Is(err, gpu.ErrArgument) || !strings.HasSuffix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || err.Error() != errs[0].Error() {
					t.Errorf("rank %d: %v, expected one line that ends with %q, the same on all ranks", rank, err, c.want)
				}
			}
		}
		total := 0
		for rank := range all {
			got := make([]float32, 1)
			if err := ones[rank].Download(got); err != nil || got[0] != float32(rank) {
				t.Errorf("rank %d has %v, %v, expected %d, because nothing has run", rank, got, err, rank)
			}
			total += rank
		}
		if err := errors.Join(each(all, func(c collective.Communicator) error { return c.Run(sum(ones[c.Rank()]), sum(shorts[c.Rank()])) })...); err != nil {
			t.Fatal(err)
		}
		for rank, b := range ones {
			got := make([]float32, 1)
			if err := b.Download(got); err != nil || got[0] != float32(total) {
				t.Errorf("rank %d has %v, %v, expected %d", rank, got, err, total)
			}
		}
	}
	t.Run("memory", func(t *testing.T) { run(t, inMemory(t, 3)) })
	t.Run("fake", func(t *testing.T) { run(t, fakeGroup(t, longTime, "emulator", "emulator", "emulator")) })
	t.Run("GPU", func(t *testing.T) { run(t, gpuGroup(t, longTime)) })
}

// Collectives in a row, each of which reads what the one before has written, give the bits of
// those in memory. Ranks that do not agree on the last one all get an error, and go on.
func TestRow(t *testing.T) {
	run := func(t *testing.T, all []collective.Communicator) {
		n := len(all)
		reference := inMemory(t, n)
		seed := uint64(time.Now().UnixNano())
		t.Logf("seed %d", seed)
		results := func(group []collective.Communicator) (got [][]float32) {
			from := rand.New(rand.NewPCG(seed, 0))
			type row struct{ in, out, part, empty gpu.Buffer }
			rows := make([]row, n)
			for i, c := range group {
				rows[i] = row{on(t, c, gpu.Float32, random(gpu.Float32, 7*n, from)), on(t, c, gpu.Float32, poison(gpu.Float32, 7*n)),
					on(t, c, gpu.Float32, poison(gpu.Float32, 7)), on(t, c, gpu.Float32, []float32{})}
			}
			calls := func(r row, root int) []collective.Call {
				return []collective.Call{{Kind: collective.AllReduce, In: r.in, Out: r.out, Op: collective.Sum}, {Kind: collective.AllReduce, In: r.empty, Out: r.empty},
					{Kind: collective.ReduceScatter, In: r.out, Out: r.part, Op: collective.Max}, {Kind: collective.Broadcast, In: r.part, Out: r.part, Root: root}}
			}
			for rank, err := range each(group, func(c collective.Communicator) error { return c.Run(calls(rows[c.Rank()], c.Rank())...) }) {
				if !errors.Is(err, gpu.ErrArgument) || !strings.Contains(err.Error(), "from rank 0, rank 1 calls") || strings.Contains(err.Error(), "\n") {
					t.Errorf("rank %d: %v, expected one line with the broadcasts", rank, err)
				}
			}
			if err := errors.Join(each(group, func(c collective.Communicator) error { return c.Run(calls(rows[c.Rank()], n-1)...) })...); err != nil {
				t.Fatal(err)
			}
			for _, r := range rows {
				x, y := make([]float32, 7*n), make([]float32, 7)
				if err := errors.Join(r.out.Download(x), r.part.Download(y)); err != nil {
					t.Fatal(err)
				}
				got = append(got, x, y)
			}
			return got
		}
		if got, want := results(all), results(reference); !reflect.DeepEqual(got, want) {
			t.Errorf("%v, expected %v", got, want)
		}
	}
	t.Run("fake", func(t *testing.T) { run(t, fakeGroup(t, longTime, "emulator", "emulator", "emulator")) })
	t.Run("GPU", func(t *testing.T) { run(t, gpuGroup(t, longTime)) })
}

// Ranks of which one has a collective that goes by way of the host, and another one the
// same first collective alone, do not agree: all get an error, and go on.
func TestRowByHost(t *testing.T) {
	run := func(t *testing.T, all []collective.Communicator) {
		ones, shorts := onAll(t, all), shortsOn(t, all)
		for rank, err := range each(all, func(c collective.Communicator) error {
			if c.Rank() == 0 {
				return c.Run(sum(ones[0]), sum(shorts[0]))
			}
			return c.Run(sum(ones[c.Rank()]))
		}) {
			if !errors.Is(err, gpu.ErrArgument) || strings.Contains(err.Error(), "\n") {
				t.Errorf("rank %d: %v, expected one line with both calls", rank, err)
			}
		}
		if err := errors.Join(each(all, func(c collective.Communicator) error { return c.Run(sum(ones[c.Rank()]), sum(shorts[c.Rank()])) })...); err != nil {
			t.Fatal(err)
		}
		for rank, b := range shorts {
			got := make([]int16, 1)
			if err := b.Download(got); err != nil || int(got[0]) != 3*len(all) {
				t.Errorf("rank %d has %v, %v, expected %d", rank, got, err, 3*len(all))
			}
		}
	}
	t.Run("fake", func(t *testing.T) { run(t, fakeGroup(t, longTime, "emulator", "emulator")) })
	t.Run("GPU", func(t *testing.T) { run(t, gpuGroup(t, longTime)) })
}

// A collective is one round trip to the worker if the other ranks have come, also behind a
// launch that the host has not awaited. The rank that comes last in the fake finds all inputs.
func TestRoundTripsOfCollective(t *testing.T) {
	all := fakeGroup(t, longTime, "emulator", "emulator")
	buffers := onAll(t, all)
	commands := func() (numbers []uint32) {
		for _, c := range all {
			l := c.Device().(*Device).link
			l.mu.Lock()
			numbers = append(numbers, l.number)
			l.mu.Unlock()
		}
		return numbers
	}
	for _, c := range all {
		if err := c.Device().Launch(launchOn(t, c, "nothing")); err != nil {
			t.Fatal(err)
		}
	}
	before := commands()
	if err := errors.Join(each(all, func(c collective.Communicator) error {
		return c.AllReduce(buffers[c.Rank()], buffers[c.Rank()], collective.Sum)
	})...); err != nil {
		t.Fatal(err)
	}
	after := commands()
	if least := min(after[0]-before[0], after[1]-before[1]); least != 1 {
		t.Errorf("%v commands before and %v after it, expected one more on a rank", before, after)
	}
}
