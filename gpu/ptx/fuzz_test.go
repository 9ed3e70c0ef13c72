package ptx

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// FuzzParse: whatever the text is, Parse returns a module that keeps its
// promises or an error inside the text, soon, and takes no more memory than
// the text accounts for.
func FuzzParse(f *testing.F) {
	// Short seeds only: go test spends a minute on making a long one shorter.
	for _, tt := range operandTests {
		f.Add(inBody(tt.text))
	}
	f.Add(corpus(f)["constructs.ptx"])
	f.Add(inBody(".reg .b32 %w<4000000000>; mov.u32 %w1, 0f3f800000;"))
	f.Add(prologue + ".global .b8 a[1099511627776] = {1}; .global .u64 b[][2] = {{a, generic(a)+8}};")
	f.Fuzz(func(t *testing.T, text string) {
		start := time.Now()
		m, err := Parse("f.ptx", text)
		if d := time.Since(start); d > 30*time.Second { // guards against hanging, measures nothing
			t.Fatalf("%v for %d bytes", d, len(text))
		}
		if err != nil {
			checkPlace(t, err, text)
			return
		}
		checkModule(t, m, text)
		checkSize(t, m, text)
	})
}

func checkPlace(t *testing.T, err error, text string) {
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error of type %T", err)
	}
	lines := strings.Split(text, "\n")
	if e.Pos.Line < 1 || e.Pos.Line > len(lines) || e.Pos.Col < 1 || e.Pos.Col > len(lines[e.Pos.Line-1])+1 {
		t.Fatalf("%v is not in the text of %d lines", e, len(lines))
	}
	if strings.Contains(e.Error(), "\n") {
		t.Fatalf("error of several lines: %q", e)
	}
}

func checkSize(t *testing.T, m *Module, text string) {
	size := 0
	for _, v := range m.Variables {
		size += len(v.Init) / 8
	}
	for _, f := range m.Functions {
		size += len(f.Registers)/4 + len(f.Variables) + len(f.Code) + len(f.Labels)
	}
	// An alias shares the body of its target, which then counts once more.
	if limit := len(text) * (1 + strings.Count(text, ".alias")); size > limit {
		t.Fatalf("%d parts from a text of %d bytes", size, len(text))
	}
}

// body is compiler-like text of n instructions, each with its own register.
func body(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.visible .entry k(.param .u64 x)\n{\n\t.reg .b32 \t%%r<%d>;\n\t.reg .b64 \t%%rd<2>;\n", prologue, n+2)
	b.WriteString("\tld.param.u64 \t%rd1, [x];\n\tmov.u32 \t%r0, %tid.x;\n")
	for i := range n {
		switch i % 8 {
		case 0:
			fmt.Fprintf(&b, "$L__BB0_%d:\n\t.loc\t1 %d 7\n\tld.global.u32 \t%%r%d, [%%rd1+%d];\n", i, i, i+1, 4*i)
		default:
			fmt.Fprintf(&b, "\tmad.lo.s32 \t%%r%d, %%r%d, %d, %%r%d;\n", i+1, i, i, i/2)
		}
	}
	b.WriteString("\tret;\n}\n")
	return b.String()
}

func BenchmarkParse(b *testing.B) {
	texts := map[string]string{
		"reduce":              corpus(b)["reduce.sm_75.ptx"],
		"debug":               corpus(b)["reduce_debug.sm_90a.ptx"],
		"25000 registers":     body(25_000),
		"scopes of 1000 asms": inBody(strings.Repeat("{ .reg .b32 t; mov.u32 t, %r1; add.u32 %r2, t, t; }\n", 1000)),
	}
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse("b.ptx", text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
