package main

import (
	"strings"
	"testing"
)

// recursions never end. Each passes through other code of the engine, of compiled
// functions, or of both.
var recursions = []struct{ what, code string }{
	{"a function with an interface", "boxed(0)"},
	{"a method through an interface", "Walker(Tree{}).Walk(0)"},
	{"deferred calls", "deferring(0)"},
	{"MarshalJSON", "_, _ = json.Marshal(Node{})"},
	{"sort.Slice", "sorted(0)"},
	{"a package", "waits.Endless(0)"},
	{"a package and a cell", "waits.Call(func() { again() })"},
}

// TestRecursionIsAPanic: a recursion without end is a panic of its cell, or of its
// goroutine, and 100 000 calls are none. The size of the stack decides, at any load.
func TestRecursionIsAPanic(t *testing.T) {
	if raceEnabled {
		t.Skip("calls take more stack and time under the race detector than the program allows, and one goroutine has nothing to race")
	}
	c := withWaits(t)
	c.value(`import ("encoding/json"; "sort")
func boxed(n any) int { return boxed(n.(int) + 1) + 1 }
type Walker interface{ Walk(n int) int }
type Tree struct{ a, b int }
func (t Tree) Walk(n int) int { if n == 100_000 { return n }; var w Walker = t; return w.Walk(n + 1) }
type Endless struct{ Tree }
func (e Endless) Walk(n int) int { var w Walker = e; return w.Walk(n + 1) + 1 }
func deferring(n int) (m int) { defer func() { m++ }(); return deferring(n + 1) }
func recovers(n int) (m int) { defer func() { _ = recover(); m++ }(); return recovers(n + 1) }
type Node struct{}
func (n Node) MarshalJSON() ([]byte, error) { return json.Marshal(n) }
func sorted(n int) { sort.Slice([]int{1, 2}, func(i, j int) bool { sorted(n + 1); return i < j }) }
func again() { waits.Call(func() { again() }) }`)
	if got := c.value("Walker(Tree{}).Walk(0)"); got != "100000" {
		t.Errorf("100 000 calls give %s", got)
	}
	for _, x := range recursions {
		code := strings.Replace(x.code, "Tree{}", "Endless{}", 1)
		if e := c.run(code); e.Error == nil || e.Error.Value != "stack overflow: the cell recursed too deeply" {
			t.Errorf("%s: the answer is %+v, %v", x.what, e, e.Error)
		} else if n := len(e.Error.Traceback); n > 40 {
			t.Errorf("%s: %d lines of traceback", x.what, n)
		}
	}
	c.err.take()
	c.value("go boxed(0);")
	c.warnedUntil(func(got string) bool {
		return strings.Contains(got, "panic in a goroutine: stack overflow: the cell recursed too deeply")
	})
	if got := c.value("recovers(0) > 1000"); got != "true" {
		t.Errorf("a function that recovers at each depth gives %s", got)
	}
	if got := c.value("kept + 1"); got != "42" {
		t.Errorf("a variable is %s, expected 42", got)
	}
}
