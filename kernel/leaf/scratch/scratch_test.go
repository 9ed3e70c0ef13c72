package scratch

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestSweep(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	path := func(name string) string { return filepath.Join(os.TempDir(), name) }
	live, err := New()
	if err != nil {
		t.Fatal(err)
	}
	left, err := New()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left.Path, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	left.Leave()
	if _, err := os.Stat(left.Path); err != nil {
		t.Errorf("%v, expected a folder with a file to stay", err)
	}
	outside := path("outside")
	for _, dir := range []string{path(prefix + "dead/deep"), outside, path(prefix + "foreign")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, path(prefix+"link")); err != nil {
		t.Fatal(err)
	}
	foreign := os.Chown(path(prefix+"foreign"), 12345, 12345) == nil // root can
	Sweep()
	for name, want := range map[string]bool{
		live.Path: true, left.Path: false, path(prefix + "dead"): false, filepath.Join(outside, "file"): true,
		path(prefix + "link"): true, filepath.Join(path(prefix+"foreign"), "file"): foreign,
	} {
		if _, err := os.Lstat(name); (err == nil) != want {
			t.Errorf("%s is there: %v, expected %v", name, err == nil, want)
		}
	}
	if info, err := os.Stat(live.Path); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v, expected mode 0700", info.Mode(), err)
	}
	if err := live.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(live.Path); err == nil {
		t.Error("a removed folder is still there")
	}
}

// TestSweepBesideStarts: no kernel removes the folder of a starting kernel.
func TestSweepBesideStarts(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				f, err := New()
				if err != nil {
					t.Error(err)
					return
				}
				Sweep()
				if err := os.WriteFile(filepath.Join(f.Path, "x"), nil, 0o600); err != nil {
					t.Error(err)
				}
				f.Remove()
			}
		})
	}
	group.Wait()
}

func TestDir(t *testing.T) {
	dir := t.TempDir()
	for value, want := range map[string]string{"": os.TempDir(), dir: dir, filepath.Join(dir, "gone"): os.TempDir()} {
		t.Setenv(Env, value)
		if got := Dir(); got != want {
			t.Errorf("%q: %s, expected %s", value, got, want)
		}
	}
}
