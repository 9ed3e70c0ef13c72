package compile

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/clang"
	"warpbook/gpu/compile/compiler"
)

// needClang skips a test where no clang is named: one that happens to be in PATH would make
// the outcome depend on the machine.
func needClang(t *testing.T) {
	t.Helper()
	if os.Getenv(clang.FolderVariable) == "" {
		t.Skipf("needs %s: run pip install --target DIR ziglang==%s, and set it to DIR", clang.FolderVariable, clang.Version)
	}
	if _, err := clang.Find(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// With clang, too: names, types, templates, faults at the cell's line, and the compiler's name.
func TestClang(t *testing.T) {
	needClang(t)
	m, err := CUDA(context.Background(), "cell7.cu", cellOfTemplates, Options{FirstLine: 3, Instantiate: []string{"fill<7>", "fill<256>"}, Compiler: "clang"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range m.Entries {
		names = append(names, e.String())
	}
	slices.Sort(names)
	if got, want := strings.Join(names, "; "), "far(int* y, unsigned n); fill_256(float* y); fill_7(float* y)"; got != want {
		t.Errorf("entries are %s, expected %s", got, want)
	}
	if !strings.HasPrefix(m.Note, "compiled by clang ") || !strings.Contains(m.String(), "(clang ") || strings.Contains(m.PTX(), "__warpbook_instance") {
		t.Errorf("%q, %v: expected the compiler's name and no helper variable", m.Note, m)
	}
	dev, y := emulator(t, gpu.Int32)
	far := entry(t, m, "far")
	if err := far.Launch(dev, one, warp, y, uint32(1)); !errors.Is(err, gpu.ErrOutOfBounds) || !strings.Contains(err.Error(), "at cell7.cu:8 (cell7.ptx:") ||
		!strings.HasSuffix(err.Error(), ": y[threadIdx.x * 1000] = s[0];") {
		t.Errorf("%v, expected out of bounds at line 8 of the cell, and the line", err)
	}
	if text := far.PTX().Text; !strings.HasPrefix(text, "// compiled by clang ") || !strings.Contains(text, "// 8: y[threadIdx.x * 1000] = s[0];\n") || !strings.Contains(text, "far_s") {
		t.Errorf("the PTX names no compiler, shows no source, or no name for s:\n%s", text)
	}
}

// The same mistake has the same place and the same words from both compilers.
func TestClangComplains(t *testing.T) {
	needClang(t)
	for source, want := range map[string]string{
		"__global__ void f(int* x) { y[0] = 1; }":                                   `compile: x.cu:1:29: identifier "y" is undefined: declare it in the cell`,
		"__global__ void f(int* x) {\n\tx[0] = 1\n}":                                `compile: x.cu:2:10: expected a ";"`,
		"#include <none.h>\n" + empty:                                               `compile: x.cu:1:11: header none.h is not there: only headers of CUDA, of C, and those of C++ that work on a device are there, a cell is one source`,
		"__global__ void f(half* x) {}":                                             `compile: x.cu:1:19: identifier "half" is undefined: #include <cuda_fp16.h>`,
		"__global__ void f(float* y) { y[0] = std::numeric_limits<float>::max(); }": `compile: x.cu:1:43: namespace "std" has no member "numeric_limits": #include <limits>`,
		"#include <cub/cub.cuh>\n" + empty:                                          `compile: x.cu:1:11: header cub/cub.cuh is not there: warpbook's headers for clang lack it: NVRTC has it, see warpbook doctor`,
		"x = 3;\n" + empty:                                                          `compile: x.cu:1:1: this declaration has no storage class or type specifier: statements stand in the body of a function: put __global__ void name(...) { } around them`,
		"__global__ void f(float* x) { x[0] = j0f(x[1]); }":                         `compile: x.cu:1:38: 'j0f' is unavailable: the clang headers of warpbook have no j0f, NVRTC has it: see warpbook doctor`,
		"__global__ void f(int* x) {\n\tif (x) {\n\tx[0] = 1;\n}":                   `compile: x.cu:2:9: { is never closed`,
		"__global__ void f(float* x) { x[0] = __shfl_down_sync(x[1]); }":            `compile: x.cu:1:38: no matching function for call to '__shfl_down_sync'`,
		"#include <cuda_fp16.h>\n__global__ void f(float* x) { *x = hal; }":         `compile: x.cu:2:36: identifier "hal" is undefined: declare it in the cell`,
	} {
		if _, err := CUDA(context.Background(), "x.cu", source, Options{Compiler: "clang"}); err == nil || err.Error() != want {
			t.Errorf("%q\ngot  %v\nwant %s", source, err, want)
		}
	}
	for _, o := range []Options{{Instantiate: []string{"g<1>"}}, {Arch: "sm_999"}, {Std: "c++99"}, {Compiler: "gcc"}} {
		if o.Compiler == "" {
			o.Compiler = "clang"
		}
		if _, err := CUDA(context.Background(), "x.cu", empty, o); !errors.As(err, new(*OptionError)) {
			t.Errorf("%+v: %v, expected an error of the option", o, err)
		}
	}
}

// Every %%cuda cell of the notebooks compiles with clang: without WARPBOOK_LONG those of
// some notebooks.
func TestClangNotebookCells(t *testing.T) {
	needClang(t)
	notebooks, err := filepath.Glob("../../notebooks/*.ipynb")
	if err != nil || len(notebooks) == 0 {
		t.Fatal("no notebooks: ", err)
	}
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	for _, path := range notebooks {
		if strings.Contains(path, ".zh.") || os.Getenv("WARPBOOK_LONG") == "" && random.IntN(6) > 0 { // .zh has the same cells
			continue
		}
		for _, cell := range cudaCells(t, path) {
			line, body, _ := strings.Cut(cell, "\n")
			committed := committedFlag.FindStringSubmatch(line)
			if committed == nil {
				continue // TestNotebookPTX complains
			}
			m, err := CUDA(context.Background(), committed[1]+".cu", body, Options{FirstLine: 2, Compiler: "clang"})
			if err != nil {
				t.Errorf("%s: %s: %v", path, line, err)
				continue
			}
			dev, _ := emulator(t, gpu.Int32)
			for _, e := range m.Entries {
				if _, err := e.On(dev); err != nil {
					t.Errorf("%s: %s: %v", path, line, err)
				}
			}
		}
	}
}

// Without NVRTC clang compiles; without either the error has one command; the committed
// PTX of the very text comes before clang.
func TestChoose(t *testing.T) {
	fakeProgram(t, "missing")
	t.Setenv(clang.FolderVariable, t.TempDir()) // no clang
	const none = "no compiler for CUDA C++, neither NVRTC nor clang: run `"
	_, err := CUDA(context.Background(), "x.cu", empty, Options{})
	if err == nil || !strings.HasPrefix(err.Error(), "compile: x.cu: "+none) || strings.Count(err.Error(), "`") != 2 || !strings.Contains(err.Error(), "ziglang=="+clang.Version) {
		t.Errorf("%v, expected one command", err)
	}
	if _, err := CUDA(context.Background(), "x.cu", empty, Options{Compiler: "nvrtc"}); err == nil || err.Error() != "compile: x.cu: libnvrtc not found: run pip install x" {
		t.Errorf("%v, expected NVRTC's remedy", err)
	}
	file := filepath.Join(t.TempDir(), "x.ptx")
	o := Options{Committed: file}
	m := &Module{Source: empty, Name: "x.cu", Compiler: "NVRTC 12.0", ptx: strings.ReplaceAll(strided, "strided", "f")}
	if err := os.WriteFile(file, []byte(m.commit("a test", o)), 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err := CUDA(context.Background(), "x.cu", empty, o); err != nil || m.Compiler != "NVRTC 12.0, committed" || m.Note != "" {
		t.Errorf("%v, %v, expected the committed PTX", m, err)
	}
	if _, err := CUDA(context.Background(), "x.cu", empty+"\n", o); err == nil || !strings.Contains(err.Error(), "the source has changed since "+file+" was compiled: "+none) {
		t.Errorf("%v, expected that the source has changed, and one command", err)
	}
	t.Setenv(CompilerVariable, "gcc")
	if _, err := CUDA(context.Background(), "x.cu", empty, o); err == nil || err.Error() != "compile: compiler: gcc in WARPBOOK_COMPILER: no compiler, expected nvrtc or clang" {
		t.Errorf("%v, expected the names of the compilers", err)
	}
}

// A cell that includes nothing has C's names of namespace std, which clang does not know.
func TestClangStandardNames(t *testing.T) {
	needClang(t)
	got := run[float32](t, "__global__ void f(float* y) { y[0] = std::uint16_t(65537) + std::sqrt(4.0f); y[1] = std::pow(-2.0f, 3); }", Options{Compiler: "clang"}, gpu.Float32, 2)
	if want := []float32{3, -8}; !slices.Equal(got, want) {
		t.Errorf("%v, expected %v", got, want)
	}
}

// A cell that clang compiles although PTX of NVRTC is committed is marked.
func TestClangIsMarked(t *testing.T) {
	needClang(t)
	folder := os.Getenv(clang.FolderVariable)
	fakeProgram(t, "missing")
	t.Setenv(clang.FolderVariable, folder)
	m, err := CUDA(context.Background(), "x.cu", empty, Options{Committed: "../../notebooks/12-write-your-own/step1.ptx"})
	if err != nil || !strings.HasPrefix(m.Note, "compiled by clang ") || !strings.HasSuffix(m.Note, "; counters that this notebook quotes are of NVRTC's code and may differ") {
		t.Errorf("%v, %v", m, err)
	}
	t.Setenv(CompilerVariable, "clang")
	t.Setenv(compiler.Variable, filepath.Join(t.TempDir(), "none")) // is never started
	if m, err := CUDA(context.Background(), "x.cu", empty, Options{}); err != nil || !strings.HasPrefix(m.Compiler, "clang ") {
		t.Errorf("%v, %v, expected the compiler of %s", m, err, CompilerVariable)
	}
}
