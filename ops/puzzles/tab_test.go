package puzzles

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"warpbook/gpu/clang/tabtest"
	"warpbook/gpu/compile"
)

// TestTab: each puzzle is solved in CUDA C++ by the compiler of a browser tab, with the
// score that clang's own back end gives the same intermediate code, and at most 1.3 times
// its instructions. Without WARPBOOK_LONG the seed chooses some of them.
func TestTab(t *testing.T) {
	tab := tabtest.Open(t)
	c := newCourse(t)
	random := rand.New(rand.NewPCG(uint64(c.seed), 0))
	var instructions [2]uint64
	for _, p := range All() {
		if os.Getenv("WARPBOOK_LONG") == "" && random.IntN(6) > 0 {
			continue
		}
		s, err := c.Solution(p.Name)
		if err != nil {
			t.Fatal(err)
		}
		var scores [2]Score
		own, theirs := tab.Both(t, p.Name+".cu", strings.Replace(s.CUDA, "__global__", `extern "C" __global__`, 1))
		for i, ptx := range []string{own, theirs} {
			m, err := compile.PTX(p.Name+".ptx", ptx, 1)
			if err != nil {
				t.Fatal(err)
			}
			v, err := c.Check(p.Name, m.Entries[0])
			if err != nil || v.Result != Pass {
				t.Fatalf("%v, %v\n%s", v, err, ptx)
			}
			scores[i] = v.Score
			instructions[i] += v.instructions
		}
		if scores[0] != scores[1] {
			t.Errorf("%s: %+v, %+v by clang's back end", p.Name, scores[0], scores[1])
		}
	}
	t.Logf("%d instructions, %d by clang's back end", instructions[0], instructions[1])
	if os.Getenv("WARPBOOK_LONG") != "" && float64(instructions[0]) > 1.3*float64(instructions[1]) {
		t.Errorf("%d instructions, expected at most 1.3 times the %d of clang's back end", instructions[0], instructions[1])
	}
}
