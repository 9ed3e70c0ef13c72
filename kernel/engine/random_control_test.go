//go:build edited

package engine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"warpbook/kernel/engine/symbols"
)

// control writes random programs with constructs that random_test.go uses little: arrays
// and structs as values, slices of arrays, closures, deferred calls, select, labels,
// goto, type switches, generics and the order of evaluation. All functions have the same
// variables, and each prints them at its end.
type control struct {
	*rand.Rand
	b      strings.Builder
	names  int
	loops  []string // labels of the enclosing loops, "" for none
	nested int
}

func (g *control) printf(format string, args ...any) { fmt.Fprintf(&g.b, format, args...) }

func (g *control) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g *control) name(prefix string) string {
	g.names++
	return fmt.Sprint(prefix, g.names)
}

// types are those of the variables v0 to v9.
var controlTypes = []string{"int", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "Small"}

// places are variables and parts of variables, by type.
var controlPlaces = map[string][]string{
	"int":     {"v0", "st.N", "ps.N", "m[uint8(v5&3)]", "grid[v5&1][v6&1].N"},
	"int8":    {"v1", "st.C[v5&1]", "ps.C[v6&1]", "emb.C[v7&1]"},
	"int16":   {"v2", "arr[v5&3]", "pa[v6&3]"},
	"int32":   {"v3", "sl[int(v5)%len(sl)]", "sl[len(sl)-1]"},
	"int64":   {"v4", "arr2[v5&1][v6&1]"},
	"uint8":   {"v5", "by[v6&3]"},
	"uint16":  {"v6"},
	"uint32":  {"v7", "st.U", "emb.U"},
	"uint64":  {"v8", "h"},
	"Small":   {"v9"},
	"float32": {"f32", "fl[v5&3]"},
	"float64": {"f64", "st.F", "emb.F"},
}

func (g *control) place(t string) string { return g.pick(controlPlaces[t]...) }

func (g *control) anyType() string { return controlTypes[g.IntN(len(controlTypes))] }

func (g *control) expr(t string, depth int) string {
	float := strings.HasPrefix(t, "float")
	if depth <= 0 {
		if g.IntN(4) == 0 {
			return "id[" + t + "](" + g.pick("0", "1", "2", "3", "7", "100") + ")"
		}
		return g.place(t)
	}
	sub := func() string { return g.expr(t, depth-1) }
	switch g.IntN(11) {
	case 0:
		return g.place(t)
	case 1:
		return fmt.Sprintf("%s(%s)", t, g.expr(g.anyType(), depth-1))
	case 2:
		return fmt.Sprintf("add(%s, %s)", sub(), sub())
	case 3:
		return fmt.Sprintf("%s(%s, %s)", g.pick("min", "max"), sub(), sub())
	case 4:
		if t == "int" {
			return fmt.Sprintf("call(%s)", sub())
		}
		if t == "float64" {
			return "float64(" + g.expr("float32", depth-1) + ")"
		}
		return fmt.Sprintf("pick(%s, %s)", sub(), sub())
	case 5:
		return fmt.Sprintf("(Pair[%s]{%s, %s}.%s())", t, sub(), sub(), g.pick("First", "Sum"))
	case 6:
		return fmt.Sprintf("func(x %s) %s { x %s %s; return x }(%s)", t, t, g.pick("+=", "-=", "*="), g.place(t), sub())
	case 7:
		if !float {
			return fmt.Sprintf("(%s %s (%s & 15))", sub(), g.pick("<<", ">>"), g.expr(g.pick("uint8", "uint16", "int"), depth-1))
		}
	case 8:
		if !float {
			return fmt.Sprintf("(%s %s (%s | 1))", sub(), g.pick("/", "%"), sub())
		}
		return fmt.Sprintf("(%s / (1 + %s*%s))", sub(), g.place(t), g.place(t))
	}
	if float {
		return fmt.Sprintf("(%s %s %s)", sub(), g.pick("+", "-", "*"), sub())
	}
	return fmt.Sprintf("(%s %s %s)", sub(), g.pick("+", "-", "*", "&", "|", "^", "&^"), sub())
}

