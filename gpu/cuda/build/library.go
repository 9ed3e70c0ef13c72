package build

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// makeLibrary makes a folder with a libcuda.so to link with. It is our own stub
// with every name of the header, because the building machine may have no driver
// and a toolkit often has no stub.
func (t toolchain) makeLibrary(ctx context.Context) (string, error) {
	text, err := os.ReadFile(filepath.Join(t.headers, "cuda.h"))
	if err != nil {
		return "", fmt.Errorf("build: worker: %w", err)
	}
	dir := filepath.Join(t.dir, "lib")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("build: worker: %w", err)
	}
	source := filepath.Join(t.dir, "stub.c")
	if err := os.WriteFile(source, stub(string(text)), 0o644); err != nil {
		return "", fmt.Errorf("build: worker: %w", err)
	}
	c := exec.CommandContext(ctx, t.compiler, "-shared", "-fPIC", "-w", "-Wl,-soname,libcuda.so.1",
		"-o", filepath.Join(dir, "libcuda.so"), source)
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: stub of libcuda: %w\n%s", err, strings.TrimSpace(string(out)))
	}
	return dir, nil
}

var entryPoint = regexp.MustCompile(`\bcu[A-Z]\w*`)

// stub is C that defines every possible entry point.
func stub(header string) []byte {
	names := entryPoint.FindAllString(header, -1)
	names = append(names, "cuCtxCreate_v2") // no longer in CUDA 13's header
	slices.Sort(names)
	var b strings.Builder
	for _, n := range slices.Compact(names) {
		fmt.Fprintf(&b, "int %s(void) { return 999; }\n", n)
	}
	return []byte(b.String())
}
