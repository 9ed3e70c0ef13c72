//go:build !windows

package main

import (
	"os"
	"path/filepath"
	"testing"
)

// Notebooks are copied with their files; a file that was changed stays as it is.
func TestCopyNotebooks(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "new", "folder")
	for name, text := range map[string]string{"01.ipynb": "one", "01/a.ptx": "ptx", "02.ipynb": "two", "results/h200/01.html": "result"} {
		path := filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if copied, kept, err := copyNotebooks(from, to); copied != 3 || kept != 0 || err != nil {
		t.Fatalf("copied %d, kept %d, %v, expected 3, 0", copied, kept, err)
	}
	own := filepath.Join(to, "02.ipynb")
	if err := os.WriteFile(own, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(to, "01", "a.ptx")); err != nil {
		t.Fatal(err)
	}
	if copied, kept, err := copyNotebooks(from, to); copied != 1 || kept != 1 || err != nil {
		t.Errorf("again: copied %d, kept %d, %v, expected 1, 1", copied, kept, err)
	}
	if text, err := os.ReadFile(own); string(text) != "mine" || err != nil {
		t.Errorf("a changed notebook is %q, %v", text, err)
	}
	if err := os.WriteFile(filepath.Join(from, "03"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := copyNotebooks(from, filepath.Join(from, "03")); err == nil {
		t.Error("copied into a file")
	}
}
