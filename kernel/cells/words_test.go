package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// engineWords matches words of the text that the engine puts around a cell.
var engineWords = regexp.MustCompile(`__|cellrt|main\.|found '?(?:return|EOF)|\bcell\d`)

// TestWords: errors of a cell use Go's words or ours, name the position, and suggest
// the Go form for constructs of other languages.
func TestWords(t *testing.T) {
	c := start(t)
	c.value("number := 5\nx := 5")
	for _, w := range []struct{ code, want string }{
		// of the cell itself
		{"return 5", "1:8: a cell returns no value: its last expression is shown, and a bare return ends it"},
		{"if true { return 5, 6 }", "1:18: a cell returns no value"},
		{"const big = 1<<100; big", "1:21: cannot use big (untyped int constant 1267650600228229401496703205376) as int value (overflows): convert it, as in float64(big)"},
		{"1e1000", "1:1: cannot use 1e1000 (untyped float constant 1e+1000) as float64 value (overflows)"},
		{"f := func() int { return 1 }\nf(), f()", "2:1: expected 1 expression: a cell shows one expression, the last: write fmt.Println(a, b)"},
		{"1 +", "1:4: expected operand, found the end of the statement"},
		{"var y\nx", "1:6: expected type, found the end of the statement"},
		{"func f()\n{\n}", "1:6: missing function body: the { stands on the line of func"},
		{"func f() {}\nfunc f() {}", "2:6: f redeclared in this block; other declaration of f at cell %d:1:6"},
		{"func Map[T, U any](xs []T, f func(T) U) []U { return nil }\nMap([]int{1}, nil)", "2:1: in call to Map, cannot infer U (declared at cell %d:1:13)"},
		{"case 1:", "1:1: expected '}', found 'case'"},
		{"part: { for { break part } }", "1:1: label part declared and not used: a label of a block is for goto; break and continue name a loop, or break a switch or select"},
		{`y := map[string]int{"a": 1 "b": 2}`, "1:28: missing ',' in composite literal"},
		// names
		{"fmt.Println(1)", `1:1: undefined: fmt: import "fmt"`},
		{"rand.Int()", `1:1: undefined: rand: import "crypto/rand", or import "math/rand", or import "math/rand/v2"`},
		{"ops.Reduce", `1:1: undefined: ops: import "warpbook/ops"`},
		{"import \"warpbook/ops\"\nops.GemmOptions{Alpha: 1}", `2:5: undefined: ops.GemmOptions: it is gemm.Options now: import "warpbook/ops/gemm"`},
		{"import \"warpbook/ops\"\nvar h *ops.Handle\nh.Gemm()", `3:3: h.Gemm undefined (type *ops.Handle has no field or method Gemm): it is gemm.Multiply(h, ...) now: import "warpbook/ops/gemm"`},
		{"import \"warpbook/ops\"\nops.NewHandle(nil).Reduce(nil, nil)", `2:20: ops.NewHandle(nil).Reduce undefined (type *run.Handle has no field or method Reduce): it is reduce.Sum(h, ...) now: import "warpbook/ops/reduce"`},
		{"Number", "1:1: undefined: Number: nearest: number"},
		{"numbr + 1", "1:1: undefined: numbr: nearest: number"},
		{"nubmer + 1", "1:1: undefined: nubmer: nearest: number"},
		{"length := 3\nlenght + 1", "2:1: undefined: lenght: nearest: length"},
		{"import \"fmt\"\nfmt.Printl(1)", "2:5: undefined: fmt.Printl: nearest: Print, Printf, Println"},
		{"import \"strings\"\nvar b strings.Builder\nb.WriteSting(\"x\")", "3:3: b.WriteSting undefined (type strings.Builder has no field or method WriteSting): nearest: WriteString"},
		{"import \"warpbook/gpu\"\nvar d gpu.Device\nd.Lanuch()", "3:3: d.Lanuch undefined (type gpu.Device has no field or method Lanuch): nearest: Launch"},
		{"import \"os\"\nf := os.Open(\"x\")", "2:6: assignment mismatch: 1 variable but os.Open returns 2 values: the second is an error as a rule: x, err := os.Open(...)"},
		{"x : = 3", "1:5: expected statement, found '=': Go declares with x := 5"},
		{"len := 5\nlen(\"x\")", "2:1: invalid operation: cannot call len (variable of type int): int is not a function: a variable of yours hides Go's own; %reset forgets all variables"},
		{"y = 5", "1:1: undefined: y: the first assignment declares it: y := ..."},
		{"None", "1:1: undefined: None: Go writes nil"},
		{`printf("%d", 5)`, "1:1: undefined: printf: Go writes fmt.Printf"},
		{"import \"C\"", "1:8: could not import C (cgo does not run in cells: make the C code a program, and start it with os/exec)"},
		// CUDA
		{"k<<<4,256>>>(x)", "1:4: expected operand, found '<': a launch is a call in Go: k.Launch(dev, gpu.Dim{X: 4}, gpu.Dim{X: 256}, x)"},
		{"k<<<4, 256, 1024>>>(x)", "1:4: expected operand, found '<': a launch is a call in Go: k.Run(dev, gpu.Launch{Grid: gpu.Dim{X: 4}, Block: gpu.Dim{X: 256}, Shared: 1024, Args: []any{x}})"},
		{"import \"warpbook/gpu\"\nvar d gpu.Device\nd.Launch(gpu.Launch{Grid: 64})", "3:27: cannot use 64 (untyped int constant) as gpu.Dim value in struct literal: write gpu.Dim{X: 64}"},
		{"cudaMalloc(&x, 4)", "1:1: undefined: cudaMalloc: in Go: x, err := dev.Alloc(gpu.Float32, n)"},
		{"__global__ void f() {}", "1:12: expected ';', found void: CUDA C++ has a cell of its own, with %%cuda as the first line"},
		{"#include <stdio.h>", "1:1: illegal character U+0023 '#': CUDA C++ has a cell of its own"},
		// notebooks and shells
		{"!ls -l", "1:2: undefined: ls: shell commands have a cell of their own, with %%bash as the first line"},
		{"pip install numpy", "1:5: expected ';', found install: Go modules are added with %pkg path"},
		{"x?", "1:2: illegal character U+003F '?': Shift-Tab behind a name shows what it is"},
		{"%matplotlib inline", "1:2: there is no magic %matplotlib: a plot that is the last expression of a cell is shown; %help lists the magics"},
		{"%%html\n<b>x</b>", "1:3: there is no magic %%html: display.HTML(`<b>text</b>`) in a Go cell; %help lists the magics"},
		{"%ls", "1:2: there is no magic %ls: %%bash runs shell commands; %help lists the magics"},
		// Python, C and JavaScript
		{"for i in range(10):\n    print(i)", "1:7: expected '{', found in: Go writes for i := range 10 { }"},
		{"if x > 3:\n    print(x)", "1:9: illegal label declaration: Go has { } around a block, and no colon before it"},
		{"while true { break }", "1:7: expected ';', found true: Go's loop is for condition { }"},
		{"def f(x):\n    return x", "1:5: expected ';', found f: Go writes func f(x int) int { return x }"},
		{"class A:\n    pass", "1:7: expected ';', found A: Go writes type T struct"},
		{"import numpy as np", `1:14: import path must be a string: Go writes import "math"`},
		{"y := [1, 2]", "1:8: unexpected comma; expecting ]: Go writes []int{1, 2, 3}"},
		{`y := {"a": 1}`, `1:6: expected operand, found '{': Go writes map[string]int{"a": 1}`},
		{"y := {1, 2}", "1:6: expected operand, found '{': Go writes []int{1, 2, 3}, with the type before the braces"},
		{"y := 'abc'", "1:6: illegal rune literal: a string has double quotes"},
		{"y := true and false", "1:11: expected ';', found and: Go writes && for and"},
		{"y := 5 if true else 3", "1:8: expected ';', found 'if': an if is a statement in Go"},
		{"y := true ? 1 : 2", "1:11: illegal character U+003F '?': Go has no ?:"},
		{"y := x++", "1:7: expected ';', found '++': x++ is a statement of its own, and no value"},
		{"y := 2 ** x", "1:11: invalid operation: cannot indirect x (variable of type int): Go writes math.Pow(x, y)"},
		{"lambda x: x", "1:8: expected ';', found x: Go writes func(x int) int"},
		{"# it's a comment", "1:1: illegal character U+0023 '#': a comment begins with //"},
		{"list := []int{}\nlist.append(4)", "2:6: list.append undefined (type []int has no field or method append): Go writes x = append(x, value)"},
		{"int y = 5;", "1:5: expected ';', found y: Go declares with x := 5, or var x int = 5"},
		{"for (int i = 0; i < 5; i++) { }", "1:10: expected ')', found i: Go writes for i := 0; i < n; i++ { }, without parentheses"},
		{"for i := range 3\n{\n}", "1:17: expected '{', found newline: the { stands at the end of this line"},
		{"if x = 5 { }", "1:4: expected boolean expression, found assignment (missing parentheses around composite literal?): Go compares with =="},
		{"if true { }\nelse { }", "2:1: expected statement, found 'else': else stands on the line of the } before it"},
		{"try { } catch (e) { }", "1:9: expected ';', found catch: errors are values in Go"},
		{"print \"hello\"", "1:7: expected ';', found \"hello\": a call has parentheses: println(x)"},
		{"y := 1.0f", "1:9: expected ';', found f: a number has no letter behind it: float32(1.0), uint32(10)"},
		{"unsigned int y = 5;", "1:10: expected ';', found int: Go declares with x := 5, or var x int = 5"},
		{"y = new int[5]", "1:9: expected ';', found int: Go writes make([]int, 5) for a slice, and new(int) for a pointer"},
		{"import \"fmt\", \"os\"", "1:13: expected ';', found ',': each import stands on a line of its own"},
		{"go func() { }", "1:14: expression in go must be function call: a function that is started is called: go func() { }()"},
		{"func add(a: int) { }", "1:11: missing ',' in parameter list: a type stands behind the name, without a colon"},
		{"func add(int a, int b) int { return 0 }", "1:14: undefined: a: a type stands behind the name, without a colon"},
		{"for i = 0; i < 3; i++ { }", "1:5: undefined: i: the first assignment declares it: i := ..."},
		{"x.length", "1:3: x.length undefined (type int has no field or method length)"},
		{"y := []int{}\ny.len()", "2:3: y.len undefined (type []int has no field or method len): Go writes len(x)"},
		{"y := []int{}\ny * 2", "2:1: invalid operation: y * 2 (mismatched types []int and untyped int): Go has no arithmetic on slices"},
		{"y := []int{}\ny + y", "2:1: invalid operation: operator + not defined on y (variable of type []int): Go has no arithmetic on slices"},
		{"x + 1.5", "1:5: 1.5 (untyped float constant) truncated to int: convert the other one, as in float64(x)"},
		{`"n = " + 5`, `1:1: invalid operation: "n = " + 5 (mismatched types untyped string and untyped int): Go adds no number to a string: write fmt.Sprint(a, b)`},
		{`"n = " + x`, `1:1: invalid operation: "n = " + x (mismatched types untyped string and int): Go adds no number to a string`},
		{`x + "n"`, `1:1: invalid operation: x + "n" (mismatched types int and untyped string): Go adds no number to a string`},
		{`y := "n"` + "\ny + 1", "2:1: invalid operation: y + 1 (mismatched types string and untyped int): Go adds no number to a string"},
		{`Import "fmt"`, `1:8: expected ';', found "fmt": Go's keywords have small letters`},
		{"y := 2.5\nx * y", "2:1: invalid operation: x * y (mismatched types int and float64): convert one of them, as in float64(x)"},
		{"import \"math\"\nmath.Sqrt(x)", "2:11: cannot use x (variable of type int) as float64 value in argument to math.Sqrt: convert it, as in float64(x)"},
		{"k<<<dim3(4,2), dim3(16)>>>(x)", "1:4: expected operand, found '<': a launch is a call in Go: k.Launch(dev, gpu.Dim{X: 4, Y: 2}, gpu.Dim{X: 16}, x)"},
		{"xs := []int{1}\nfor i, v := xs { }", "2:5: expected boolean or range expression, found assignment (missing parentheses around composite literal?): Go writes for i, x := range xs { }"},
		{"if 3 in xs { }", "1:6: expected ';', found in: Go writes slices.Contains(xs, x) for a slice"},
		{"const one = 1\none = 2", "2:1: cannot assign to one (neither addressable nor a map index expression): a constant or a function keeps what it is"},
		{"word := \"abc\"\nword[0] = 'x'", "2:1: cannot assign to word[0] (neither addressable nor a map index expression): a string does not change: b := []byte(s) does"},
		{"i := 1\ni += 0.5", "2:6: 0.5 (untyped float constant) truncated to int: i is a whole number: declare it with a point, i := 1.0"},
		{"type Row struct{ n int }\nrows := map[string]Row{}\nrows[\"a\"].n = 1", "3:1: cannot assign to struct field rows[\"a\"].n in map: the map holds a copy: v := m[key]"},
		{"func unused() { left := 1 }", "1:17: declared and not used: left: _ = left keeps it for now"},
		{"import \"strings\"\nstrings.Uppercase(\"x\")", "2:9: undefined: strings.Uppercase: nearest: ToUpper"},
		{"Println(\"x\")", "1:1: undefined: Println: Go writes fmt.Println"},
		{"bytes := 5\nbytes.Contains(nil, nil)", "2:7: bytes.Contains undefined (type int has no field or method Contains): a variable hides package bytes: give the variable another name"},
		{"import \"warpbook/gpu\"\nfunc alloc(d gpu.Device) { d.Alloc(\"float32\", 10) }", "2:36: cannot use \"float32\" (untyped string constant) as gpu.Type value in argument to d.Alloc: write gpu.Float32"},
		{"import \"warpbook/ops\"\nops.Reduce.Compare", "2:12: ops.Reduce.Compare undefined (type *ladder.Operator has no field or method Compare): it has "},
		{"import \"warpbook/gpu\"\nfunc alloc(d gpu.Device) { d.Alloc(\"f32\", 10) }", "2:36: cannot use \"f32\" (untyped string constant) as gpu.Type value in argument to d.Alloc: write one of gpu.B"},
		{"i := 1\ni = 2.5", "2:5: cannot use 2.5 (untyped float constant) as int value in assignment (truncated): i is a whole number: declare it with a point, i := 1.0"},
		{"\"abc\"[0] = 'x'", "1:1: cannot assign to \"abc\"[0] (neither addressable nor a map index expression): a string does not change"},
		{"there := x in xs", "1:12: expected ';', found in: Go writes slices.Contains(xs, x) for a slice"},
		{"import \"time\"\ntime.Sleep(1.5 * time.Second)", "2:12: 1.5 (untyped float constant) truncated to int64: a time.Duration is a whole number: 1500 * time.Millisecond"},
		{"import \"time\"\ntime.Sleep(x * time.Second)", "2:12: invalid operation: x * time.Second (mismatched types int and time.Duration): convert the number, as in time.Duration(n) * time.Second"},
		{"import \"math\"\nword := \"a\"\nmath.Max(1, len(word))", "3:13: cannot use len(word) (value of type int) as float64 value in argument to math.Max: convert it, as in float64(len(word))"},
		{"int(\"3\")", "1:5: cannot convert \"3\" (untyped string constant) to type int: Go writes n, err := strconv.Atoi(s)"},
		{"word := \"a\"\nfloat64(word)", "2:9: cannot convert word (variable of type string) to type float64: Go writes x, err := strconv.ParseFloat(s, 64)"},
		{"import \"strconv\"\nstrconv.Atoi(\"3\") + 1", "2:1: multiple-value strconv.Atoi(\"3\") (value of type (int, error)) in single-value context: take both results first: x, err := strconv.Atoi(...)"},
		{"if len(\"a\") { }", "1:4: non-boolean condition in if statement: a condition compares: len(xs) > 0"},
		{"xs := []int{1}\nmax(xs)", "2:5: invalid argument: xs (variable of type []int) cannot be ordered: of the elements of a slice, Go writes slices.Max(xs)"},
		{"xs := []int{1}\nxs[-1]", "2:4: invalid argument: index -1 (constant of type int) must not be negative: the last element is x[len(x)-1]"},
		{"xs := []int{1}\nxs.sort()", "2:4: xs.sort undefined (type []int has no field or method sort): Go writes slices.Sort(xs)"},
		{"xs := []int{1}\nxs.contains(3)", "2:4: xs.contains undefined (type []int has no field or method contains): Go writes slices.Contains(xs, x)"},
		{"xs := []int{1}\nxs.pop()", "2:4: xs.pop undefined (type []int has no field or method pop): Go writes x, xs = xs[len(xs)-1], xs[:len(xs)-1]"},
		{"rows := map[string]int{}\nrows.keys()", "2:6: rows.keys undefined (type map[string]int has no field or method keys): Go writes for k, v := range rows { }"},
		// Go's own message suffices, whatever else the line contains.
		{`println("this and that" x)`, "1:25: missing ',' in argument list"},
		{`if x == "else" { } // not a word`, `1:9: invalid operation: x == "else" (mismatched types int and untyped string)`},
	} {
		e := c.run(w.code)
		want := w.want
		if strings.Contains(want, "cell %d") {
			want = fmt.Sprintf(want, c.cell)
		}
		switch prefix := fmt.Sprintf("cell %d:", c.cell); {
		case e.Error == nil:
			t.Errorf("%s: no error, want %s", w.code, want)
		case !strings.HasPrefix(e.Error.Value, prefix+want):
			t.Errorf("%s:\n got %s\nwant %s", w.code, e.Error.Value, prefix+want)
		default:
			for _, text := range e.Error.Traceback {
				if message, _, _ := strings.Cut(text, "\n"); engineWords.MatchString(message) {
					t.Errorf("%s: words of the engine: %s", w.code, message)
				}
			}
		}
	}
	if e := c.run("import \"bytes\"\nvar b bytes.Buffer\nb.lastRaed"); e.Error == nil || strings.Contains(e.Error.Value, "lastRead") || !strings.HasSuffix(e.Error.Value, "ReadFrom and 12 more, which Tab lists") {
		t.Errorf("what a package keeps to itself is offered: %v", e.Error)
	}
	if e := c.run("x?\nfor i in range(10):\n    print(i)"); e.Error == nil || strings.Count(strings.Join(e.Error.Traceback, "\n"), "^") != 1 {
		t.Errorf("the answer is %v", e.Error)
	}
}
