//go:build edited

package engine

import (
	"errors"
	"slices"
	"testing"

	"github.com/goplus/ixgo"
	"golang.org/x/tools/go/ssa"

	"warpbook/kernel/engine/failure"
)

// TestInternalErrorsNameTheLine: an internal error names the cell and the line of the
// declaration or the statement that causes it. A declaration causes it when it is compiled
// for the first cell that runs something.
func TestInternalErrorsNameTheLine(t *testing.T) {
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	execute := e.Execute
	e.Execute = func(in *ixgo.Interp) error {
		if slices.ContainsFunc(in.MainPkg().Prog.AllPackages(), func(p *ssa.Package) bool { return p.Func("bad") != nil }) {
			return errors.New("injected")
		}
		return execute(in)
	}
	for i, c := range []struct{ code, want string }{
		{"x := 1\ntype T struct{}\n\nfunc bad() {\n}\nx = 2", "cell 1, line 4: injected"},
		{"func bad() {}\nx := 1", "cell 2, line 1: injected"},
		{"func bad() {}", ""},
		{"x := 1\nbad()", "cell 4, line 2: injected"},
	} {
		got := ""
		if r := evaluate(t.Context(), e, i+1, c.code); r.Err != nil {
			got = r.Err.Value
		}
		if got != c.want {
			t.Errorf("%q ends with %q, want %q", c.code, got, c.want)
		}
	}
	if r := evaluate(t.Context(), e, 5, "func good() int { return 7 }\ngood()"); r.Err != nil || r.Values[0] != 7 {
		t.Errorf("the next cell: %v, %v", r.Values, r.Err)
	}
}

// TestInternalErrorsWhileCodeRuns: where ixgo lacks code for a call, the cell ends with an
// internal error, not with a panic that seems to be its own.
func TestInternalErrorsWhileCodeRuns(t *testing.T) {
	e, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.external("os.Getpid", func() int { panic(errors.New("no code for method: main.T.M")) })
	r := evaluate(t.Context(), e, 1, "import \"os\"\nfunc f() int {\n\treturn os.Getpid()\n}\nf()")
	if want := "cell 1, line 3, in f: no code for method: main.T.M"; r.Err == nil || r.Err.Name != failure.Internal || r.Err.Value != want {
		t.Errorf("ends with %+v, want %s", r.Err, want)
	}
	if r := evaluate(t.Context(), e, 2, "func f() int { return 7 }\nf()"); r.Err != nil || r.Values[0] != 7 {
		t.Errorf("the next cell: %v, %v", r.Values, r.Err)
	}
}
