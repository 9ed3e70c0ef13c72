package main

import (
	"fmt"
	"strings"
	"testing"

	"warpbook/kernel/cellproto"
)

// globals are the global variables, by name.
func (d *debugged) globals() map[string]variable {
	d.t.Helper()
	found := map[string]variable{}
	for _, v := range decode[struct{ Variables []variable }](d.t, d.must("inspectVariables", `{}`)).Variables {
		found[v.Name] = v
	}
	return found
}

// Maps are read while code of cells writes them, which would end the program if the
// reader did what Go does. They are read at a stop, and after the end of the code.
func TestDebugMapsWhileCodeRuns(t *testing.T) {
	if raceEnabled {
		t.Skip("the debugger reads maps and lengths while code of cells writes them, which is a race")
	}
	d := attach(t)
	d.value("m := map[int]int{}\nbig := map[string][]int{}\nlist := make([]int, 1000)\nfor i := range 100 {\n\tm[i] = i\n}")
	const writes = "for i := 0; ; i++ {\n\tm[i%50] = i\n\tdelete(m, (i+1)%50)\n\tif i%1000 == 0 {\n\t\tclear(big)\n\t}\n\tbig[string(rune(i%1000))] = list[:i%1000]\n\tlist = list[:i%1000]\n}"
	look := func(where string) {
		t.Helper()
		for range 20 {
			g := d.globals()
			if got := d.list(g["m"].VariablesReference); len(got) < 50 {
				t.Fatalf("entries while %s runs: %s", where, text(got))
			}
			for _, name := range []string{"list", "big"} {
				if r := g[name].VariablesReference; r > 0 {
					d.ask("variables", fmt.Sprintf(`{"variablesReference":%d}`, r))
				}
			}
			v := decode[struct{ Result string }](t, d.must("evaluate", `{"expression":"m[70]","context":"repl"}`))
			d.expect("m[70] while "+where+" runs", v.Result, "70")
		}
	}
	done := d.startCell(writes)
	look("a cell")
	d.wait(d.send(cellproto.Request{Type: cellproto.Interrupt}))
	d.wait(done)
	d.value("go func() {\n" + writes + "\n}()")
	look("a goroutine")
	const beside, stops = "k := 1\nk++", "clear(m)\nm[1] = 2\nm[3] = 4"
	d.breaks(beside, line(2))
	d.breaks(stops, line(3))
	_, done = d.next(beside)
	look("a goroutine beside a stop")
	d.wait(d.send(cellproto.Request{Type: cellproto.Interrupt}))
	d.wait(done)
	s, done := d.next(stops)
	d.expect("entries at a stop", text(d.list(d.globals()["m"].VariablesReference)), "[1]=2")
	d.ends(s, done)
	d.expect("entries at the end", text(d.list(d.globals()["m"].VariablesReference)), "[1]=2 [3]=4")
}

// An assignment at a stop changes one variable. What a goroutine writes to another one
// meanwhile stays. An interface that gets nil is nil.
func TestDebugAssignments(t *testing.T) {
	d := attach(t)
	d.value("ch := make(chan int)\ntype E struct{}\nfunc (*E) Error() string { return \"E\" }")
	const f = `func f() (x int, count int, is bool) {
	var err error = &E{}
	var p *E = &E{}
	go func() { <-ch; count = 5; ch <- 1 }()
	x = 1
	return x, count, err == nil && p == nil
}`
	d.breaks(f, line(6))
	d.value(f)
	s, done := d.next("x, count, is := f()")
	_, beside := d.startBeside("ch <- 1; <-ch")
	if e := d.wait(beside); e.Error != nil {
		t.Fatal(e.Error)
	}
	reference, _ := d.scope(d.frames(s)[0].ID, "Locals")
	set := func(name, value string) response {
		return d.ask("setVariable", fmt.Sprintf(`{"variablesReference":%d,"name":%q,"value":%q}`, reference, name, value))
	}
	for _, to := range [][2]string{{"x", "nil"}, {"x", "7"}, {"err", "nil"}, {"p", "nil"}} {
		if r := set(to[0], to[1]); r.Success != (to != [2]string{"x", "nil"}) {
			t.Errorf("%v: %+v", to, r)
		}
	}
	d.expect("locals", d.locals(s, 0), "x=7 count=5 is=false err=nil p=nil")
	if e := d.ends(s, done); e.Error != nil {
		t.Fatal(e.Error)
	}
	d.expect("results", d.value("[]any{x, count, is}"), "[]interface {}{7, 5, true}")
}

// A goroutine that has ended keeps no variables, also while its cell runs.
func TestDebugEndedGoroutines(t *testing.T) {
	d := attach(t)
	d.must("setExceptionBreakpoints", `{"filters":["all"]}`) // each statement notes the variables
	got := d.value(`import ("runtime"; "sync")
func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc >> 20)
}
func work(k int) int {
	var block [1 << 16]byte
	block[k] = 1
	return int(block[k])
}
before := heap()
var wg sync.WaitGroup
for i := range 1000 {
	wg.Go(func() { work(i) })
	if i%10 == 9 { wg.Wait() }
}
wg.Wait()
heap() - before < 20`)
	d.expect("1000 goroutines of 64 KiB leave less than 20 MiB", got, "true")
}

