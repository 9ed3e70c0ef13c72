package compile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"warpbook/gpu"
)

type advice struct {
	name string // the unknown name, if the remedy is for one
	cell string
	want float32
}

// advised are cells that do not compile, and the first element of y after a launch of 32
// threads of the cell to which the advice is applied.
var advised = []advice{
	{"real", "__global__ void f(float* y) { real x = 1.5; y[0] = x; }", 1.5},
	{"u32", "__global__ void f(float* y) { u32 x = 7; y[0] = x; }", 7},
	{"u64", "__global__ void f(float* y) { y[0] = sizeof(u64); }", 8},
	{"FULL_MASK", "__global__ void f(float* y) { y[0] = __popc(__ballot_sync(FULL_MASK, threadIdx.x < 5)); }", 5},
	{"WARP_SIZE", "__global__ void f(float* y) { y[0] = WARP_SIZE; }", 32},
	{"BLOCK", "__global__ void f(float* y) { y[0] = BLOCK; }", chosen},
	{"TILE_N", "template <int N = TILE_N> __device__ int n() { return N; }\n__global__ void f(float* y) { y[0] = n(); }", chosen},
	{"cooperative_groups", "__global__ void f(float* y) { auto g = cooperative_groups::this_thread_block(); g.sync(); y[0] = g.size(); }", 32},
	{"cg", "__global__ void f(float* y) { auto g = cg::this_thread_block(); y[0] = g.size(); }", 32},
	{"thread_block", "__global__ void f(float* y) { thread_block g = this_thread_block(); y[0] = g.size(); }", 32},
	{"thread_group", "__device__ int n(thread_group g) { return g.size(); }\n__global__ void f(float* y) { y[0] = n(this_thread_block()); }", 32},
	{"this_thread_block", "__global__ void f(float* y) { y[0] = this_thread_block().size(); }", 32},
	{"tiled_partition", "__global__ void f(float* y) { auto t = tiled_partition<8>(this_thread_block()); y[0] = t.size(); }", 8},
	{"thread_block_tile", "__device__ int n(thread_block_tile<8> g) { return g.size(); }\n__global__ void f(float* y) { y[0] = n(tiled_partition<8>(this_thread_block())); }", 8},
	{"wmma", "__global__ void f(float* y) { wmma::fragment<wmma::accumulator, 16, 16, 16, float> c; wmma::fill_fragment(c, 3.0f); y[0] = c.x[0]; }", 3},
	{"nvcuda", "__global__ void f(float* y) { nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> c; nvcuda::wmma::fill_fragment(c, 3.0f); y[0] = c.x[0]; }", 3},
	{"__lanemask_lt", "__global__ void f(float* y) { y[31 - threadIdx.x] = __popc(__lanemask_lt()); }", 31},
	{"CHECK", "__global__ void f(float* y) {\ny[0] = 2;\nCHECK(y[0]);\n}", 2},
	{"__shfl", "__global__ void f(float* y) { y[threadIdx.x] = __shfl(3.0f * threadIdx.x, 7); }", 21},
	{"__shfl_up", "__global__ void f(float* y) { y[31 - threadIdx.x] = __shfl_up(3.0f * threadIdx.x, 1); }", 90},
	{"__shfl_down", "__global__ void f(float* y) { y[threadIdx.x] = __shfl_down(3.0f * threadIdx.x, 1); }", 3},
	{"__shfl_xor", "__global__ void f(float* y) { y[threadIdx.x] = __shfl_xor(3.0f * threadIdx.x, 2); }", 6},
	{"__any", "__global__ void f(float* y) { y[0] = __any(threadIdx.x == 7) ? 2 : 3; }", 2},
	{"__all", "__global__ void f(float* y) { y[0] = __all(threadIdx.x == 7) ? 2 : 3; }", 3},
	{"__ballot", "__global__ void f(float* y) { y[0] = __ballot(threadIdx.x < 3); }", 7},
	{"rand", "__global__ void f(float* y) { unsigned i = threadIdx.x; y[31 - i] = rand() & 0xff; }", (1664525*31 + 1013904223) & 0xff},
	{"srand", "__global__ void f(float* y) { unsigned i = threadIdx.x; y[i] = srand() & 0xff; }", 1013904223 & 0xff},
	{"rand_r", "__global__ void f(float* y) { unsigned i = threadIdx.x; y[i] = rand_r() & 0xff; }", 1013904223 & 0xff},
	{"drand48", "__global__ void f(float* y) { unsigned i = threadIdx.x; y[i] = (int)drand48() & 0xff; }", 1013904223 & 0xff},
	{"std::max", "__global__ void f(float* y) { y[0] = std::max(-1000.0f, -500.0f); }", -500},
	{"std::min", "__global__ void f(float* y) { y[0] = std::min(-1000, -500); }", -1000},
	{"cout", "__global__ void f(float* y) { cout(\"\"); y[0] = 1; }", 1},
	{"std::cout", "__global__ void f(float* y) { std::cout(\"\"); y[0] = 1; }", 1},
	{"std::string", "__global__ void f(float* y) { std::string s = \"7\"; y[0] = s[0] - '0'; }", 7},
	{"std::vector", "__global__ void f(float* y) { std::vector v; v[3] = 4; y[0] = v[3]; }", 4},
	{"std::map", "__global__ void f(float* y) { std::map v; v[3] = 4; y[0] = v[3]; }", 4},
	{"std::list", "__global__ void f(float* y) { std::list v; v[3] = 4; y[0] = v[3]; }", 4},
	{"cuda::barrier", strings.Replace(barrierInFloats, "T", "cuda::barrier<cuda::thread_scope_block>", 1), 31},
	{"cuda::atomic_ref", "__global__ void f(float* y) { cuda::atomic_ref<float> a(y[0]); a.store(0); __syncwarp(); a.fetch_add(2.0f); }", 64},
	{"cuda::atomic", "__global__ void f(float* y) { cuda::atomic<int> a(3); y[0] = a.load(); }", 3},
	{"CUDART_INF_F", "__global__ void f(float* y) { y[0] = 1 / CUDART_INF_F; }", 0},
	{"curandState", "__global__ void f(float* y) { curandState s; curand_init(1, 0, 0, &s); float u = curand_uniform(&s); y[0] = u > 0 && u <= 1; }", 1},

	// header by header
	{"__half", "__global__ void f(float* y) { __half h[2]; h[1] = __float2half(1.5f); y[0] = __half2float(h[1]); }", 1.5},
	{"half", "__device__ float g(half x) {\n    return __half2float(x);\n}\n__global__ void f(float* y) { y[0] = g(__float2half(2.5f)); }", 2.5},
	{"__half", "__device__ float g(__half* x) { return __half2float(*x); }\n__global__ void f(float* y) { __half h = __float2half(2.5f); y[0] = g(&h); }", 2.5},
	{"__nv_bfloat16", "__global__ void f(float* y) { __nv_bfloat16 h = __float2bfloat16(1.5f); y[0] = __bfloat162float(h); }", 1.5},
	{"__nv_fp8_e4m3", "__global__ void f(float* y) { __nv_fp8_e4m3 h(1.5f); y[0] = float(h); }", 1.5},
	{"__pipeline_commit", "__global__ void f(float* y) { __shared__ float s[1]; if (threadIdx.x == 0) s[0] = 3; __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads(); y[0] = s[0]; }", 3},
	{"cuCmulf", "__global__ void f(float* y) { y[0] = cuCmulf(make_cuFloatComplex(0, 2), make_cuFloatComplex(0, 3)).x; }", -6},
	{"std::numeric_limits", "__global__ void f(float* y) { y[0] = std::numeric_limits<int>::max() == 2147483647; }", 1},
	{"std::array", "__global__ void f(float* y) { std::array<float, 3> a{1, 2, 3}; y[0] = a[2] + a.size(); }", 6},
	{"std::pair", "__global__ void f(float* y) { std::pair<int, float> p(1, 2.5f); y[0] = p.second; }", 2.5},
	{"std::tuple", "__global__ void f(float* y) { std::tuple<int, float> p(1, 2.5f); y[0] = std::get<1>(p); }", 2.5},
	{"std::is_same", "__global__ void f(float* y) { y[0] = std::is_same<int, int>::value; }", 1},
	{"std::enable_if", "template <class T, class = typename std::enable_if<std::is_floating_point<T>::value>::type> __device__ T g(T x) { return x; }\n__global__ void f(float* y) { y[0] = g(2.5f); }", 2.5},

	// misspelt names
	{"threadId", "__global__ void f(float* y) { y[31 - threadId.x] = threadId.x; }", 31},
	{"__syncthread", "__global__ void f(float* y) { __syncthread(); y[0] = 1; }", 1},
	{"syncthreads", "__global__ void f(float* y) { syncthreads(); y[0] = 1; }", 1},
	{"thread_idx", "__global__ void f(float* y) { y[31 - thread_idx.x] = 4; }", 4},
	{"blockDimm", "__global__ void f(float* y) { y[0] = blockDimm.x; }", 32},
	{"AtomicAdd", "__global__ void f(float* y) { y[0] = 0; __syncwarp(); AtomicAdd(y, 1.0f); }", 32},
	{"__float_as_it", "__global__ void f(float* y) { y[0] = __float_as_it(1.0f) == 0x3f800000; }", 1},
	{"sqrt_f", "__global__ void f(float* y) { y[0] = sqrt_f(9.0f); }", 3},
	{"BLOCKSIZE", "#define BLOCK_SIZE 128\n__global__ void f(float* y) { y[0] = BLOCKSIZE; }", 128},
	{"partail", "__global__ void f(float* y) { float partial = 2; y[0] = partail; }", 2},

	// architectures
	{"", "__global__ void f(float* y) { y[0] = __reduce_add_sync(0xffffffff, threadIdx.x); }", 496},
	{"", "#include <cuda_bf16.h>\n__global__ void f(float* y) { __nv_bfloat16 x = __float2bfloat16(3.0f); y[0] = __bfloat162float(__hfma(x, x, x)); }", 12},
	{"", "#include <cooperative_groups.h>\n__global__ void f(float* y) { y[0] = cooperative_groups::this_cluster().num_blocks(); }", 1},

	{"", "__global__ void f(float* y) { y[0] = fmaxx(3.0f, 2.0f); }", 3},
	{"", "__global__ void f(float* y) { y[0] = sqrrt(9.0f); }", 3},
	{"", "__global__ void f(float* y) { y[0] = blockDim.X; }", 32},

	// what is not about a name
	{"", "int h(int n) { return n; }\n__global__ void f(float* y) { y[0] = h(3); }", 3},
	{"", "int n[] = {5};\n__global__ void f(float* y) { y[0] = n[0]; }", 5},
	{"", "y[0] = 6;\n__device__ int n;\n", 6},
	{"", "// a comment that\ncontinues here\n__global__ void f(float* y) { y[0] = 1; }", 1},
	{"", "__device__ float g(float);\n__global__ void f(float* y) { y[0] = g(3); }", chosen},
	{"", "template <int B> __global__ void f(float* y) { y[0] = B; }", 256},
	{"", "__global void f(float* y) { y[0] = 4; }", 4},
}

