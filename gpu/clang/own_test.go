package clang

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/compile/compiler"
	"warpbook/gpu/compile/include"
	"warpbook/gpu/emu"
	"warpbook/gpu/llvm"
)

// TestOwn compiles random kernels to intermediate code, of which package llvm and clang's
// own back end make PTX: on the emulator both give the same results, and package llvm's runs
// at most 1.3 times the instructions. WARPBOOK_LONG tries 2000 kernels.
func TestOwn(t *testing.T) {
	if os.Getenv(FolderVariable) == "" {
		t.Skipf("needs %s: run pip install --target DIR ziglang==%s, and set it to DIR", FolderVariable, Version)
	}
	c, err := Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("WARPBOOK_SEED"); text != "" {
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("seed %d", seed)
	const perSource = 20
	sources := 2
	if os.Getenv("WARPBOOK_LONG") != "" {
		sources = 100
	}
	var own, theirs uint64
	for i := range sources {
		w := &writer{Rand: rand.New(rand.NewPCG(seed, uint64(i)))}
		var starts []int
		for k := range perSource {
			starts = append(starts, w.Len())
			w.kernel(fmt.Sprintf("k%d", k))
		}
		got, want, _ := bothBackEnds(t, c, w.String())
		for k := range perSource {
			name := fmt.Sprintf("k%d", k)
			a, of := runRandom(t, want, name, seed)
			b, mine := runRandom(t, got, name, seed)
			for at := range a {
				if a[at] != b[at] {
					t.Fatalf("source %d: %s: word %d is %#x, %#x by clang's back end:\n%s", i, name, at, b[at], a[at], w.String()[starts[k]:])
				}
			}
			own, theirs = own+mine, theirs+of
		}
	}
	t.Logf("%d instructions, %d by clang's back end: %.2f times", own, theirs, float64(own)/float64(theirs))
	if float64(own) > 1.3*float64(theirs) {
		t.Errorf("%d instructions, expected at most 1.3 times the %d of clang's back end", own, theirs)
	}
}

// bothBackEnds are the PTX that package llvm and clang make of the same intermediate code, and
// that code.
func bothBackEnds(t *testing.T, c *Compiler, text string) (own, theirs, code string) {
	t.Helper()
	headers, err := include.Dir()
	if err != nil {
		t.Fatal(err)
	}
	flags, _ := translate([]string{"--gpu-architecture=compute_75", "--std=c++17"})
	flags = append(append(slices.Clone(fixed), flags...), "-I", headers, "-include", include.Implicit)
	code, log, err := c.run(t.Context(), wrap(compiler.Request{Name: "random.cu", Text: text}, false), append(flags, "-emit-llvm"))
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, log, text)
	}
	if theirs, log, err = c.run(t.Context(), code, backEnd(flags)); err != nil {
		t.Fatal(err, log)
	}
	if own, err = llvm.PTX(code, backEndOptions(flags)); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return own, theirs, code
}

// runRandom returns the results of a random kernel and the instructions of its warps.
func runRandom(t *testing.T, ptx, name string, seed uint64) ([]uint32, uint64) {
	t.Helper()
	d, err := emu.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	m, err := d.Load("random.ptx", ptx)
	if err != nil {
		t.Fatalf("%v:\n%s", err, ptx)
	}
	e, err := m.Entry(name)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(seed, 1))
	in, results := make([]uint32, words), make([]uint32, words)
	for i := range in {
		in[i] = random.Uint32()
	}
	x, err := d.Alloc(gpu.Uint32, words)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Free()
	y, err := d.Alloc(gpu.Uint32, words)
	if err != nil {
		t.Fatal(err)
	}
	defer y.Free()
	if err := x.Upload(in); err != nil {
		t.Fatal(err)
	}
	var counters gpu.Counters
	if err := d.Launch(gpu.Launch{Entry: e, Grid: gpu.Dim{X: 1}, Block: gpu.Dim{X: threads}, Args: []any{x, y, uint32(5)}, Zero: []gpu.Buffer{y}, Counters: &counters}); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := y.Download(results); err != nil {
		t.Fatal(err)
	}
	return results, counters.WarpInstructions
}

// TestOwnGaps: kernels with numbers of 128 bits, unions, copies of a variable size, atomics of 8
// and 16 bits, remainders and classes of floats, rotations, virtual functions and matrices of a
// warp give the results of clang's back end.
func TestOwnGaps(t *testing.T) {
	if os.Getenv(FolderVariable) == "" {
		t.Skipf("needs %s: run pip install --target DIR ziglang==%s, and set it to DIR", FolderVariable, Version)
	}
	c, err := Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/gaps.cu")
	if err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	own, theirs, code := bothBackEnds(t, c, string(text))
	for _, word := range []string{"udiv i128", "srem i128", "frem contract float", "frem contract double", "llvm.memcpy", "llvm.memmove", "llvm.memset", "i16 9, i16", "atomicrmw nand ptr", "cmpxchg ptr", "atomicrmw umin", "llvm.is.fpclass.f64", "llvm.fshl.i64", "llvm.ucmp", "llvm.fshr.i8", "llvm.nvvm.wmma", "llvm.nvvm.fns", "@_ZTV3Sum = "} {
		if !strings.Contains(code, word) {
			t.Errorf("no %q in the intermediate code", word)
		}
	}
	for _, name := range []string{"wide_arith", "wide_divide", "unions", "cas16", "copies", "rems", "narrow8", "narrow8s", "narrow16", "narrow16s", "classes", "turns", "tables", "matrices", "products", "sums"} {
		want, of := runRandom(t, theirs, name, seed)
		got, mine := runRandom(t, own, name, seed)
		t.Logf("%s: %d instructions, %d by clang's back end", name, mine, of)
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: word %d is %#x, %#x by clang's back end", name, i, got[i], want[i])
				break
			}
		}
	}
}
