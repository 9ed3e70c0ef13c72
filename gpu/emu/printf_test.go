package emu

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"warpbook/gpu"
)

// TestFormat compares with the printf of a C library.
func TestFormat(t *testing.T) {
	words := []string{"", "abc", "a"} // strings by their addresses
	for _, c := range []struct {
		format string
		args   []any
		want   string
	}{
		{"%5d|%-5d|%05d|%+d|% d", []any{42, 42, -42, 42, 42}, "   42|42   |-0042|+42| 42"},
		{"%.3d|%8.3d|%d|%i", []any{7, -7, math.MinInt32, 0}, "007|    -007|-2147483648|0"},
		{"%u|%x|%X|%#x|%#o|%o|%08x|%-8x|", []any{-1, 255, 255, 255, 8, 8, 48879, 48879}, "4294967295|ff|FF|0xff|010|10|0000beef|beef    |"},
		{"%lld|%llu|%llx|%ld|%hd|%hhd", []any{int64(-1), int64(-1), int64(-1), int64(1 << 40), -3, -4}, "-1|18446744073709551615|ffffffffffffffff|1099511627776|-3|-4"},
		{"%f|%.2f|%10.3f|%-10.3f|%+.1f|%010.2f|%.0f", []any{3.14159, 2.5, -1.5, 1.5, 2.25, -3.5, 2.5}, "3.141590|2.50|    -1.500|1.500     |+2.2|-000003.50|2"},
		{"%e|%.2e|%E", []any{12345.678, 0.00012, 1e100}, "1.234568e+04|1.20e-04|1.000000E+100"},
		{"%g|%g|%g|%g|%G|%.3g", []any{100000.0, 1000000.0, 0.0001, 0.00001, 1e-10, 1234567.0}, "100000|1e+06|0.0001|1e-05|1E-10|1.23e+06"},
		{"%f|%F|%e|%5g|%-5g|%05f", []any{math.Inf(1), math.Inf(-1), math.Inf(-1), math.Inf(1), math.Inf(1), math.Inf(1)}, "inf|-INF|-inf|  inf|inf  |  inf"},
		{"%a|%A|%.2a|%a", []any{1.0, 255.5, 3.14159, 0.1}, "0x1p+0|0X1.FFP+7|0x1.92p+1|0x1.999999999999ap-4"},
		{"%c|%5c|%-3c|%s|%10s|%-6s|%.2s|%%|%5.1s", []any{'x', 'y', 'z', "abc", "abc", "abc", "abc", "abc"}, "x|    y|z  |abc|       abc|abc   |ab|%|    a"},
		{"%*d|%-*d|%.*f|%*s", []any{6, 1, 6, 2, 2, 3.14159, -5, "a"}, "     1|2     |3.14|a    "},
		{"%p|%p", []any{int64(0x10), int64(0)}, "0x10|(nil)"},
		{"%hd|%hu|%hhd|%hhx", []any{70000, 70000, 70000, 70000}, "4464|4464|112|70"},
		{"%#.0f|%#.0e|%#g", []any{2.5, 12345.0, 100000.0}, "2.|1.e+04|100000."},
		{"%f|%5f|%f", []any{math.NaN(), math.NaN(), math.Copysign(math.NaN(), -1)}, "nan|  nan|-nan"},
		{"nothing", nil, "nothing"},
		{"100%", nil, "100%"},
	} {
		args := c.args
		got := formatC(c.format, func(k int) uint64 {
			v := args[0]
			args = args[1:]
			switch v := v.(type) {
			case float64:
				return math.Float64bits(v)
			case int64:
				return uint64(v)
			case rune:
				return uint64(v)
			case string:
				return uint64(len(words) - 2 + map[string]int{"abc": 0, "a": 1}[v])
			}
			return uint64(uint32(v.(int)))
		}, func(at uint64) string { return words[at] })
		if got != c.want {
			t.Errorf("%q: %q, expected %q", c.format, got, c.want)
		}
	}
}

// runBuiltin runs an entry of testdata/builtins.cu in two blocks; out, if not nil, is
// its first argument and receives its output.
func runBuiltin(t *testing.T, name string, threads int, out []int32, args ...any) (printed string, err error) {
	t.Helper()
	text, err := os.ReadFile("testdata/builtins.sm_75.ptx")
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var output bytes.Buffer
	d.(*Device).SetOutput(&output)
	m, err := d.Load("builtins.ptx", string(text))
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Entry(name)
	if err != nil {
		return "", err
	}
	b, err := d.Alloc(gpu.Int32, len(out))
	if err != nil {
		t.Fatal(err)
	}
	if out != nil {
		args = append([]any{b}, args...)
		d.(*Device).LimitWorkers(1) // both blocks write the same words
	}
	if err := d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 2}, Block: gpu.Dim{X: threads}, Args: args}); err != nil || out == nil {
		return output.String(), err
	}
	return output.String(), b.Download(out)
}