func (g *control) cond() string {
	t := g.anyType()
	switch g.IntN(6) {
	case 0:
		return fmt.Sprintf("(%s < %s || %s == %s)", g.expr(t, 1), g.expr(t, 1), g.place("uint8"), g.expr("uint8", 1))
	case 1:
		return g.pick("arr == *pa", "st == *ps", "any(v1) == any(st.C[0])", "str < \"m\"", "iface != nil", "fs == nil", "len(str) > 4", "arr != ([4]int16{})")
	case 2:
		return fmt.Sprintf("!(%s >= %s && f32 < f32+1)", g.expr(t, 1), g.expr(t, 1))
	}
	return fmt.Sprintf("%s %s %s", g.expr(t, 1), g.pick("<", "<=", ">", ">=", "==", "!="), g.expr(t, 1))
}

func (g *control) block(n int) {
	g.nested++
	for range n {
		g.statement()
	}
	g.nested--
}

// loop writes a loop that ends, whatever its body does.
func (g *control) loop(head string, used ...string) {
	label := ""
	if g.IntN(2) == 0 {
		label = g.name("L")
		g.printf("%s:\n", label)
	}
	g.printf("%s {\nif steps++; steps > 400 { break }\n", head)
	for _, name := range used {
		g.printf("h += uint64(%s)\n", name)
	}
	g.loops = append(g.loops, label)
	g.block(1 + g.IntN(3))
	g.loops = g.loops[:len(g.loops)-1]
	if label != "" {
		g.printf("if steps < 0 { continue %s }\n", label)
	}
	g.printf("}\n")
}

