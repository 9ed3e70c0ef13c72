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
