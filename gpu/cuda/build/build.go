// Package build makes the CUDA worker of gpu/cuda where CUDA's headers and a C
// compiler are: `go run ./install` calls it.
//
// It finds what a build needs and runs the go command; it downloads nothing
// but Go modules, and needs no GPU and no driver.
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
)

//go:embed shim/cuda.h
var shim []byte

// ErrMissing is what a machine lacks to build the worker: nothing is wrong
// with it, it has no CUDA.
var ErrMissing = errors.New("missing")

// Worker builds the worker and puts it where gpu/cuda looks for it; it returns
// that path. The working directory must be in this module. What it does is told
// to progress, a line each.
func Worker(ctx context.Context, progress io.Writer) (string, error) {
	if runtime.GOOS != "linux" {
		return "", fmt.Errorf("build: worker: %w: CUDA on %s, expected linux", ErrMissing, runtime.GOOS)
	}
	compiler, err := findCompiler()
	if err != nil {
		return "", err
	}
	headers, err := findHeaders()
	if err != nil {
		return "", err
	}
	to, err := cuda.WorkerPath()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return "", fmt.Errorf("build: worker: %w", err)
	}
	dir, err := os.MkdirTemp(filepath.Dir(to), "building")
	if err != nil {
		return "", fmt.Errorf("build: worker: %w", err)
	}
	defer os.RemoveAll(dir)
	fmt.Fprintf(progress, "warpbook: building the CUDA worker with %s and the headers of %s\n", compiler, headers)
	made := filepath.Join(dir, "worker")
	if err := compile(ctx, toolchain{compiler, headers, dir}, made); err != nil {
		return "", err
	}
	if err := os.Rename(made, to); err != nil {
		return "", fmt.Errorf("build: worker: %w", err)
	}
	prune(to)
	fmt.Fprintf(progress, "warpbook: CUDA worker built: %s\n", to)
	return to, nil
}

// prune removes the workers of other versions. One that runs keeps running.
func prune(to string) {
	old, _ := filepath.Glob(filepath.Join(filepath.Dir(to), cuda.WorkerPrefix+"*")) // the pattern is well-formed
	for _, path := range old {
		if path != to {
			os.Remove(path) // it may be another user's
		}
	}
}

// toolchain is what the worker is built with.
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
	c := exec.CommandContext(ctx, "go", "build", "-tags=cuda", "-buildvcs=false", "-o", to, "warpbook/gpu/cuda/worker")
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
