package build

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"warpbook/gpu/cuda"
)

// touch makes an empty header in a folder.
func touch(t *testing.T, dir string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cuda.h"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestFindHeaders checks the order of the places: what the user names, then
// Python's packages, the newest first.
func TestFindHeaders(t *testing.T) {
	home, venv := t.TempDir(), t.TempDir()
	t.Setenv("CUDA_PATH", "")
	t.Setenv("CUDA_HOME", home)
	want := touch(t, filepath.Join(home, "targets", "x86_64-linux", "include"))
	if got, err := findHeaders(); err != nil || got != want {
		t.Errorf("%s %v, expected %s", got, err, want)
	}
	want = touch(t, filepath.Join(home, "include"))
	if got, err := findHeaders(); err != nil || got != want {
		t.Errorf("%s %v, expected %s", got, err, want)
	}
	t.Setenv("VIRTUAL_ENV", venv)
	touch(t, filepath.Join(venv, "lib/python3.11/site-packages/nvidia/cuda_runtime/include"))
	t.Setenv("CUDA_HOME", t.TempDir())
	if got, err := findHeaders(); err != nil || got == want {
		t.Errorf("%s %v, expected headers elsewhere than in an old CUDA_HOME", got, err)
	}
}

// TestNotFound checks that the error names the searched places and the remedy.
func TestNotFound(t *testing.T) {
	if _, err := findHeadersIn([]string{"/does/not/exist", "/nor/*/this"}); !errors.Is(err, ErrMissing) ||
		!strings.Contains(err.Error(), "/does/not/exist, /nor/*/this") || !strings.Contains(err.Error(), "pip install") {
		t.Errorf("no headers: %v", err)
	}
	t.Setenv("CC", "no-such-compiler")
	if _, err := findCompiler(); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "no-such-compiler") {
		t.Errorf("no compiler: %v", err)
	}
}

func TestStub(t *testing.T) {
	text := string(stub("#define cuMemAlloc cuMemAlloc_v2\nCUresult CUDAAPI cuMemAlloc(CUdeviceptr *p, size_t n);\ntypedef struct CUctx_st *CUcontext;"))
	for _, want := range []string{"int cuMemAlloc(void)", "int cuMemAlloc_v2(void)", "int cuCtxCreate_v2(void)"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q, expected one %q", text, want)
		}
	}
}

// TestWorker builds the worker, where there are headers.
func TestWorker(t *testing.T) {
	headers, err := findHeaders()
	if err != nil {
		t.Skip("needs CUDA's headers:", err)
	}
	compiler, err := findCompiler()
	if err != nil {
		t.Skip("needs a C compiler:", err)
	}
	goCache, err := exec.Command("go", "env", "GOCACHE").Output() // by default below XDG_CACHE_HOME
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(goCache)))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(t.TempDir(), "a folder"))
	t.Setenv(cuda.WorkerVariable, "")
	path, err := cuda.WorkerPath()
	if err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(filepath.Dir(path), cuda.WorkerPrefix+"old")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(old, nil, 0o755)); err != nil {
		t.Fatal(err)
	}
	got, err := Worker(context.Background(), io.Discard)
	if err != nil || got != path {
		t.Fatalf("%s %v, expected %s", got, err, path)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "[^.]*")); err != nil || len(left) != 1 {
		t.Errorf("%v %v in the folder, expected the worker, besides its checksum and lock", left, err)
	}
	// Without a driver it ends with the loader's or CUDA's error, and at once.
	out, err := exec.Command(path).CombinedOutput()
	t.Logf("%v: %s", err, out)
	if err == nil {
		t.Error("a worker without a client succeeds")
	}
	t.Run("collectives", func(t *testing.T) { collectives(t, path, toolchain{compiler: compiler, headers: headers}) })
}
