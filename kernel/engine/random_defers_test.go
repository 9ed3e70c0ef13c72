//go:build edited

package engine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"warpbook/kernel/engine/symbols"
)

// deferring writes random programs of functions that defer calls: closures, functions,
// methods, builtins and compiled functions, in loops, in range functions and in functions
// that compiled code calls. They change results, recover, panic again or end the goroutine.
type deferring struct {
	*rand.Rand
	b         strings.Builder
	functions int
	registers int // functions whose variables bytecode has in registers
	names     int
	nested    int
}

func (g *deferring) printf(format string, args ...any) { fmt.Fprintf(&g.b, format, args...) }

func (g *deferring) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g *deferring) number() int {
	g.names++
	return g.names
}

// fault panics, or mostly not.
func (g *deferring) fault() string {
	k := g.number()
	return fmt.Sprintf("if (r+%d)%%%d == 0 { %s }\n", g.IntN(9), 2+g.IntN(3), g.pick(
		fmt.Sprintf("panic(%q)", fmt.Sprint("p", k)), fmt.Sprintf("panic(fmt.Errorf(\"e%d\"))", k), fmt.Sprintf("panic(%d)", k), "panic(mine{r})", "panic(error(nil))",
		"r += list[r&3+3]", "r /= r - r", "var m map[int]int; m[r] = 1", "var q *P; q.inc(1)", "var f func(); f()", "_ = any(r).(string)", "var y I; r += y.act(1)", "strings.Repeat(\"x\", -1)", "var c chan int; close(c)"))
}

// body is a list of statements of a closure, which may change r.
func (g *deferring) body(n int) string {
	was := g.b
	g.b = strings.Builder{}
	g.nested++
	for range n {
		g.statement()
	}
	g.nested--
	text := g.b.String()
	g.b = was
	return results.ReplaceAllString(text, "return")
}

// results are those of a return statement of a function with two.
var results = regexp.MustCompile(`return (r \+ 1, nil|pair\(r\)|\d+, errors.New\("early"\))`)

// recovering is a closure that is deferred and recovers.
func (g *deferring) recovering() string {
	k := g.number()
	return fmt.Sprintf("func() { if v := recover(); v != nil { out(\"recovered %d\", text(v)); r += %d; %s } else { out(\"calm %d\", r) } }", k, k,
		g.pick("", "", "", "e = fmt.Errorf(\"%w after "+fmt.Sprint(k)+"\", io.EOF)", "panic(fmt.Sprint(\"again \", text(v)))", "if r&1 == 0 { panic(v) }", "defer func() { out(\"inner\", text(recover())) }(); panic(\"inner\")", "out(\"second\", recover())"), k)
}

