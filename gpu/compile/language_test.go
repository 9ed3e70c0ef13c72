package compile

import (
	"context"
	"slices"
	"strings"
	"testing"

	"warpbook/gpu"
)

// TestLanguage compiles what CUDA C++ permits and runs it on the emulator: words
// before and after __global__, names with underscores, lambdas, 128-bit integers, and
// the headers of CUDA that are no plain C++.
func TestLanguage(t *testing.T) {
	needNVRTC(t, "")
	if _, err := CUDA(context.Background(), "x.cu", "#include <mma.h>\n#include <cuda/std/array>\n"+empty, Options{}); err != nil {
		t.Skip("needs the wheels that README pins: ", err)
	}
	index := make([]int32, 32)
	for i := range index {
		index[i] = int32(i)
	}
	double := func(i int) int32 { return 2 * int32(i) }
	for _, c := range []struct {
		name, arch, text string
		entry            string
		want             func(i int) int32
	}{
		{"a cluster before __global__", "sm_90", "__cluster_dims__(1, 1, 1) __global__ void f(int* x) { x[threadIdx.x] *= 2; }", "f", double},
		{"a cluster after __global__", "sm_90", "__global__ __cluster_dims__(1, 1, 1) void f(int* x) { x[threadIdx.x] *= 2; }", "f", double},
		{"a cluster after void", "sm_90", "__global__ void __cluster_dims__(1, 1, 1) f(int* x) { x[threadIdx.x] *= 2; }", "f", double},
		{"an underscore behind", "", "__global__ void foo_(int* x) { x[threadIdx.x] *= 2; }\n__global__ void foo(int* x) { x[threadIdx.x] = 1; }", "foo_", double},
		{"underscores before", "", "__global__ void __foo(int* x) { x[threadIdx.x] *= 2; }", "__foo", double},
		{"a generic lambda", "", "template <class F> __device__ int apply(F f, int v) { return f(v); }\n" +
			"__global__ void f(int* x) { auto twice = [](auto v) { return 2 * v; }; x[threadIdx.x] = apply(twice, x[threadIdx.x]); }", "f", double},
		{"a lambda that captures", "", "__global__ void f(int* x) { int i = threadIdx.x; auto put = [&](int v) { x[i] = v; }; put(2 * i); }", "f", double},
		{"a lambda outside of the kernel", "", "constexpr auto twice = [](auto v) { return 2 * v; };\n__global__ void f(int* x) { x[threadIdx.x] = twice(x[threadIdx.x]); }", "f", double},
		{"128-bit integers", "", "__global__ void f(int* x) { unsigned __int128 v = (unsigned __int128)x[threadIdx.x] << 100; x[threadIdx.x] = (int)(v * 2 >> 100); }", "f", double},
		{"cuda::std", "", "#include <cuda/std/array>\n#include <cuda/std/cstdint>\n#include <cuda/std/limits>\n#include <cuda/std/tuple>\n#include <cuda/std/utility>\n" +
			"#include <cuda/std/functional>\n#include <cuda/std/atomic>\n#include <cuda/std/bit>\n#include <cuda/std/complex>\n#include <cuda/std/span>\n#include <cuda/std/optional>\n" +
			"__global__ void f(int* x) { cuda::std::array<int, 2> v{0, 2}; auto t = cuda::std::make_tuple(v[1], x[threadIdx.x]); x[threadIdx.x] = cuda::std::get<0>(t) * cuda::std::get<1>(t); }", "f", double},
		{"cuda::barrier", "sm_80", barrierText, "f", func(i int) int32 { return 31 - int32(i) }},
		{"cuda::barrier of sm_90", "sm_90", barrierText, "f", func(i int) int32 { return 31 - int32(i) }},
		{"cuda::pipeline", "sm_80", "#include <cuda/pipeline>\n__global__ void f(int* x) {\n    __shared__ int s[32];\n    auto p = cuda::make_pipeline();\n    p.producer_acquire();\n" +
			"    cuda::memcpy_async(s + threadIdx.x, x + threadIdx.x, sizeof(int), p);\n    p.producer_commit();\n    p.consumer_wait();\n    __syncthreads();\n    x[threadIdx.x] = s[31 - threadIdx.x];\n}",
			"f", func(i int) int32 { return 31 - int32(i) }},
		{"mma.h", "", "#include <mma.h>\nusing namespace nvcuda;\n__global__ void f(int* x) {\n    __shared__ half a[256], b[256];\n    __shared__ float c[256];\n" +
			"    for (int i = threadIdx.x; i < 256; i += 32) a[i] = __float2half(i / 16 == i % 16), b[i] = __float2half(2 * (i % 32));\n    __syncthreads();\n" +
			"    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;\n    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;\n" +
			"    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;\n    wmma::fill_fragment(fc, 0.0f);\n    wmma::load_matrix_sync(fa, a, 16);\n    wmma::load_matrix_sync(fb, b, 16);\n" +
			"    wmma::mma_sync(fc, fa, fb, fc);\n    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);\n    __syncthreads();\n    x[threadIdx.x] = (int)c[threadIdx.x];\n}", "f", double},
		{"cub", "", "#include <cub/warp/warp_scan.cuh>\n__global__ void f(int* x) {\n    __shared__ typename cub::WarpScan<int>::TempStorage s;\n    int v;\n" +
			"    cub::WarpScan<int>(s).InclusiveSum(2, v);\n    x[threadIdx.x] = v - 2;\n}", "f", double},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := CUDA(context.Background(), "x.cu", c.text, Options{Arch: c.arch})
			if err != nil {
				t.Fatal(err)
			}
			dev, x := emulator(t, gpu.Int32)
			if err := x.Upload(index); err != nil {
				t.Fatal(err)
			}
			if err := entry(t, m, c.entry).Launch(dev, one, warp, x); err != nil {
				t.Fatal(err)
			}
			got := make([]int32, 32)
			if err := x.Download(got); err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				if v != c.want(i) {
					t.Fatalf("x is %v, expected %d at %d", got, c.want(i), i)
				}
			}
			if e := entry(t, m, c.entry); len(e.params) != 1 || e.params[0].name != "x" {
				t.Errorf("the parameters are %v, expected int* x", e.params)
			}
		})
	}
}