// chosen is the value that this test gives a name that the cell leaves undefined.
const chosen = 7

const barrierInFloats = `__global__ void f(float* y) {
    #pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ T b;
    __shared__ float s[32];
    if (threadIdx.x == 0) init(&b, blockDim.x);
    __syncthreads();
    s[threadIdx.x] = threadIdx.x;
    b.arrive_and_wait();
    y[threadIdx.x] = s[31 - threadIdx.x];
}`

// follow applies the advice of a diagnostic to a cell, by its words alone, as a reader
// does. It returns false for one that advises nothing.
func follow(cell string, d Diagnostic, o *Options) (string, bool) {
	name := ""
	if m := regexp.MustCompile(`(?:identifier|function|class "\w+" has no member) "(\w+)"|namespace "(\w+)" has no member "(\w+)"`).FindStringSubmatch(d.Text); m != nil {
		name = m[1]
		if m[2] != "" {
			name = m[2] + "::" + m[3]
		}
	}
	words := func(by string) (string, bool) {
		return regexp.MustCompile(`\b`+name+`\b`).ReplaceAllLiteralString(cell, by), true
	}
	lines := strings.Split(cell, "\n")
	onLine := func(change func(line string) string) (string, bool) {
		lines[d.Line-1] = change(lines[d.Line-1])
		return strings.Join(lines, "\n"), true
	}
	for pattern, apply := range map[string]func(m []string) (string, bool){
		`#include (<[\w/.]+>)(?: and (.*;))?$`: func(m []string) (string, bool) { return "#include " + m[1] + "\n" + m[2] + "\n" + cell, true },
		`define it in the cell: (.*)$`:         func(m []string) (string, bool) { return m[1] + "\n" + cell, true },
		`define it in the cell with its value: (#define \w+) \.\.\.$`: func(m []string) (string, bool) {
			return fmt.Sprintf("%s %d\n%s", m[1], chosen, cell), true
		},
		`nearest: (\w+)$`:                   func(m []string) (string, bool) { return words(m[1]) },
		`write (.*), which needs no header`: func(m []string) (string, bool) { return words(m[1]) },
		`write (\w+)\(0xffffffff, \.\.\.\)`: func(m []string) (string, bool) {
			return strings.ReplaceAll(cell, name+"(", m[1]+"(0xffffffff, "), true
		},
		`hash the index of the thread, such as (.*)$`: func(m []string) (string, bool) {
			return strings.ReplaceAll(cell, name+"()", "("+m[1]+")"), true
		},
		`an array of fixed size, such as (.*), or`: func(m []string) (string, bool) { return strings.ReplaceAll(cell, name+" v", m[1]), true },
		`write %%cuda --arch (sm_\d+), `: func(m []string) (string, bool) {
			o.Arch = m[1]
			return cell, true
		},
		`--instantiate '(.*)'$`: func(m []string) (string, bool) {
			o.Instantiate = append(o.Instantiate, m[1])
			return cell, true
		},
		`__device__ before it`: func([]string) (string, bool) { return onLine(func(line string) string { return "__device__ " + line }) },
		`put // before it`:     func([]string) (string, bool) { return onLine(func(line string) string { return "// " + line }) },
		`put __global__ void name\(\.\.\.\) { } around them`: func([]string) (string, bool) {
			return onLine(func(line string) string { return "__global__ void name(float* y) { " + line + " }" })
		},
		`: delete it`:                  func([]string) (string, bool) { return onLine(func(string) string { return "" }) },
		`^(\w+): did you mean (\w+)\?`: func(m []string) (string, bool) { return strings.Replace(cell, m[1], m[2], 1), true },
		`function (\w+) has no body in the cell: expected its definition`: func(m []string) (string, bool) {
			return onLine(func(line string) string {
				return strings.Replace(line, ");", fmt.Sprintf(") { return %d; }", chosen), 1)
			})
		},
	} {
		if m := regexp.MustCompile(pattern).FindStringSubmatch(d.Text); m != nil {
			return apply(m)
		}
	}
	return cell, false
}

