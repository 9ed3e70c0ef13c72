package clang_test

import (
	"os"
	"strings"
	"testing"

	"warpbook/gpu/clang"
	"warpbook/gpu/compile"
)

// A vector of 16 bytes that goes from memory to memory is one load and one store: two of 8
// bytes would count twice the sectors.
func TestVectorsAreCopiedWhole(t *testing.T) {
	if os.Getenv(clang.FolderVariable) == "" {
		t.Skipf("needs %s", clang.FolderVariable)
	}
	for _, vector := range []string{"float4", "int4", "uint4", "double2", "longlong2"} {
		m, err := compile.CUDA(t.Context(), "x.cu", "__global__ void k(const "+vector+"* x, "+vector+"* y) { y[threadIdx.x] = x[threadIdx.x]; }", compile.Options{Compiler: "clang"})
		if err != nil {
			t.Fatal(err)
		}
		var accesses []string
		for line := range strings.Lines(m.PTX()) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "ld.global") || strings.HasPrefix(line, "st.global") {
				accesses = append(accesses, strings.Fields(line)[0])
			}
		}
		if len(accesses) != 2 || !strings.Contains(accesses[0], ".v") || !strings.Contains(accesses[1], ".v") {
			t.Errorf("%s: %v, expected one load and one store of vectors", vector, accesses)
		}
	}
}

// Four components of a vector in shared memory, each of which another branch stores, are one
// load of 16 bytes.
func TestVectorsAreLoadedWhole(t *testing.T) {
	if os.Getenv(clang.FolderVariable) == "" {
		t.Skipf("needs %s", clang.FolderVariable)
	}
	const source = `__global__ void k(const float4* x, float* y, int n) {
    __shared__ float4 s[128];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    float4 v = s[127 - threadIdx.x];
    if (n > 0) y[threadIdx.x] = v.x;
    if (n > 1) y[threadIdx.x + 128] = v.y;
    if (n > 2) y[threadIdx.x + 256] = v.z;
    if (n > 3) y[threadIdx.x + 384] = v.w;
}`
	m, err := compile.CUDA(t.Context(), "x.cu", source, compile.Options{Compiler: "clang"})
	if err != nil {
		t.Fatal(err)
	}
	if loads := strings.Count(m.PTX(), "ld.shared"); loads != 1 || !strings.Contains(m.PTX(), "ld.shared.v4") {
		t.Errorf("%d loads from shared memory, expected one of 16 bytes:\n%s", loads, m.PTX())
	}
}
