package buildcache

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestStartErrorNamesTheLoader: a program whose loader is missing, as on a system with musl,
// is not said to be missing itself.
func TestStartErrorNamesTheLoader(t *testing.T) {
	const shell = "/bin/sh"
	loader := loaderOf(shell)
	if loader == "" {
		t.Skip("needs a /bin/sh that is linked dynamically")
	}
	text, err := os.ReadFile(shell)
	if err != nil {
		t.Fatal(err)
	}
	other := loader[:len(loader)-1] + "~"
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, bytes.Replace(text, []byte(loader+"\x00"), []byte(other+"\x00"), 1), 0o755); err != nil {
		t.Fatal(err)
	}
	start := exec.Command(path).Run()
	if got := StartError(path, start); !errors.Is(got, ErrNoLoader) || !strings.Contains(got.Error(), path+" does not start: its dynamic loader is missing: "+other) || strings.Contains(got.Error(), "no such file") {
		t.Errorf("%v becomes %v, expected the loader %s", start, got, other)
	}
	for _, kept := range []string{path + "-none", shell} {
		if got := StartError(kept, fs.ErrNotExist); got != fs.ErrNotExist {
			t.Errorf("%s: %v, expected the error as it was", kept, got)
		}
	}
	if got := StartError(path, fs.ErrPermission); got != fs.ErrPermission {
		t.Errorf("%v, expected the error as it was", got)
	}
}
