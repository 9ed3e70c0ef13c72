//go:build !windows

package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"warpbook/gpu/compile/compiler"
	"warpbook/kernel/cellbuild"
	"warpbook/kernel/kernelspec"
	"warpbook/kernel/leaf/buildcache"
)

// fakeCells replaces the cells program, which takes minutes to build.
func fakeCells(t *testing.T) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "any")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv(cellbuild.Env, path)
	t.Setenv(compiler.Variable, path)
}

// tree lists the files below a folder.
func tree(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			names = append(names, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestInstallTwiceAndRemove(t *testing.T) {
	fakeCells(t)
	prefix := t.TempDir()
	place := kernelspec.InPrefix(prefix)
	want := "share/jupyter/kernels/warpbook/kernel.json share/jupyter/kernels/warpbook/logo-32x32.png " +
		"share/jupyter/kernels/warpbook/logo-64x64.png share/jupyter/kernels/warpbook/logo-svg.svg " +
		"share/warpbook/bin/.cells.sum share/warpbook/bin/.nvrtc.sum share/warpbook/bin/.warpbook-kernel.sum " +
		"share/warpbook/bin/cells share/warpbook/bin/nvrtc share/warpbook/bin/warpbook-kernel"
	for range 2 {
		var group sync.WaitGroup
		for range 2 { // of two concurrent installs, one waits
			group.Go(func() {
				if err := install(context.Background(), place); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if got := strings.Join(tree(t, prefix), " "); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
	spec, err := kernelspec.Read(place.Spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := spec.Check(); err != nil {
		t.Error(err)
	}
	for path, size := range map[string]int64{place.Cells(): 0, place.Kernel(): 1 << 20} {
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		if err := buildcache.Verify(path); !errors.Is(err, buildcache.ErrDamaged) || spec.Check() == nil {
			t.Errorf("%s: %v and %v, expected damage", path, err, spec.Check())
		}
		t.Setenv(cellbuild.Env, path)
		if _, err := cellbuild.Cells(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "damaged") || !strings.Contains(err.Error(), "go run ./install") {
			t.Errorf("a start with the damaged %s: %v", path, err)
		}
	}
	for range 2 {
		if err := remove(place); err != nil {
			t.Error(err)
		}
	}
	if left := tree(t, prefix); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestInstallOverAnOlderOne: the program that an older kernel.json named is removed after
// the new one is registered, and by --uninstall.
func TestInstallOverAnOlderOne(t *testing.T) {
	fakeCells(t)
	place := kernelspec.InPrefix(t.TempDir())
	older := func() {
		t.Helper()
		if err := os.MkdirAll(place.Programs, 0o755); err != nil {
			t.Fatal(err)
		}
		err := buildcache.Put(place.Former(), func(fresh string) error { return os.WriteFile(fresh, []byte("#!/bin/sh\n"), 0o755) })
		if err != nil {
			t.Fatal(err)
		}
	}
	older()
	if err := install(context.Background(), place); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(tree(t, place.Programs), " "), ".cells.sum .nvrtc.sum .warpbook-kernel.sum cells nvrtc warpbook-kernel"; got != want {
		t.Errorf("installed %s, expected %s", got, want)
	}
	older()
	if err := remove(place); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(place.Programs); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("--uninstall left %s", place.Programs)
	}
}

func TestFailuresAreOneLineAndLeaveNothing(t *testing.T) {
	fakeCells(t)
	for _, blocked := range []string{"share/warpbook", "share/jupyter"} {
		prefix := t.TempDir()
		path := filepath.Join(prefix, blocked)
		os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, nil, 0o644); err != nil { // a file in place of a folder
			t.Fatal(err)
		}
		err := install(context.Background(), kernelspec.InPrefix(prefix))
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want one line that names it", blocked, err)
		}
		for _, name := range tree(t, prefix) {
			if hidden := strings.HasPrefix(filepath.Base(name), "."); hidden && !strings.HasSuffix(name, ".sum") || strings.HasSuffix(name, "kernel.json") {
				t.Errorf("%s: left behind %s", blocked, name)
			}
		}
	}
}

func TestWrongArguments(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"--fly", "flag provided but not defined: -fly, see go run ./install --help"},
		{"x", `argument "x": expected flags only`},
		{"--user --prefix /p", "expected one"},
		{"--site s --user", "expected it alone"},
		{"--prefix /dev/null", "/dev/null"},
	} {
		if err := run(t.Context(), strings.Fields(test.args)); err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, expected one line with %q", test.args, err, test.want)
		}
	}
}

func TestElsewhereNamesTheRemedy(t *testing.T) {
	err := elsewhere(&os.PathError{Op: "mkdir", Path: "/x", Err: os.ErrPermission})
	if !strings.Contains(err.Error(), "--prefix DIR") {
		t.Errorf("got %v", err)
	}
}

func TestChoose(t *testing.T) {
	t.Setenv("VIRTUAL_ENV", "/venv")
	t.Setenv("XDG_DATA_HOME", "/data")
	t.Setenv("JUPYTER_DATA_DIR", "")
	for _, test := range []struct {
		user, sys bool
		prefix    string
		want      string // folder of the kernelspec; "" for an error
	}{
		{false, false, "", "/data/jupyter/kernels/warpbook"},
		{true, false, "", "/data/jupyter/kernels/warpbook"},
		{false, true, "", "/venv/share/jupyter/kernels/warpbook"},
		{false, false, "/p", "/p/share/jupyter/kernels/warpbook"},
		{true, true, "", ""}, {true, false, "/p", ""}, {false, true, "/p", ""},
	} {
		place, err := choose(context.Background(), test.user, test.sys, test.prefix)
		if (err == nil) != (test.want != "") || place.Spec != test.want {
			t.Errorf("%+v: got %q, %v", test, place.Spec, err)
		}
	}
}

// TestBinder: Binder reads .binder/Dockerfile alone, which is a copy and no link, because
// archives of the repository hold files.
func TestBinder(t *testing.T) {
	want, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile("../.binder/Dockerfile"); err != nil || string(got) != string(want) {
		t.Errorf("%v: .binder/Dockerfile differs from install/Dockerfile: cp install/Dockerfile .binder", err)
	}
}
