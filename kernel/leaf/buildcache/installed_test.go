package buildcache

import (
	"os"
	"path/filepath"
	"testing"
)

// Programs of one installation find each other, from the command's folder and from their own.
func TestInstalledFor(t *testing.T) {
	prefix := t.TempDir()
	programs := filepath.Join(prefix, "share", "warpbook", "bin")
	if err := os.MkdirAll(filepath.Join(programs, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	cells := filepath.Join(programs, "cells")
	if err := os.WriteFile(cells, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ self, name, want string }{
		{filepath.Join(programs, "warpbook-kernel"), "cells", cells},
		{filepath.Join(prefix, "bin", "warpbook"), "cells", cells},
		{filepath.Join(prefix, "other", "bin", "warpbook"), "cells", ""},
		{filepath.Join(programs, "warpbook-kernel"), "nvrtc", ""},
		{filepath.Join(programs, "warpbook-kernel"), "folder", ""},
	} {
		if got := installedFor(c.self, c.name); got != c.want {
			t.Errorf("%s for %s: %q, expected %q", c.name, c.self, got, c.want)
		}
	}
}