func (g *control) statement() {
	t := g.anyType()
	deep := g.nested > 3
	switch k := g.IntN(40); {
	case k < 4:
		g.printf("%s %s %s\n", g.place(t), g.pick("=", "+=", "-=", "*=", "^=", "|="), g.expr(t, 2))
	case k < 6:
		t = g.pick("float32", "float64")
		g.printf("%s %s %s\n", g.place(t), g.pick("=", "+=", "-=", "*="), g.expr(t, 2))
	case k == 6:
		u := g.anyType()
		g.printf("%s, %s = %s, %s\n", g.place(t), g.place(u), g.expr(t, 1), g.expr(u, 1))
	case k == 7:
		g.printf("%s%s\n", g.place(t), g.pick("++", "--"))
	case k == 8 && !deep:
		g.printf("if x := %s; %s {\nh += uint64(x)\n", g.expr(t, 1), g.cond())
		g.block(2)
		g.printf("} else if %s {\n", g.cond())
		g.block(1)
		g.printf("}\n")
	case k < 12 && !deep:
		i := g.name("i")
		switch g.IntN(6) {
		case 0:
			g.loop(fmt.Sprintf("for %s := range %d", i, 1+g.IntN(6)), i)
		case 1:
			g.loop(fmt.Sprintf("for %s, x := range arr { h += uint64(%s) * uint64(x)\n arr[(%s+1)&3] += x\n _ = x; for range 1", i, i, i))
			g.printf("}\n")
		case 2:
			g.loop(fmt.Sprintf("for %s, r := range str { h = h*3 + uint64(r) + uint64(%s)\n for range 1", i, i))
			g.printf("}\n")
		case 3: // a variable of each turn
			g.loop(fmt.Sprintf("for %[1]s, j := %[2]s(0), 0; %[1]s < %[3]d; %[1]s, j = %[1]s+1, j+2 { fs = append(fs, func(x int) int { j++; return x + int(%[1]s)*10 + j })\n for range 1", i, g.anyType(), 1+g.IntN(5)))
			g.printf("}\n")
		case 4:
			g.loop(fmt.Sprintf("for %s := range count(%d)", i, 1+g.IntN(6)), i)
		default:
			g.loop(fmt.Sprintf("for %s", g.cond()))
		}
	case k == 12 && len(g.loops) > 0:
		label := g.loops[g.IntN(len(g.loops))]
		g.printf("if %s { %s %s }\n", g.cond(), g.pick("break", "continue"), label)
	case k == 13:
		g.printf("for _, f := range fs { h = h*5 + uint64(f(%s)) }\n", g.expr("int", 1))
	case k == 14:
		s := g.name("s")
		g.printf("%[1]s := arr[v5&1 : 2+v6&1]; %[1]s[0] += %[2]s; %[1]s = append(%[1]s, %[3]s); h += uint64(cap(%[1]s)*8 + len(%[1]s))\n", s, g.expr("int16", 1), g.expr("int16", 1))
		if g.IntN(2) == 0 {
			g.printf("pa = (*[4]int16)(append(%s[:0:0], 1, 2, %s, 4))\n", s, g.expr("int16", 1))
		}
	case k == 15:
		g.printf("{ c := arr; c[v5&3]++; h += uint64(c[v6&3]); if %s { arr = c } }\n", g.cond())
	case k == 16:
		g.printf("%s\n", g.pick("st, *ps = *ps, st", "emb.S = st", "st = emb.S", "ps = &emb.S", "ps = &grid[v5&1][v6&1]", "grid[0] = grid[1]", "grid[v5&1][0] = *ps", "ps.bump()", "st.bump()", "emb.bump()", "st = st.with(int(v2))", "emb = Emb{st, 3}", "pa = &arr", "clear(m)", "clear(sl)", "delete(m, uint8(v5&3))"))
	case k == 17:
		g.printf("%s\n", g.pick("copy(sl[1:], sl)", "sl = append(sl[:1], sl[2:]...)\nsl = append(sl, v3, 9, 8)", "sl = append(sl, sl...)[:8]", "sl = append([]int32(nil), sl...)", "copy(by[:], str)", "sl[0], sl[len(sl)-1] = sl[len(sl)-1], sl[0]", "v5, by[v5&3] = 2, 77", "str = string(by[:2]) + str[len(str)/2:]", "str += string(rune('a' + v5&7))", "by[1] = str[int(v5)%len(str)]", "h += uint64(len(m)) + uint64(len([]rune(str)))"))
	case k == 18 && !deep:
		g.printf("switch x := %s; {\ncase x > %s:\n", g.expr(t, 1), g.expr(t, 1))
		g.block(1)
		g.printf("%scase %s:\n", g.pick("fallthrough\n", ""), g.cond())
		g.block(1)
		g.printf("default:\n")
		g.block(1)
		g.printf("}\n")
	case k == 19 && !deep:
		g.printf("switch %s & 7 {\ncase 0, 1:\n", g.expr(t, 1))
		g.block(1)
		g.printf("%scase 2:\n", g.pick("fallthrough\n", "break\n", ""))
		g.block(1)
		g.printf("case 5, 6:\n")
		g.block(1)
		g.printf("}\n")
	case k == 20:
		g.printf("iface = %s\n", g.pick("v1", "v9", "st", "ps", "arr", "nil", "str", "f32", "[]any{v2}", "Pair[int8]{v1, 2}", "error(fmt.Errorf(\"e%d\", v1))"))
	case k == 21:
		g.printf("switch x := iface.(type) {\ncase int8: h += uint64(x)\ncase Small: h += uint64(x) * 3\ncase S, *S: h += 7; _ = x\ncase summer: h += uint64(x.Total())\ncase [4]int16: h += uint64(x[1])\ncase error: h += uint64(len(x.Error()))\ncase nil: h++\ncase string: h += uint64(len(x))\ndefault: h ^= 99\n}\n")
	case k == 22:
		a := g.name("c")
		g.printf("%[1]s := make(chan int, 2)\nif %[2]s { %[1]s <- %[3]s }\nselect {\ncase x, ok := <-%[1]s: h += uint64(x); if ok { h *= 3 }\ncase %[4]s <- 5: h += 2\ndefault: h += 11\n}\n", a, g.cond(), g.expr("int", 1), g.pick("(chan int)(nil)", "(chan int)(nil)"))
		g.printf("close(%[1]s)\nfor x := range %[1]s { h += uint64(x) }\n", a)
	case k == 23 && !deep:
		g.printf("{ r := func() (r uint64) {\ndefer func() { if e := recover(); e != nil { r = r*7 + uint64(len(fmt.Sprint(e))) } }()\ndefer func(x int) { r += uint64(x) }(%s)\n", g.expr("int", 1))
		loops := g.loops
		g.loops = nil
		g.block(2)
		g.loops = loops
		g.printf("%s\nreturn h\n}(); h += r }\n", g.pick("if v5&1 == 0 { panic(fmt.Sprint(v1)) }", "r = uint64(arr[v0]) ; _ = sl[v2]", "h += uint64(v0 / (v0 & 1))", "var p *S; h += uint64(p.N)", "h += uint64(iface.(int8))", "_ = sl[:v1]", "panic(error(nil))", "h <<= v1", "_ = (*[9]int32)(sl)", "for i := range 3 { defer func() { h = h*3 + uint64(i) }() }"))
	case k == 24 && g.nested <= 1:
		l := g.name("G")
		g.printf("{ n := 0\n%s:\n n++; h += uint64(n)\n", l)
		g.printf("if n < 4 && %s { goto %s } }\n", g.cond(), l)
	case k == 25:
		g.printf("m[uint8(%s&3)] %s %s\n", g.expr("uint8", 1), g.pick("+=", "=", "-="), g.expr("int", 1))
	case k == 26:
		g.printf("for k, x := range m { h += uint64(k)*7 + uint64(x) }\n")
	case k == 27:
		g.printf("cx = cx*complex(%s, 0.5) + complex(0, f64); if v := real(cx); v > 1e3 || v < -1e3 || v != v { cx = 1 }\n", g.pick("0.25", "f64/1e30", "float64(f32)/1e20"))
	case k == 28:
		g.printf("arr[index(int(v5))] %s int16(call(3))\n", g.pick("+=", "=", "^="))
	case k == 29:
		g.printf("{ f := %s; st.N++; h += uint64(f()) }\n", g.pick("st.Total", "ps.Total", "emb.Total", "Pair[int16]{v2, 3}.Total", "summer(st).Total"))
	case k == 30:
		g.printf("v0 += each(sl, func(x int32) %s { return %s(x) })\n", t, t)
	case k == 31:
		g.printf("fl[v5&3] = float32(f64) * 0.1; f64 = float64(fl[v6&3]*fl[v5&3]) + 0.3\n")
	case k == 32:
		g.printf("{ x, ok := m[%s & 7]; if ok { h += uint64(x) } }\n", g.place("uint8"))
	case k >= 34:
		g.printf("%s\n", g.mapStatement())
	case k == 33:
		g.printf("func() { defer func(a [4]int16, s S) { h += uint64(a[0]) + uint64(s.N) }(arr, st); arr[0]++; st.N++; v5 += 3 }()\n")
	}
}

