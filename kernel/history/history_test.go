package history

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func open(t *testing.T, path string) *History {
	t.Helper()
	h, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func add(t *testing.T, h *History, inputs ...string) {
	t.Helper()
	for i, input := range inputs {
		h.Add(0, i+1, input, "<"+input+">")
		if err := h.Save(); err != nil {
			t.Fatal(err)
		}
	}
}

func file(t *testing.T) string { return filepath.Join(t.TempDir(), "data", "history.jsonl") }

// places formats entries as session.line.
func places(entries []Entry) string {
	var at []string
	for _, e := range entries {
		at = append(at, fmt.Sprintf("%d.%d", e.Session, e.Line))
	}
	return strings.Join(at, " ")
}

func TestFind(t *testing.T) {
	path := file(t)
	add(t, open(t, path), "old", "x")
	open(t, path) // a session without a cell
	saved := open(t, path)
	memory := open(t, "")
	memory.session, memory.unsaved = 3, []Entry{{1, 0, 1, "old", "<old>"}, {1, 0, 2, "x", "<x>"}}
	stop, back, zero := 3, -1, 0
	for name, h := range map[string]*History{"file": saved, "memory": memory} {
		add(t, h, "x := 1", "x", "fmt.Println(x)\n<", "x", "a.b")
		for _, test := range []struct {
			name string
			find func() ([]Entry, error)
			want string
		}{
			{"tail", func() ([]Entry, error) { return h.Tail(2) }, "3.4 3.5"},
			{"tail of all", func() ([]Entry, error) { return h.Tail(0) }, "1.1 1.2 3.1 3.2 3.3 3.4 3.5"},
			{"tail of more", func() ([]Entry, error) { return h.Tail(99) }, "1.1 1.2 3.1 3.2 3.3 3.4 3.5"},
			{"range", func() ([]Entry, error) { return h.Range(0, 0, 2, &stop) }, "3.2"},
			{"range from the end", func() ([]Entry, error) { return h.Range(0, 0, -2, nil) }, "3.4 3.5"},
			{"range to before the end", func() ([]Entry, error) { return h.Range(0, 0, -4, &back) }, "3.2 3.3 3.4"},
			{"range to 0, which is the end", func() ([]Entry, error) { return h.Range(0, 0, 4, &zero) }, "3.4 3.5"},
			{"range from the end of a session back", func() ([]Entry, error) { return h.Range(0, -2, -1, nil) }, "1.2"},
			{"range from before the first", func() ([]Entry, error) { return h.Range(0, 0, -99, &stop) }, "3.1 3.2"},
			{"range without end", func() ([]Entry, error) { return h.Range(0, 3, 4, nil) }, "3.4 3.5"},
			{"range of a session back", func() ([]Entry, error) { return h.Range(0, -2, 0, nil) }, "1.1 1.2"},
			{"range of an empty session", func() ([]Entry, error) { return h.Range(0, -1, 0, nil) }, ""},
			{"range of none", func() ([]Entry, error) { return h.Range(0, 7, 0, nil) }, ""},
			{"range before all", func() ([]Entry, error) { return h.Range(0, -7, 0, nil) }, ""},
			{"search", func() ([]Entry, error) { return h.Search("*x*", false, 0) }, "1.2 3.1 3.2 3.3 3.4"},
			{"search whole", func() ([]Entry, error) { return h.Search("x", false, 0) }, "1.2 3.2 3.4"},
			{"search unique", func() ([]Entry, error) { return h.Search("x", true, 0) }, "3.4"},
			{"search last", func() ([]Entry, error) { return h.Search("*x*", false, 2) }, "3.3 3.4"},
			{"search one letter", func() ([]Entry, error) { return h.Search("?", true, 0) }, "3.4"},
			{"search plain point", func() ([]Entry, error) { return h.Search("a.b", false, 0) }, "3.5"},
			{"search no pattern", func() ([]Entry, error) { return h.Search("a[.]b", false, 0) }, ""},
			{"search bytes", func() ([]Entry, error) { return h.Search("\xff*", false, 0) }, ""},
		} {
			got, err := test.find()
			if err != nil || places(got) != test.want {
				t.Errorf("%s: %s: %s, %v, expected %s", name, test.name, places(got), err, test.want)
			}
		}
	}
	got, _ := saved.Tail(3)
	if want := (Entry{3, 0, 3, "fmt.Println(x)\n<", "<fmt.Println(x)\n<>"}); !reflect.DeepEqual(got[0], want) {
		t.Errorf("%+v, expected %+v", got[0], want)
	}
}

func TestFileIsTheOwnersOnly(t *testing.T) {
	path := file(t)
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	h := open(t, path)
	check := func(when string) {
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: mode %v, %v, expected 0600", when, info.Mode(), err)
		}
	}
	check("new")
	for i := range 5 {
		h.Add(0, i+1, strings.Repeat("x", inputBytes), "")
		if err := h.Save(); err != nil {
			t.Fatal(err)
		}
	}
	check("trimmed")
}

