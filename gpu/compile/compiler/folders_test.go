package compiler

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// roleVariable makes this test binary a Python that starts a kernel, or that kernel.
const roleVariable = "WARPBOOK_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "python":
		self, _ := os.Executable()
		c := exec.Command(self)
		c.Env, c.Stdout = append(os.Environ(), roleVariable+"=kernel"), os.Stdout
		if err := c.Run(); err != nil {
			os.Exit(1)
		}
	case "kernel":
		fmt.Print(parentPython())
	default:
		os.Exit(m.Run())
	}
}

// TestParentPython: a kernel finds the Python of the Jupyter that started it, which may
// not be in PATH, by the path of its virtual environment.
func TestParentPython(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	python := filepath.Join(t.TempDir(), "python3.12")
	if err := os.Symlink(self, python); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(python)
	c.Env = append(os.Environ(), roleVariable+"=python")
	if out, err := c.Output(); err != nil || string(bytes.TrimSpace(out)) != python {
		t.Errorf("%q, %v, expected %s", out, err, python)
	}
}

// TestPythons: that of Jupyter in PATH is asked, too, and none twice.
func TestPythons(t *testing.T) {
	system, jupyter := t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(system, "python3"), filepath.Join(jupyter, "python3"), filepath.Join(jupyter, "jupyter")} {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", system+string(os.PathListSeparator)+jupyter)
	want := []string{filepath.Join(system, "python3"), filepath.Join(jupyter, "python3")}
	got := slices.DeleteFunc(Pythons(), func(path string) bool { return path == parentPython() })
	if !slices.Equal(got, want) {
		t.Errorf("%v, expected %v", got, want)
	}
}

// TestLinkedJupyter: a jupyter in PATH that is a link, as pipx makes it, leads to the Python
// of its environment.
func TestLinkedJupyter(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	bin, links := t.TempDir(), t.TempDir()
	for _, name := range []string{"jupyter", "python3"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(bin, "jupyter"), filepath.Join(links, "jupyter")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", links)
	want, err := filepath.EvalSymlinks(filepath.Join(bin, "python3"))
	if err != nil {
		t.Fatal(err)
	}
	if got := Pythons(); !slices.Contains(got, want) {
		t.Errorf("%v, expected %s", got, want)
	}
}
