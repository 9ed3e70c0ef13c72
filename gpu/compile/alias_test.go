package compile

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// TestDeclarations: arrays that are the same memory and kernels that hide a builtin of Go
// are warnings at their declaration, and memory that no GPU has is an error there.
func TestDeclarations(t *testing.T) {
	needNVRTC(t, "")
	for cell, says := range map[string]string{
		"__global__ void f(float* y) {\n    extern __shared__ float a[];\n    extern __shared__ __align__(16) int b[];\n    a[0] = 1; b[0] = 2; y[0] = a[0];\n}": "3:41: b begins where a does",
		"__global__ void f(float* y) {\n    extern __shared__ float a[];\n    float* b = a + 32;\n    a[0] = 1; b[0] = 2; y[0] = a[0];\n}":                       "",
		"__device__ float g() { extern __shared__ float a[]; return a[0]; }\n__global__ void f(float* y) { extern __shared__ float b[]; b[0] = 1; y[0] = g(); }": "",
		"\n__global__ void max(float* y) { y[0] = 1; }":                                                                  "2:17: kernel max hides Go's builtin max",
		"__global__ void string(float* y) { y[0] = 1; }":                                                                 "1:17: kernel string hides Go's builtin string",
		"__global__ void maximum(float* y) { y[0] = 1; }":                                                                "",
		"__global__ void f(float* y, int n) { float a[200000]; for (int i = 0; i < n; i++) a[i * n] = i; y[0] = a[n]; }": "kernel f: 800000 bytes of local memory per thread, expected at most 524288",
		"__global__ void f(float* y, int n) { float a[2000]; for (int i = 0; i < n; i++) a[i * n] = i; y[0] = a[n]; }":   "",
	} {
		m, err := CUDA(context.Background(), "x.cu", cell, Options{})
		var said []string
		for _, d := range diagnostics(t, m, err) {
			said = append(said, fmt.Sprintf("%d:%d: %s", d.Line, d.Col, d.Text))
		}
		if text := strings.Join(said, "\n"); len(said) > 1 || (text == "") != (says == "") || !strings.Contains(text, says) {
			t.Errorf("%s\n%q, expected %q", cell, said, says)
		}
	}
}
