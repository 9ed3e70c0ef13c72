//go:build edited

package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/magic"
)

// TestCompleteInDeclarationsOfEarlierTypes: the checker resolves the base type of a
// method and the chain of a type declaration by syntax, which types of earlier cells do
// not have. Each cell is completed and inspected, and runs or is rejected.
func TestCompleteInDeclarationsOfEarlierTypes(t *testing.T) {
	for _, x := range []struct{ code, match, run string }{
		{"func (t *T) M() int { t.¦", "A", ""},
		{"func (t T) M() int { return t.¦A }\nT{A: 5}.M()", "A", "5"},
		{"func (t *T) Old() int { return t.¦A + 1 }\n(&T{A: 5}).Old()", "A", "6"},
		{"func (g *G[E]) Sum() (s E) { return g.¦X }\n(&G[int]{X: 4}).Sum()", "X", "4"},
		{"func (g G[E]) First() E { return g.¦X }\nG[string]{X: \"x\"}.First()", "X", "x"},
		{"type Y T\nY{¦A: 7}.A", "A", "7"},
		{"type Y = T\nY{¦A: 7}.A", "A", "7"},
		{"type Y T\ntype Z Y\nZ{¦A: 7}.A", "A", "7"},
		{"type Y = *T\nvar y Y = &T{A: 3}\ny.¦A", "A", "3"},
		{"type Y = T\nfunc (y Y) N() int { return y.¦A }\nT{A: 2}.N()", "A", "2"},
		{"type Y = U\nfunc (y Y) N() int { return y.¦A }\nT{A: 2}.N()", "A", "2"},
		{"type Y = *T\nfunc (y Y) N() int { return y.¦A }\n(&T{A: 2}).N()", "A", "2"},
		{"func (u *U) N() int { return u.¦A }\n(&U{A: 2}).N()", "A", "2"},
		{"type Y T\nfunc (y *Y) N() int { return y.¦A }\n(&Y{A: 9}).N()", "A", "9"},
		{"type T T\nvar x T\nx.¦", "", ""},
		{"type Y = Y\nvar x T\nx.¦A", "A", ""},
	} {
		e, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		for i, setup := range []string{"type T struct{ A int }\nfunc (t *T) Old() int { return t.A }\ntype U = T\ntype G[E any] struct{ X E }\nfunc (g *G[E]) Sum() E { return g.X }", "kept := T{A: 1}"} {
			if r := evaluate(t.Context(), e, i+1, setup); r.Err != nil {
				t.Fatal(r.Err.Traceback)
			}
		}
		before, after, _ := strings.Cut(x.code, "¦")
		code, cursor := before+after, len([]rune(before))
		c, fail := e.Complete(code, cursor)
		if fail != nil {
			t.Errorf("complete %q: %v", x.code, fail)
		}
		var got []string
		for _, m := range c.Matches {
			got = append(got, m.Text)
		}
		if x.match != "" && !slices.Contains(got, x.match) {
			t.Errorf("%q: no %s in %q", x.code, x.match, got)
		}
		if _, fail := e.Inspect(code, cursor); fail != nil {
			t.Errorf("inspect %q: %v", x.code, fail)
		}
		r := evaluate(t.Context(), e, 3, code)
		switch {
		case r.Err != nil && (r.Err.Name != failure.CompileError || x.run != ""):
			t.Errorf("%q: %q", x.code, r.Err.Traceback)
		case x.run != "" && (len(r.Values) != 1 || fmt.Sprint(r.Values[0]) != x.run):
			t.Errorf("%q: %v, expected %s", x.code, r.Values, x.run)
		case r.Err == nil && x.run == "":
			t.Errorf("%q: runs, expected a compile error", x.code)
		}
		if r := evaluate(t.Context(), e, 4, "kept.A"); r.Err != nil || len(r.Values) != 1 || r.Values[0] != 1 {
			t.Errorf("after %q kept.A is %v, %v", x.code, r.Values, r.Err)
		}
		e.Close()
	}
}

// TestPanicsOfTheEngine: a panic during a request fails that request and leaves the
// session unchanged.
func TestPanicsOfTheEngine(t *testing.T) {
	broken := false
	e, err := New(Config{Doc: func(path, _ string) string {
		if broken && path == "fmt" {
			panic("no doc")
		}
		return ""
	}, Magics: []*magic.Magic{{Name: "broken", Cell: true, Language: "x", Declare: func(context.Context, *magic.Call) ([]magic.Declaration, error) {
		panic("no language")
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	const look = "fmt.Sprint(T{}.M(), f(), g(), n, d.M())"
	look1 := func() any {
		r := evaluate(t.Context(), e, 1, look)
		if r.Err != nil {
			t.Fatal(r.Err.Traceback)
		}
		return r.Values[0]
	}
	setup := "import \"fmt\"\ntype T struct{}\nfunc (T) M() int { return 1 }\nfunc f() int { return 2 }\nfunc g() int { return f() }\n" +
		"type D struct{ N int }\nfunc (d D) M() int { return d.N }\nn, d := 3, D{4}"
	if r := evaluate(t.Context(), e, 1, setup); r.Err != nil {
		t.Fatal(r.Err.Traceback)
	}
	before := look1()
	failed := func(what string, fail *cellproto.Error) {
		t.Helper()
		if fail == nil || fail.Name != failure.Internal {
			t.Errorf("%s: %v, expected an internal error", what, fail)
		}
		if now := look1(); now != before {
			t.Errorf("after %s the session is %v, was %v", what, now, before)
		}
	}
	broken = true
	_, fail := e.Complete("fmt.Sprin", 9)
	failed("complete", fail)
	_, fail = e.Inspect("fmt.Sprint", 9)
	failed("inspect", fail)
	broken = false

	failed("expand", evaluate(t.Context(), e, 2, "%%broken\nx").Err)

	const code = "func (T) M() int { return 10 }\nfunc f() int { return 20 }\ntype D struct{ N int }\nfunc (d D) M() int { return 40 }\nn := \"new\""
	_, _, fail = e.build(t.Context(), 3, code, code, func() bool { panic("no beginning") })
	failed("compile", fail)
	if len(e.Broken) > 0 {
		t.Errorf("broken: %v", e.Broken)
	}
	if r := evaluate(t.Context(), e, 4, code); r.Err != nil {
		t.Fatal(r.Err.Traceback)
	}
	if now := look1(); now != "10 20 20new40" {
		t.Errorf("a cell that does begin makes the session %v", now)
	}
}
