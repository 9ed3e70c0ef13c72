// Command simd128 compiles steps.c, the steps of package simd for WebAssembly, to
// steps.wasm, which programs for a browser carry:
//
//	pip install --target DIR ziglang==0.17.1
//	WARPBOOK_ZIG=DIR go generate ./gpu/emu/simd
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	variable = "WARPBOOK_ZIG" // a folder into which pip installed the compiler
	version  = "0.17.1"       // of the compiler, because others make other code
	install  = "pip install --target DIR ziglang==" + version + ", then set " + variable + "=DIR"
)

func main() {
	ctx := context.Background()
	module, err := compile(ctx, ".")
	if err == nil {
		err = os.WriteFile("steps.wasm", module, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

var errNoCompiler = errors.New("simd128: no compiler: " + install)

// compile returns the module of steps.c in a folder, with the hash of its sources.
func compile(ctx context.Context, dir string) ([]byte, error) {
	folder := os.Getenv(variable)
	if folder == "" {
		return nil, errNoCompiler
	}
	zig := filepath.Join(folder, "ziglang", "zig")
	if out, err := run(ctx, zig, "version"); err != nil {
		return nil, err
	} else if got := strings.TrimSpace(string(out)); got != version {
		return nil, fmt.Errorf("simd128: %s is version %s, expected %s: %s", zig, got, version, install)
	}
	work, err := os.MkdirTemp("", "warpbook-simd128-")
	if err != nil {
		return nil, fmt.Errorf("simd128: %w", err)
	}
	defer os.RemoveAll(work)
	layout, err := layoutOf(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(work, "layout.h"), layout, 0o600); err != nil {
		return nil, fmt.Errorf("simd128: %w", err)
	}
	source := filepath.Join(dir, "steps.c")
	flags := []string{"cc", "-target", "wasm32-freestanding", "-msimd128", "-O3", "-Wall", "-Wextra", "-Werror", "-I", work, source}
	assembly := filepath.Join(work, "steps.s")
	if _, err := run(ctx, zig, append(flags, "-Wno-unused-command-line-argument", "-S", "-o", assembly)...); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(assembly)
	if err != nil {
		return nil, fmt.Errorf("simd128: %w", err)
	}
	if bytes.Contains(text, []byte("global.get")) {
		return nil, fmt.Errorf("simd128: %s needs a stack in memory, which is the Go program's: unroll its loops over arrays", source)
	}
	out := filepath.Join(work, "steps.wasm")
	if _, err := run(ctx, zig, append(flags, "-nostdlib", "-Wl,--no-entry", "-Wl,--import-memory", "-Wl,--strip-all", "-o", out)...); err != nil {
		return nil, err
	}
	module, err := os.ReadFile(out)
	if err != nil {
		return nil, fmt.Errorf("simd128: %w", err)
	}
	mark, err := markOf(ctx, dir)
	if err != nil {
		return nil, err
	}
	return append(module, mark...), nil
}

// layoutOf is the constants of package simd and the places of the fields of its types in
// WebAssembly, as C.
func layoutOf(ctx context.Context, dir string) ([]byte, error) {
	work, err := os.MkdirTemp("", "warpbook-simd128-")
	if err != nil {
		return nil, fmt.Errorf("simd128: %w", err)
	}
	defer os.RemoveAll(work)
	header := filepath.Join(work, "layout.h")
	c := exec.CommandContext(ctx, "go", "tool", "compile", "-p", "simd", "-asmhdr", header, "-o", filepath.Join(work, "simd.o"),
		filepath.Join(dir, "..", "steps.go"), filepath.Join(dir, "..", "access.go"), filepath.Join(dir, "..", "search.go"))
	c.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("simd128: go tool compile: %w: %s", err, bytes.TrimSpace(out))
	}
	layout, err := os.ReadFile(header)
	if err != nil {
		return nil, fmt.Errorf("simd128: %w", err)
	}
	return layout, nil
}

// markOf is a custom section of the module that holds a hash of all that it is made of, so
// that a test without the compiler finds one that is out of date.
func markOf(ctx context.Context, dir string) ([]byte, error) {
	source, err := os.ReadFile(filepath.Join(dir, "steps.c"))
	if err != nil {
		return nil, fmt.Errorf("simd128: %w", err)
	}
	layout, err := layoutOf(ctx, dir)
	if err != nil {
		return nil, err
	}
	const name = "sources"
	hash := sha256.Sum256(append(source, layout...))
	content := append(append([]byte{byte(len(name))}, name...), hash[:]...)
	return append([]byte{0, byte(len(content))}, content...), nil
}

func run(ctx context.Context, program string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, program, args...)
	var out, errors bytes.Buffer
	c.Stdout, c.Stderr = &out, &errors
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("simd128: %s %s: %w: %s: %s", program, args[0], err, bytes.TrimSpace(errors.Bytes()), install)
	}
	return out.Bytes(), nil
}
