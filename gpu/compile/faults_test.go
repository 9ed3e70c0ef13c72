package compile

import (
	"context"
	"strings"
	"testing"

	"warpbook/gpu"
)

// TestNamesOfFaults: a fault names variables and elements as the cell does, with each
// compiler, and neither where the cell leaves a doubt.
func TestNamesOfFaults(t *testing.T) {
	for _, c := range []struct{ cell, says, not string }{
		{"__global__ void histogram(float* y, int n) {\n    __shared__ float s[256];\n    s[threadIdx.x] = 1;\n    __syncthreads();\n    y[threadIdx.x] = s[threadIdx.x + 160 - n];\n}",
			"s[159] (byte 636 of shared variable s)", "histogram_s"},
		{"#define W 8\n__global__ void tile(float* y, int n) {\n    __shared__ float t[4][W + 1], u[2];\n    t[threadIdx.x % 4][0] = u[0] = 1;\n    __syncwarp();\n    y[threadIdx.x] = t[3][6 - n] + u[0];\n}",
			"t[3][5] (byte 128 of shared variable t)", ""},
		{"template <class T> __device__ void g(float* y, int n) {\n    __shared__ T s[256];\n    s[threadIdx.x] = 1;\n    __syncthreads();\n    y[threadIdx.x] = s[threadIdx.x + 160 - n];\n}\n__global__ void f(float* y, int n) { g<float>(y, n); }",
			"byte 636 of shared variable", "[159]"},
		{"__global__ void past(float* y, int n) {\n    __shared__ float s[32];\n    s[threadIdx.x + n] = 1;\n    y[threadIdx.x] = s[threadIdx.x];\n}",
			"4 bytes at s[32], byte 128 of shared variable s (128 bytes), end 4 bytes past it", ""},
		{"__global__ void add(float* y, int n) {\n    float sum;\n    for (int i = 0; i < n; i++)\n        sum += y[i];\n    y[threadIdx.x] = sum;\n}",
			"sum was never written: give it a value where it is declared", "%"},
		{"__global__ void two(float* y, int n) {\n    float a, b;\n    for (int i = 0; i < n; i++) {\n        a += b * y[i]; b += a; }\n    y[threadIdx.x] = a + b;\n}",
			"was never written", "give it a value"},
	} {
		for _, compiler := range []string{"nvrtc", "clang"} {
			t.Run(compiler, func(t *testing.T) {
				if compiler == "clang" {
					needClang(t)
				} else {
					needNVRTC(t, "")
				}
				m, err := CUDA(context.Background(), "x.cu", c.cell, Options{Compiler: compiler})
				if err != nil {
					t.Fatal(err)
				}
				dev, y := emulator(t, gpu.Float32)
				err = m.Entries[0].Run(dev, gpu.Launch{Grid: one, Block: warp, Args: []any{y, int32(1)}, Zero: []gpu.Buffer{y}})
				if err == nil || !strings.Contains(err.Error(), c.says) || c.not != "" && strings.Contains(err.Error(), c.not) {
					t.Errorf("%s\n%v, expected it to say %q and not %q", c.cell, err, c.says, c.not)
				}
			})
		}
	}
}
