package module

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"warpbook/kernel/engine/module/moduletest"
	"warpbook/kernel/leaf/scratch"
)

// modules have one package of each kind.
var modules = map[string]map[string]string{
	"example.com/geo@v1.0.0": {"go.mod": "module example.com/geo\n", "geo.go": "package geo\n\nconst Version = 1\n"},
	"example.com/geo@v1.1.0": {
		"go.mod": "module example.com/geo\n\nrequire example.com/base v1.0.0\n", "geo.go": "package geo\n\nimport (\n\t\"example.com/base\"\n\t\"fmt\"\n)\n\nvar _ = fmt.Sprint(base.N)\n",
		"fast/fast.go": "package fast\n\nfunc Add(a, b int) int\n", "fast/add.s": "// nothing\n",
		"both/both.go": "//go:build !purego\n\npackage both\n\nfunc F() int\n", "both/f_amd64.s": "//go:build !purego\n", "both/f_arm64.s": "//go:build !purego\n",
		"both/pure.go": "//go:build purego\n\npackage both\n\nfunc F() int { return 1 }\n",
		"c/c.go":       "package c\n\nimport \"C\"\n",
		"stub/c.go":    "package stub\n\nimport \"C\"\n\nfunc F() int { return 1 }\n",
		"stub/stub.go": "//go:build !cgo\n\npackage stub\n\nfunc F() int { panic(\"needs cgo\") }\n",
		"mac/c.go":     "//go:build darwin && !purego\n\npackage mac\n\nimport \"C\"\n", "mac/mac.go": "package mac\n",
		"link/link.go": "package link\n\nimport _ \"unsafe\"\n\n//go:linkname now time.now\nfunc now() int\n",
		"text/text.go": "package text\n\nimport _ \"embed\"\n\n//go:embed text.go\nvar S string\n",
		"odd/odd.go":   "package odd\n\nimport _ \"plugin\"\n",
		"needs/n.go":   "package needs\n\nimport _ \"example.com/geo/needs/more\"\n", "needs/more/m.go": "package more\n\nimport _ \"example.com/geo/fast\"\n",
		"cmd/main.go": "package main\n\nfunc main() {}\n", "internal/i.go": "package internal\n",
	},
	"example.com/base@v1.0.0": {"go.mod": "module example.com/base\n", "base.go": "package base\n\nconst N = 2\n"},
	"example.com/asm@v0.1.0":  {"go.mod": "module example.com/asm\n", "a.go": "package asm\n", "a.s": "// nothing\n"},
}

func set(t *testing.T) *Set {
	s := &Set{Offered: func(path string) bool { return path == "fmt" || path == "embed" || path == "unsafe" }, Tags: []string{"purego"}}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestAdd(t *testing.T) {
	moduletest.Serve(t, modules)
	s := set(t)
	added, err := s.Add(context.Background(), "example.com/geo", "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range added {
		got = append(got, p.Path+" "+p.Module)
	}
	const m = " example.com/geo@v1.1.0"
	if want := "example.com/geo" + m + ", example.com/geo/both" + m + ", example.com/geo/mac" + m + ", example.com/geo/text" + m; strings.Join(got, ", ") != want {
		t.Errorf("added %v, want %s", got, want)
	}
	for path, want := range map[string]string{
		"example.com/geo/fast": "it has assembly (add.s)", "example.com/geo/c": "it uses cgo (c.go)",
		"example.com/geo/stub":  "it uses cgo (c.go)",
		"example.com/geo/link":  "it uses go:linkname (link.go)",
		"example.com/geo/odd":   "it imports plugin, which is not offered to cells",
		"example.com/geo/needs": "it needs example.com/geo/fast, which has assembly (add.s)",
	} {
		if p, err := s.Find(path); p != nil || err == nil || err.Error() != "module: package "+path+" of example.com/geo@v1.1.0 cannot run in cells: "+want {
			t.Errorf("%s: %v, %v", path, p, err)
		}
	}
	if p, err := s.Find("example.com/base"); err != nil || p.Module != "example.com/base@v1.0.0" {
		t.Errorf("what the module requires: %+v, %v", p, err)
	}
	if p, err := s.Find("example.com/nothing"); p != nil || err != nil {
		t.Errorf("a module that is not required: %+v, %v, expected none", p, err)
	}
}

// TestFolderIsTheKernels: the folder of a killed program is removed with its kernel.
func TestFolderIsTheKernels(t *testing.T) {
	moduletest.Serve(t, modules)
	dir := t.TempDir()
	t.Setenv(scratch.Env, dir)
	s := set(t)
	if _, err := s.Add(t.Context(), "example.com/geo", "v1.0.0"); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v, %v, expected one folder", left, err)
	}
}

func TestVersion(t *testing.T) {
	moduletest.Serve(t, modules)
	added, err := set(t).Add(context.Background(), "example.com/geo", "v1.0.0")
	if err != nil || len(added) != 1 || added[0].Module != "example.com/geo@v1.0.0" {
		t.Errorf("%+v, %v", added, err)
	}
}

func TestRefused(t *testing.T) {
	moduletest.Serve(t, modules)
	s := set(t)
	for _, c := range [][2]string{{"example.com/asm", "package example.com/asm of example.com/asm@v0.1.0 cannot run in cells: it has assembly"}, {"example.com/none", "go get example.com/none@latest: "}} {
		if _, err := s.Add(context.Background(), c[0], ""); err == nil || !strings.HasPrefix(err.Error(), "module: "+c[1]) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", c[0], err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Add(ctx, "example.com/geo", ""); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	t.Setenv("PATH", "")
	if _, err := s.Add(context.Background(), "example.com/geo", ""); !errors.Is(err, errNoToolchain) {
		t.Errorf("without a toolchain: %v", err)
	}
}

// TestEnvironment: the go command lists the files of the program's own toolchain
// and platform, whatever the user's are.
func TestEnvironment(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"$1 $GOTOOLCHAIN $GOOS $GOARCH $CGO_ENABLED $GOWORK\" >>" + filepath.Join(dir, "log") + "\n"
	if err := os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{"PATH": dir, "GOTOOLCHAIN": "go1.99.0", "GOOS": "plan9", "GOARCH": "mips", "CGO_ENABLED": "1", "GOWORK": "/go.work"} {
		t.Setenv(k, v)
	}
	if _, err := set(t).Add(context.Background(), "example.com/geo", ""); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	environment := " " + toolchain(runtime.Version()) + " " + runtime.GOOS + " " + runtime.GOARCH + " 0 off\n"
	if want := "get" + environment + "list" + environment; err != nil || string(log) != want {
		t.Errorf("the go command is run with\n%swant\n%s%v", log, want, err)
	}
	for programs, want := range map[string]string{"go1.26.8": "go1.26.8", "go1.26.8 X:nodwarf5": "go1.26.8", "devel go1.28-abc": "local", "go1.27rc1": "go1.27rc1"} {
		if got := toolchain(programs); got != want {
			t.Errorf("a program of %s asks for %s, want %s", programs, got, want)
		}
	}
}
