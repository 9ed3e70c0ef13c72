package program

import (
	"strings"
	"testing"
)

// A message of the compiler says which library or call is not there, and nothing of names that
// are the program's own.
func TestExplained(t *testing.T) {
	for text, more := range map[string]string{
		"use of undeclared identifier 'cublasSgemm'":     "cuBLAS is not there",
		"use of undeclared identifier 'cudaNoSuch'":      "warpbook's runtime library has no cudaNoSuch",
		"use of undeclared identifier 'cuInit'":          "CUDA's driver API is not there",
		"unknown type name 'CUdevice'":                   "CUDA's driver API is not there",
		"'cuda/barrier' file not found":                  "libcu++ is in the pip wheel nvidia-cuda-cccl-cu12",
		"use of undeclared identifier 'nvtxInitialize'":  "the rest of NVTX is not there for whole programs",
		"use of undeclared identifier '__ballot'":        "__ballot_sync(0xffffffff, ...)",
		"use of undeclared identifier '__shfl_down'":     "__shfl_down_sync(0xffffffff, ...)",
		"use of undeclared identifier 'cudaBindTexture'": "cudaCreateTextureObject",
		"no template named 'surface'":                    "cudaCreateSurfaceObject",
		"unknown type name 'cudaIpcMemHandle_t'":         "memory and events of other processes are not there",
		"use of undeclared identifier 'current'":         "",
		"use of undeclared identifier 'cutoff'":          "",
		"no member named 'cube' in 'Shape'":              "",
	} {
		got, ok := strings.CutPrefix(explained(text), text)
		if !ok || !strings.Contains(got, more) || more == "" && got != "" {
			t.Errorf("%q: %q, expected %q", text, got, more)
		}
	}
}
