//go:build edited

package engine

import (
	"runtime/metrics"
	"testing"
)

// TestTrivialCellIsCheap counts goroutines and allocations of a cell without effect:
// waking a goroutine takes as long as checking the cell, and new memory is in no cache.
func TestTrivialCellIsCheap(t *testing.T) {
	const most = 550 // 503 objects now, 636 with the guards of package initialisers
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	cells := 0
	eval := func(code string) {
		cells++
		e.Eval(t.Context(), uint64(cells), cells, code, func(r Result) {
			if r.Err != nil {
				t.Fatal(r.Err.Traceback)
			}
		})
	}
	eval("x := 0")
	for range 100 {
		eval("x = 1")
	}
	if objects := testing.AllocsPerRun(100, func() { eval("x = 1") }); objects > most {
		t.Errorf("a cell allocates %v objects, at most %d are allowed", objects, most)
	} else {
		t.Logf("%v objects a cell", objects)
	}
	before := goroutines()
	for range 100 {
		eval("x = 1")
	}
	if n := goroutines() - before; n > 10 { // of the test and of collections
		t.Errorf("100 cells start %d goroutines, expected none", n)
	}
}

// goroutines is how many have been started.
func goroutines() uint64 {
	sample := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// TestFailedAssertions counts what ixgo allocates for assertions with v, ok that fail: no
// error, which would describe all frames.
func TestFailedAssertions(t *testing.T) {
	const assertions, most = 1000, 4 // objects each
	execute(t, true)
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	cells := 0
	eval := func(code string) {
		cells++
		e.Eval(t.Context(), uint64(cells), cells, code, func(r Result) {
			if r.Err != nil {
				t.Fatal(r.Err.Traceback)
			}
		})
	}
	eval("func f(x any, n int) (k int) {\n\tfor range n {\n\t\tif _, ok := x.(string); ok {\n\t\t\tk++\n\t\t}\n\t}\n\treturn\n}\nvar x any = 1")
	for _, value := range []string{"1", "nil"} {
		eval("x = " + value)
		few := testing.AllocsPerRun(5, func() { eval("f(x, 10)") })
		many := testing.AllocsPerRun(5, func() { eval("f(x, 10 + 1000)") })
		if each := (many - few) / assertions; each > most {
			t.Errorf("of %s: %v objects, at most %d are allowed", value, each, most)
		} else {
			t.Logf("of %s: %v objects", value, each)
		}
	}
}
