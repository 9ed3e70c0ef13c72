package compiler

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Where the go command is missing, as on a machine that got its programs from another,
// the program of other sources serves, and no build is announced.
func TestBuildWithoutGo(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache) // the cache of macOS
	t.Setenv("PATH", t.TempDir())
	t.Setenv(Variable, "")
	path, root, err := Path()
	if err != nil || root == "" {
		t.Fatalf("%s, %q, %v", path, root, err)
	}
	var progress bytes.Buffer
	if _, err := Build(context.Background(), &progress); err == nil || !strings.Contains(err.Error(), "run `go run ./install`") || progress.Len() > 0 {
		t.Errorf("nothing is there: %v, %q, expected an error with its remedy and no progress", err, progress.String())
	}
	other := filepath.Join(filepath.Dir(path), programPrefix+"other")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{other, path} { // that of these sources is preferred
		if err := os.WriteFile(want, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if got, err := Build(context.Background(), &progress); err != nil || got != want || progress.Len() > 0 {
			t.Errorf("%s, %v, %q, expected %s and no progress", got, err, progress.String(), want)
		}
	}
}

// TestRunWithoutLoader: on a system with musl the program does not start, which is a missing
// compiler, so that clang takes its place.
func TestRunWithoutLoader(t *testing.T) {
	shell, err := os.ReadFile("/bin/sh")
	at := bytes.Index(shell, []byte("/ld-linux-"))
	if err != nil || at < 0 {
		t.Skip("needs a /bin/sh that is linked dynamically, with glibc")
	}
	shell[at+1] = 'x'
	path := filepath.Join(t.TempDir(), "nvrtc")
	if err := os.WriteFile(path, shell, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv(Variable, path)
	if reply, err := Run(t.Context(), Request{Name: "x.cu"}); err != nil || !reply.Missing || !strings.Contains(reply.Error, "compiler: "+path+" does not start: its dynamic loader is missing") {
		t.Errorf("%+v, %v, expected a missing compiler", reply, err)
	}
}
