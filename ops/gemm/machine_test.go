package gemm

import (
	"strings"
	"testing"

	"warpbook/ops/optest"
)

// The assembler joins neighbouring loads of these rungs from shared memory, as the
// profiler's counts show, and the notes of their counters say so.
func TestMachineCodeJoinsLoads(t *testing.T) {
	b := optest.NewBench(t, optest.Emulator(t), Operator, 42, 64, 64, 16)
	for _, name := range []string{"gemm_shared", "gemm_tile_1d", "gemm_tile_2d"} {
		c, err := b.Count(name)
		if err != nil {
			t.Fatal(err)
		}
		if notes := strings.Join(c.Notes(), "\n"); !strings.Contains(notes, name+": neighbouring loads from shared memory are joined into") {
			t.Errorf("%s: no word of joined loads in %s", name, notes)
		}
	}
}