// mapStatement accesses maps of many types of keys and elements.
func (g *control) mapStatement() string {
	i, t := g.expr("int", 1), g.expr("int16", 1)
	switch g.IntN(20) {
	case 0:
		return fmt.Sprintf("maps.a[int32(%s&7)] %s float32(v5)", i, g.pick("+=", "=", "-="))
	case 1:
		return fmt.Sprintf("maps.b[str[:v5&3]] = %s; { x := maps.b[str[:v6&1]]; x.N++; h += uint64(x.Total()) }", g.pick("st", "*ps", "emb.S", "S{N: 3}"))
	case 2:
		return fmt.Sprintf("maps.c[Key{v1 & 1, uint16(v5 & 3), str[:v6&1]}] %s %s", g.pick("+=", "=", "^="), t)
	case 3:
		return fmt.Sprintf("if maps.d[uint64(%s&3)] == nil { maps.d[uint64(v5&3)] = %s } else { maps.d[uint64(v5&3)] = nil }", i, g.pick("ps", "&st", "new(S)"))
	case 4:
		return "maps.e[str[:v6&3]] = append(maps.e[str[:v6&3]], v3, 7); h += uint64(len(maps.e[\"\"]) + cap(maps.e[str]))"
	case 5:
		return fmt.Sprintf("maps.f[[2]int8{v1 & 1, int8(%s & 1)}] += str[:1]", i)
	case 6:
		return fmt.Sprintf("if _, ok := maps.g[str[:%s&1]]; ok { delete(maps.g, str[:v5&1]) } else { maps.g[str[:v5&1]] = struct{}{} }", i)
	case 7:
		return fmt.Sprintf("maps.h[f64/f64] = true; maps.h[float64(%s&3)] = %s; h += uint64(len(maps.h)); clear(maps.h)", i, g.cond())
	case 8:
		return "if maps.i[str[:1]] == nil { maps.i[str[:1]] = map[int]uint16{} }; maps.i[str[:1]][int(v5&3)] += v6"
	case 9:
		return fmt.Sprintf("maps.j[int(v5&3)] = %s; if x, ok := maps.j[int(v6&3)].(int8); ok { h += uint64(x) }", g.pick("v1", "st", "nil", "str", "v9", "iface"))
	case 10:
		return "if f := maps.k[v6&3]; f != nil { h += uint64(f(3)) } else { n := int(v5); maps.k[v6&3] = func(x int) int { n++; return x + n } }"
	case 11:
		return fmt.Sprintf("maps.l[Small(%s&3)] = error(fmt.Errorf(\"e%%d\", v1)); if e := maps.l[v9&3]; e != nil { h += uint64(len(e.Error())) }", i)
	case 12:
		return fmt.Sprintf("maps.m[v1&1 == 0] %s complex(float64(v5), 1)", g.pick("+=", "="))
	case 13:
		return "fill(maps.n, v5); for k, x := range maps.n { h += uint64(k) * uint64(x[0]) + uint64(x[2]) }"
	case 14:
		return "for k, x := range maps.b { h += uint64(len(k)) * uint64(x.Total()) }; for k := range maps.c { h += uint64(k.B) }; for range maps.g { h++ }"
	case 15:
		return "for k, x := range maps.a { if x > 100 { delete(maps.a, k) } }; for k, x := range maps.f { h += uint64(len(x)) * uint64(k[1]) }"
	case 16:
		return fmt.Sprintf("{ x, ok := maps.c[Key{B: uint16(%s & 3)}]; y, ok2 := maps.b[str]; z, ok3 := maps.e[\"\"]; if ok != ok2 || ok3 { h += uint64(x) + uint64(y.N) + uint64(len(z)) } }", i)
	case 17:
		return "delete(maps.c, Key{B: 1}); delete(maps.f, [2]int8{}); delete(maps.n, v1); delete(maps.d, 0); delete(maps.nilMap, 3); h += uint64(len(maps.nilMap)) + uint64(maps.nilMap[v5&1])"
	case 18:
		return fmt.Sprintf("for _, x := range maps.d { if x != nil { x.N += 2; h += uint64(x.N & 7) } }; if maps.nilMap != nil || %s { maps.a = map[int32]float32{1: 2} }", g.cond())
	}
	return "{ c := maps; c.n = map[int8][3]int16{1: {v2}}; h += uint64(len(c.n) + len(c.i)); for k, x := range c.i { for a, b := range x { h += uint64(a)*uint64(b) + uint64(len(k)) } } }"
}

