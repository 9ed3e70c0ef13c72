package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func put(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

func check(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s holds %q (%v), want %q", path, got, err, want)
	}
}

func TestWriteReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.txt")
	for _, text := range []string{"first, the longer one", "second"} {
		if err := Write(path, put(text)); err != nil {
			t.Fatal(err)
		}
		check(t, path, text)
	}
}

func TestFailedWriteLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	if err := Write(path, put("before")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := Write(path, func(w io.Writer) error {
		put("half")(w)
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v in it", err, broken)
	}
	check(t, path, "before")
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("%d entries (%v), want only a.txt", len(entries), err)
	}
}

func TestWriteKeepsLink(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, []byte("before"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if err := Write(link, put("after")); err != nil {
		t.Fatal(err)
	}
	check(t, file, "after")
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v (%v)", info, err)
	}
}

func TestWriteRefuses(t *testing.T) {
	for _, path := range []string{t.TempDir(), os.DevNull, filepath.Join(t.TempDir(), "no", "such")} {
		if err := Write(path, put("x")); err == nil {
			t.Errorf("wrote %s, want an error", path)
		}
	}
}