func (g *deferring) statement() {
	k, n := g.number(), g.IntN(34)
	if g.nested > 2 {
		n %= 14
	}
	switch n {
	case 0:
		g.printf("r = r*3 + %d; out(\"at %d\", r)\n", k, k)
	case 1:
		g.printf("defer func() { r += %d; out(\"deferred %d\", r) }()\n", k, k)
	case 2:
		g.printf("defer func(a int, b string, c float32, l []int) { r += a + len(b); out(\"values %d\", a, b, c, len(l)) }(r, s+\"x\", float32(r)/2, list[:r&1])\n", k)
	case 3, 4:
		g.printf("defer %s()\n", g.recovering())
	case 5:
		g.printf("for i := range %d { defer func() { out(\"loop %d\", i, r); r++ }()\n%s}\n", 1+g.IntN(4), k, g.pick("", g.fault()))
	case 6:
		g.printf("defer %s\n", g.pick("p.inc(r)", "x.act(r)", "(*P).inc(p, 2)", "(*P)(nil).inc(1)", "wrap{p}.inc(r)", "I.act(x, r)", "wrapped{x}.act(r)", "A{r}.act(2)"))
	case 7:
		g.printf("defer %s\n", g.pick("out(\"printed\", r, s)", "catch(\"by name\")", "helper(\"below\")", "generic(r)", "generic(s)", "generic[any](nil)", "fmt.Println(\"compiled\", r)", "buf.WriteString(s)", "fmt.Fprint(&buf, r)", "strings.ToUpper(s)", "both(r, s)"))
	case 8, 9:
		g.printf("%s", g.fault())
	case 10:
		g.printf("if n > 0 { a, err := f%d(n-1, s+\"'\", %s, p); r += a; out(\"called %d\", a, text(err)) }\n", g.IntN(g.functions), g.pick("x", "A{r}", "&A{2}", "wrapped{x}", "p"), k)
	case 11:
		g.printf("func() { p.mu.Lock(); defer p.mu.Unlock(); p.n++\n%s}()\n", g.pick("", g.fault()))
	case 12:
		g.printf("if r%%%d == 0 { %s }\n", 2+g.IntN(4), g.pick("return", "return r + 1, nil", fmt.Sprintf("return %d, errors.New(\"early\")", k), "return pair(r)"))
	case 13:
		g.printf("func() { p.rw.RLock(); defer p.rw.RUnlock(); out(\"read\", p.n) }()\n")
	case 14:
		g.printf("func() {\n%s}()\n", g.body(3))
	case 15:
		g.printf("r += func(k int) (r int) {\n%sreturn k\n}(%d)\n", g.body(3), k)
	case 16:
		g.printf("sort.Slice(list, func(i, j int) bool { defer func() { r++ }()\n%s%sreturn list[i]*7%%5 < list[j]*7%%5 })\n", g.pick("", "defer "+g.recovering()+"()\n"), g.pick("", g.fault()))
	case 17:
		g.printf("for i := range count(%d) { defer func() { out(\"range %d\", i, r) }()\n%s%s}\n", 1+g.IntN(4), k, g.pick("", g.fault()), g.pick("", "if i == 1 { break }\n", "if i == 1 { return }\n", "if i == 1 { continue }\n"))
	case 18:
		ends := g.body(2)
		if g.IntN(2) == 0 { // without panics: a deferred call that recovers one while runtime.Goexit runs may end a compiled program with "bad recovery"
			ends = "for i := range 2 { defer func() { out(\"left\", i, recover()); r++ }() }\nfunc() { defer p.inc(r); defer func() { out(\"ends\", recover()) }(); runtime.Goexit() }()\n"
		}
		g.printf("{ done := make(chan bool); go func() { defer close(done); defer func() { out(\"goroutine %d\", text(recover())) }()\n%s}(); <-done }\n", k, ends)
	case 19:
		g.printf("defer func(b big) { out(\"big\", b.a[3], b.s) }(big{s: s, a: [20]int{3: r}})\n")
	case 20:
		g.printf("{ var fn func()\nif r&1 == 0 { fn = func() { r += 2; out(\"value %d\", r) } }\ndefer fn() }\n", k)
	case 21:
		g.printf("{ g := %s\ndefer g(r) }\n", g.pick("x.act", "p.act", "A{1}.act", "func(k int) int { r += k; return k }", "pick(r&1 == 0)"))
	case 22:
		g.printf("{ var w io.Writer = &buf\ndefer w.Write([]byte(s)) }\n")
	case 23:
		g.printf("{ var y I\nif r&1 == 0 { y = %s }\ndefer y.act(r) }\n", g.pick("x", "A{5}", "p"))
	case 24:
		g.printf("defer recover()\n")
	case 25:
		g.printf("if r&3 == 1 { defer panic(%q) }\n", fmt.Sprint("deferred panic ", k))
	case 26:
		g.printf("{ m := map[int]int{1: 2}\ndefer func() { out(len(m)) }()\ndefer delete(m, 1) }\n")
	case 27:
		g.printf("once(func() {\n%s})\n", g.body(2))
	case 28:
		g.printf("for i := 0; i < %d; i++ { func() { defer func() { r += i }()\n%s}() }\n", 1+g.IntN(4), g.body(1))
	case 29:
		g.printf("for i := 0; i < %d; i++ { if i&1 == 0 { defer p.inc(i) } else { defer func() { out(\"odd %d\", i) }() } }\n", g.IntN(6), k)
	case 30:
		g.printf("func() { defer func() { defer func() { out(\"nested\", text(recover())) }()\n%s}()\n%s}()\n", g.fault(), g.fault())
	case 31:
		g.printf("strings.Map(func(c rune) rune { defer func() { r++ }(); if c == '\\'' && r&1 == 0 { panic(\"quote\") }; return c }, s)\n")
	case 32:
		g.printf("{ defer func(f func(int) int) { out(\"f\", f(r)) }(func(k int) int { defer func() { k = 9 }(); return k + r }) }\n")
	case 33:
		g.printf("for i := range 2 { switch { case r&1 == 0: defer out(\"even\", i); default: defer func() { catch(\"nested in a closure\") }() } }\n")
	}
}