// program writes a program of functions.
func (g *control) program(functions int) string {
	g.printf(`package main
import "fmt"

type Small int16
type S struct { N int; C [2]int8; U uint32; F float64 }
func (s *S) bump() { s.N += 3; s.C[0]--; s.U <<= 1; s.F /= 2 }
func (s S) with(n int) S { s.N = n; s.C[1]++; return s }
func (s S) Total() int { return s.N + int(s.C[0]) + int(s.C[1]) + int(s.U&255) }
type Key struct { A int8; B uint16; C string }
type Maps struct { a map[int32]float32; b map[string]S; c map[Key]int16; d map[uint64]*S; e map[string][]int32; f map[[2]int8]string; g map[string]struct{}; h map[float64]bool
	i map[string]map[int]uint16; j map[int]any; k map[uint16]func(int) int; l map[Small]error; m map[bool]complex128; n map[int8][3]int16; nilMap map[uint8]int }
func fill(m map[int8][3]int16, x uint8) { for i := range int8(4) { a := m[i]; a[i&1] += int16(x); m[i] = a } }
type Emb struct { S; X int }
type summer interface { Total() int }
type number interface { ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64 }
type Pair[T number] struct { A, B T }
func (p Pair[T]) First() T { return p.A }
func (p Pair[T]) Sum() T { p.A += p.B; return p.A }
func (p Pair[T]) Total() int { return int(p.A) - int(p.B) }
func add[T number](a, b T) T { return a + b }
func pick[T number](a, b T) T { if a < b { return b }; return a - b }
func each[T, U number](list []T, f func(T) U) (n int) { for _, x := range list { n += int(f(x)) }; return n }
var ticks uint64 // expressions only change it: Go does not define when they read it
func call(x int) int { ticks = ticks*31 + uint64(x); return x + 1 }
func index(x int) int { ticks = ticks*17 + uint64(x); return x & 3 }
func id[T any](x T) T { return x }
func count(n int) func(func(int) bool) { return func(yield func(int) bool) { for i := range n { if !yield(i * i) { return } } } }

`)
	for f := range functions {
		g.printf("func f%d(h uint64, f32 float32, f64 float64) {\nsteps := 0; _ = steps\n", f)
		for i, t := range controlTypes {
			g.printf("v%d := %s(h >> %d); _ = v%d\n", i, t, g.IntN(8), i)
		}
		g.printf("arr := [4]int16{1, 2, int16(h), 4}; pa := &arr; by := [4]byte{'x', 'y', 'z', byte('a' + h&7)}; arr2 := [2][2]int64{{1, 2}, {3, int64(h)}}\n")
		g.printf("sl := make([]int32, 6, 8); m := map[uint8]int{1: 2, 3: int(h)}; str := \"aé漢z\"; fl := [4]float32{0.1, 1e10, -3.5, f32}\n")
		g.printf("st := S{int(v1), [2]int8{1, v1}, 5, 0.7}; ps := &S{N: 4}; emb := Emb{S{N: 9, F: f64}, 2}; var grid [2][2]S; var iface any; var fs []func(int) int; cx := complex(f64, 1)\n")
		g.printf("maps := Maps{map[int32]float32{}, map[string]S{}, map[Key]int16{}, map[uint64]*S{}, map[string][]int32{}, map[[2]int8]string{}, map[string]struct{}{}, map[float64]bool{}, map[string]map[int]uint16{}, map[int]any{}, map[uint16]func(int) int{}, map[Small]error{}, map[bool]complex128{}, map[int8][3]int16{}, nil}\n")
		for range 8 + g.IntN(10) {
			g.statement()
		}
		g.printf("for _, f := range fs { h = h*3 + uint64(f(1)) }\n")
		g.printf("fmt.Println(%q, h, ticks, f32, f64, v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, arr, *pa, by, arr2, sl, m, str, fl, st, *ps, emb, grid, cx)\n", fmt.Sprint("f", f))
		g.printf("fmt.Println(maps.a, maps.b, maps.c, len(maps.d), maps.e, maps.f, maps.g, maps.h, maps.i, len(maps.j), len(maps.k), len(maps.l), maps.m, maps.n)\n")
		g.printf("switch x := iface.(type) { case *S: fmt.Println(*x); case error: fmt.Println(x); default: fmt.Printf(\"%%T %%v\\n\", x, x) }\n}\n\n")
	}
	g.printf("func try(f func(uint64, float32, float64), h uint64) {\ndefer func() { if v := recover(); v != nil { fmt.Println(\"panics:\", v) } }()\nf(h, float32(h)/3, float64(h)/7)\n}\n\n")
	g.printf("func main() {\nfor _, h := range []uint64{0, 1, 200, 40000, 1<<33 + 77, 1<<63 + 12345} {\n")
	for f := range functions {
		g.printf("try(f%d, h)\n", f)
	}
	g.printf("}\n}\n")
	return g.b.String()
}

// TestRandomControl: random_test.go has TestRandomPrograms, which compares in the same
// way.
func TestRandomControl(t *testing.T) {
	symbols.Register()
	programs := 2
	if os.Getenv("WARPBOOK_LONG") != "" {
		programs = 100
	}
	seed := rand.Uint64()
	if *programSeed != 0 {
		seed = *programSeed
	}
	t.Logf("seed %d", seed)
	for i := range programs {
		g := &control{Rand: rand.New(rand.NewPCG(seed, uint64(i)))}
		src := g.program(12)
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("program %d:\n%s", i, src)
			}
		})
		want := compiled(t, src)
		for _, only := range []bool{false, true} {
			if d := firstDifference(printed(t, src, only), want); d != "" {
				t.Errorf("program %d, engine library only: %v: %s", i, only, d)
			}
		}
	}
}
