package main

import (
	"strings"
	"testing"

	"warpbook/kernel/cellproto"
)

// panics sets which panics stop.
func (d *debugged) panics(filter string) {
	d.t.Helper()
	d.must("setExceptionBreakpoints", `{"filters":["`+filter+`"]}`)
}

const faults = `import "sort"
unwound := false
type T struct{ n int; next *T }
type E struct{}
func (E) Error() string { return "E" }
func fault(kind, k int) (r int) {
	defer func() { unwound = true }()
	list, at := []int{1, 2, 3}, 3 + k
	switch kind {
	case 0:
		return 7 / k
	case 1:
		var t *T
		return t.next.n
	case 2:
		return list[at]
	case 3:
		var x any = at
		return len(x.(string))
	case 4:
		c := make(chan int)
		close(c)
		c <- at
	case 5:
		panic(E{})
	case 6:
		var m map[string]int
		m["a"] = at
	case 7:
		for i := range 9 {
			r += list[i]
		}
	case 8:
		sort.Slice(list, func(i, j int) bool {
			return list[i+at] < 0
		})
	}
	return r
}
func caller(kind int) int {
	mine := kind * 10
	return fault(kind, 0) + mine
}`

// A panic, and a fault that the runtime finds, stop before deferred calls run, with the
// variables of the statement and of its callers.
func TestDebugPanics(t *testing.T) {
	d := attach(t)
	d.value(faults)
	if e := d.run("caller(0)"); e.Error == nil {
		t.Error("no panic without a filter")
	}
	d.value("unwound = false")
	d.panics("all")
	for kind, want := range []struct{ line, text string }{
		{"11", "runtime error: integer divide by zero"},
		{"14", "runtime error: invalid memory address or nil pointer dereference"},
		{"16", "runtime error: index out of range [3] with length 3"},
		{"19", "interface conversion: interface {} is int, not string"},
		{"23", "send on closed channel"},
		{"25", "E"},
		{"28", "assignment to entry in nil map"},
		{"31", "runtime error: index out of range [3] with length 3"},
		{"35", "runtime error: index out of range [4] with length 3"},
	} {
		s, done := d.next("caller(" + string(rune('0'+kind)) + ")")
		where, callers := d.where(s), 1
		if kind == 8 { // called by package sort
			want.line, callers = want.line+" < fault:34", 2
			where = strings.Replace(where, "fault.func2", "fault", 1)
		}
		d.expect("place", strings.TrimSuffix(where, cellOf(where)), "exception fault:"+want.line+" < caller:42 < ")
		d.expect("text", s.Text, want.text)
		d.expect("variables of the caller", d.locals(s, callers), "kind="+string(rune('0'+kind))+" mine="+strings.TrimLeft(string(rune('0'+kind))+"0", "0")+strings.Repeat("0", btoi(kind == 0)))
		locals := d.locals(s, callers-1)
		if !strings.Contains(locals, "kind="+string(rune('0'+kind))+" k=0 r=") || !strings.Contains(locals, "list=[1 2 3] at=3") || kind == 7 && !strings.HasSuffix(locals, "i=3") {
			t.Errorf("variables of kind %d: %s", kind, locals)
		}
		d.expect("deferred calls", d.globals()["unwound"].Value, "false")
		if e := d.ends(s, done); e.Error == nil || !strings.Contains(e.Error.Value, strings.TrimPrefix(want.text, "runtime error: ")) {
			t.Errorf("the error of the cell of kind %d: %v", kind, e.Error)
		}
		d.expect("deferred calls", d.value("was := unwound; unwound = false; was"), "true")
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// cellOf is the last frame of a stop, that of the cell.
func cellOf(where string) string { return where[max(0, strings.LastIndex(where, "cell")):] }

// Panics that code recovers stop with the filter all only; a panic stops once, however
// many deferred calls it passes.
func TestDebugCaughtPanics(t *testing.T) {
	d := attach(t)
	d.value(`func try(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}
func divide(k int) int {
	defer func() { _ = k }()
	return 1 / k
}
func check(k int) {
	if k > 1 {
		panic("too many")
	}
}
func retry(f func()) (v any) {
	defer func() { v = recover() }()
	for range 1 {
		f()
	}
	return nil
}
func scan(k int) {
	for range 1 {
		defer func() { _ = k }()
		divide(k)
	}
}`)
	const caught = "try(func() { divide(0) }); try(func() { check(2) })"
	d.panics("uncaught")
	if e := d.run(caught); e.Error != nil {
		t.Error(e.Error)
	}
	if e := d.run("retry(func() { scan(0) })"); e.Error != nil { // bytecode has recorded the deferred calls
		t.Error(e.Error)
	}
	s, done := d.next("divide(0)")
	d.expect("uncaught", d.where(s), "exception divide:8 < cell 4:1")
	d.ends(s, done)
	s, done = d.next("import \"sync\"\nvar wg sync.WaitGroup\nvar m map[int]int\nwg.Go(func() {\n\tm[1] = 2\n})\nwg.Wait()")
	d.expect("goroutine", d.where(s), "exception func1:5")
	d.ends(s, done)
	s, done = d.next("done := make(chan int)\ngo func() {\n\tdefer close(done)\n\tcheck(3)\n}()\n<-done")
	d.expect("goroutine with a deferred call", d.where(s), "exception check:12 < func1.func2:4")
	d.ends(s, done)

	d.panics("all")
	s, done = d.next(caught)
	d.expect("caught fault", strings.TrimSuffix(d.where(s), cellOf(d.where(s))), "exception divide:8 < func1:1 < try:3 < ")
	d.goOn(s)
	s = d.stopped()
	d.expect("caught panic", strings.TrimSuffix(d.where(s), cellOf(d.where(s))), "exception check:12 < func2:1 < try:3 < ")
	if e := d.ends(s, done); e.Error != nil {
		t.Errorf("recovered panics: %v", e.Error)
	}
	_, done = d.next("divide(0)")
	d.wait(d.send(cellproto.Request{Type: cellproto.Interrupt}))
	if e := d.wait(done); e.Error == nil {
		t.Error("no error after an interrupt at a panic")
	}
	d.expect("afterwards", d.value("6 * 7"), "42")
}

// A stop in a deferred call shows the function that has deferred it, with its variables,
// where it returns, or where it has panicked.
func TestDebugDeferredCalls(t *testing.T) {
	d := attach(t)
	d.value(`func leave(k int) (r int) {
	at := k + 1
	for i := range 3 {
		defer func() {
			r += at / (i - k)
		}()
		if k == 0 && i == 2 {
			panic("two")
		}
	}
	return at
}`)
	d.panics("all")
	s, done := d.next("leave(1)")
	d.expect("returns", d.where(s), "exception leave.func1:5 < leave:12 < cell 2:1")
	d.expect("variables", d.locals(s, 1), "k=1 r=4 at=2")
	d.ends(s, done)
	s, done = d.next("leave(0)")
	d.expect("panics", d.where(s), "exception leave:8 < cell 3:1")
	d.goOn(s)
	s = d.stopped()
	d.expect("panics again", d.where(s), "exception leave.func1:5 < leave:8 < cell 3:1")
	d.expect("variables", d.locals(s, 1), "k=0 r=1 at=1 i=2")
	d.ends(s, done)
}
