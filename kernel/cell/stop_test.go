//go:build cells

package cell

import (
	"context"
	"fmt"
	"go/token"
	"testing"
)

// countdown is a context that is cancelled when it has been asked a number of
// times whether it is.
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

// TestStopWhileCompiling: wherever the compiler looks whether its cell is
// stopped, the session is afterwards what it was before.
func TestStopWhileCompiling(t *testing.T) {
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	value := func(code string) string {
		t.Helper()
		r := e.Eval(t.Context(), 1, 1, code)
		if r.Err != nil {
			t.Fatalf("%s: %v", code, r.Err.Traceback)
		}
		return fmt.Sprint(r.Values...)
	}
	files := func() (n int) {
		e.ctx.FileSet.Iterate(func(*token.File) bool { n++; return true })
		return n
	}
	value("type T struct{ N int }\nfunc (t T) M() int { return t.N }\nfunc f() int { return 1 }\nfunc g() int { return f() }\nx, y := 1, T{3}")
	const code = "func f() int { return 2 }\ntype T struct{ N int; S string }\nfunc (t T) M() int { return 7 }\nx := \"new\"\nfor range 3 { y := T{}; _ = y }\nx"
	const look = "import \"fmt\"\nfmt.Sprintln(f(), g(), x, y.M(), y)"
	was := value(look)
	stops := 0
	for ; ; stops++ {
		before := files()
		r := e.Eval(&countdown{t.Context(), stops}, 1, 2, code)
		if r.Err == nil {
			break
		}
		if r.Err.Name != interrupt {
			t.Fatalf("stop %d: %v", stops, r.Err)
		}
		if after := files(); after != before {
			t.Errorf("stop %d: %d files more", stops, after-before)
		}
		if now := value(look); now != was {
			t.Errorf("stop %d: the session is %s, was %s", stops, now, was)
		}
	}
	if t.Logf("stopped at %d places", stops); stops < 6 {
		t.Errorf("the compiler looks %d times, expected at least 6", stops)
	}
	if now := value("fmt.Sprintln(f(), g(), x)"); now != "2 2 new\n" {
		t.Errorf("when it was not stopped the session is %s", now)
	}
}
