//go:build edited

package engine

import (
	"context"
	"fmt"
	"go/token"
	"math/rand/v2"
	"testing"
	"time"
	"warpbook/kernel/engine/failure"
)

// countdown is a context that is cancelled after a number of calls of Err.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// evaluate waits for the answer of a cell.
func evaluate(ctx context.Context, e *Engine, n int, code string) Result {
	answered := make(chan Result, 1)
	go e.Eval(ctx, 1, n, code, func(r Result) { answered <- r })
	return <-answered
}

// TestStopWhileCompiling: a stop at any check of the compiler leaves the session
// unchanged.
func TestStopWhileCompiling(t *testing.T) {
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	value := func(code string) string {
		t.Helper()
		r := evaluate(t.Context(), e, 1, code)
		if r.Err != nil {
			t.Fatalf("%s: %v", code, r.Err.Traceback)
		}
		return fmt.Sprint(r.Values...)
	}
	files := func() (n int) {
		e.Ctx.FileSet.Iterate(func(*token.File) bool { n++; return true })
		return n
	}
	value("type T struct{ N int }\nfunc (t T) M() int { return t.N }\ntype D struct{}\nfunc (D) M() int { return f() }\nfunc f() int { return 1 }\nfunc g() int { return f() }\nx, y, d := 1, T{3}, D{}")
	const code = "func f() int { return 2 }\nfunc (D) M() int { return f() + 40 }\ntype T struct{ N int; S string }\nfunc (t T) M() int { return 7 }\nx := \"new\"\nfor range 3 { y := T{}; _ = y }\nx"
	const look = "import \"fmt\"\nfmt.Sprintln(f(), g(), x, y.M(), y, d.M(), any(d).(interface{ M() int }).M())"
	was := value(look)
	stops := 0
	for ; ; stops++ {
		before := files()
		r := evaluate(&countdown{t.Context(), stops}, e, 2, code)
		if r.Err == nil {
			break
		}
		if r.Err.Name != failure.Interrupted {
			t.Fatalf("stop %d: %v", stops, r.Err)
		}
		if after := files(); after != before {
			t.Errorf("stop %d: %d files more", stops, after-before)
		}
		if now := value(look); now != was {
			t.Errorf("stop %d: the session is %s, was %s", stops, now, was)
		}
	}
	if t.Logf("stopped at %d places", stops); stops < 7 {
		t.Errorf("the compiler looks %d times, expected at least 7", stops)
	}
	if now := value("fmt.Sprintln(f(), g(), x, d.M())"); now != "2 2 new 42\n" {
		t.Errorf("when it was not stopped the session is %s", now)
	}
}

// TestStopBeforeTheCell: a stop at any time before a cell without loops and calls either
// leaves the session unchanged or has no effect: declarations and statements take effect
// together.
func TestStopBeforeTheCell(t *testing.T) {
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	eval := func(ctx context.Context, code string) Result { return evaluate(ctx, e, 1, code) }
	if r := eval(t.Context(), "import \"fmt\"\ntype D struct{}\nfunc (D) M() int { return 0 }\nfunc f() int { return 0 }\nx := 0"); r.Err != nil {
		t.Fatal(r.Err.Traceback)
	}
	const seed = 1
	random := rand.New(rand.NewPCG(seed, 0))
	stops, effects := 0, 0
	for i := 1; i <= 300; i++ {
		ctx, cancel := context.WithCancel(t.Context())
		timer := time.AfterFunc(time.Duration(random.IntN(1000))*time.Microsecond, cancel)
		r := eval(ctx, fmt.Sprintf("func f() int { return %[1]d }\nfunc (D) M() int { return %[1]d }\nx = %[1]d", i))
		timer.Stop()
		cancel()
		now := eval(t.Context(), "fmt.Sprint(f(), \" \", D{}.M(), \" \", x)")
		if now.Err != nil {
			t.Fatal(now.Err.Traceback)
		}
		var f, m, x int
		fmt.Sscan(now.Values[0].(string), &f, &m, &x)
		if f != m || f != x || r.Err == nil && f != i {
			t.Fatalf("seed %d, stop %d: f is of cell %d, M of %d, x of %d; the answer was %v", seed, i, f, m, x, r.Err)
		}
		if r.Err != nil {
			stops++
		}
		if f == i {
			effects++
		}
	}
	if t.Logf("seed %d: %d of 300 cells stopped, %d took effect", seed, stops, effects); stops == 0 {
		t.Error("no cell was stopped, expected that some are: their stops come within 0 to 1 ms")
	}
}
