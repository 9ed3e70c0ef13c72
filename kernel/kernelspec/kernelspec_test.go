package kernelspec

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"warpbook/kernel/cellbuild"
)

func TestWriteReadRemove(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kernels", name)
	if _, err := Read(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before: %v", err)
	}
	for _, kernel := range []string{"/old/warpbook-kernel", "/new/warpbook-kernel"} { // the second replaces the first
		want := New(kernel, "/a/cells")
		if err := want.Write(dir); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(dir); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("read %+v, %v, want %+v", got, err, want)
		}
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 4 {
		t.Errorf("files: %v", entries)
	}
	for i, want := range []bool{true, false} {
		if found, err := Remove(dir); err != nil || found != want {
			t.Errorf("remove %d: %v, %v", i, found, err)
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
}

func TestSpecHasJupytersFields(t *testing.T) {
	s := New("/a/warpbook-kernel", "/a/cells")
	if want := []string{"/a/warpbook-kernel", "{connection_file}"}; !slices.Equal(s.Argv, want) {
		t.Errorf("argv %q, want %q", s.Argv, want)
	}
	if s.DisplayName != "Go (warpbook)" || s.Language != "go" || s.InterruptMode != "message" || s.Env[cellbuild.Env] != "/a/cells" || s.Metadata["debugger"] != true {
		t.Errorf("%+v", s)
	}
}

func TestRemoveKeepsOthersFiles(t *testing.T) {
	dir := t.TempDir()
	if err := New("/a/warpbook-kernel", "/a/cells").Write(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "kernel.js"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if found, err := Remove(dir); err != nil || !found {
		t.Errorf("%v, %v", found, err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left: %v", entries)
	}
}

func TestCheckNamesTheMissingProgram(t *testing.T) {
	dir := t.TempDir()
	kernel, cells := filepath.Join(dir, "warpbook-kernel"), filepath.Join(dir, "cells")
	s := New(kernel, cells)
	for _, step := range []struct {
		path string
		mode os.FileMode
	}{{kernel, 0o755}, {cells, 0o644}} {
		if err := s.Check(); err == nil || !bytes.Contains([]byte(err.Error()), []byte(step.path)) {
			t.Errorf("got %v, want %s named", err, step.path)
		}
		if err := os.WriteFile(step.path, nil, step.mode); err != nil {
			t.Fatal(err)
		}
	}
	if s.Check() == nil {
		t.Error("a file that is not executable passed")
	}
	os.Chmod(cells, 0o755)
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	if (Spec{}).Check() == nil {
		t.Error("an empty kernelspec passed")
	}
}

// TestOlderKernelspec: a kernel.json from an earlier version of install, whose programs
// have no checksums, still starts the two programs that it names. If one of them is
// missing, the check names it; doctor and a start add go run ./install.
func TestOlderKernelspec(t *testing.T) {
	dir := t.TempDir()
	server, cells := filepath.Join(dir, "warpbook"), filepath.Join(dir, "cells")
	text := `{"argv": ["` + server + `", "serve", "{connection_file}"], "display_name": "Go (warpbook)", "language": "go",
		"interrupt_mode": "message", "kernel_protocol_version": "5.5", "env": {"WARPBOOK_CELLS": "` + cells + `"}, "metadata": {"debugger": false}}`
	for path, mode := range map[string]os.FileMode{filepath.Join(dir, "kernel.json"): 0o644, server: 0o755, cells: 0o755} {
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Read(dir)
	if err != nil || s.Check() != nil {
		t.Fatalf("%v, %v", err, s.Check())
	}
	t.Setenv(cellbuild.Env, s.Env[cellbuild.Env])
	if at, err := cellbuild.Locate(t.Context()); err != nil || at.Path != cells || !at.Built {
		t.Errorf("the cells program is %+v, %v", at, err)
	}
	os.Remove(cells)
	if err := s.Check(); err == nil || !strings.Contains(err.Error(), cells) {
		t.Errorf("without its cells program: %v", err)
	}
	if _, err := cellbuild.Locate(t.Context()); err == nil || !strings.Contains(err.Error(), "go run ./install") {
		t.Errorf("a start without its cells program: %v, expected the remedy", err)
	}
}

func TestPlaces(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", "/data")
	t.Setenv("JUPYTER_DATA_DIR", "/jupyter")
	t.Setenv("JUPYTER_PATH", "/one"+string(filepath.ListSeparator)+"/two")
	t.Setenv("VIRTUAL_ENV", "/venv")
	t.Setenv("CONDA_PREFIX", "")
	want := []Place{
		{"/data/warpbook/bin", "/jupyter/kernels/warpbook"},
		{"", "/one/kernels/warpbook"}, {"", "/two/kernels/warpbook"},
		{"/venv/share/warpbook/bin", "/venv/share/jupyter/kernels/warpbook"},
		{"/usr/local/share/warpbook/bin", "/usr/local/share/jupyter/kernels/warpbook"},
		{"/usr/share/warpbook/bin", "/usr/share/jupyter/kernels/warpbook"},
	}
	if got := Places(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLogos(t *testing.T) {
	for pixels, data := range map[int][]byte{32: logoPNG(32), 64: logoPNG(64)} {
		img, err := png.Decode(bytes.NewReader(data))
		if err != nil || img.Bounds().Dx() != pixels || img.Bounds().Dy() != pixels {
			t.Fatalf("%d: %v, %v", pixels, img.Bounds(), err)
		}
		if _, _, _, a := img.At(0, 0).RGBA(); a != 0 {
			t.Errorf("%d: the corner is not transparent", pixels)
		}
		if r, _, _, a := img.At(pixels/2, pixels*23/64).RGBA(); a != 0xffff || r < 0x7000 {
			t.Errorf("%d: no line where the halves meet", pixels)
		}
	}
	d := xml.NewDecoder(bytes.NewReader(logoSVG()))
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%v in %s", err, logoSVG())
		}
	}
}
