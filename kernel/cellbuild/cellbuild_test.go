package cellbuild

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const hello = "package main\n\nfunc main() { println(\"cells\") }\n"

// module writes a small module with the name and layout of this one.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", moduleLine+"\ngo 1.26\n")
	write("go.sum", "")
	write("gpu/gpu.go", "package gpu\n")
	write("ops/ops.go", "package ops\n")
	write("kernel/cells/main.go", hello)
	for name, text := range files {
		write(name, text)
	}
	return root
}

// progress receives install's output, from more than one goroutine.
type progress struct {
	mu    sync.Mutex
	text  bytes.Buffer
	wrote func() // called at each write
}

func (p *progress) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wrote != nil {
		p.wrote()
	}
	return p.text.Write(data)
}

func (p *progress) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// place returns the location of a module's cells program in an empty cache.
func place(t *testing.T, root string) (at Location, dir string) {
	t.Helper()
	cache := t.TempDir()
	goCache, err := exec.Command("go", "env", "GOCACHE").Output() // by default below XDG_CACHE_HOME
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(goCache)))
	t.Setenv("XDG_CACHE_HOME", cache)
	return Location{Root: root, key: "x"}, filepath.Join(cache, "warpbook")
}

// install builds a program into the cache, as Cells does.
func install(ctx context.Context, at Location, out *progress) error {
	_, err := at.program().Get(ctx, out)
	return err
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

// TestDamagedProgramIsBuiltAgain: a truncated program is built again, and one line
// reports it.
func TestDamagedProgramIsBuiltAgain(t *testing.T) {
	at, dir := place(t, module(t, nil))
	path := filepath.Join(dir, prefix+"x")
	for i := range 3 {
		var out progress
		if err := install(t.Context(), at, &out); err != nil {
			t.Fatal(err)
		}
		again, builds := strings.Count(out.String(), "cells-x: damaged: 100000 bytes, expected "), strings.Count(out.String(), "building the cells program")
		if want := [][2]int{{0, 1}, {1, 1}, {0, 0}}[i]; [2]int{again, builds} != want {
			t.Errorf("%d: %d lines of damage and %d builds, expected %v:\n%s", i, again, builds, want, &out)
		}
		if said, err := exec.Command(path).CombinedOutput(); err != nil || string(said) != "cells\n" {
			t.Errorf("%d: the program says %q, %v", i, said, err)
		}
		if i == 0 {
			if err := os.Truncate(path, 100_000); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := names(t, dir); got != ".cells-lock .cells-x.sum cells-x" {
		t.Errorf("cache holds %q", got)
	}
}

func TestInstallShowsErrorsWhole(t *testing.T) {
	var bad strings.Builder
	bad.WriteString("package main\n\nfunc main() {\n")
	for i := range 8 {
		fmt.Fprintf(&bad, "\tundefined%d()\n", i)
	}
	bad.WriteString("}\n")
	root := module(t, map[string]string{"kernel/cells/main.go": bad.String()})
	at, dir := place(t, root)
	err := install(context.Background(), at, &progress{})
	var failure *BuildError
	if !errors.As(err, &failure) {
		t.Fatalf("%v, expected a BuildError", err)
	}
	for i := range 8 {
		if !strings.Contains(failure.Output, fmt.Sprintf("undefined: undefined%d\n", i)) {
			t.Errorf("output lacks error %d:\n%s", i, failure.Output)
		}
	}
	if strings.Contains(err.Error(), "GOPROXY") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%q, expected one line without a hint", err)
	}
	if got := names(t, dir); got != ".cells-lock" {
		t.Errorf("cache holds %q after a failed build", got)
	}
}

func TestInstallHintsAtTheModuleProxy(t *testing.T) {
	root := module(t, map[string]string{
		"go.mod":               moduleLine + "\ngo 1.26\n\nrequire example.com/gone v1.0.0\n",
		"kernel/cells/main.go": "package main\n\nimport _ \"example.com/gone\"\n\nfunc main() {}\n",
	})
	t.Setenv("GOPROXY", "http://127.0.0.1:1")
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GONOSUMDB", "example.com")
	at, _ := place(t, root)
	err := install(context.Background(), at, &progress{})
	if err == nil || !strings.Contains(err.Error(), "set GOPROXY") {
		t.Errorf("%v, expected a hint at GOPROXY", err)
	}
}

// TestInstallInterrupted stops a build while its compiler runs; a script in the
// compiler's place makes it last. Several compilers run at a time, so each writes its
// number to a file of its own first: the file that the test reads is always whole.
func TestInstallInterrupted(t *testing.T) {
	at, dir := place(t, module(t, nil))
	tmp := t.TempDir()
	started := filepath.Join(tmp, "started")
	slow := filepath.Join(tmp, "slow")
	script := "#!/bin/sh\ncase \"$*\" in *-V=full*) exec \"$@\";; esac\necho $$ > '" + started + "'.$$\nmv '" + started + "'.$$ '" + started + "'\nexec sleep 1000\n"
	if err := os.WriteFile(slow, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOFLAGS", "-toolexec="+slow)
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for ctx.Err() == nil {
			if info, err := os.Stat(started); err == nil && info.Size() > 0 {
				cancel()
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	err := install(ctx, at, &progress{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, expected context.Canceled", err)
	}
	data, err := os.ReadFile(started)
	if err != nil {
		t.Fatalf("the compiler was not reached: %v", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; sleeps(pid); i++ {
		if i == 12000 { // 2 minutes
			t.Fatal("the compiler still runs")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if got := names(t, dir); got != ".cells-lock" {
		t.Errorf("cache holds %q after an interrupted build", got)
	}
	if got := names(t, os.Getenv("TMPDIR")); got != "" {
		t.Errorf("the go command left %q", got)
	}
}

// sleeps reports whether a process of this number is a sleep and not a zombie, where
// the system shows processes as files.
func sleeps(pid int) bool {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return strings.Contains(string(stat), "(sleep) ") && !strings.Contains(string(stat), "(sleep) Z")
}

func TestHashSource(t *testing.T) {
	hash := func(files map[string]string) string {
		h, err := HashSource(module(t, files))
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	if h, err := HashSource(t.TempDir()); err == nil {
		t.Errorf("the hash of an empty folder is %s, expected an error", h)
	}
	plain := hash(nil)
	for name, files := range map[string]map[string]string{
		"the same":  nil,
		"a test":    {"ops/ops_test.go": "package ops\n"},
		"test data": {"ops/testdata/x.ptx": "x"},
		"hidden":    {"ops/.x.swp": "x"},
		"elsewhere": {"notebooks/x.ipynb": "x", "README.md": "x"},
	} {
		if hash(files) != plain {
			t.Errorf("%s: another hash, expected the same", name)
		}
	}
	seen := map[string]string{plain: "plain"}
	for name, files := range map[string]map[string]string{
		"go.mod":         {"go.mod": moduleLine + "\ngo 1.26.1\n"},
		"go.sum":         {"go.sum": "x"},
		"changed":        {"ops/ops.go": "package ops // x\n"},
		"new embedded":   {"ops/x.ptx": "x"},
		"other embedded": {"ops/x.ptx": "y"},
		"other name":     {"ops/y.ptx": "x"},
		"moved border":   {"ops/x.ptx": "", "ops/y.ptx": "x"},
	} {
		h := hash(files)
		if other, ok := seen[h]; ok {
			t.Errorf("%s: the hash of %s, expected another", name, other)
		}
		seen[h] = name
	}
}

func TestKeyNamesTheToolchain(t *testing.T) {
	a := tools{Version: "go1.26.8", OS: "linux", Arch: "amd64"}
	if got := a.key(); !strings.HasPrefix(got, "go1.26.8-linux-amd64-") {
		t.Errorf("key %q", got)
	}
	b := a
	b.Flags = "-race"
	if a.key() == b.key() {
		t.Error("flags do not change the key")
	}
	a.Version = "devel go1.28-abc X:x Thu Nov 12"
	if got := a.key(); strings.ContainsAny(got, " /") {
		t.Errorf("key %q, expected a file name", got)
	}
}

func TestLocate(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv(Env, "")
	at, err := Locate(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if at.Built || !strings.HasPrefix(at.Go, "go1.") || !filepath.IsAbs(at.Path) {
		t.Errorf("%+v, expected a program that is not built", at)
	}
	if _, err := os.Stat(filepath.Join(at.Root, "kernel", "cellbuild")); err != nil {
		t.Errorf("root %s: %v", at.Root, err)
	}
}

func TestOverride(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		self: "", "cells": "a relative path", plain: "no executable file", plain + "x": "no executable file", filepath.Dir(plain): "no executable file",
	} {
		t.Setenv(Env, path)
		got, err := Cells(context.Background(), &progress{})
		switch {
		case want == "" && (err != nil || got != self):
			t.Errorf("%s: %s, %v", path, got, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, expected %q", path, err, want)
		}
	}
}

func TestRootAbove(t *testing.T) {
	root := module(t, map[string]string{"a/b/c.txt": "", "other/go.mod": "module warpbookish\n", "other/x/y.txt": ""})
	for dir, want := range map[string]string{
		root: root, filepath.Join(root, "a", "b"): root, filepath.Join(root, "other", "x"): root,
		"warpbook/kernel/cellbuild": "", t.TempDir(): "",
	} {
		if got := rootAbove(dir); got != want {
			t.Errorf("above %s: %q, expected %q", dir, got, want)
		}
	}
}

func TestBuildLog(t *testing.T) {
	var l buildLog
	for _, piece := range []string{"go: downloading example.com/x v1", ".2.3\nunicode/u", "tf8\ngithub.com/a-b/c.d\n# warp", "book/x\nx.go:1: bad\nlast"} {
		l.Write([]byte(piece))
	}
	if l.packages != 2 || l.now != "compiling github.com/a-b/c.d" || l.rest() != "# warpbook/x\nx.go:1: bad\nlast" {
		t.Errorf("%d packages, %q, rest %q", l.packages, l.now, l.rest())
	}
}
