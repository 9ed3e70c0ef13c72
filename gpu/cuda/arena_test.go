package cuda

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"warpbook/gpu"
)

// TestArena takes and gives parts in random order: none may overlap, and in
// the end all is one part again.
func TestArena(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs linux: CUDA is nowhere else")
	}
	shared, err := sharedArena()
	if err != nil {
		t.Fatal(err)
	}
	const size = 64 << 20
	const seed = 1
	random := rand.New(rand.NewPCG(seed, 0))
	base := int64(1 << 32) // far from what other tests use
	a := &arena{file: shared.file, memory: shared.memory, free: []span{{base, size}}}
	var taken []span
	for step := range 2000 {
		if random.IntN(2) == 0 || len(taken) == 0 {
			s, err := a.take(random.Int64N(4 << 20))
			if err != nil {
				continue // full
			}
			for _, o := range taken {
				if s.offset < o.offset+o.bytes && o.offset < s.offset+s.bytes {
					t.Fatalf("step %d (seed %d): %v overlaps %v", step, seed, s, o)
				}
			}
			if s.offset < base || s.offset+s.bytes > base+size {
				t.Fatalf("step %d (seed %d): %v is outside", step, seed, s)
			}
			taken = append(taken, s)
			continue
		}
		i := random.IntN(len(taken))
		a.give(taken[i])
		taken = append(taken[:i], taken[i+1:]...)
	}
	for _, s := range taken {
		a.give(s)
	}
	if len(a.free) != 1 || a.free[0] != (span{base, size}) {
		t.Errorf("free is %v, expected one part of %d bytes (seed %d)", a.free, size, seed)
	}
}

// TestNewestPTX checks the table at its ends and between its rows.
func TestNewestPTX(t *testing.T) {
	for cuda, want := range map[int64]gpu.Version{
		10020: {Major: 6, Minor: 5}, 12040: {Major: 8, Minor: 4}, 12060: {Major: 8, Minor: 5}, 13000: {Major: 9, Minor: 0}, 13020: {Major: 9, Minor: 99},
	} {
		if got := newestPTX(cuda); got != want {
			t.Errorf("CUDA %d loads PTX %v, expected %v", cuda, got, want)
		}
	}
	if got, want := driverFor(gpu.Version{Major: 8, Minor: 7}), "install driver 570 or later, or compile with CUDA before 12.8"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
}
