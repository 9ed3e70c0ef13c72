package compile

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warpbook/gpu/clang"
	"warpbook/gpu/compile/compiler"
)

// An error in a header is reported at the #include that brought the header in, with
// what to include, install or write instead.
func TestHeaders(t *testing.T) {
	s := scan("#include <cuda_fp16.h>\n// #include <thrust/copy.h>\n#include <cooperative_groups.h>\n#  include <cub/cub.cuh>\n#include <thrust/sort.h>\n" + empty)
	for _, c := range []struct {
		file, message string
		line, col     int
		says          string
	}{
		{"/i/cub/util_macro.cuh", `cannot open source file "utility"`, 4, 13, "in header util_macro.cuh, line 9: cannot open source file \"utility\": this header has host code: include the part for kernels, such as <cub/block/block_reduce.cuh>"},
		{"/i/thrust/detail/config.h", "no", 5, 11, "in header config.h, line 9: no: thrust is host code: write a kernel, or call an operator of package ops in a Go cell"},
		{"/i/cuda/std/memory.h", `could not open source file "memory" (no directories in search list)`, 4, 13, "this header has host code"},
		{"/i/cooperative_groups/details/info.h", `cannot open source file "cuda/std/type_traits"`, 3, 11, "run pip install nvidia-cuda-runtime-cu12~=12.0.0 nvidia-cuda-nvcc-cu12~=12.0.0 nvidia-cuda-cccl-cu12~=12.9.0"},
		{"/i/mma.h", `cannot open source file "crt/mma.h"`, 1, 11, "nvidia-cuda-nvcc-cu12~=12.0.0"},
		{"/i/cuda_fp16.hpp", `cannot open source file "memory"`, 1, 11, "the C++ library of the host is not there: device code has cuda::std"},
		{"/i/other.h", "no", 1, 11, "in header other.h, line 9: no"},
	} {
		d := s.inHeader(c.file, 9, c.message, "12.0")
		if d.Line != c.line || d.Col != c.col || !strings.Contains(d.Text, c.says) {
			t.Errorf("%s: %v, want %d:%d: %s", c.file, d, c.line, c.col, c.says)
		}
	}
	if d := scan("#include <cub/block/block_reduce.cuh>").inHeader("/i/cub/util.h", 1, `cannot open source file "utility"`, "12.0"); !strings.Contains(d.Text, "CUDA 13 does not: run pip install nvidia-cuda-nvrtc ") {
		t.Error(d)
	}
}

// A cell is one source: files of the machine are refused, however they are included.
func TestIncludesOfTheMachine(t *testing.T) {
	for header, refused := range map[string]bool{`"/etc/passwd"`: true, "</etc/passwd>": true, `"mine.h"`: true, "<mma.h>": false, "<cub/block/block_scan.cuh>": false} {
		got := scan("#include " + header + "\n").hostHeaders()
		if (len(got) == 1 && strings.Contains(got[0].Text, "a cell is one source")) != refused || !refused && len(got) > 0 {
			t.Errorf("%s: %v, refused should be %v", header, got, refused)
		}
	}
}

// A header in quotes is looked for in the folders of the options, by both compilers.
func TestIncludesOfAFolder(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"mine.cuh": "__device__ float twice(float v) { return 2 * v; }\n", "wrong.cuh": "\n__device__ float twice(float v) { return v +; }\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for header, want := range map[string]string{`"mine.cuh"`: "", `"none.cuh"`: "there is no such file in " + dir, `"/etc/passwd"`: "there is no such file"} {
		s := scan("#include " + header + "\n")
		s.folders = []string{dir}
		got := s.hostHeaders()
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.Contains(got[0].Text, want)) {
			t.Errorf("%s: %v, expected %q", header, got, want)
		}
	}
	const kernel = "extern \"C\" __global__ void k(float *x) { x[0] = twice(x[0]); }\n"
	for _, name := range []string{"nvrtc", "clang"} {
		o := Options{Include: []string{dir}, Compiler: name}
		m, err := CUDA(t.Context(), "x.cu", "#include \"mine.cuh\"\n"+kernel, o)
		if name == "clang" && os.Getenv(clang.FolderVariable) == "" || name == "nvrtc" && os.Getenv("WARPBOOK_NVRTC") == "" {
			continue // the compiler is not there
		}
		if err != nil || len(m.Entries) != 1 {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := CUDA(t.Context(), "x.cu", "#include \"wrong.cuh\"\n"+kernel, o); err == nil || !strings.Contains(err.Error(), "compile: x.cu:1:11: in header wrong.cuh, line 2: ") {
			t.Errorf("%s: %v, expected the line of the header", name, err)
		}
	}
}

// A header that is missing is answered with what to install.
func TestMissingHeaders(t *testing.T) {
	needNVRTC(t, "12.0")
	alone := t.TempDir() // the compiler without the wheels of headers
	if err := os.MkdirAll(filepath.Join(alone, "nvidia"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(os.Getenv(compiler.FolderVariable), "nvidia/cuda_nvrtc"), filepath.Join(alone, "nvidia/cuda_nvrtc")); err != nil {
		t.Fatal(err)
	}
	t.Setenv(compiler.FolderVariable, alone)
	_, err := CUDA(context.Background(), "x.cu", "#include <cuda_fp16.h>\n"+empty, Options{})
	want := "compile: x.cu:1:11: header cuda_fp16.h is not there: run pip install nvidia-cuda-runtime-cu12~=12.0.0 nvidia-cuda-nvcc-cu12~=12.0.0 nvidia-cuda-cccl-cu12~=12.9.0, or set WARPBOOK_NVRTC to a toolkit"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
