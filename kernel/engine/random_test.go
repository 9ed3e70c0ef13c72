//go:build edited

package engine

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"warpbook/kernel/engine/symbols"
)

// generator writes random functions over numbers, strings and slices: loops,
// branches, calls, conversions, and now and then an index out of range, a division
// by zero or a negative shift.
type generator struct {
	*rand.Rand
	b         strings.Builder
	vars      []variable
	slices    []variable // the slice of each type in scope
	functions []signature
	names     int
	depth     int
}

type variable struct{ name, typ string }

type signature struct {
	name    string
	params  []string
	results []string
}

var integers = []string{"int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "uintptr", "Small", "Wide"}

var numbers = append([]string{"float32", "float64", "Real", "float64"}, integers...)

func isInteger(t string) bool {
	return !strings.HasPrefix(t, "float") && t != "Real" && t != "bool" && t != "string"
}

func isUnsigned(t string) bool { return strings.HasPrefix(t, "uint") || t == "Wide" }

func (g *generator) pick(list []string) string { return list[g.IntN(len(list))] }

func (g *generator) printf(format string, args ...any) { fmt.Fprintf(&g.b, format, args...) }

func (g *generator) name(prefix string) string {
	g.names++
	return fmt.Sprint(prefix, g.names)
}

// literal is a constant of a type.
func (g *generator) literal(t string) string {
	switch {
	case t == "bool":
		return g.pick([]string{"true", "false"})
	case t == "string":
		return g.pick([]string{`""`, `"a"`, `"abc"`, `"zebra"`})
	case !isInteger(t):
		return fmt.Sprintf("%s(%s)", t, g.pick([]string{"0", "1", "-1", "0.5", "3.25", "-1e10", "1e-30", "16777217", "255.9"}))
	}
	list := []string{"0", "1", "2", "3", "7", "31", "100", "127"}
	if !isUnsigned(t) {
		list = append(list, "-1", "-2", "-128", "-7")
	}
	return fmt.Sprintf("%s(%s)", t, g.pick(list))
}

// of is a variable of a type, or a literal.
func (g *generator) of(t string) string {
	var list []string
	for _, v := range g.vars {
		if v.typ == t {
			list = append(list, v.name)
		}
	}
	if len(list) == 0 || g.IntN(6) == 0 {
		return "id(" + g.literal(t) + ")"
	}
	return g.pick(list)
}

// anyVar is a variable that is a number, "" if there is none.
func (g *generator) anyVar() (name, typ string) {
	for range 10 {
		if len(g.vars) > 0 {
			if v := g.vars[g.IntN(len(g.vars))]; v.typ != "bool" && v.typ != "string" {
				return v.name, v.typ
			}
		}
	}
	return "", ""
}

// expr is an expression of a type.
func (g *generator) expr(t string, depth int) string {
	if depth <= 0 {
		return g.of(t)
	}
	sub := func(t string) string { return g.expr(t, depth-1) }
	if t == "bool" {
		switch g.IntN(5) {
		case 0:
			return fmt.Sprintf("(%s && %s)", sub("bool"), sub("bool"))
		case 1:
			return fmt.Sprintf("(%s || !%s)", sub("bool"), sub("bool"))
		case 2:
			return fmt.Sprintf("(%s %s %s)", sub("string"), g.pick([]string{"==", "!=", "<", ">="}), sub("string"))
		}
		n := g.pick(numbers)
		if g.IntN(3) == 0 {
			return fmt.Sprintf("(%s %s %s)", sub(n), g.pick([]string{"==", "!=", "<", "<=", ">", ">="}), g.literal(n))
		}
		return fmt.Sprintf("(%s %s %s)", sub(n), g.pick([]string{"==", "!=", "<", "<=", ">", ">="}), sub(n))
	}
	if t == "string" {
		return g.of(t)
	}
	switch g.IntN(12) {
	case 0:
		return g.of(t)
	case 1:
		return fmt.Sprintf("%s(%s%s)", t, g.pick([]string{"-", "+"}), sub(t))
	case 2, 3:
		if name, _ := g.anyVar(); name != "" {
			return fmt.Sprintf("%s(%s)", t, name)
		}
	case 4:
		for _, s := range g.slices {
			if s.typ == t && g.IntN(2) == 0 {
				return fmt.Sprintf("%s[%s]", s.name, g.index(s.name, depth-1))
			}
		}
	case 5:
		if t == "uint8" {
			return fmt.Sprintf("(%s+\"x\")[0]", g.of("string"))
		}
		if t == "int" {
			return fmt.Sprintf("len(%s)", g.of("string"))
		}
	case 6:
		for _, f := range g.functions {
			if len(f.results) == 1 && f.results[0] == t && g.IntN(2) == 0 && g.depth < 2 {
				return g.callOf(f, depth-1)
			}
		}
	}
	if g.IntN(3) == 0 { // with a constant
		op := g.pick([]string{"+", "-", "*"})
		if isInteger(t) {
			op = g.pick([]string{"+", "-", "*", "&", "|", "^", "&^"})
		}
		if g.IntN(3) == 0 && op != "-" {
			return fmt.Sprintf("%s(%s %s %s)", t, g.literal(t), op, sub(t))
		}
		return fmt.Sprintf("%s(%s %s %s)", t, sub(t), op, g.literal(t))
	}
	if !isInteger(t) {
		return fmt.Sprintf("%s(%s %s %s)", t, sub(t), g.pick([]string{"+", "-", "*", "/"}), sub(t))
	}
	switch g.IntN(8) {
	case 0:
		return fmt.Sprintf("(%s %s (%s|1))", sub(t), g.pick([]string{"/", "%"}), sub(t))
	case 1, 2:
		return fmt.Sprintf("(%s %s %s)", sub(t), g.pick([]string{"<<", ">>"}), g.of(g.pick([]string{"uint", "uint8", "uint64"})))
	case 3:
		if g.IntN(4) == 0 {
			return fmt.Sprintf("(%s %s %s)", sub(t), g.pick([]string{"<<", ">>"}), g.of("int8"))
		}
		return fmt.Sprintf("(%s %s (%s&15))", sub(t), g.pick([]string{"<<", ">>"}), g.of("int"))
	case 4:
		return fmt.Sprintf("(^%s)", sub(t))
	}
	return fmt.Sprintf("(%s %s %s)", sub(t), g.pick([]string{"+", "-", "*", "&", "|", "^", "&^"}), sub(t))
}

// index is an index into a slice, seldom out of range.
func (g *generator) index(slice string, depth int) string {
	if g.IntN(25) == 0 {
		return g.expr(g.pick([]string{"int", "uint8", "int64"}), depth)
	}
	return fmt.Sprintf("int(uint(%s)%%uint(len(%s)))", g.expr("int", depth), slice)
}

func (g *generator) callOf(f signature, depth int) string {
	var args []string
	for _, t := range f.params {
		if t, slice := strings.CutPrefix(t, "[]"); slice {
			args = append(args, g.sliceOf(t))
		} else {
			args = append(args, g.expr(t, depth))
		}
	}
	return fmt.Sprintf("%s(%s)", f.name, strings.Join(args, ", "))
}

func (g *generator) sliceOf(t string) string {
	for _, s := range g.slices {
		if s.typ == t && g.IntN(3) > 0 {
			return s.name
		}
	}
	return fmt.Sprintf("[]%s{%s, %s, %s}", t, g.literal(t), g.literal(t), g.literal(t))
}

// block writes statements; what they declare ends with them.
func (g *generator) block(n, depth int) {
	vars, slices := len(g.vars), len(g.slices)
	for range n {
		g.statement(depth)
	}
	g.vars, g.slices = g.vars[:vars], g.slices[:slices]
}

func (g *generator) statement(depth int) {
	switch k := g.IntN(14); {
	case k < 3:
		t := g.pick(append(numbers, "bool", "string"))
		name := g.name("v")
		g.printf("var %s %s = %s; _ = %s\n", name, t, g.expr(t, 3), name)
		g.vars = append(g.vars, variable{name, t})
	case k < 6 && len(g.vars) > 0:
		v := g.vars[g.IntN(len(g.vars))]
		if strings.HasPrefix(v.name, "i") { // loops count with it
			return
		}
		if v.typ != "bool" && v.typ != "string" && g.IntN(2) == 0 {
			g.printf("%s %s %s\n", v.name, g.pick([]string{"+=", "-=", "*="}), g.expr(v.typ, 2))
		} else {
			g.printf("%s = %s\n", v.name, g.expr(v.typ, 3))
		}
		if isInteger(v.typ) && g.IntN(20) == 0 { // alone: Go does not say which of two operations of an expression panics first
			g.printf("%s = %s %s %s\n", v.name, v.name, g.pick([]string{"/", "%"}), g.of(v.typ))
		}
	case k == 6 && depth > 0:
		g.printf("if %s {\n", g.expr("bool", 2))
		g.block(2, depth-1)
		if g.IntN(2) == 0 {
			g.printf("} else {\n")
			g.block(2, depth-1)
		}
		g.printf("}\n")
	case k == 7 && depth > 0:
		i, t := g.name("i"), g.pick([]string{"int", "int32", "uint8", "uint64", "int16"})
		switch g.IntN(3) {
		case 0:
			g.printf("for %s := %s(0); %s < %d; %s++ {\n", i, t, i, 1+g.IntN(12), i)
		case 1:
			g.printf("for %s := %s(%d); %s > 0; %s-- {\n", i, t, 1+g.IntN(12), i, i)
		default:
			g.printf("for %s := range %s(%d) {\n_ = %s\n", i, t, 1+g.IntN(12), i)
		}
		g.vars = append(g.vars, variable{i, t})
		g.printf("steps++; if steps > 3000 { break }\n")
		g.block(3, depth-1)
		if g.IntN(3) == 0 {
			g.printf("if %s { %s }\n", g.expr("bool", 2), g.pick([]string{"break", "continue"}))
		}
		g.printf("}\n")
		g.vars = g.vars[:len(g.vars)-1]
	case k == 8:
		t, s := g.pick(numbers), g.name("s")
		g.printf("%s := make([]%s, %d); _ = %s\n", s, t, 1+g.IntN(6), s)
		g.slices = append(g.slices, variable{s, t})
	case k == 9 && len(g.slices) > 0:
		s := g.slices[g.IntN(len(g.slices))]
		g.printf("%s[%s] %s %s\n", s.name, g.index(s.name, 1), g.pick([]string{"=", "+=", "="}), g.expr(s.typ, 2))
	case k == 10 && len(g.slices) > 0 && depth > 0:
		s := g.slices[g.IntN(len(g.slices))]
		i, x := g.name("i"), g.name("v")
		g.printf("for %s, %s := range %s {\n_, _ = %s, %s\n", i, x, s.name, i, x)
		g.vars = append(g.vars, variable{i, "int"}, variable{x, s.typ})
		g.block(2, depth-1)
		g.vars = g.vars[:len(g.vars)-2]
		g.printf("}\n")
	case k == 11 && len(g.slices) > 0:
		s := g.slices[g.IntN(len(g.slices))]
		name := g.name("s")
		hi := "uint(len(" + s.name + "))"
		if g.IntN(20) == 0 {
			hi = "uint(9)"
		}
		g.printf("%s := %s[uint(%s)%%uint(len(%s)):%s]; _ = %s\n", name, s.name, g.expr("int", 1), s.name, hi, name)
		g.slices = append(g.slices, variable{name, s.typ})
	case k == 12 && len(g.functions) > 0 && g.depth < 2:
		f := g.functions[g.IntN(len(g.functions))]
		if len(f.results) != 2 {
			return
		}
		a, b := g.name("v"), g.name("v")
		g.printf("%s, %s := %s; _, _ = %s, %s\n", a, b, g.callOf(f, 1), a, b)
		g.vars = append(g.vars, variable{a, f.results[0]}, variable{b, f.results[1]})
	case k == 13:
		v, t := g.name("p"), g.pick(numbers)
		g.printf("%s := &struct{ a int8; b %s; c []%s }{b: %s}\n%s.a++\n", v, t, t, g.literal(t), v)
		g.vars = append(g.vars, variable{v + ".b", t}, variable{v + ".a", "int8"})
	}
}

// function writes a function and adds it to those that later ones may call.
func (g *generator) function() {
	f := signature{name: g.name("f")}
	g.vars, g.slices = nil, nil
	var params []string
	for range g.IntN(4) {
		t := g.pick(append(numbers, "bool", "string"))
		name := g.name("v")
		f.params, params = append(f.params, t), append(params, name+" "+t)
		g.vars = append(g.vars, variable{name, t})
	}
	if g.IntN(2) == 0 {
		t := g.pick(numbers)
		name := g.name("s")
		f.params, params = append(f.params, "[]"+t), append(params, name+" []"+t)
		g.slices = append(g.slices, variable{name, t})
	}
	for range 1 + g.IntN(2) {
		f.results = append(f.results, g.pick(append(numbers, "bool")))
	}
	g.depth = 0
	g.printf("func %s(%s) (%s) {\n", f.name, strings.Join(params, ", "), strings.Join(f.results, ", "))
	for range 4 + g.IntN(5) {
		g.statement(2)
	}
	var list []string
	for _, t := range f.results {
		list = append(list, g.expr(t, 3))
	}
	g.printf("return %s\n}\n\n", strings.Join(list, ", "))
	g.functions = append(g.functions, f)
}

// program writes a program that prints the results of its functions, or their panics.
func (g *generator) program(functions int) string {
	g.printf("package main\nimport \"fmt\"\n\ntype Small int16\ntype Wide uint64\ntype Real float64\nvar steps int\n\n")
	g.printf("func id[T any](x T) T { return x }\n\n")
	g.printf(`func show(name string, values ...any) {
	fmt.Print(name)
	for _, v := range values { if f, ok := v.(float32); ok && f != f { v = "NaN" }; fmt.Printf(" %%v", v) }
	fmt.Println()
}

func try(name string, f func()) {
	defer func() { if v := recover(); v != nil { fmt.Println(name, "panics:", v) } }()
	steps = 0
	f()
}

`)
	for range functions {
		g.function()
	}
	g.printf("func main() {\n")
	g.vars, g.slices = nil, nil
	for _, f := range g.functions {
		for range 3 {
			g.printf("try(%q, func() { ", f.name)
			if len(f.results) == 2 {
				g.printf("a, b := %s; show(%q, a, b) })\n", g.callOf(f, 0), f.name)
			} else {
				g.printf("a := %s; show(%q, a) })\n", g.callOf(f, 0), f.name)
			}
		}
	}
	g.printf("}\n")
	return g.b.String()
}

var programSeed = flag.Uint64("programseed", 0, "seed of TestRandomPrograms; 0 is a random one")

// TestRandomPrograms: cells give the results and panics of compiled Go, with the
// executor of bytecode and with the engine library.
func TestRandomPrograms(t *testing.T) {
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
		g := &generator{Rand: rand.New(rand.NewPCG(seed, uint64(i)))}
		src := g.program(40)
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

// compiled is the output of a program.
func compiled(t *testing.T, src string) string {
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(src), 0o666); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("go", "run", file)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.Bytes()[:min(stderr.Len(), 2000)])
	}
	return string(out)
}

