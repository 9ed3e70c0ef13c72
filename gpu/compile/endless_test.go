package compile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warpbook/gpu/clang"
	"warpbook/gpu/compile/compiler"
)

// Sources without an end are one line at their place, with the same remedy by both compilers.
func TestEndlessSources(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"self.cuh": "#include \"self.cuh\"\n", "a.cuh": "\n#include \"b.cuh\"\n", "b.cuh": "\n#include \"a.cuh\"\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const templates = "templates without an end: each instance needs another: end them by a specialization, or by if constexpr"
	const headers = ": headers that include each other without an end: write #pragma once on the first line of each"
	for name, needed := range map[string]string{nvrtc: compiler.FolderVariable, llvm: clang.FolderVariable} {
		t.Run(name, func(t *testing.T) {
			if os.Getenv(needed) == "" {
				t.Skipf("needs %s, the folder of pip install --target of the compiler's wheels", needed)
			}
			for source, want := range map[string]string{
				"template <int N> struct S { static const int v = S<N + 1>::v; };\n__global__ void f(int* x) { *x = S<0>::v; }": templates,
				"template <class T> __device__ void g(T t) { g(&t); }\n__global__ void f(int* x) { g(x); }":                     templates,
				"#include \"self.cuh\"\n" + empty: "x.cu:1:11: in header self.cuh, line 1" + headers,
				"#include \"a.cuh\"\n" + empty:    ".cuh, line 2" + headers,
				"#include __FILE__\n" + empty:     "x.cu:1:", // 12.0 gives no column
				"__device__ constexpr int f(int n) { return f(n + 1); }\n__global__ void k(int* x) { constexpr int v = f(0); *x = v; }": "x.cu:2:",
				"__global__ void f(int* x) { " + strings.Repeat("(", 100_000) + "1; }":                                                  "( is never closed",
				empty + "\n" + strings.Repeat("// a long comment\n", 600_000):                                                           "expected at most 1048576",
			} {
				_, err := CUDA(t.Context(), "x.cu", source, Options{Compiler: name, Include: []string{dir}})
				if wrong := (*Error)(nil); !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 300 {
					t.Errorf("%.80q: %.400v, expected one line with %q", source, err, want)
				}
			}
		})
	}
}
