//go:build edited

package engine_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"warpbook/kernel/engine"
	"warpbook/kernel/engine/symbols"
)

// FuzzEval: no cell ends the engine or makes the next one fail, and none outlasts an
// interrupt. Code that would harm the machine or end the process as Go itself does is
// excluded: magics, packages other than a few, and gigabytes of memory.
//
//	go run ./kernel/edited/go test -fuzz=FuzzEval ./kernel/engine
func FuzzEval(f *testing.F) {
	for _, seed := range []string{
		"x := 1\nx + 1", "type T struct{ a int }\nfunc (t T) String() string { return \"t\" }\nT{1}",
		"import \"fmt\"\nfmt.Sprint(1, \"a\", nil)", "func f[T any](x T) T { return x }\nf(f)(1)",
		"for i := range 3 { defer func() { recover() }(); panic(i) }", "L:\nfor { select { default: break L } }",
		"var a, b = b, 1\nfunc init() { a = 2 }", "c := make(chan int)\ngo func() { c <- 1 }()\n<-c",
		"type L[T any] struct{ n *L[T] }\nvar l L[L[int]]\nl", "func g(yield func(int) bool) { _ = yield(1) }\nfor x := range g { println(x) }",
		"switch x := any(1).(type) { case int: x++; goto E; default: }\nE:\nreturn", "const c = iota\nx, y := c, 'a'\nx, y",
		"type I interface{ M() I }\ntype S struct{ I }\nvar i I = S{}\ni.M()", "x := func() (a int, err error) { return }\nx()",
		"package main\nimport ( \"errors\"; e \"errors\" )\nfunc main() { _ = e.New }\nmain()", "/* */ x;; // c\n;",
	} {
		f.Add(seed, seed)
		f.Add(seed, "x := \"text\"\ntype T int")
	}
	symbols.Register()
	var e *engine.Engine
	cells := 0
	f.Fuzz(func(t *testing.T, first, second string) {
		if unsafe(first) || unsafe(second) {
			t.Skip("not to be run here")
		}
		if cells%300 == 0 { // one engine is as a long session
			var err error
			if e, err = engine.New(engine.Config{AbandonAfter: 100 * time.Millisecond}); err != nil {
				t.Fatal(err)
			}
		}
		for _, src := range []string{first, second} {
			cells++
			if r := eval(t, e, cells, src, 50*time.Millisecond); r.Err != nil && r.Err.Name == "internal error" {
				t.Fatalf("%q: %v", src, r.Err.Traceback)
			}
		}
		cells++
		if r := eval(t, e, cells, "20 + 22", time.Minute); r.Err != nil || len(r.Values) != 1 || r.Values[0] != 42 {
			t.Fatalf("after %q and %q: %v, %v", first, second, r.Values, r.Err)
		}
	})
}

// eval interrupts the cell after its time limit.
func eval(t *testing.T, e *engine.Engine, n int, src string, limit time.Duration) engine.Result {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	ended := make(chan engine.Result, 1)
	go e.Eval(ctx, uint64(n), n, src, func(r engine.Result) { ended <- r })
	select {
	case r := <-ended:
		return r
	case <-time.After(limit + 2*time.Minute):
		t.Fatalf("%q outlasts an interrupt", src)
		panic("unreachable")
	}
}

var (
	imports = regexp.MustCompile("\"[^\"]*\"|`[^`]*`")
	large   = regexp.MustCompile(`[0-9a-fA-F_]{5}|<<|\.\.\.|\bmake\b.*\bmap|\[[^\]]{4,}\]|e[0-9]|\*`)
)

// unsafe reports whether code may do harm. It errs on the safe side.
func unsafe(src string) bool {
	if strings.Contains(src, "%") || len(src) > 500 || large.MatchString(src) {
		return true
	}
	if !strings.Contains(src, "import") {
		return false
	}
	for _, s := range imports.FindAllString(src, -1) {
		switch strings.Trim(s, "\"`") {
		case "fmt", "errors", "sort", "strconv", "a", "t", "text", "":
		default:
			return true
		}
	}
	return false
}
