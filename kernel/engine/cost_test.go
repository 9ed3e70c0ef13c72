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
	eval := cells(t)
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

// cells starts an engine and returns what evaluates a cell, which must not fail.
func cells(t *testing.T) (eval func(code string)) {
	t.Helper()
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	n := 0
	return func(code string) {
		n++
		e.Eval(t.Context(), uint64(n), n, code, func(r Result) {
			if r.Err != nil {
				t.Fatal(r.Err.Traceback)
			}
		})
	}
}

// goroutines is how many have been started.
func goroutines() uint64 {
	sample := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// TestObjects counts what ixgo allocates for statements that are executed often: no error,
// stack or function that nothing uses.
func TestObjects(t *testing.T) {
	const statements = 1000
	execute(t, true)
	for _, x := range []struct {
		name, code string // of f(n), which executes a statement n times
		most       float64
	}{
		{"a failed assertion of 1", "var x any = 1\nfunc f(n int) (k int) {\n\tfor range n {\n\t\tif _, ok := x.(string); ok {\n\t\t\tk++\n\t\t}\n\t}\n\treturn\n}", 4},
		{"a failed assertion of nil", "var x any\nfunc f(n int) (k int) {\n\tfor range n {\n\t\tif _, ok := x.(string); ok {\n\t\t\tk++\n\t\t}\n\t}\n\treturn\n}", 4},
		{"a deferred closure", "func g(k *int) {\n\tdefer func() { *k++ }()\n}\nfunc f(n int) (k int) {\n\tfor range n {\n\t\tg(&k)\n\t}\n\treturn\n}", 12},
		{"a recovered panic", "func g(k *int) {\n\tdefer func() { recover() }()\n\tpanic(k)\n}\nfunc f(n int) (k int) {\n\tfor range n {\n\t\tg(&k)\n\t}\n\treturn\n}", 70},
	} {
		t.Run(x.name, func(t *testing.T) {
			eval := cells(t)
			eval(x.code)
			few := testing.AllocsPerRun(5, func() { eval("f(10)") })
			many := testing.AllocsPerRun(5, func() { eval("f(10 + 1000)") })
			each := (many - few) / statements
			t.Logf("%v objects", each)
			if each > x.most {
				t.Errorf("%v objects, at most %v are allowed", each, x.most)
			}
		})
	}
}
