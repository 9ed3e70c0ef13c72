//go:build edited

package engine

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"warpbook/kernel/engine/failure"
)

// snapshot describes the state of the session, with the identity of each object.
func (e *Engine) snapshot() string {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for name, o := range e.Live {
		add("live %s %p", name, o)
		if t, ok := o.(*types.TypeName); ok && e.Graph.Units[t.Pkg()] != nil {
			if _, generic := t.Type().(interface{ TypeParams() *types.TypeParamList }); !generic {
				add("type %s is %v", name, e.Types.ReflectType(t.Type()))
			}
		}
	}
	for name, d := range e.Decls {
		add("declaration %s %p of cell %d", name, d, d.Cell)
	}
	for name, list := range e.Versions {
		for _, v := range list {
			add("version %s %p %p", name, v.Decl, v.Fn)
		}
	}
	for name, why := range e.Broken {
		add("broken %s %s", name, why)
	}
	for p, u := range e.Graph.Units {
		if u.Imported { // the import of a package is kept
			continue
		}
		add("unit %p %p: %d declarations, %d types, %d variables", p, u, len(u.Decls), len(u.Types), len(u.Vars))
		for _, d := range u.Decls {
			add("  of %p: %p, defs and uses known: %d", u, d, known(u.Info, d.Node))
		}
	}
	for o, d := range e.Graph.Owner {
		if d.Unit.Imported {
			continue
		}
		add("owner of %p: %p", o, d)
	}
	add("nested types: %d", len(e.Graph.Nested))
	add("dynamic types: %d", len(e.DynamicTypes()))
	e.Ctx.FileSet.Iterate(func(f *token.File) bool {
		if f.Name() == "cell" {
			add("file at %d", f.Base())
		}
		return true
	})
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// faultSetup and faultCells redefine everything that can be: functions, methods, types,
// generic types, variables with another type, declarations that no longer compile,
// imports.
const (
	faultSetup = "import \"fmt\"\ntype T struct{ N int }\nfunc (t T) M() int { return t.N }\ntype D struct{}\nfunc (D) M() int { return f() }\n" +
		"type G[E any] struct{ X E }\nfunc (g G[E]) Get() E { return g.X }\nfunc f() int { return 1 }\nfunc g() int { return f() }\nfunc h(t T) int { return t.N }\nx, y, d, s := 1, T{3}, D{}, G[string]{\"s\"}"
	faultLook = "fmt.Sprintln(f(), g(), h(y), x, y.M(), y, d.M(), s.Get(), any(d).(interface{ M() int }).M(), fmt.Sprintf(\"%T\", y))"
)

var faultCells = []string{
	"func f() int { return 2 }",
	"func (D) M() int { return f() + 40 }\nd.M()",
	"type T struct{ N int; S string }\nfunc (t T) M() int { return 7 }",
	"type T struct{ S string }",
	"x := \"new\"\nfor range 3 { y := T{}; _ = y }\nx",
	"x := fmt.Sprint(x, y)",
	"func f() string { return \"text\" }",
	"import \"strings\"\nfunc u(t T) string { return strings.ToUpper(fmt.Sprint(t.M())) }\nu(y)",
	"func (g G[E]) Get() E { var z E; return z }",
	"type Late struct{}\nfunc (Late) M() int { return 9 }\nvar late interface{ M() int } = Late{}\nlate.M()",
	"func h(t *T) int { return t.N }\nvar y = &T{5}",
	"x = 1 +",
	"undefined(x)",
}

// TestPanicAtEachStage: a panic where any stage of any cell begins, also in commit,
// fails that cell and leaves the session exactly as it was. A panic after the commit
// leaves the cell in effect.
func TestPanicAtEachStage(t *testing.T) {
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	n := 1
	value := func(code string) string {
		t.Helper()
		r := evaluate(t.Context(), e, n, code)
		if n++; r.Err != nil {
			t.Fatalf("%s: %v", code, r.Err.Traceback)
		}
		return fmt.Sprint(r.Values...)
	}
	value(faultSetup)
	var was string
	for range 2 { // the first makes methods for compiled code
		was = value(faultLook)
	}
	panics, seen := 0, map[string]bool{}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	for _, code := range faultCells {
		for at := 0; ; at++ {
			before, count, stage := e.snapshot(), 0, ""
			e.OnStage = func(s string) {
				if count++; count == at+1 {
					stage = s
					panic("injected at " + s)
				}
			}
			r := evaluate(t.Context(), e, n, code)
			e.OnStage = nil
			if stage == "" || tidying(stage) {
				break // the last stage is passed: the cell has taken effect, or does not compile
			}
			panics, seen[stage] = panics+1, true
			if r.Err == nil || r.Err.Name != failure.Internal || !strings.Contains(r.Err.Value, "injected at "+stage) {
				t.Fatalf("seed %d: %q, panic at %s: the answer is %v", seed, code, stage, r.Err)
			}
			if after := e.snapshot(); after != before {
				t.Fatalf("seed %d: %q, panic at %s changes the session:\n%s", seed, code, stage, difference(before, after))
			}
			if random.IntN(4) == 0 { // the code runs as before; not after each panic, because it compiles
				if now := value(faultLook); now != was {
					t.Fatalf("seed %d: %q, after a panic at %s the session is %s, was %s", seed, code, stage, now, was)
				}
			}
		}
		e.OnStage = nil
		reset(e)
		value(faultSetup)
		was = value(faultLook)
	}
	t.Logf("seed %d: %d panics at %d stages: %v", seed, panics, len(seen), slices.Sorted(maps.Keys(seen)))
	if len(seen) < 12 || panics < 100 {
		t.Errorf("%d panics at %d stages, expected those of doc.go", panics, len(seen))
	}
}

// TestPanicInFragments: the same for random cells, most of them wrong, with a panic at a
// random stage before they begin.
func TestPanicInFragments(t *testing.T) {
	e := fragmentEngine(t)
	defer e.Close()
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	var corpus [][]string
	for _, src := range fragmentCorpus(t) {
		corpus = append(corpus, tokens(src))
	}
	panics := 0
	for i := range 300 {
		src, _ := mutate(random, corpus)
		if i%2 == 0 {
			src = strings.Join(corpus[random.IntN(len(corpus))], "")
		}
		before, left := e.snapshot(), random.IntN(12)
		e.OnStage = func(stage string) {
			if left--; left < 0 || stage == "begin" {
				panic("injected at " + stage)
			}
		}
		r := evaluate(t.Context(), e, 100+i, src)
		e.OnStage = nil
		if r.Err == nil {
			t.Fatalf("seed %d: %q has run", seed, src)
		}
		if r.Err.Name != failure.Internal { // it does not compile: its imports are kept
			continue
		}
		panics++
		if after := e.snapshot(); after != before {
			t.Fatalf("seed %d: %q, %s changes the session:\n%s", seed, src, r.Err.Value, difference(before, after))
		}
	}
	if t.Logf("seed %d: %d panics", seed, panics); panics < 50 {
		t.Errorf("seed %d: %d panics, expected at least 50", seed, panics)
	}
}

// TestPanicWhileTidying: a panic after a commit does not undo the cell.
func TestPanicWhileTidying(t *testing.T) {
	for _, at := range []string{"learn", "compact", "prune"} {
		e, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		e.OnStage = func(stage string) {
			if stage == at {
				panic("injected at " + stage)
			}
		}
		for i, code := range []string{"func f() int { return 1 }\nx := f()", "func f() int { return 2 }\nx = f()", "x + f()"} {
			if r := evaluate(t.Context(), e, i+1, code); r.Err != nil || i == 2 && r.Values[0] != 4 {
				t.Errorf("panic at %s: cell %d gives %v, %v", at, i+1, r.Values, r.Err)
			}
		}
		e.Close()
	}
}

func tidying(stage string) bool { return slices.Contains([]string{"learn", "compact", "prune"}, stage) }

func reset(e *Engine) { session{e: e}.Reset() }

// known is the number of names of a declaration in the checker's results.
func known(info *types.Info, node ast.Node) (n int) {
	ast.Inspect(node, func(x ast.Node) bool {
		if id, ok := x.(*ast.Ident); ok && (info.Uses[id] != nil || info.Defs[id] != nil) {
			n++
		}
		return true
	})
	return n
}

// difference lists the lines that one of two snapshots lacks.
func difference(before, after string) string {
	var list []string
	was, is := strings.Split(before, "\n"), strings.Split(after, "\n")
	for _, l := range was {
		if !slices.Contains(is, l) {
			list = append(list, "- "+l)
		}
	}
	for _, l := range is {
		if !slices.Contains(was, l) {
			list = append(list, "+ "+l)
		}
	}
	return strings.Join(list, "\n")
}
