package runs

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestKeep(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a", "runs")
	started := time.Date(2026, 11, 23, 7, 0, 1, 0, time.UTC)
	var all sync.WaitGroup
	for range 8 { // of one notebook, in one second
		all.Go(func() {
			path, err := Keep(folder, "notebooks/01-reduce.ipynb", started, func(w io.Writer) error { _, err := io.WriteString(w, "{}"); return err })
			if err != nil || !strings.HasPrefix(filepath.Base(path), "20261123T070001Z-01-reduce-") {
				t.Errorf("%q, %v, expected a name of time and notebook", path, err)
			}
			if data, err := Open(path, 2); string(data) != "{}" || err != nil {
				t.Errorf("%q, %v, expected what was written", data, err)
			}
			if _, err := Open(path, 1); err == nil || !strings.Contains(err.Error(), "more than 1 bytes") {
				t.Errorf("%v, expected that it is too long", err)
			}
		})
	}
	all.Wait()
	if _, err := Keep(folder, "x.ipynb", started, func(io.Writer) error { return errors.New("cut") }); err == nil {
		t.Error("a run that could not be written was kept")
	}
	files, err := os.ReadDir(folder)
	if len(files) != 8 || err != nil {
		t.Errorf("%d files, %v, expected 8", len(files), err)
	}
	if _, err := Keep("/dev/null/x", "x", started, nil); err == nil || !strings.Contains(err.Error(), "set WARPBOOK_RUNS to another folder") {
		t.Errorf("%v, expected the remedy", err)
	}
}

func TestFolder(t *testing.T) {
	for value, want := range map[string]string{"": "data/runs", "off": "", "/else": "/else"} {
		t.Setenv(Env, value)
		if got := Folder("data"); got != want {
			t.Errorf("%s=%s: %q, expected %q", Env, value, got, want)
		}
	}
}

func TestOpenDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x"+Extension)
	for _, text := range []string{"", "no gzip", "\x1f\x8b\x08\x00\x00"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, 100); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v, expected an error with the file", text, err)
		}
	}
}