// register is a statement of a function whose variables only deferred closures capture, so
// that bytecode has them in registers.
func (g *deferring) register() {
	k := g.number()
	change := func() string {
		return g.pick("a += 3", "b -= 100", "c += \"z\"", "d = c", "d = nil", "x *= 1.5", "y = !y", "r = r*2 + int(a)", "e = fmt.Errorf(\"e%d\", r)", "e = nil", "q = &P{n: r}", "l = append(l, r)", "a, b = int8(b), uint16(a)", "r++", "c = fmt.Sprint(d)")
	}
	switch n := g.IntN(16); n {
	case 0, 1:
		g.printf("%s; %s\n", change(), change())
	case 2:
		g.printf("{ wa, wc, wd, we, wr, wl := a, c, d, e, r, l; %s; %s; %s; out(\"before %d\", wa, wc, text(wd), text(we), wr-r, len(wl)); r += wr }\n", change(), change(), change(), k)
	case 3, 4:
		g.printf("defer func() { out(\"registers %d\", a, b, c, text(d), x, y, q.n, len(l), r, text(e)); %s; %s }()\n", k, change(), change())
	case 5:
		g.printf("defer func(k int, w string, v any) { out(\"arguments %d\", k, w, text(v), a, c); %s; r += k }(r, c, d)\n", k, change())
	case 6, 7, 8:
		g.printf("defer func() { if v := recover(); v != nil { %s; out(\"recovered %d\", text(v), r, text(recover())); %s } else { %s } }()\n", change(), k,
			g.pick("", "", "r = k", "e = fmt.Errorf(\"%v\", v)", "panic(v)", "panic(fmt.Sprint(v, r))", "if r, ok := v.(runtime.Error); ok { e = r }", "defer func() { out(\"inner\", text(recover())) }(); panic(r)", "try(f0, 0, c)"), change())
	case 9:
		g.printf("%s", g.fault())
	case 10:
		g.printf("defer %s\n", g.pick("delete(m, r)", "fmt.Println(\"listed\", r, c)", "p.inc(r)", "catch(c)", "helper(c)", "x0.act(r)", "recover()", "p.mu.TryLock()", "func(b big) { out(b.s) }(big{s: c})"))
	case 11:
		g.printf("for i := range %d { defer func() { out(\"loop %d\", i, r, c); %s }(); %s\n%s}\n", 1+g.IntN(3), k, change(), change(), g.pick("", g.fault()))
	case 12:
		g.printf("if n > 0 { t, err := f%d(n-1, c, x0, p); out(\"called %d\", t, text(err)); r += t }\n", g.IntN(g.functions+g.registers), k)
	case 13:
		g.printf("defer func() { defer func() { out(\"below %d\", text(recover())) }()\n%s; %s}()\n", k, g.fault(), change())
	case 14:
		g.printf("if r%%%d == 0 { %s }\n", 2+g.IntN(4), g.pick("return", "return int(a), nil", "return r, errors.New(c)", "return pair(r)"))
	case 15:
		g.printf("if r&7 == 5 { done := make(chan bool); go func(p *P) { defer close(done); defer p.inc(1); runtime.Goexit() }(p); <-done }\n")
	}
}

