package emu

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"

	"warpbook/gpu"
)

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

// TestRecursion: each lane recurses to its own depth.
func TestRecursion(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("tabs refuse recursion")
	}
	out := make([]int32, 1024)
	if _, err := runBuiltin(t, "recursion", len(out), out); err != nil {
		t.Fatal(err)
	}
	want := int32(1)
	for i, v := range out {
		if i > 1 {
			want = int32(i) * want % 1000
		}
		if v != want {
			t.Fatalf("thread %d: %d, expected %d", i, v, want)
		}
	}
}

// TestBuiltinErrors: a pointer to no function.
func TestBuiltinErrors(t *testing.T) {
	out := make([]int32, 64)
	_, err := runBuiltin(t, "wrong", 1, out, uint64(3))
	if !errors.Is(err, gpu.ErrOutOfBounds) || !strings.Contains(err.Error(), "a call of address 0x3") {
		t.Errorf("%v, expected the address that was called", err)
	}
}
