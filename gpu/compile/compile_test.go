package compile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"warpbook/gpu"
	"warpbook/gpu/compile/compiler"
	"warpbook/gpu/emu"
	"warpbook/gpu/ptx"
)

// fakeVariable makes this test binary an nvrtc program that misbehaves.
const fakeVariable = "WARPBOOK_TEST_NVRTC"

func TestMain(m *testing.M) {
	switch os.Getenv(fakeVariable) {
	case "":
		os.Exit(m.Run())
	case "crash":
		os.Stderr.WriteString("SIGSEGV: in libnvrtc\n\nrax 0x0\n")
		os.Exit(2)
	case "hang":
		time.Sleep(time.Hour)
	case "garbage":
		os.Stdout.WriteString("not JSON")
	case "missing":
		os.Stdout.WriteString(`{"Error": "nvrtc: libnvrtc not found: run pip install x", "Missing": true}`)
	case "options":
		os.Stdout.WriteString(`{"Release": "12.0", "Error": "nvrtc: compile: NVRTC_ERROR_INVALID_OPTION", "Log": "nvrtc: error: invalid value for --std\n"}`)
	}
	os.Exit(0)
}

func fakeProgram(t *testing.T, how string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(compiler.Variable, self)
	t.Setenv(fakeVariable, how)
}

const empty = "__global__ void f() {}"

