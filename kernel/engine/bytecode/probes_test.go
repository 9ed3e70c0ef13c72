//go:build edited

package bytecode

import (
	"reflect"
	"testing"

	"github.com/goplus/ixgo"
	"golang.org/x/tools/go/ssa"
)

const plain = `package main

var Intr int32

type counter struct{ n int }

func (c *counter) add(k int) { c.n += k }

func sum(xs []int, m map[string]int) (s int) {
	for i, x := range xs {
		if x < 0 {
			continue
		}
		s += xs[i] * x / (i + 1)
		m["a"] += s
	}
	return s
}

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func calls(n int) (s int) {
	c := &counter{}
	add := func(k int) { s += k }
	for i := 0; i < n; i++ {
		c.add(i)
		add(fib(i))
	}
	return s + c.n
}

func main() {}
`

// Functions without probes have the same code with a debugger as without one.
func TestCodeWithoutProbes(t *testing.T) {
	if err := supported(); err != nil {
		t.Skip(err)
	}
	ctx := ixgo.NewContext(0)
	pkg, err := ctx.LoadFile("plain.go", plain)
	if err != nil {
		t.Fatal(err)
	}
	in, err := ctx.NewInterp(pkg)
	if err != nil {
		t.Fatal(err)
	}
	var flag int32
	host := func(probes *Probes) Host {
		return Host{FlagName: "main.Intr", Enter: "cellrt.Enter", Cell: "__cell", Flag: &flag, Polls: func(*ssa.Function) bool { return false }, Stop: func() {}, Deep: func() {}, Eager: true, Probes: probes}
	}
	compiled := 0
	for fn, pfn := range functions(in) {
		if len(fn.Blocks) == 0 || len(pfn.Instrs) == 0 || fn.Name() == "init" {
			continue
		}
		stack := len(pfn.stack)
		var codes []*code
		for _, probes := range []*Probes{nil, {Call: "cellrt.Line", Flags: new([1 << 16]uint8), Names: func(int) []string { return nil }}} {
			p := &program{host: host(probes), types: reflectTypes(in), functions: map[*ssa.Function]*Function{}}
			if probes != nil && probesOf(fn, probes) != nil {
				t.Errorf("%s has probes", fn)
			}
			c, err := compile(&Function{program: p, fn: fn, pfn: pfn, engine: pfn.Instrs[0]}, nil)
			if err != nil {
				t.Logf("%s: %v", fn, err)
				continue
			}
			codes = append(codes, c)
		}
		if len(codes) == 0 {
			continue
		}
		compiled++
		a, b := codes[0], codes[1]
		if !reflect.DeepEqual(a.instrs, b.instrs) || !reflect.DeepEqual(a.checks, b.checks) || a.size != b.size || len(a.escapes) != len(b.escapes) || stack != len(pfn.stack) {
			t.Errorf("%s: the code differs\n%v\n%v", fn, a.instrs, b.instrs)
		}
	}
	if compiled < 4 {
		t.Errorf("%d functions were compiled, want at least 4", compiled)
	}
}
