package ladder

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
)

// Every element is in one part, whatever the number of processors, and a panic of a part
// is the caller's.
func TestParallel(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, n := range []int{0, 1, Piece - 1, Piece, 2*Piece - 1, 2 * Piece, 5*Piece + 3} {
		seen := make([]uint8, n)
		Stop(nil).Parallel(n, func(from, to int) {
			for i := from; i < to; i++ {
				seen[i]++
			}
		})
		if i := slices.IndexFunc(seen, func(times uint8) bool { return times != 1 }); i >= 0 {
			t.Errorf("n = %d: element %d is in %d parts, expected 1", n, i, seen[i])
		}
	}
	for _, n := range []int{1, 2, 3, 40, 41} {
		seen := make([]uint8, n)
		Stop(nil).ParallelBy(2, n, func(from, to int) {
			for i := from; i < to; i++ {
				seen[i]++
			}
			if to-from > 2 {
				t.Errorf("n = %d: a part has %d elements, expected at most 2", n, to-from)
			}
		})
		if i := slices.IndexFunc(seen, func(times uint8) bool { return times != 1 }); i >= 0 {
			t.Errorf("n = %d in parts of 2: element %d is in %d parts, expected 1", n, i, seen[i])
		}
	}
	func() {
		defer func() {
			if r := recover(); r != "part" {
				t.Errorf("recovered %v, expected the panic of a part", r)
			}
		}()
		Stop(nil).Parallel(3*Piece, func(from, to int) { panic("part") })
	}()
	var parts atomic.Int64
	Stop(func() bool { return true }).Parallel(3*Piece, func(from, to int) { parts.Add(1) })
	if parts.Load() != 0 {
		t.Errorf("%d parts after an interrupt, expected none", parts.Load())
	}
}

// Of a long output the first of the worst elements is named and all wrong ones are
// counted, whichever goroutine sees them first.
func TestCompareLongOutputs(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const n = 4*Piece + 7
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	want := make([]uint32, n)
	for i := range want {
		want[i] = random.Uint32()
	}
	got := slices.Clone(want)
	wrong := map[int]bool{n - 1: true}
	for len(wrong) < 40 {
		wrong[random.IntN(n)] = true
	}
	first := n
	for i := range wrong {
		got[i], first = want[i]+1, min(first, i)
	}
	c := Exactly.Compare(nil, got, Expected{Exact: want}, Plan{})
	if c.Error != 40 || c.Index != first || !slices.Equal(c.Failed, []string{CheckExact}) {
		t.Errorf("%g wrong, the first at %d, failed %q; expected 40, %d, %q", c.Error, c.Index, c.Failed, first, CheckExact)
	}
	if SameBits(got, want) || !SameBits(want, slices.Clone(want)) {
		t.Error("SameBits does not tell outputs apart")
	}
}
