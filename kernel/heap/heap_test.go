//go:build !race

package heap

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"
)

// resident is how many bytes of the process are in memory.
func resident(t *testing.T) int {
	t.Helper()
	memory, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		t.Skip(err)
	}
	var kB int
	_, anon, _ := strings.Cut(string(memory), "Anonymous:")
	if _, err := fmt.Sscan(anon, &kB); err != nil {
		t.Fatal(err)
	}
	return kB << 10
}

// TestFill: the memory up to the next collection is there before it is used, and
// more garbage takes no more. With the race detector a program has other memory.
func TestFill(t *testing.T) {
	const first = 16 << 20 // of an almost empty heap: the runtime's 4 MB at 100 %
	defer debug.SetGCPercent(debug.SetGCPercent(100 * first / (4 << 20)))
	before, cycles := resident(t), collections()
	Fill()
	filled := resident(t)
	if got := collections() - cycles; got != rounds {
		t.Errorf("%d collections, expected %d", got, rounds)
	}
	if grown := filled - before; grown < first*3/4 || grown > first*3/2 {
		t.Errorf("grown by %d bytes, expected about %d", grown, first)
	}
	for range 3 * first / step {
		litter()
	}
	if grown := resident(t) - filled; grown > first/8 {
		t.Errorf("grown by %d bytes more", grown)
	}
}

// TestFillEnds: without collections it ends, too.
func TestFillEnds(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	before := collections()
	Fill()
	if got := collections() - before; got != 0 {
		t.Errorf("%d collections, expected none", got)
	}
	debug.FreeOSMemory()
}
