//go:build edited

package engine

import (
	"fmt"
	"go/types"
	"maps"
	"reflect"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"

	"github.com/goplus/ixgo"
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

// TestDeclarationsMakeNoInterpreter: nothing runs in a cell that only declares, so no
// interpreter is made before a cell uses its names.
func TestDeclarationsMakeNoInterpreter(t *testing.T) {
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	made, execute := 0, e.Execute
	e.Execute = func(in *ixgo.Interp) error {
		if in.MainPkg().Pkg.Path() == "main" { // not a package that is initialised
			made++
		}
		return execute(in)
	}
	for i, x := range []struct {
		code string
		want int
	}{
		{"import \"fmt\"", 0},
		{"type T struct{ n int }\nconst k = 2", 0},
		{"func (t T) Twice() string { return fmt.Sprint(t.n * k) }\nfunc f() string { return T{3}.Twice() }", 0},
		{"f()", 1},
		{"func f() string { return \"other\" }", 0},
		{"var x = f()", 1},
		{"func init() { x = T{1}.Twice() }", 1},
	} {
		made = 0
		if r := evaluate(t.Context(), e, i+1, x.code); r.Err != nil {
			t.Fatal(r.Err.Traceback)
		}
		if made != x.want {
			t.Errorf("%q makes %d interpreters, expected %d", x.code, made, x.want)
		}
	}
	if r := evaluate(t.Context(), e, 9, "x"); r.Err != nil || r.Values[0] != "2" {
		t.Errorf("init has left %v, %v", r.Values, r.Err)
	}
}

// TestProgramsHaveTheMembersThatTheyName: package net/http has 800 members.
func TestProgramsHaveTheMembersThatTheyName(t *testing.T) {
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var members []string
	execute := e.Execute
	e.Execute = func(in *ixgo.Interp) error {
		if p := in.MainPkg().Prog.ImportedPackage("net/http"); p != nil {
			members = slices.Sorted(maps.Keys(p.Members))
		}
		return execute(in)
	}
	r := evaluate(t.Context(), e, 1, "import \"net/http\"\nhttp.DefaultClient.Timeout.String() + http.Header{\"X\": {\"x\"}}.Get(\"x\") + http.StatusText(404)")
	if r.Err != nil || r.Values[0] != "0sxNot Found" {
		t.Fatal(r.Values, r.Err)
	}
	if want := []string{"DefaultClient", "StatusText", "init"}; !slices.Equal(members, want) {
		t.Errorf("the program has the members %v, expected %v", members, want)
	}
}

// TestFunctionsAreMadeCheaply: the objects of each statement count, where a cell declares a
// function and where a cell compiles those that it reaches.
func TestFunctionsAreMadeCheaply(t *testing.T) {
	const statements = 200
	eval := cells(t)
	eval("func g(a, b int) int { return a + b }")
	long := "func f(a, b int) (n int) {\n" + strings.Repeat("\tn += g(a, b) * 2\n", statements) + "\treturn\n}"
	for _, x := range []struct {
		name, code, without string
		most                float64
	}{
		{"a declaration", long, "func f(a, b int) (n int) { return g(a, b) }", 60},
		{"a call", "f(1, 2)", "h(1, 2)", 33},
	} {
		eval("func h(a, b int) int { return g(a, b) }")
		eval(long)
		each := (testing.AllocsPerRun(20, func() { eval(x.code) }) - testing.AllocsPerRun(20, func() { eval(x.without) })) / statements
		if t.Logf("%s: %v objects a statement", x.name, each); each > x.most {
			t.Errorf("%s: a statement takes %v objects, at most %v are allowed", x.name, each, x.most)
		}
	}
}

// asked notes the types that programs make.
type asked struct {
	ixgo.Loader
	types map[string]bool
}

func (a *asked) LookupReflect(t types.Type) (reflect.Type, bool) {
	a.types[t.String()] = true
	return a.Loader.LookupReflect(t)
}

// TestProgramsMakeTheirOwnTypes: a client of net/http behind an interface leads to 76 named types
// of compiled packages. A program makes those that it uses.
func TestProgramsMakeTheirOwnTypes(t *testing.T) {
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	a := &asked{e.Loader.Loader, map[string]bool{}}
	e.Loader.Loader = a
	for i, code := range []string{"import \"net/http\"\ntype T struct{ *http.Client }\nvar x any = T{http.DefaultClient}", "x"} {
		clear(a.types)
		if r := evaluate(t.Context(), e, i+1, code); r.Err != nil {
			t.Fatal(r.Err.Traceback)
		}
		if n := len(a.types); n > 10 {
			t.Errorf("%q makes %d types, at most 10 are allowed: %v", code, n, slices.Sorted(maps.Keys(a.types)))
		} else {
			t.Logf("%q makes %d types", code, n)
		}
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

// TestObjects counts what ixgo and bytecode allocate for statements that are executed often:
// no error, stack or function that nothing uses.
func TestObjects(t *testing.T) {
	const statements = 1000
	for _, x := range []struct {
		name, code string // of f(n), which executes a statement n times
		most       float64
	}{
		{"a failed assertion of 1", "var x any = 1\nfunc f(n int) (k int) {\n\tfor range n {\n\t\tif _, ok := x.(string); ok {\n\t\t\tk++\n\t\t}\n\t}\n\treturn\n}", 4},
		{"a failed assertion of nil", "var x any\nfunc f(n int) (k int) {\n\tfor range n {\n\t\tif _, ok := x.(string); ok {\n\t\t\tk++\n\t\t}\n\t}\n\treturn\n}", 4},
		{"a deferred closure", "func g(k *int) {\n\tdefer func() { *k++ }()\n}\nfunc f(n int) (k int) {\n\tfor range n {\n\t\tg(&k)\n\t}\n\treturn\n}", 12},
		{"a recovered panic", "func g(k *int) {\n\tdefer func() { recover() }()\n\tpanic(k)\n}\nfunc f(n int) (k int) {\n\tfor range n {\n\t\tg(&k)\n\t}\n\treturn\n}", 20},
		{"a recovered panic that passes a deferred call", "func h(p *int) {\n\tdefer func() { *p++ }()\n\tpanic(p)\n}\nfunc g(k *int) (err error) {\n\tdefer func() { if recover() == nil { err = nil } }()\n\th(k)\n\treturn err\n}\nfunc f(n int) (k int) {\n\tfor range n {\n\t\tg(&k)\n\t}\n\treturn\n}", 40},
		{"a count in a map of interfaces", "var m = map[any]int{}\nfunc f(n int) (k int) {\n\tfor i := range n {\n\t\tm[1000+i%7]++\n\t}\n\treturn\n}", 10},
	} {
		for _, interpretOnly := range []bool{true, false} {
			most := x.most
			if !interpretOnly {
				most = 0.1 // of the engine itself
			}
			t.Run(fmt.Sprintf("%s, interpreted only: %v", x.name, interpretOnly), func(t *testing.T) {
				execute(t, interpretOnly)
				eval := cells(t)
				eval(x.code)
				few := testing.AllocsPerRun(5, func() { eval("f(10)") })
				many := testing.AllocsPerRun(5, func() { eval("f(10 + 1000)") })
				each := (many - few) / statements
				t.Logf("%v objects", each)
				if each > most {
					t.Errorf("%v objects, at most %v are allowed", each, most)
				}
			})
		}
	}
}
