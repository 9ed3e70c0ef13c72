package edited

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// small is a module of two lines for a text that is edited.
func small(text string, edits ...Edit) module {
	return module{
		path: "example.com/m", version: "v1.0.0", added: "ixgo", linked: []string{"pkg"},
		sums:  map[string]string{"a.go": fmt.Sprintf("%x", sha256.Sum256([]byte(text)))},
		fixes: []Fix{{Edits: edits}},
	}
}

func TestEdit(t *testing.T) {
	const text = "one\ntwo\nthree\nfour\n"
	for name, c := range map[string]struct {
		edits      []Edit
		want, fail string
	}{
		"a line":              {edits: []Edit{{"a.go", 2, 2, "TWO"}}, want: "one\nTWO\nthree\nfour\n"},
		"inserted first":      {edits: []Edit{{"a.go", 1, 0, "zero"}}, want: "zero\none\ntwo\nthree\nfour\n"},
		"removed":             {edits: []Edit{{"a.go", 2, 3, ""}}, want: "one\nfour\n"},
		"two, in any order":   {edits: []Edit{{"a.go", 4, 4, "4"}, {"a.go", 1, 2, "1\n2"}}, want: "1\n2\nthree\n4\n"},
		"side by side":        {edits: []Edit{{"a.go", 2, 2, "2"}, {"a.go", 3, 3, "3"}}, want: "one\n2\n3\nfour\n"},
		"of one line twice":   {edits: []Edit{{"a.go", 2, 3, "2"}, {"a.go", 3, 3, "3"}}, fail: "lines 3 to 3"},
		"beyond the end":      {edits: []Edit{{"a.go", 5, 9, "5"}}, fail: "lines 5 to 9"},
		"before the begin":    {edits: []Edit{{"a.go", 0, 0, "0"}}, fail: "lines 0 to 0"},
		"with its end before": {edits: []Edit{{"a.go", 3, 1, "0"}}, fail: "lines 3 to 1"},
	} {
		m := small(text, c.edits...)
		got, err := m.edit("a.go", []byte(text), m.editsOf("a.go"))
		if c.fail != "" {
			if err == nil || !strings.Contains(err.Error(), c.fail) {
				t.Errorf("%s: %v, expected an error about %s", name, err, c.fail)
			}
		} else if err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v, expected %q", name, got, err, c.want)
		}
	}
}

// source writes a module's source.
func source(t *testing.T, text string) string {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.go": text, "b.go": "b", "a_test.go": "t", "go.mod": "module m\n", "pkg/large.go": "l", "sub/c.go": "c", "cmd/x/main.go": "x",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o444); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCopy(t *testing.T) {
	const text = "one\ntwo\n"
	m, to := small(text, Edit{"a.go", 1, 1, "ONE"}), t.TempDir()
	if err := m.copyTo(to, source(t, text), map[string][]byte{"ours.go": []byte("o")}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a.go": "ONE\ntwo\n", "b.go": "b", "sub/c.go": "c", "pkg/large.go": "l", "ours.go": "o"} {
		if got, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, expected %q", name, got, err, want)
		}
	}
	for _, name := range []string{"a_test.go", "cmd"} {
		if _, err := os.Stat(filepath.Join(to, name)); err == nil {
			t.Errorf("%s was copied", name)
		}
	}
	if link, err := os.Readlink(filepath.Join(to, "pkg")); err != nil || !filepath.IsAbs(link) {
		t.Errorf("pkg: %q, %v, expected a link to an absolute path", link, err)
	}
	if !m.intact(to) {
		t.Error("the copy counts as broken")
	}
	if err := os.Remove(filepath.Join(to, "pkg")); err != nil || m.intact(to) {
		t.Errorf("%v; the copy without pkg counts as intact", err)
	}
}

func TestOtherSourceIsRefused(t *testing.T) {
	m := small("one\n", Edit{"a.go", 1, 1, "ONE"})
	err := m.copyTo(t.TempDir(), source(t, "another\n"), nil)
	if err == nil || !strings.Contains(err.Error(), "example.com/m@v1.0.0/a.go: SHA-256 ") || !strings.Contains(err.Error(), m.sums["a.go"]) {
		t.Errorf("%v, expected an error with the file and the hash it should have", err)
	}
	m = small("one\n", Edit{"gone.go", 1, 1, "ONE"})
	if err := m.copyTo(t.TempDir(), source(t, "one\n"), nil); err == nil || !strings.Contains(err.Error(), "a.go") {
		t.Errorf("%v, expected an error about a file without edits", err)
	}
}

func TestOtherVersionIsRefused(t *testing.T) {
	root := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for name, text := range map[string]string{"go.mod": "module x\n\nrequire example.com/m v1.0.1\n", "go.sum": ""} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := prepare(t.Context(), root, []module{small("one\n")}, ""); err == nil || !strings.Contains(err.Error(), "expected v1.0.0") {
		t.Errorf("%v, expected an error with the version", err)
	}
}

// TestPrepare makes the copies of the modules as they are, and again after the
// module cache was cleaned.
func TestPrepare(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	root := filepath.Join("..", "..")
	modfile, err := prepare(t.Context(), root, modules, "")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(modfile)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`replace github.com/goplus/ixgo => "(.*)"`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("no replacement in\n%s", text)
	}
	dir := string(found[1])
	if err := os.Remove(filepath.Join(dir, "pkg")); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second finds all there
		again, err := prepare(t.Context(), root, modules, "")
		if err != nil || again != modfile {
			t.Errorf("%s, %v, expected %s", again, err, modfile)
		}
		if _, err := os.Stat(filepath.Join(dir, "pkg", "fmt")); err != nil {
			t.Error(err)
		}
	}
}

// TestPortable: in two homes the go command reads equal files, which name neither.
func TestPortable(t *testing.T) {
	var texts []string
	for range 2 {
		home, dir := t.TempDir(), t.TempDir()
		t.Setenv("XDG_CACHE_HOME", home)
		c, err := Portable(t.Context(), filepath.Join("..", ".."), dir, "list", "-m", "-f", "{{.Path}} {{.Replace.Path}}", modules[0].path)
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.CombinedOutput()
		if err != nil || strings.Contains(string(out), home) || !strings.Contains(string(out), " ./"+copies+"/") {
			t.Errorf("%s, %v, expected a path in the folder of the build", out, err)
		}
		texts = append(texts, string(out))
	}
	if texts[0] != texts[1] {
		t.Errorf("%q, expected equal texts", texts)
	}
}

// TestFixesHaveReasonAndTest looks for the test of each fix in the sources.
func TestFixesHaveReasonAndTest(t *testing.T) {
	for _, m := range modules {
		for _, f := range m.fixes {
			if f.Why == "" || len(f.Edits) == 0 {
				t.Errorf("%+v: expected a reason and edits", f)
			}
			pkg, name, _ := strings.Cut(f.Test, ".")
			name, sequence, _ := strings.Cut(name, "/")
			if !contains(t, filepath.Join("..", pkg, "*_test.go"), "func "+name+"(t *testing.T)") {
				t.Errorf("no test %s for: %s", f.Test, f.Why)
			}
			if file, title, ok := strings.Cut(sequence, "/"); ok && !contains(t, filepath.Join("..", pkg, "testdata", file+".txt"), "=== "+title+"\n") {
				t.Errorf("no sequence %s for: %s", f.Test, f.Why)
			}
		}
	}
}

func contains(t *testing.T, pattern, text string) bool {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if data, err := os.ReadFile(path); err == nil && strings.Contains(string(data), text) {
			return true
		}
	}
	return false
}