// followAll applies advice until the cell compiles without a warning, and fails the test
// if none is given.
func followAll(t *testing.T, cell string) (*Module, []string) {
	t.Helper()
	var o Options
	var said []string
	for range 6 {
		m, err := CUDA(context.Background(), "x.cu", cell, o)
		found := diagnostics(t, m, err)
		if len(found) == 0 {
			return m, said
		}
		said = append(said, found[0].Text)
		if strings.Contains(found[0].Text, "pip install nvidia-curand") {
			t.Skip("needs curand's wheel")
		}
		changed, ok := follow(cell, found[0], &o)
		if !ok {
			t.Fatalf("no advice in %v", found)
		}
		cell = changed
	}
	t.Fatalf("followed advice, and it still does not compile: %q\n%s", said, cell)
	return nil, nil
}

// diagnostics are the errors of a source, or its warnings.
func diagnostics(t *testing.T, m *Module, err error) []Diagnostic {
	t.Helper()
	wrong := (*Error)(nil)
	switch {
	case err == nil:
		return m.Warnings
	case errors.As(err, &wrong):
		return wrong.Diagnostics
	}
	t.Fatal(err)
	return nil
}

// TestAdvice: each remedy, applied to the cell that it is given for, makes a cell that
// compiles and has the right result.
func TestAdvice(t *testing.T) {
	needNVRTC(t, "")
	for _, c := range sample(t, advised, 12) {
		t.Run(c.name, func(t *testing.T) {
			m, said := followAll(t, c.cell)
			if len(said) == 0 {
				t.Fatal("the cell compiles as it is")
			}
			dev, y := emulator(t, gpu.Float32)
			if err := m.Entries[len(m.Entries)-1].Launch(dev, one, warp, y); err != nil {
				t.Fatalf("%v, after %q", err, said)
			}
			got := make([]float32, 32)
			if err := y.Download(got); err != nil {
				t.Fatal(err)
			}
			if got[0] != c.want {
				t.Errorf("y[0] is %v, expected %v, after %q", got[0], c.want, said)
			}
		})
	}
}

