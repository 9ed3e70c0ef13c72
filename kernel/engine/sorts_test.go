//go:build edited

package engine

import (
	"os"
	"testing"

	"warpbook/kernel/engine/symbols"
)

// TestSortsAsCompiled: sorts whose functions only compare, which the machine does not call,
// and similar ones that do more, make the same swaps as in compiled Go, and panic as there.
func TestSortsAsCompiled(t *testing.T) {
	symbols.Register()
	src, err := os.ReadFile("testdata/sorts.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := compiled(t, string(src))
	for _, only := range []bool{false, true} {
		if d := firstDifference(printed(t, string(src), only), want); d != "" {
			t.Errorf("engine library only: %v: %s", only, d)
		}
	}
}
