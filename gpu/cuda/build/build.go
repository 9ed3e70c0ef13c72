// Package build builds the CUDA worker of gpu/cuda on a machine with CUDA's
// headers and a C compiler. `go run ./install` calls Worker.
//
// It finds the compiler and the headers and runs the go command. It downloads
// only Go modules, needs no GPU and no driver, and never imports gpu/cuda/worker.
package build

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"warpbook/gpu/cuda"
	"warpbook/kernel/leaf/buildcache"
)

//go:embed shim/cuda.h
var shim []byte

// ErrMissing reports that the machine has no CUDA headers or no C compiler. The
// machine works, but cannot build the worker.
var ErrMissing = errors.New("missing")

// Worker builds the worker, puts it into the user's cache, where gpu/cuda looks for
// it, and returns its path. The working directory must be in this module. Worker
// reports each step to progress in one line.
func Worker(ctx context.Context, progress io.Writer) (string, error) {
	compiler, headers, err := find()
	if err != nil {
		return "", err
	}
	worker := buildcache.Program{
		Prefix: cuda.WorkerPrefix, Key: cuda.WorkerKey(), Title: "the CUDA worker", Keep: 1,
		Build: func(ctx context.Context, path string, progress io.Writer) error {
			fmt.Fprintf(progress, "warpbook: building the CUDA worker with %s and the headers of %s\n", compiler, headers)
			return compile(ctx, toolchain{compiler, headers, filepath.Dir(path)}, path)
		},
	}
	// Always: it may have been built with other headers.
	to, err := worker.Renew(ctx, progress)
	if err != nil {
		return "", fmt.Errorf("build: worker: %w", err)
	}
	fmt.Fprintf(progress, "warpbook: CUDA worker built: %s\n", to)
	return to, nil
}

// find is the compiler and the headers of this machine.
func find() (compiler, headers string, err error) {
	if runtime.GOOS != "linux" {
		return "", "", fmt.Errorf("build: worker: %w: CUDA on %s, expected linux", ErrMissing, runtime.GOOS)
	}
	if compiler, err = findCompiler(); err == nil {
		headers, err = findHeaders()
	}
	return compiler, headers, err
}

// WorkerAt builds a worker for Linux on x86-64 at a path by a C compiler, which is one
// program, such as one that builds for an older glibc than this machine's.
func WorkerAt(ctx context.Context, path, compiler string) error {
	headers, err := findHeaders()
	if err != nil {
		return err
	}
	return compile(ctx, toolchain{compiler, headers, filepath.Dir(path)}, path)
}

// toolchain is the compiler and the headers that build the worker.
type toolchain struct {
	compiler string
	headers  string // folder of cuda.h
	dir      string // scratch, removed afterwards
}

// compile runs the go command.
func compile(ctx context.Context, t toolchain, to string) error {
	include := filepath.Join(t.dir, "include")
	if err := os.MkdirAll(include, 0o755); err != nil {
		return fmt.Errorf("build: worker: %w", err)
	}
	if err := os.WriteFile(filepath.Join(include, "cuda.h"), shim, 0o644); err != nil {
		return fmt.Errorf("build: worker: %w", err)
	}
	library, err := t.makeLibrary(ctx)
	if err != nil {
		return err
	}
	// Without the folders of this machine, which would be in the build information: equal
	// sources make equal workers.
	c := exec.CommandContext(ctx, "go", "build", "-tags=cuda", "-buildvcs=false", "-trimpath", "-ldflags=-s -w -buildid=", "-o", to, "warpbook/gpu/cuda/worker")
	c.Env = append(os.Environ(), "CGO_ENABLED=1", "CC="+t.compiler,
		"CGO_CFLAGS=-O2 "+quote("-I"+include)+" "+quote("-I"+t.headers), "CGO_LDFLAGS="+quote("-L"+library))
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Run(); err != nil {
		return fmt.Errorf("build: go build warpbook/gpu/cuda/worker: %w\n%s", err, strings.TrimSpace(out.String()))
	}
	return nil
}

// quote keeps a path with spaces one word of CGO_CFLAGS.
func quote(flag string) string {
	if strings.ContainsAny(flag, " \t'") {
		return `"` + flag + `"`
	}
	return flag
}