// TestPrintf: blocks, warps and lanes print in their order.
func TestPrintf(t *testing.T) {
	const n = 35
	got, err := runBuiltin(t, "hello", 64, nil, int32(n))
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for block := range 2 {
		for i := range n {
			fmt.Fprintf(&want, "block %d thread %d of 64: %f %s %c %5.2e %d 0x10%%\n", block, i, float32(i)*0.5, []string{"even", "odd"}[i%2], 'a'+i%26, 1e10*float64(i), 1<<40)
		}
		want.WriteString("no arguments, 9 before\n")
	}
	if got != want.String() {
		t.Errorf("got\n%s\nexpected\n%s", got, want.String())
	}
}

// TestPrintfInOrder: blocks print in the order of their numbers, not in the order in
// which they end.
func TestPrintfInOrder(t *testing.T) {
	l := &Launch{grid: gpu.Dim{X: 3, Y: 1, Z: 1}}
	for _, n := range []int{2, 0, 1} {
		b := &block{launch: l, at: gpu.Dim{X: n}}
		b.print(fmt.Sprintln("block", n))
		l.printed.keep(b)
	}
	var out bytes.Buffer
	if l.printed.flush(&out); out.String() != "block 0\nblock 1\nblock 2\n" {
		t.Errorf("%q, expected the order of the blocks", out.String())
	}
}

// TestPrintfIsBounded: calls beyond the bound are counted.
func TestPrintfIsBounded(t *testing.T) {
	var p printed
	l := &Launch{}
	b := &block{launch: l}
	long := strings.Repeat("x", mostPrinted/2)
	for range 4 {
		b.print(long)
	}
	l.printed.keep(b)
	var out bytes.Buffer
	l.printed.flush(&out)
	if !strings.HasSuffix(out.String(), "x(2 more calls of printf, beyond 1048576 bytes of a launch)\n") || out.Len() > mostPrinted+100 {
		t.Errorf("%d bytes, that end in %q", out.Len(), out.String()[out.Len()-80:])
	}
	out.Reset()
	if p.flush(&out); out.Len() > 0 {
		t.Errorf("%q of a launch that prints nothing", out.String())
	}
}

func TestAssert(t *testing.T) {
	_, err := runBuiltin(t, "check", 64, nil, int32(40))
	const says = "assertion threadIdx.x < n failed in check at builtins.cu:18, block (0,0,0) thread (40,0,0)"
	if !errors.Is(err, gpu.ErrTrap) || !strings.Contains(err.Error(), says) {
		t.Errorf("%v, expected it to say %q", err, says)
	}
	if _, err := runBuiltin(t, "check", 40, nil, int32(40)); err != nil {
		t.Error(err)
	}
}

// TestFunctionPointers: lanes of a warp call different functions, named by a
// table and by the tables of virtual functions.
func TestFunctionPointers(t *testing.T) {
	out := make([]int32, 64)
	if _, err := runBuiltin(t, "pointers", 64, out, int32(1)); err != nil {
		t.Fatal(err)
	}
	for i, v := range out {
		if want := int32(i * (2 + (i+1)%2)); v != want {
			t.Fatalf("thread %d: %d, expected %d", i, v, want)
		}
	}
	if _, err := runBuiltin(t, "shapes", 64, out, int32(1)); err != nil {
		t.Fatal(err)
	}
	for i, v := range out {
		if want := float32(i * i * (1 + i%2*2)); math.Float32frombits(uint32(v)) != want {
			t.Fatalf("thread %d: area %v, expected %v", i, math.Float32frombits(uint32(v)), want)
		}
	}
}

// TestBuiltinErrors: calls that are rejected by name before the launch, and a pointer to
// no function.
func TestBuiltinErrors(t *testing.T) {
	out := make([]int32, 64)
	for name, says := range map[string]string{"heap": "a call of malloc", "recursion": "a recursive call of _Z9factoriali"} {
		if _, err := runBuiltin(t, name, 1, out); !errors.Is(err, gpu.ErrUnsupported) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "GPU") {
			t.Errorf("%s: %v, expected it refused for %s", name, err, says)
		}
	}
	_, err := runBuiltin(t, "wrong", 1, out, uint64(3))
	if !errors.Is(err, gpu.ErrOutOfBounds) || !strings.Contains(err.Error(), "a call of address 0x3") {
		t.Errorf("%v, expected the address that was called", err)
	}
}
