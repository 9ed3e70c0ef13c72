package emu

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warpbook/gpu"
)

// notYet are the entries of compilers' output that are rejected, by the word that the
// error names.
var notYet = map[string]string{
	"constructs": "%envreg3",
	"calls":      "recursive",
}

// TestCorpus lowers every entry of the PTX in the repository: each is ready to run,
// except the known ones, which are rejected by name.
func TestCorpus(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../../ops/*/*.ptx", "../ptx/testdata/*.ptx"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Fatal("no PTX found")
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		d, err := Open("")
		if err != nil {
			t.Fatal(err)
		}
		m, err := d.Load(filepath.Base(f), string(text))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, name := range m.Entries() {
			_, err := m.Entry(name)
			word := cmp.Or(notYet[name], notYet[filepath.Base(f)+" "+name])
			known := word != ""
			switch {
			case err == nil && !known:
			case err == nil:
				t.Errorf("%s is ready, expected it refused for %s", name, word)
			case !known || !errors.Is(err, gpu.ErrUnsupported) || !strings.Contains(err.Error(), word):
				t.Error(name, err)
			}
		}
	}
}