const barrierText = `#include <cuda/barrier>
__global__ void f(int* x) {
    #pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> b;
    __shared__ int s[32];
    if (threadIdx.x == 0) init(&b, blockDim.x);
    __syncthreads();
    s[threadIdx.x] = x[threadIdx.x];
    b.arrive_and_wait();
    x[threadIdx.x] = s[31 - threadIdx.x];
}`

// TestPermits: the flag for lambdas is given to sources with a lambda only, because it
// makes device variables of variables of the host.
func TestPermits(t *testing.T) {
	for text, want := range map[string]bool{
		"__global__ void f(int* x) { x[threadIdx.x] = 1; }":                           false,
		"int n = 5;\n__global__ void f(int* x) { if (x[n]) { x[(n)] = 1; } }":         false,
		"constexpr auto g = [](auto v) { return v; };":                                true,
		"__global__ void f(int* x) { auto g = [=, &x](int v) -> int { return v; }; }": true,
		"__global__ void f(int* x) { auto g = [&] { return 1; }; }":                   true,
		"__device__ int a[] = {1};":                                                   false,
	} {
		if got := slices.Contains(scan(text).permits(), "--device-as-default-execution-space"); got != want {
			t.Errorf("%s: %v, expected %v", strings.TrimSpace(text), got, want)
		}
	}
}

// TestMisspeltAssembly: a misspelt word of PTX in an asm statement is named at its line.
// The compiler copies it, and before, the emulator asked for a GPU.
func TestMisspeltAssembly(t *testing.T) {
	needNVRTC(t, "")
	for text, want := range map[string]string{
		"__global__ void f(unsigned* y) {\n    asm(\"mapa.shared::clutser.u32 %0, %1, 1;\" : \"=r\"(y[0]) : \"r\"(y[1]));\n}":                               "compile: x.cu:2:14: mapa has no modifier .shared::clutser, expected one such as .shared::cluster",
		"__device__ unsigned g() { unsigned a; asm volatile(\"lod.u32 %0, [0];\" : \"=r\"(a)); return a; }\n__global__ void f(unsigned* y) { y[0] = g(); }": "compile: x.cu:1:53: no opcode lod, expected one such as ld",
	} {
		if _, err := CUDA(context.Background(), "x.cu", text, Options{Arch: "sm_90"}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
}
