package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// set returns files a, b and c with the same text.
func set(text string) []File {
	return []File{{"a", put(text)}, {"b", put(text)}, {"c", put(text)}}
}

// holds checks that a folder holds a, b and c with the same text, and no other file.
func holds(t *testing.T, dir, want string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("%v, %v, expected a, b and c", entries, err)
	}
	for _, name := range []string{"a", "b", "c"} {
		check(t, filepath.Join(dir, name), want)
	}
}

func TestTogether(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"first, the longer one", "second"} {
		if err := Together(t.Context(), dir, set(text)); err != nil {
			t.Fatal(err)
		}
		holds(t, dir, text)
	}
	broken := errors.New("broken")
	bad := set("half")
	bad[2].Fill = func(w io.Writer) error { put("half")(w); return broken }
	if err := Together(t.Context(), dir, bad); !errors.Is(err, broken) {
		t.Errorf("error %v, expected %v in it", err, broken)
	}
	holds(t, dir, "second")
	if err := errors.Join(os.Remove(filepath.Join(dir, "c")), os.Mkdir(filepath.Join(dir, "c"), 0o755)); err != nil {
		t.Fatal(err)
	}
	if err := Together(t.Context(), dir, set("third")); err == nil || !strings.Contains(err.Error(), "c: it is a directory, expected a file or nothing") {
		t.Errorf("error %v, expected one that names the directory", err)
	}
	check(t, filepath.Join(dir, "a"), "second")
}

// TestTogetherAfterAKill: if a process is killed while it moves its files, the next
// call moves the rest; if it is killed earlier, no file remains.
func TestTogetherAfterAKill(t *testing.T) {
	dir := t.TempDir()
	for path, text := range map[string]string{
		"a": "new", "b": "old", "c": "old", ".set-1.move/b": "new", ".set-1.move/c": "new", ".set-2.new/a": "half",
	} {
		path = filepath.Join(dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	broken := errors.New("broken")
	if err := Together(t.Context(), dir, []File{{"a", func(io.Writer) error { return broken }}}); !errors.Is(err, broken) {
		t.Errorf("error %v, expected %v", err, broken)
	}
	holds(t, dir, "new")
}

func TestTogetherNeverMixes(t *testing.T) {
	dir := t.TempDir()
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 10 {
				if err := Together(context.Background(), dir, set(fmt.Sprint(i, j))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	text, err := os.ReadFile(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	holds(t, dir, string(text))
}

func TestLockWaitsInterrupted(t *testing.T) {
	dir := t.TempDir()
	for i := range 2 {
		f, err := os.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		ctx, cancel := context.WithCancel(t.Context())
		err = Lock(ctx, f, cancel)
		if i == 0 && err != nil || i == 1 && !errors.Is(err, context.Canceled) {
			t.Errorf("lock %d: %v", i, err)
		}
		cancel()
	}
}

// TestMakeIsAlone: two processes that make one file use different temporary names.
func TestMakeIsAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program")
	err := Make(path, func(fresh string) error {
		if err := Write(path, put("other")); err != nil {
			t.Error(err)
		}
		return os.WriteFile(fresh, []byte("mine"), 0o755)
	})
	if err != nil {
		t.Error(err)
	}
	check(t, path, "mine")
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("%v, expected one file", entries)
	}
}