// A compiler that is missing, crashes or answers nonsense is one line.
func TestProgramFails(t *testing.T) {
	for how, want := range map[string]string{
		"crash":   "compile: x.cu: the compiler ended: exit status 2: SIGSEGV: in libnvrtc; nothing else is lost",
		"garbage": "compile: x.cu: reply of the compiler: invalid character 'o' in literal null (expecting 'u')",
		"options": "compile: std: the compiler has no such value",
	} {
		t.Run(how, func(t *testing.T) {
			fakeProgram(t, how)
			_, err := CUDA(context.Background(), "x.cu", empty, Options{})
			if err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

// A compiler that crashes on open brackets names them.
func TestBracketsCrash(t *testing.T) {
	fakeProgram(t, "crash")
	const want = "compile: x.cu:1:35: ( is never closed"
	if _, err := CUDA(t.Context(), "x.cu", "__global__ void f(int* x) { *x = ((1; }", Options{}); err == nil || err.Error() != want {
		t.Errorf("%v, expected %s", err, want)
	}
}

func TestInterrupt(t *testing.T) {
	fakeProgram(t, "hang")
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := CUDA(ctx, "x.cu", empty, Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, expected the end of the context", err)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("it took %v to stop", took)
	}
}

// What needs no compiler to be found wrong, at its place.
func TestRefused(t *testing.T) {
	t.Setenv(compiler.Variable, filepath.Join(t.TempDir(), "none")) // is never started
	for _, x := range []struct{ source, want string }{
		{strings.Repeat("a", 5<<20), `compile: x.cu:1:1: source of 5242880 bytes, expected at most 1048576`},
		{"", `compile: x.cu:1:1: no kernel: these lines are part of a function: put __global__ void name(...) { } around them, and declare what they use`},
		{"// only\n__device__ int f() { return 1; }", `compile: x.cu:2:1: no kernel: expected a __global__ function, which may call those that are here`},
		{"template <typename T, int N> __global__ void f(T* x) {}", `compile: x.cu:1:46: template f is not instantiated: name an instance on the first line, such as --instantiate 'f<float, 256>'`},
		{"__global__ void f() {}\nint main() { f<<<1, 2, 3>>>(a, b); }", `compile: x.cu:2:5: host code: the cells of the notebook are its main, delete the function (and 1 more)`},
		{"__global__ void f() {}\n__global__ void g() { f<<<1, 32>>>(); }", `compile: x.cu:2:23: a kernel launches no kernel here, dynamic parallelism is not supported: launch it after this kernel, in a Go cell: f.Launch(dev, gpu.Dim{X: 1}, gpu.Dim{X: 32})`},
		{"#include <bits/stdc++.h>\n" + empty, `compile: x.cu:1:11: header bits/stdc++.h: delete the line: the whole standard library of the host`},
		{"void host() { cudaMalloc(&x, 4); }", `compile: x.cu:1:6: host function host: write it in Go in a cell of its own, or __device__ before it if a kernel calls it (and 1 more)`},
		{"global void f() {}", `compile: x.cu:1:1: global: did you mean __global__?`},
	} {
		if _, err := CUDA(context.Background(), "x.cu", x.source, Options{}); err == nil || err.Error() != x.want {
			t.Errorf("%.60q\ngot  %v\nwant %s", x.source, err, x.want)
		}
	}
	if _, err := CUDA(context.Background(), "x.cu", empty, Options{Arch: "75"}); err == nil || !strings.Contains(err.Error(), "expected the form sm_75") {
		t.Errorf("arch 75: %v", err)
	}
}

// Words of code in comments and strings are none, and kernels are found in any
// order of words.
func TestScan(t *testing.T) {
	s := scan(`// __global__ void no() { cudaMalloc(1); }
#define N 4 \
  int main() { }
extern "C" {
/* int main() {} */ __global__ void __launch_bounds__(256, 2) a(const float* __restrict__ x, int n = N) { printf("cudaFree(x) {"); }
}
namespace ns { void __global__ b() { if (1) { } } }
struct S { __device__ int m() { return 1; } };
template<typename T>
static __device__ T c(T* x) { return *x; }`)
	var got []string
	for _, f := range s.functions {
		got = append(got, f.name)
	}
	if names := strings.Join(got, " "); names != "a b c" {
		t.Fatalf("functions are %q, expected a b c", names)
	}
	a := s.functions[0]
	if len(a.params) != 2 || a.params[0] != (parameter{"const float* __restrict__", "x"}) || a.params[1] != (parameter{"int", "n"}) {
		t.Errorf("parameters are %q", a.params)
	}
	if found := s.host(); len(found) > 0 {
		t.Errorf("host code: %v", found)
	}
}

func TestSymbols(t *testing.T) {
	for symbol, want := range map[string]string{
		"plain": "plain", "_Z6reducePfj": "reduce", "_Z9reduce_v0ILi256EEvPfS0_": "reduce_v0_256", "_ZN2ns1fEPf": "ns_f",
		"_Z1fIfLin3EEvPT_": "f_float_3", "_Z4typev": "type_", "_Z1fI3FooEvv": "Z1fI3FooEvv", "_Z99x": "Z99x",
		"_Z4foo_Pf": "foo_", "_Z4_fooPf": "_foo", "foo<3>": "foo_3", "_Z1_v": "kernel__",
	} {
		if got := identifier(ptx.Demangle(symbol)); got != want {
			t.Errorf("%s is %s, expected %s", symbol, got, want)
		}
	}
	got := rename("[_Z1fPf_param_0] _ZZ1fPfE1s _Z1fPfj _Z1fPf(", "_Z1fPf", "f")
	if want := "[f_param_0] f_s _Z1fPfj f("; got != want {
		t.Errorf("renamed %q, expected %q", got, want)
	}
}

const strided = `.version 8.0
.target sm_75
.address_size 64
.visible .entry strided(.param .u64 y, .param .u32 stride)
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [y];
	ld.param.u32 %r1, [stride];
	mov.u32 %r2, %tid.x;
	mul.lo.u32 %r2, %r2, %r1;
	mul.wide.u32 %rd2, %r2, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r1;
	ret;
}
`

// emulator opens an emulator and a buffer of 32 elements on it.
func emulator(t *testing.T, element gpu.Type) (gpu.Device, gpu.Buffer) {
	t.Helper()
	dev, err := emu.Open("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	y, err := dev.Alloc(element, 32)
	if err != nil {
		t.Fatal(err)
	}
	return dev, y
}

var one, warp = gpu.Dim{X: 1}, gpu.Dim{X: 32}

// PTX needs no compiler, and its faults name the line of the cell.
func TestPTX(t *testing.T) {
	m, err := PTX("cell3.ptx", strided, 2)
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Entry("strided")
	if err != nil {
		t.Fatal(err)
	}
	dev, y := emulator(t, gpu.Uint32)
	if err := e.Launch(dev, one, warp, y, uint32(1)); err != nil {
		t.Error(err)
	}
	if err := e.Launch(dev, one, warp, y, uint32(2)); !errors.Is(err, gpu.ErrOutOfBounds) || !strings.Contains(err.Error(), "at cell3.ptx:15") ||
		!strings.HasSuffix(err.Error(), ": st.global.u32 [%rd3], %r1;") {
		t.Errorf("%v, expected out of bounds at line 15 of the cell, and the line", err)
	}
	if err := e.Launch(dev, one, warp, y); !errors.Is(err, gpu.ErrArgument) {
		t.Errorf("%v, expected a missing argument", err)
	}
	if text := e.PTX().Text; !strings.HasPrefix(text, ".visible .entry strided") || !strings.HasSuffix(text, "ret;\n}\n") {
		t.Errorf("the entry's PTX is %q", text)
	}
	if _, err := m.Entry("stride"); !errors.Is(err, gpu.ErrNotFound) || !strings.Contains(err.Error(), "strided") {
		t.Errorf("%v, expected the nearest name", err)
	}
	for range 3 { // another device each time, and the first again
		other, _ := emulator(t, gpu.Uint32)
		if _, err := e.On(other); err != nil || len(m.loaded.on) > maxLoaded || m.loaded.on[0].device != other {
			t.Errorf("%v, loaded on %d devices", err, len(m.loaded.on))
		}
	}
	if err := e.Launch(dev, one, warp, y, uint32(1)); err != nil {
		t.Error(err)
	}
}

func TestPTXRefused(t *testing.T) {
	for source, want := range map[string]string{
		strings.Replace(strided, "ret;", "ret", 1):                                    "compile: x.ptx:16:1: ",
		strings.Replace(strided, "ret;\n}", "ret;\n", 1):                              "compile: x.ptx:5:1: { is never closed",
		strings.Replace(strided, "ld.param.u64", "ld.parm.u64", 1):                    "compile: x.ptx:8:4: ld has no modifier .parm, expected one such as .param, ",
		strings.Replace(strided, "ld.param.u64", "lod.param.u64", 1):                  "compile: x.ptx:8:2: no opcode lod, expected one such as ld, ",
		strings.Split(strided, ".visible")[0]:                                         "compile: x.ptx:1:1: no entry: expected .visible .entry name(...)",
		strings.Replace(strided, ".reg .b32", ".shared .b8 big[65536]; .reg .b32", 1): "compile: x.ptx:4:17: kernel strided: 65536 bytes of static shared memory",
	} {
		if _, err := PTX("x.ptx", source, 1); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, expected %s", err, want)
		}
	}
	dev, _ := emulator(t, gpu.Uint32)
	var none *Entry
	if err := none.Launch(dev, one, warp); !errors.Is(err, gpu.ErrArgument) || none.String() == "" {
		t.Errorf("a nil entry: %v", err)
	}
}

const cellOfTemplates = `template <int B> __global__ void fill(float* y) { y[threadIdx.x] = B; }
__global__ void far(int* y, unsigned n) {
    __shared__ int s[32];
    s[threadIdx.x % 32] = n;
    __syncthreads();
    y[threadIdx.x * 1000] = s[0];
}`

// compiled compiles a template, two instances of it, and a kernel that stores
// far away.
func compiled(t *testing.T) *Module {
	t.Helper()
	needNVRTC(t, "")
	m, err := CUDA(context.Background(), "cell7.cu", cellOfTemplates, Options{FirstLine: 3, Instantiate: []string{"fill<7>", "fill<256>"}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// entry is an entry of a module by name.
func entry(t *testing.T, m *Module, name string) *Entry {
	t.Helper()
	e, err := m.Entry(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// With the compiler itself: names, types, faults at the cell's line.
func TestCUDA(t *testing.T) {
	m := compiled(t)
	var names []string
	for _, e := range m.Entries {
		names = append(names, e.String())
	}
	slices.Sort(names)
	if got, want := strings.Join(names, "; "), "far(int* y, unsigned n); fill_256(float* y); fill_7(float* y)"; got != want {
		t.Errorf("entries are %s, expected %s", got, want)
	}
	dev, y := emulator(t, gpu.Int32)
	far := entry(t, m, "far")
	if err := far.Launch(dev, one, warp, y, uint32(1)); !errors.Is(err, gpu.ErrOutOfBounds) || !strings.Contains(err.Error(), "at cell7.cu:8 (cell7.ptx:") ||
		!strings.HasSuffix(err.Error(), ": y[threadIdx.x * 1000] = s[0];") {
		t.Errorf("%v, expected out of bounds at line 8 of the cell, and the line", err)
	}
	if text := far.PTX().Text; !strings.Contains(text, "// 8: y[threadIdx.x * 1000] = s[0];\n") || !strings.Contains(text, "far_s") {
		t.Errorf("the PTX shows no source, or no name for s:\n%s", text)
	}
	if err := far.Launch(dev, one, warp, y, 1.0); !errors.Is(err, gpu.ErrArgument) || !strings.HasSuffix(err.Error(), "float64 has 8 bytes, expected int32 or uint32: the kernel is far(int* y, unsigned n)") {
		t.Errorf("%v, expected the kernel with the names of its parameters", err)
	}
	err := entry(t, m, "fill_7").Launch(dev, one, warp, y)
	if want := "compile: launch fill_7: argument 0, y: invalid argument: a buffer of int32, expected float32: the kernel has float* y"; err == nil || err.Error() != want {
		t.Errorf("%v, expected %s", err, want)
	}
}

func TestCUDARefused(t *testing.T) {
	needNVRTC(t, "")
	if _, err := CUDA(context.Background(), "x.cu", "__global__ void f(int* x) {}\n__global__ void f(float* x) {}", Options{}); err == nil || !strings.Contains(err.Error(), "kernel f is declared twice") {
		t.Errorf("%v, expected that a name is declared twice", err)
	}
	for _, o := range []Options{{Instantiate: []string{"g<1>"}}, {Arch: "sm_999"}, {Std: "c++99"}} {
		if _, err := CUDA(context.Background(), "x.cu", empty, o); !errors.As(err, new(*OptionError)) {
			t.Errorf("%+v: %v, expected an error of the option", o, err)
		}
	}
}

// A compiler message about a header is reported at the line that includes it.
func TestComplaints(t *testing.T) {
	s := scan("#include <cuda/a>\n#include <cuda/b.h>\n__global__ void f() { x = 1; }")
	got := s.complaints("x.cu", compiler.Reply{Error: "failed", Log: `/opt/include/cuda/b.h(7): error: too old

x.cu(3): error: identifier "x" is undefined
  __global__ void f() { x = 1; }
                        ^

x.cu(3): error: identifier "x" is undefined
  __global__ void f() { x = 1; }
                        ^

x.cu(3): warning #177-D: variable "x" was declared but never referenced

`})
	want := []Diagnostic{{2, 11, "in header b.h, line 7: too old"}, {3, 23, `identifier "x" is undefined: declare it in the cell`}}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// A bracket without a partner is shown where it stands, and not where the
// compiler notices.
func TestBrackets(t *testing.T) {
	for text, want := range map[string]Diagnostic{
		"void f() {\n\tif (a) {\n\t\tb();\n}\nvoid g() {\n}\n": {2, 9, "{ is never closed"},
		"void f() {\n\tg(;\n}\n":                               {2, 3, "( is never closed"},
		"void f(int a {\n}\n":                                  {1, 7, "( is never closed"},
		"void f() {\n\tg();\n":                                 {1, 10, "{ is never closed"},
		"void f() {\n}\n}":                                     {3, 1, "unexpected }"},
		"void f() { // {\n\tg(\")\", ')'); /* ( */ }":          {},
		"void f() {\n\tif (a) {\n\t\tb(); }}\n":                {},
	} {
		got := scan(text).brackets()
		if want == (Diagnostic{}) && len(got) == 0 {
			continue
		}
		if len(got) != 1 || got[0] != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// TestBracketsOfCell: with the compiler, and not where a directive may leave out
// some of the brackets.
func TestBracketsOfCell(t *testing.T) {
	needNVRTC(t, "")
	for text, want := range map[string]string{
		"__global__ void f(int* x) {\n\tx[0] = 1;\n":             "compile: x.cu:1:27: { is never closed",
		"/* why\n" + empty:                                       "compile: x.cu:1:1: /* is never closed",
		"#if 1\n__global__ void f() {\n#else\n{{\n#endif\nx;\n}": `compile: x.cu:6:1: identifier "x" is undefined`,
	} {
		if _, err := CUDA(context.Background(), "x.cu", text, Options{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := CUDA(context.Background(), "x.cu", "__global__ void f(int n) {\n#if 1\nif (n) {\n#else\n{{\n#endif\n}\n}", Options{}); err != nil {
		t.Error(err)
	}
}

// resourcesWith are those of an empty entry with a directive.
func resourcesWith(t *testing.T, directive string, dev gpu.Device) *Resources {
	t.Helper()
	m, err := PTX("empty.ptx", ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry empty()\n"+directive+"\n{\n\tret;\n}\n", 1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Entries[0].Resources(dev)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// SASS and resources, where the assembler is.
func TestViews(t *testing.T) {
	m, err := PTX("strided.ptx", strided, 1)
	if err != nil {
		t.Fatal(err)
	}
	e := m.Entries[0]
	dev, _ := emulator(t, gpu.Uint32)
	r, err := e.Resources(dev)
	if err != nil {
		t.Fatal(err)
	}
	columns, rows := r.Table()
	if len(rows) != 6 || len(rows[0]) != len(columns) || rows[0][0] != "32" || rows[5][6] != "2" {
		t.Errorf("occupancy by block size is %v", rows)
	}
	if columns, rows := resourcesWith(t, ".reqnctapercluster 4, 1, 1", dev).Table(); columns[len(columns)-1] != "clusters (4,1,1) at once" || len(rows[5]) != len(columns) || rows[5][len(columns)-1] != "62" {
		t.Errorf("clusters by block size are %v, %v, expected 62 of 1024 threads", columns, rows)
	}
	if _, err := e.SASS("75"); err == nil || !strings.Contains(err.Error(), "expected the form sm_75") {
		t.Errorf("sass for 75: %v", err)
	}
	sass, err := e.SASS("sm_90")
	if errors.Is(err, gpu.ErrNotFound) {
		if !strings.Contains(err.Error(), "pip install") || rows[0][1] != "not known" && compiler.FindTool("ptxas") == "" {
			t.Errorf("%v, %v: no remedy, or registers from nowhere", err, rows[0])
		}
		t.Skip("needs ptxas and nvdisasm or cuobjdump: ", err)
	}
	if err != nil || !strings.Contains(sass.Text, "STG.E") || !strings.Contains(sass.Text, "/*0000*/") {
		t.Errorf("%v\n%s", err, sass.Text)
	}
	if rows[0][1] == "not known" || rows[0][1] == "0" {
		t.Errorf("registers are %s with ptxas", rows[0][1])
	}
}

// A template without an instance, beside a kernel, is no kernel, as with nvcc; a warning names
// it.
func TestTemplateBesideAKernel(t *testing.T) {
	for _, compiler := range []string{"nvrtc", "clang"} {
		t.Run(compiler, func(t *testing.T) {
			if compiler == "clang" {
				needClang(t)
			} else {
				needNVRTC(t, "")
			}
			m, err := CUDA(context.Background(), "x.cu", cellOfTemplates, Options{Compiler: compiler})
			if err != nil {
				t.Fatal(err)
			}
			if len(m.Entries) != 1 || m.Entries[0].Name() != "far" || len(m.Warnings) == 0 ||
				m.Warnings[0] != (Diagnostic{1, 34, "template fill is not instantiated: name an instance on the first line, such as --instantiate 'fill<256>'"}) {
				t.Errorf("%v with warnings %v, expected far, and a warning of fill", m.Entries, m.Warnings)
			}
		})
	}
}