// program writes a program of functions.
func (g *deferring) program() string {
	g.printf(`package main
import ("bytes"; "errors"; "fmt"; "io"; "runtime"; "sort"; "strings"; "sync")

var buf bytes.Buffer
var _, _ = sort.Ints, strings.Map
var lines int
func out(a ...any) { if lines++; lines < 3000 { fmt.Println(a...) } }
func text(v any) string {
	switch v := v.(type) {
	case nil: return "nil"
	case runtime.Error: return "runtime: " + v.Error()
	case error: return fmt.Sprint("error: ", v, errors.Is(v, io.EOF))
	}
	return fmt.Sprint(v)
}
type mine struct{ n int }
func (m mine) Error() string { return fmt.Sprint("mine ", m.n) }
type I interface{ act(n int) int }
type A struct{ a int }
func (x A) act(n int) int { defer func() { lines++ }(); out("A.act", x.a, n); if n%%5 == 4 { panic("A.act") }; return n }
type P struct { n int; mu sync.Mutex; rw sync.RWMutex }
func (p *P) inc(k int) { p.n += k }
func (p *P) act(n int) (r int) { defer func() { if v := recover(); v != nil { out("P.act", text(v)); r = 1 } }(); p.inc(n); return 10 / (n & 1) }
type wrap struct{ *P }
type wrapped struct{ I }
type big struct { s string; a [20]int }
func catch(name string) { out(name, text(recover())) }
func helper(name string) { catch(name) }
func generic[T any](x T) { defer func() { out("generic", x, text(recover())) }(); defer out("T", x) }
func both(k int, s string) (int, string) { return k, s }
func pair(k int) (a int, err error) { defer func() { a = k + 1 }(); return k, nil }
func pick(b bool) func(int) int { if b { return nil }; return func(k int) int { out("picked", k); return k } }
func count(n int) func(func(int) bool) { return func(yield func(int) bool) { defer out("counted"); for i := range n { if !yield(i) { return } } } }
func once(f func()) { var o sync.Once; defer func() { o.Do(func() { out("again") }) }(); o.Do(f) }

`)
	for f := range g.functions {
		g.printf("func f%d(n int, s string, x I, p *P) (r int, e error) {\nlist := []int{3, 1, 2}; _ = list\nr = len(s) + n\n", f)
		if g.IntN(3) > 0 {
			g.printf("defer %s()\n", g.recovering())
		}
		for range 3 + g.IntN(5) {
			g.statement()
		}
		g.printf("return %s\n}\n\n", g.pick("", "r, nil", "r + 1, e", "pair(r)"))
	}
	for f := range g.registers {
		g.printf("func f%d(n int, s string, x0 I, p *P) (r int, e error) {\na, b, c, d, x, y, q, l, m := int8(n), uint16(n), s, any(n), float32(n), true, p, []int(nil), map[int]int{}\nlist, k := []int{1}, 7\n_, _, _, _, _, _, _, _, _, _, _ = a, b, c, d, x, y, q, l, m, list, k\n", g.functions+f)
		for range 4 + g.IntN(6) {
			g.register()
		}
		g.printf("return %s\n}\n\n", g.pick("", "r, e", "r + 1, e", "int(a), nil"))
	}
	g.printf("func try(f func(int, string, I, *P) (int, error), n int, s string) {\ndefer func() { if v := recover(); v != nil { out(\"panics:\", text(v)) } }()\np := &P{}\nr, e := f(n, s, A{n}, p)\nout(r, text(e), p.n, p.mu.TryLock(), p.rw.TryLock())\n}\n\n")
	g.printf("func main() {\nfor n := range 4 {\nfor _, s := range []string{\"\", \"ab\", \"abc\"} {\n")
	for f := range g.functions + g.registers {
		g.printf("lines = 0; out(\"f%d\", n, s); try(f%d, n, s)\n", f, f)
	}
	g.printf("}\n}\nfmt.Println(buf.Len())\n}\n")
	return g.b.String()
}

// TestRandomDefers: random_test.go has TestRandomPrograms, which compares in the same way.
// Here cells also run as they do elsewhere: the engine library executes the first calls of
// a function, and with them some of the deferred calls.
func TestRandomDefers(t *testing.T) {
	symbols.Register()
	programs := 3
	if os.Getenv("WARPBOOK_LONG") != "" {
		programs = 100
	}
	seed := rand.Uint64()
	if *programSeed != 0 {
		seed = *programSeed
	}
	t.Logf("seed %d", seed)
	for i := range programs {
		g := &deferring{Rand: rand.New(rand.NewPCG(seed, uint64(i))), functions: 8, registers: 6}
		src := g.program()
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("program %d:\n%s", i, src)
			}
		})
		want := compiled(t, src)
		for name, got := range map[string]string{"bytecode": printed(t, src, false), "engine library": printed(t, src, true), "both": printedByBoth(t, src)} {
			if d := firstDifference(got, want); d != "" {
				t.Errorf("program %d, %s: %s", i, name, d)
			}
		}
	}
}

func printedByBoth(t *testing.T, src string) string {
	execute(t, false)
	executing.eager = false
	return output(t, src)
}
