package emu

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"warpbook/gpu/emu/simd"
)

// repeated reports whether the tests have run before, with better vectors; chosen chooses
// what runs again.
var (
	repeated bool
	chosen   *rand.Rand
)

// sampled reports whether a case of a corpus is left out of a repetition, as half of them are.
func sampled() bool { return repeated && os.Getenv("WARPBOOK_LONG") == "" && chosen.IntN(2) == 0 }

// TestMain runs every test with the best set of vector instructions that the processor has
// and with another one or none, which a seed chooses, or with all of them if WARPBOOK_LONG
// is set: results, faults and counters are the same. With -short they run once.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("test.bench"); f != nil && f.Value.String() != "" {
		os.Exit(m.Run()) // benchmarks choose for themselves
	}
	sets := []simd.Vectors{simd.Best}
	for v := simd.Best.Less(); v >= simd.NoVectors; v = v.Less() {
		sets = append(sets, v)
	}
	seed := uint64(time.Now().UnixNano())
	if s, err := strconv.ParseUint(os.Getenv("WARPBOOK_SEED"), 10, 64); err == nil {
		seed = s
	}
	chosen = rand.New(rand.NewPCG(seed, 0))
	if testing.Short() {
		sets = sets[:1]
	} else if others := sets[1:]; len(others) > 1 && os.Getenv("WARPBOOK_LONG") == "" {
		sets = []simd.Vectors{sets[0], others[chosen.IntN(len(others))]}
	}
	for _, simd.Best = range sets {
		if code := m.Run(); code != 0 {
			fmt.Printf("with vectors %v, WARPBOOK_SEED=%d\n", simd.Best, seed)
			os.Exit(code)
		}
		repeated = true
	}
}
