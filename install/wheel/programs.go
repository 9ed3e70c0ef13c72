package wheel

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"warpbook/gpu/cuda"
	"warpbook/gpu/cuda/build"
	"warpbook/kernel/edited"
	"warpbook/kernel/leaf/release"
)

// flags make small programs that name no folder of this machine and have the identity of
// their build. The programs but cells also have the commit, which warpbook --version names.
func flags(hash string) []string {
	return []string{"-trimpath", "-buildvcs=false", "-ldflags=-s -w " + release.Stamp(hash)}
}

// programsOf builds the programs of a platform into a folder.
func programsOf(ctx context.Context, root, scratch, hash string, p Platform, progress io.Writer) (entries []entry, err error) {
	add := func(name, file string, c *exec.Cmd) error {
		fmt.Fprintln(progress, "warpbook: building", file, "for", p.Name)
		c.Env = append(c.Environ(), "CGO_ENABLED=0", "GOOS="+p.OS, "GOARCH="+p.Arch)
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("go build %s: %w: %s", file, errors.Join(err, ctx.Err()), strings.TrimSpace(string(out)))
		}
		entries = append(entries, entry{name: name, path: filepath.Join(scratch, file), run: true})
		return nil
	}
	plain := func(file, source string) *exec.Cmd {
		c := exec.CommandContext(ctx, "go", slices.Concat([]string{"build"}, flags(hash), []string{"-buildvcs=auto", "-o", filepath.Join(scratch, file), source})...)
		c.Dir = root
		return c
	}
	links := filepath.Join(scratch, "links")
	if err := os.Mkdir(links, 0o755); err != nil {
		return nil, err
	}
	cells, err := edited.Portable(ctx, root, links, "build", slices.Concat(flags(hash), []string{"-o", filepath.Join(scratch, "cells"), "./kernel/cells"})...)
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		add(scripts+"warpbook", "warpbook", plain("warpbook", "./kernel/warpbook")),
		add(program("warpbook-kernel"), "warpbook-kernel", plain("warpbook-kernel", "./kernel/warpbook-kernel")),
		add(program("cells"), "cells", cells),
		add(program("nvrtc"), "nvrtc", plain("nvrtc", "./gpu/nvrtc")),
	)
	if err != nil || !p.Worker {
		return entries, err
	}
	worker, err := worker(ctx, scratch, progress)
	return append(entries, worker...), err
}

// worker builds the GPU worker for glibc 2.17, which the wheel's tag promises. That needs
// CUDA's headers and a compiler for an older glibc than this machine's: without them the
// wheel has no worker, and runs on the emulator.
func worker(ctx context.Context, scratch string, progress io.Writer) ([]entry, error) {
	compiler, err := oldGlibc(ctx, scratch)
	if err == nil {
		fmt.Fprintln(progress, "warpbook: building the CUDA worker for glibc 2.17")
		err = build.WorkerAt(ctx, filepath.Join(scratch, "worker"), compiler)
	}
	if err == nil {
		err = runsOn(glibc, filepath.Join(scratch, "worker"))
	}
	switch {
	case errors.Is(err, build.ErrMissing):
		fmt.Fprintln(progress, "warpbook: the wheel has no CUDA worker, notebooks will run on the emulator:", err)
		return nil, nil
	case err != nil:
		return nil, err
	}
	return []entry{{name: program(cuda.WorkerPrefix + cuda.WorkerKey()), path: filepath.Join(scratch, "worker"), run: true}}, nil
}

// glibc is the version that the wheel's tag promises.
var glibc = [2]int{2, 17}

// runsOn refuses a program that needs symbols of a newer glibc.
func runsOn(version [2]int, path string) error {
	f, err := elf.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	symbols, err := f.ImportedSymbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return err
	}
	for _, s := range symbols {
		var needs [2]int
		if n, _ := fmt.Sscanf(s.Version, "GLIBC_%d.%d", &needs[0], &needs[1]); n == 2 && slices.Compare(needs[:], version[:]) > 0 {
			return fmt.Errorf("%s needs %s of %s, expected at most %d.%d", filepath.Base(path), s.Name, s.Version, version[0], version[1])
		}
	}
	return nil
}

// oldGlibcCompiler leaves out this machine's headers, which package cu names: they are those
// of another glibc.
const oldGlibcCompiler = `#!/bin/sh
for argument do
	shift
	[ "$argument" = -I/usr/include ] || set -- "$@" "$argument"
done
exec python3 -m ziglang cc -target x86_64-linux-gnu.2.17 "$@"
`

// oldGlibc makes a program that compiles C for glibc 2.17 by ziglang of python3.
func oldGlibc(ctx context.Context, scratch string) (string, error) {
	if out, err := exec.CommandContext(ctx, "python3", "-c", "import ziglang").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: a C compiler for glibc 2.17: python3 -m pip install %s: %s", build.ErrMissing, clang, lastLine(out))
	}
	path := filepath.Join(scratch, "cc")
	return path, os.WriteFile(path, []byte(oldGlibcCompiler), 0o755)
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}