// printed is the output of a program as a cell that bytecode executes, or the engine
// library.
func printed(t *testing.T, src string, interpretOnly bool) string {
	execute(t, interpretOnly)
	return output(t, src)
}

// output is the output of a program as a cell.
func output(t *testing.T, src string) string {
	var mu sync.Mutex
	var out bytes.Buffer
	e, err := New(Config{Output: func(_ uint64, name string, text []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		if name == "stderr" { // warnings of vet's analysers
			return len(text), nil
		}
		return out.Write(text)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if r := evaluate(context.Background(), e, 1, src+"\nmain()\n"); r.Err != nil {
		t.Fatalf("%v", r.Err.Traceback)
	}
	for e.stop.Live.Load() > 0 { // a goroutine has told that it is done, and ends
		runtime.Gosched()
	}
	mu.Lock()
	defer mu.Unlock()
	return out.String()
}

// firstDifference is empty if two outputs are the same. Go does not define which of two
// checks of a statement panics, so panics of two kinds count as the same.
func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] && !otherCheck(a[i], b[i]) {
			return fmt.Sprintf("line %d is %q, want %q", i+1, a[i], b[i])
		}
	}
	if len(a) != len(b) {
		return fmt.Sprintf("%d lines, want %d", len(a), len(b))
	}
	return ""
}

var panicOfCheck = regexp.MustCompile(`^(\w+) panics: runtime error: (index out of range|slice bounds|integer divide|negative shift|invalid memory)`)

// otherCheck reports whether two lines are panics of one function by different checks.
func otherCheck(x, y string) bool {
	a, b := panicOfCheck.FindStringSubmatch(x), panicOfCheck.FindStringSubmatch(y)
	return a != nil && b != nil && a[1] == b[1] && a[2] != b[2]
}
