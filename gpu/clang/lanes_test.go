package clang_test

import (
	"os"
	"strings"
	"testing"

	"warpbook/gpu/clang"
	"warpbook/gpu/compile"
)

// A shuffle may be given a variable that one lane alone has set: the others do not run what
// that lane does.
func TestVariablesOfOneLane(t *testing.T) {
	if os.Getenv(clang.FolderVariable) == "" {
		t.Skipf("needs %s", clang.FolderVariable)
	}
	for _, header := range []string{"", "#include <cooperative_groups.h>\n"} {
		body := "v = __shfl_sync(0xffffffff, v, 0);"
		if header != "" {
			body = "v = cooperative_groups::coalesced_threads().shfl(v, 0);"
		}
		m, err := compile.CUDA(t.Context(), "x.cu", header+"__global__ void k(int* c, int* y) { int v; if (threadIdx.x % 32 == 0) v = atomicAdd(c, 1); "+body+" y[threadIdx.x] = v; }", compile.Options{Compiler: "clang"})
		if err != nil {
			t.Fatal(err)
		}
		before, _, adds := strings.Cut(m.PTX(), "atom.")
		if !adds || !strings.Contains(before, "bra") {
			t.Errorf("%s: all lanes add:\n%s", body, m.PTX())
		}
	}
}
