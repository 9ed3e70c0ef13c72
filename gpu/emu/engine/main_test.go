package engine

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"warpbook/gpu/emu/simd"
)

// TestMain runs every test with each set of vector instructions that the processor has,
// and without: results, faults and counters are the same. With -short they run once,
// with the best set.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("test.bench"); f != nil && f.Value.String() != "" {
		os.Exit(m.Run()) // benchmarks choose for themselves
	}
	if testing.Short() {
		os.Exit(m.Run())
	}
	code := 0
	for ; simd.Best >= simd.NoVectors && code == 0; simd.Best = simd.Best.Less() {
		if code = m.Run(); code != 0 {
			fmt.Println("with vectors", simd.Best)
		}
	}
	os.Exit(code)
}