// Parts of variables are assigned: fields, elements, entries and what pointers point to,
// also in callers where a variable is in memory; and by statements in the console.
func TestDebugAssignParts(t *testing.T) {
	d := attach(t)
	const f = `import "fmt"
type P struct{ x int; in struct{ s []string } }
global := map[string]P{"a": {x: 1}}
func inner(p *P, m map[string][]int, k int) int {
	k++
	return p.x + m["a"][1] + k
}
func outer() (int, P) {
	p, n := P{}, 3
	p.in.s = []string{"one"}
	r := inner(&p, map[string][]int{"a": {1, 2}}, n)
	return r + n, p
}`
	d.breaks(f, line(6))
	d.value(f)
	s, done := d.next("sum, last := outer()\nfmt.Sprint(sum, last)")
	top, caller := d.frames(s)[0].ID, d.frames(s)[1].ID
	run := func(frame int, statement string) response {
		return d.ask("evaluate", fmt.Sprintf(`{"expression":%s,"frameId":%d,"context":"repl"}`, quoted(statement), frame))
	}
	for _, statement := range []string{"p.x = 100", `m["a"][1] = 10 * k`, "k += 1000", `p.in.s = append(p.in.s, "two")`, `global["b"] = *p`, "p.x++"} {
		if r := run(top, statement); !r.Success {
			t.Errorf("%s: %s", statement, r.Message)
		}
	}
	if r := run(caller, `p.in.s[0] = "ONE"`); !r.Success {
		t.Error(r.Message)
	}
	if r := run(caller, "n = 5"); r.Success || !strings.Contains(r.Message, "step out to assign it") {
		t.Errorf("a register of a caller: %+v", r)
	}
	reference, list := d.scope(top, "Locals")
	d.expect("locals", text(list[1:]), "m=1 entries k=1004")
	parts := d.list(list[1].VariablesReference)
	if r := d.ask("setVariable", fmt.Sprintf(`{"variablesReference":%d,"name":"[0]","value":"len(m)"}`, parts[0].VariablesReference)); !r.Success {
		t.Error(r.Message)
	}
	if r := d.ask("setVariable", fmt.Sprintf(`{"variablesReference":%d,"name":"k","value":"\"text\""}`, reference)); r.Success {
		t.Error("a text was assigned to a number")
	}
	_, arguments := d.scope(top, "Arguments")
	d.expect("arguments", text(arguments[2:]), "k=1004")
	e := d.ends(s, done)
	if got := fmt.Sprint(e.Data["text/plain"]); e.Error != nil || !strings.Contains(got, "1148 {101 {[ONE two]}}") {
		t.Errorf("%v %v", e.Data, e.Error)
	}
	d.expect("the entry of a global", d.value(`global["b"].x`), "100")
}

// An expression that does not end is given up; the cell stays stopped and goes on.
func TestDebugEndlessExpressions(t *testing.T) {
	d := attach(t)
	const f = "import \"time\"\nfunc forever() {\n\tfor {\n\t}\n}\nx := 1\nx++\nx"
	d.breaks(f, line(7))
	s, done := d.next(f)
	id := d.frames(s)[0].ID
	for _, expression := range []string{"forever()", "time.Sleep(time.Hour)", "<-make(chan int)"} {
		r := d.ask("evaluate", fmt.Sprintf(`{"expression":%s,"frameId":%d,"context":"watch"}`, quoted(expression), id))
		if r.Success || !strings.Contains(r.Message, "given up: it does not end") {
			t.Errorf("%s: %+v", expression, r)
		}
	}
	if e := d.ends(s, done); e.Error != nil || e.Data["text/plain"] != "2" {
		t.Errorf("%v %v", e.Data, e.Error)
	}
}

// Literals of structs of cells need no keys in expressions, as in cells.
func TestDebugLiterals(t *testing.T) {
	d := attach(t)
	const f = `type P struct { a int; s string }
func f(x int) int {
	x++
	return x
}`
	d.breaks(f, line(4))
	d.value(f)
	s, done := d.next("f(4)")
	for expression, want := range map[string]string{
		`P{x, "z"}.a`:                       "5",
		`[]P{{x, "z"}}[0]`:                  `{a: 5, s: "z"}`,
		`map[P]int{{1, "b"}: 2}[P{1, "b"}]`: "2",
		`func() P { return P{x, "y"} }().s`: `"y"`,
	} {
		d.expect(expression, d.evaluate(s, expression), want)
	}
	d.ends(s, done)
}

// A variable whose type an instance of a generic function declares leaves the others to
// expressions; one that names it fails, and does not read a global of that name.
func TestDebugTypesOfInstances(t *testing.T) {
	d := attach(t)
	const f = `ps := 7
func pairs[T any](xs []T) (n int) {
	type pair struct{ a, b T }
	var ps []pair
	for _, x := range xs {
		ps = append(ps, pair{x, x})
		n += len(ps)
	}
	return n
}`
	d.breaks(f, line(7))
	d.value(f)
	s, done := d.next("pairs([]int{5, 6})")
	for expression, want := range map[string]string{
		"append(xs, x)": "[5 6 5]",
		"ps[0].a":       "5",
	} {
		d.expect(expression, d.evaluate(s, expression), want)
	}
	frame := d.frames(s)[0].ID
	if r := d.ask("evaluate", fmt.Sprintf(`{"expression":"append(ps, ps...)","frameId":%d}`, frame)); r.Success || !strings.Contains(r.Message, "its type is local to a generic function") {
		t.Errorf("%+v", r)
	}
	if r := d.ask("copyToGlobals", fmt.Sprintf(`{"srcVariableName":"ps","dstVariableName":"to","srcFrameId":%d}`, frame)); r.Success || !strings.Contains(r.Message, "its type is local to a generic function") {
		t.Errorf("%+v", r)
	}
	d.must("evaluate", fmt.Sprintf(`{"expression":"n = 100","frameId":%d}`, frame))
	d.breaks(f)
	d.ends(s, done)
	d.expect("afterwards", d.value("ps"), "7")
}