// sample is a part of a table, chosen by a seed that is printed and that WARPBOOK_SEED
// repeats; WARPBOOK_LONG takes the whole table.
func sample[T any](t *testing.T, table []T, count int) []T {
	t.Helper()
	if os.Getenv("WARPBOOK_LONG") != "" {
		return table
	}
	seed := rand.Uint64()
	if s, err := strconv.ParseUint(os.Getenv("WARPBOOK_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("%d of %d, WARPBOOK_SEED=%d", count, len(table), seed)
	var part []T
	for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(len(table))[:min(count, len(table))] {
		part = append(part, table[i])
	}
	return part
}

// TestAdviceComplete: each remedy for a name, and each header that one names, is among
// those that TestAdvice applies.
func TestAdviceComplete(t *testing.T) {
	tested, headers := map[string]bool{}, map[string]bool{}
	for _, c := range advised {
		tested[c.name] = true
		if m := regexp.MustCompile(`^#include <(.*?)>`).FindStringSubmatch(remedy(c.name)); m != nil {
			headers[m[1]] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(remedies)) {
		header := strings.HasPrefix(remedies[name], "#include <cuda/")
		if !tested[name] && !header {
			t.Errorf("%s: no cell in the table", name)
		}
	}
	for _, b := range builtins() {
		if b.Header != "" && !headers[b.Header] {
			t.Errorf("%s: no cell in the table needs it", b.Header)
		}
	}
}