func TestKernelsAtOnce(t *testing.T) {
	const kernels, cells = 8, 50
	path := file(t)
	var all sync.WaitGroup
	for range kernels {
		all.Go(func() {
			h, err := Open(path)
			for err != nil && strings.Contains(err.Error(), "by another kernel") { // on a busy machine
				h, err = Open(path)
			}
			if err != nil {
				t.Error(err)
				return
			}
			for i := range cells {
				h.Add(0, i+1, fmt.Sprint(h.Session()), "")
				h.Save() // the next Save retries after an error
			}
			for len(h.unsaved) > 0 {
				h.Add(0, cells+1, "last", "")
				h.Save()
			}
		})
	}
	all.Wait()
	entries, err := open(t, path).Tail(0)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]int{}
	for _, e := range entries {
		if e.Input == "last" {
			continue
		}
		if seen[e.Session]++; e.Line != seen[e.Session] || e.Input != fmt.Sprint(e.Session) {
			t.Errorf("%+v, expected line %d of its session", e, seen[e.Session])
		}
	}
	if len(seen) != kernels {
		t.Errorf("sessions %v, expected %d", seen, kernels)
	}
	for session, n := range seen {
		if n != cells {
			t.Errorf("session %d has %d cells, expected %d", session, n, cells)
		}
	}
}

func TestFileStaysShort(t *testing.T) {
	path := file(t)
	h, other := open(t, path), open(t, path)
	const n = 3 * fileBytes / 10000
	for i := range n {
		add := h
		if i%2 == 1 {
			add = other
		}
		add.Add(0, i+1, strings.Repeat("y", 10000), "")
		if err := add.Save(); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() > fileBytes+20000 {
			t.Fatalf("%d bytes after %d cells, %v", info.Size(), i+1, err)
		}
	}
	entries, err := h.Tail(0)
	if err != nil || len(entries) < fileBytes/2/10100-1 {
		t.Fatalf("%d cells left, %v", len(entries), err)
	}
	for i, e := range entries {
		if e.Line != n-len(entries)+i+1 {
			t.Fatalf("line %d at %d of %d, expected the last %d", e.Line, i, len(entries), n)
		}
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("%v, expected one file", left)
	}
	if next := open(t, path); next.Session() != 3 {
		t.Errorf("session %d, expected 3", next.Session())
	}
}

func TestLargeCells(t *testing.T) {
	path := file(t)
	h := open(t, path)
	for i, size := range []int{inputBytes + 1, inputBytes, outputBytes + 1, outputBytes} {
		text := strings.Repeat("z", size)
		h.Add(0, i+1, text, text)
		if err := h.Save(); err != nil {
			t.Fatal(err)
		}
	}
	got, err := open(t, path).Tail(0)
	if err != nil || places(got) != "1.2 1.3 1.4" || got[0].Output+got[1].Output != "" || len(got[2].Output) != outputBytes {
		t.Errorf("%s, %v, expected all but the first, and the output of the last", places(got), err)
	}
}

func TestDamagedFile(t *testing.T) {
	path := file(t)
	add(t, open(t, path), "kept")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("\x00\n[]\n7\n{\"session\":-3,\"line\":1}\n{\"session\":\"x\"}\n{\"session\":9,\"line\":1,\"inp")
	f.Close()
	h := open(t, path)
	add(t, h, "new")
	got, err := h.Tail(0)
	if err != nil || places(got) != "1.1 2.1" {
		t.Errorf("%s, %v, expected 1.1 2.1", places(got), err)
	}
}

func TestWithoutAFile(t *testing.T) {
	dir := t.TempDir()
	blocked := filepath.Join(dir, "file", "history.jsonl")
	os.WriteFile(filepath.Join(dir, "file"), nil, 0o600)
	for _, path := range []string{dir, blocked, os.DevNull} {
		h, err := Open(path)
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "history: open: ") {
			t.Errorf("%s: %v, expected one line", path, err)
		}
		add(t, h, "a")
		if got, err := h.Tail(0); err != nil || places(got) != "1.1" {
			t.Errorf("%s: %s, %v", path, places(got), err)
		}
	}
}

// A cell that cannot be written now is written with the next cell, and is already
// found.
func TestLockedByAnother(t *testing.T) {
	path := file(t)
	h := open(t, path)
	f, err := h.tryLock()
	if err != nil || f == nil {
		t.Fatal(f, err)
	}
	h.Add(0, 1, "first", "")
	if err := h.Save(); err == nil || !strings.Contains(err.Error(), "locked") {
		t.Errorf("%v, expected locked", err)
	}
	f.Close()
	if got, err := h.Tail(0); err != nil || places(got) != "1.1" {
		t.Errorf("%s, %v", places(got), err)
	}
	h.Add(0, 2, "second", "")
	if err := h.Save(); err != nil {
		t.Error(err)
	}
	if got, err := open(t, path).Tail(0); err != nil || places(got) != "1.1 1.2" {
		t.Errorf("%s, %v", places(got), err)
	}
}
