package main

import (
	"strings"
	"testing"
	"time"

	"warpbook/kernel/cellproto"
)

// TestTextOfAnError: whatever the methods of an error do, and however long their text,
// the cell is answered, can be interrupted, and the session continues.
func TestTextOfAnError(t *testing.T) {
	c := start(t)
	c.value(`import ("errors"; "strings")
type Panics struct{ N int }
func (Panics) Error() string { panic("inner") }
type Deep struct{}
func (Deep) String() string { var none map[string]int; none["x"] = 1; return "" }
type Unwraps struct{}
func (Unwraps) Error() string { return "text" }
func (Unwraps) Unwrap() error { panic("unwrap") }
type Plain struct{ A int; B string }
kept := "state"
cycle := []any{1, nil}
cycle[1] = cycle`)
	for _, x := range []struct{ what, code, name, value string }{
		{"a text of 50 MB", "panic(strings.Repeat(\"a\", 50<<20))", "panic", "aaaa"},
		{"an error of 50 MB", "panic(errors.New(strings.Repeat(\"b\", 50<<20)))", "panic", "bbbb"},
		{"an error of 50 MB in lines", "func() error { return errors.New(strings.Repeat(\"line\\n\", 10<<20)) }()", "error", "line"},
		{"an Error that panics", "panic(Panics{})", "panic", "(main.Panics, whose method Error panics: inner)"},
		{"the last value's Error panics", "func() error { return Panics{} }()", "error", "(main.Panics, whose method Error panics: inner)"},
		{"a String that panics", "panic(Deep{})", "panic", "(main.Deep, whose method String panics: assignment to entry in nil map)"},
		{"an Unwrap that panics", "panic(Unwraps{})", "panic", "text"},
		{"a struct", "panic(Plain{1, \"x\"})", "panic", "(main.Plain) {A: 1, B: \"x\"}"},
		{"a value that contains itself", "panic(cycle)", "panic", "([]interface {}) [1 [1 "},
		{"50 MB of numbers", "panic(make([]int, 6<<20))", "panic", "([]int) [0 0 0"},
		{"an int", "panic(5)", "panic", "5"},
	} {
		e := c.run(x.code)
		if e.Error == nil || e.Error.Name != x.name || !strings.HasPrefix(e.Error.Value, x.value) {
			t.Errorf("%s: %.300v, want %s: %s", x.what, e.Error, x.name, x.value)
			continue
		}
		if n := len(e.Error.Value) + len(strings.Join(e.Error.Traceback, "")); n > 200<<10 {
			t.Errorf("%s: the answer has %d bytes", x.what, n)
		} else if strings.Contains(x.what, "MB") && strings.Contains(x.code, "Repeat") && !strings.Contains(e.Error.Traceback[0], " of 52428800 bytes)") {
			t.Errorf("%s: the traceback does not tell 52428800 bytes: %.100q", x.what, e.Error.Traceback)
		}
	}
	c.value("go panic(Panics{})\ngo panic(strings.Repeat(\"c\", 50<<20));")
	printed := c.warnedUntil(func(got string) bool {
		return strings.Count(got, "panic in a goroutine") == 2 && strings.Count(got, ", in func") == 2 && strings.HasSuffix(got, "\n")
	})
	if len(printed) > 200<<10 || !strings.Contains(printed, "whose method Error panics: inner") || !strings.Contains(printed, " of 52428800 bytes)") {
		t.Errorf("of goroutines %d bytes are printed: %.300q", len(printed), printed)
	}
	for _, code := range []string{"panic(Loops{})", "func() error { return Loops{} }()", "panic(Unends{})"} {
		c.value("type Loops struct{}\nfunc (Loops) Error() string { for {} }\ntype Unends struct{}\nfunc (Unends) Error() string { return \"\" }\nfunc (u Unends) Unwrap() error { return u }")
		w := c.startCell(code)
		time.Sleep(100 * time.Millisecond)
		c.wait(c.send(cellproto.Request{Type: cellproto.Interrupt}))
		if e := c.wait(w); e.Error == nil || e.Error.Name != "interrupted" {
			t.Errorf("%s: %v, expected to be interrupted", code, e.Error)
		}
	}
	if got := c.value("kept"); got != "state" {
		t.Errorf("state is %q", got)
	}
}
