package clang_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warpbook/gpu/clang"
	"warpbook/gpu/compile"
)

// A compiler that crashes is one line; one that hangs ends with the context.
func TestCompilerFails(t *testing.T) {
	for how, want := range map[string]string{
		"echo 'LLVM ERROR: out of memory' >&2; kill -SEGV $$": "compile: x.cu: clang 22.1.8 ended: signal: segmentation fault: LLVM ERROR: out of memory; nothing else is lost",
		"exec sleep 300": "context deadline exceeded",
	} {
		fakeClang(t, how)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		_, err := compile.CUDA(ctx, "x.cu", "__global__ void f() {}", compile.Options{Compiler: "clang"})
		cancel()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s\ngot  %v\nwant %s", how, err, want)
		}
	}
}

// fakeClang makes a script the compiler of ziglang, which fails after it told its version.
func fakeClang(t *testing.T, how string) {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\ncase $2 in\n--version) echo clang version 22.1.8;;\n--print-targets) echo '    nvptx64 - NVIDIA PTX 64-bit';;\n*) " + how + ";;\nesac\n"
	if err := os.MkdirAll(filepath.Join(dir, "ziglang"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ziglang", "zig"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv(clang.FolderVariable, dir)
}

// Sources without an end are answered at their line, in one line each.
func TestEndlessSources(t *testing.T) {
	if os.Getenv(clang.FolderVariable) == "" {
		t.Skipf("needs %s", clang.FolderVariable)
	}
	for source, want := range map[string]string{
		"template <int N> struct S { static const int v = S<N + 1>::v; };\n__global__ void f(int* x) { *x = S<0>::v; }": "recursive template instantiation exceeded maximum depth",
		"#include __FILE__\n__global__ void f(int* x) {}":                                                               "x.cu:1:1: header x.cu is not there",
		"constexpr int f(int n) { return f(n + 1); }\n__global__ void k(int* x) { constexpr int v = f(0); *x = v; }":    "x.cu:2:",
		"__global__ void f(int* x) { " + strings.Repeat("(", 100_000) + "1; }":                                          "never closed",
		"__global__ void f(int* x) { x[0] = 1; }\n" + strings.Repeat("// a long comment\n", 60_000):                     "source of",
	} {
		_, err := compile.CUDA(t.Context(), "x.cu", source, compile.Options{Compiler: "clang"})
		if wrong := (*compile.Error)(nil); !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.80q: %.300v, expected one line with %q", source, err, want)
		}
	}
}
