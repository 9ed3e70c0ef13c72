package main

import (
	"fmt"
	"strings"
	"testing"
)

// far defines a chain of functions, so large that the last, which calls f, is linked
// instead of compiled with the cell that calls the first.
func (c *client) far(name, f string) {
	var b strings.Builder
	for i := range 30 {
		next := f + "(n)"
		if i > 0 {
			next = fmt.Sprintf("%s%d(n)", name, i-1)
		}
		fmt.Fprintf(&b, "func %s%d(n int) string {\n\ts := 0\n", name, i)
		for range 5 {
			b.WriteString("\tfor i := 0; i < 1; i++ {\n\t\ts += i * n\n\t}\n")
		}
		fmt.Fprintf(&b, "\tif s != 0 {\n\t\treturn \"wrong\"\n\t}\n\treturn %s\n}\n", next)
	}
	c.value(b.String())
}

// TestLinkedFunctions: a linked function behaves like one compiled with its cell.
func TestLinkedFunctions(t *testing.T) {
	c := start(t)
	c.value(`import ("errors"; "fmt"; "os")
type Shape interface { Area() float64 }
var shape Shape
count := 0
func tell(format string, list ...any) string { return fmt.Sprintf(format, list...) }
func some(n int) (int, error, []string) {
	if n < 0 { return 0, errors.New("negative"), nil }
	return n, nil, []string{"a"}
}
func last() string { return "first" }
func act(n int) string {
	count++
	switch n {
	case 0: var list []int; return tell("%d", list[3])
	case 1: panic(errors.New("on purpose"))
	case 2: os.Exit(3)
	case 3: for {}
	case 4: return tell("%.0f", shape.Area())
	}
	v, err, list := some(n)
	return tell("%d %v %v %s", v, err, list, last())
}`)
	c.far("far", "act")
	for code, want := range map[string]string{
		"far29(7)": "7 <nil> [a] first", "far29(-1)": "0 negative [] first",
		"func() (r any) { defer func() { r = recover() }(); far29(1); return }()":                                   "on purpose",
		"func() (r any) { defer func() { _, r = recover().(interface { RuntimeError() }) }(); far29(0); return }()": "true",
		"f := far29\nf(8)": "8 <nil> [a] first",
		"before := count\nfunc() { defer far29(9) }()\ngo far29(9)\ncount - before > 0": "true",
	} {
		if got := c.value(code); got != want {
			t.Errorf("%s is %s, want %s", code, got, want)
		}
	}
	for n, want := range []string{"panic: runtime error: index out of range", "panic: on purpose", "exit: the cell called os.Exit(3)"} {
		e := c.run(fmt.Sprintf("x := 1\n_ = x\nfar29(%d)", n))
		trace := ""
		if e.Error != nil {
			trace = strings.Join(e.Error.Traceback, "\n")
		}
		for _, part := range []string{want, "cell 1, line ", "in act", "in far0", "cell 2, line 1", "in far12", "in far29", fmt.Sprintf("cell %d, line 3", c.cell)} {
			if !strings.Contains(trace, part) {
				t.Errorf("no %q in the error of far29(%d):\n%s", part, n, trace)
			}
		}
		if i, j := strings.Index(trace, "in act"), strings.Index(trace, "in far29"); i > j {
			t.Errorf("the frames are not in order:\n%s", trace)
		}
	}
	if e := c.interrupt(c.startCell("far29(3)")); e.Error == nil || e.Error.Name != "interrupted" {
		t.Errorf("the answer is %+v, %v", e, e.Error)
	}
}

// TestLinkedFunctionsChange: linked functions see a new definition and a type that is
// defined later; values made before keep the old definition.
func TestLinkedFunctionsChange(t *testing.T) {
	c := start(t)
	c.value("type Shape interface { Area() int }\nfunc last(s Shape) int { return s.Area() }\nvar shape Shape\nfunc act(n int) string { return string(rune('a' + last(shape))) }")
	c.far("far", "act")
	c.value("type A struct{}\nfunc (A) Area() int { return 1 }\nshape = A{}\nold := func() string { return far29(0) }")
	for code, want := range map[string]string{"far29(1)": "b", "old()": "b"} {
		if got := c.value(code); got != want {
			t.Errorf("%s is %s, want %s", code, got, want)
		}
	}
	c.value("type B struct{ n int }\nfunc (b B) Area() int { return b.n }\nshape = B{4}")
	if got := c.value("far29(1)"); got != "e" {
		t.Errorf("with a later type far29 gives %s", got)
	}
	c.value("func last(s Shape) int { return s.Area() + 10 }")
	if got := c.value("far29(1)"); got != "o" {
		t.Errorf("after a redefinition far29 gives %s", got)
	}
	c.value("shape = A{}")
	if got := c.value("old()"); got != "b" {
		t.Errorf("what was made before gives %s", got)
	}
	c.value("func last(s Shape, more ...int) int { return s.Area() + 20 }") // recompiles all callers
	if got := c.value("far29(1)"); got != "v" {
		t.Errorf("after another redefinition far29 gives %s", got)
	}
}

// TestLinkWhileGoroutinesRun: running goroutines look up compiled functions while other
// cells are linked.
func TestLinkWhileGoroutinesRun(t *testing.T) {
	c := start(t)
	c.value("import \"sync\"\nvar mu sync.Mutex\nn := 0\nstop := make(chan bool)\nfunc act(n int) string { return \"done\" }")
	c.far("far", "act")
	c.value("go func() { for { select { case <-stop: return; default: func() { mu.Lock(); defer mu.Unlock(); n++ }() } } }()")
	for range 100 {
		if got := c.value("far29(1)"); got != "done" {
			t.Fatalf("far29 gives %s", got)
		}
	}
	if got := c.value("close(stop)\nmu.Lock()\nn > 0"); got != "true" {
		t.Errorf("the goroutine stood still: %s", got)
	}
}
