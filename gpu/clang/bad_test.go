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

// What a fakeClang does: version is its answer to --version, compile is what it does with a source.
const (
	version = "echo clang version 22.1.8"
	ptx     = "printf '.version 6.3\\n.target sm_75\\n.address_size 64\\n.visible .entry f() { ret; }\\n'"
)

const kernel = "extern \"C\" __global__ void f() {}"

// fakeClang makes a script the compiler of ziglang, and returns its path.
func fakeClang(t *testing.T, version, compile string) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "ziglang", "zig")
	script := "#!/bin/sh\ncase $2 in\n--version) " + version + ";;\n--print-targets) echo '    nvptx64 - NVIDIA PTX 64-bit';;\n*) " + compile + ";;\nesac\n"
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv(clang.FolderVariable, dir)
	return path
}

func compiled(ctx context.Context, source string) (*compile.Module, error) {
	return compile.CUDA(ctx, "x.cu", source, compile.Options{Compiler: "clang"})
}

// A compiler that crashes is one line.
func TestCompilerCrashes(t *testing.T) {
	for how, want := range map[string]string{
		"echo 'LLVM ERROR: out of memory' >&2; kill -SEGV $$": "compile: x.cu: clang 22.1.8 ended: signal: segmentation fault: LLVM ERROR: out of memory; nothing else is lost",
		"kill -KILL $$": "compile: x.cu: clang 22.1.8 ended: signal: killed; nothing else is lost",
		"exit 0":        "compile: x.cu: ",
	} {
		fakeClang(t, version, how)
		if _, err := compiled(t.Context(), kernel); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s\ngot  %v\nwant %s", how, err, want)
		}
	}
}

// A compiler that hangs ends at an interrupt, also one that does not tell its version.
func TestCompilerHangs(t *testing.T) {
	const hang = `: > "$0.hangs"; exec sleep 300`
	for _, path := range []string{fakeClang(t, version, hang), fakeClang(t, hang, ptx)} {
		t.Setenv(clang.FolderVariable, filepath.Dir(filepath.Dir(path)))
		ctx, interrupt := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			_, err := compiled(ctx, kernel)
			ended <- err
		}()
		for {
			if _, err := os.Stat(path + ".hangs"); err == nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		interrupt()
		if err := <-ended; !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, expected an interrupt", err)
		}
	}
}

// A newer clang serves and says so; one that does not serve is named beside the remedy.
func TestCompilerVersions(t *testing.T) {
	fakeClang(t, "echo clang version 23.0.1", ptx)
	if m, err := compiled(t.Context(), kernel); err != nil || m.Note != "compiled by clang 23.0.1, a newer version than those that warpbook was tried with" {
		t.Errorf("%+v, %v, expected a warning", m, err)
	}
	fakeClang(t, version, ptx)
	if m, err := compiled(t.Context(), kernel); err != nil || m.Note != "compiled by clang 22.1.8" {
		t.Errorf("%+v, %v, expected no warning", m, err)
	}
	for answer, want := range map[string]string{
		"echo clang version 19.1.7": " is clang 19.1.7, expected version 20 or newer",
		"echo gcc version 16":       " is no clang",
		"kill -KILL $$":             " clang --version: signal: killed",
	} {
		path := fakeClang(t, answer, ptx)
		_, err := compiled(t.Context(), kernel)
		remedy := "compile: x.cu: no compiler for CUDA C++, neither NVRTC nor clang: run `python3 -m pip install --force-reinstall --target " + os.Getenv(clang.FolderVariable) + " "
		if err == nil || !strings.HasPrefix(err.Error(), remedy) || !strings.HasSuffix(err.Error(), ": no clang that serves: "+path+want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, expected %s, and %s", answer, err, remedy, want)
		}
	}
}
