//go:build edited

package engine

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"warpbook/kernel/engine/symbols"
	"warpbook/kernel/nbformat"
)

// TestNotebooksGiveNoWarning compiles the cells of all notebooks, one session each, and
// runs none: vet's analysers report nothing. Cells that begin with a magic are skipped,
// and so are those that fail because they name an entry of a %%cuda cell, which needs a
// CUDA compiler.
func TestNotebooksGiveNoWarning(t *testing.T) {
	symbols.Register()
	files, err := filepath.Glob("../../notebooks/*.ipynb")
	if err != nil || len(files) == 0 {
		t.Fatal("no notebooks", err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, ".zh.ipynb") {
			continue // the same code: TestTranslations of kernel/nbformat compares it
		}
		nb, err := nbformat.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var stderr strings.Builder
		e, err := New(Config{Output: func(_ uint64, name string, text []byte) (int, error) {
			mu.Lock()
			defer mu.Unlock()
			if name == "stderr" {
				stderr.Write(text)
			}
			return len(text), nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		cells, analysed, magics := 0, 0, false
		for i, cell := range nb.Cells {
			if magics = magics || strings.HasPrefix(cell.Source, "%%"); cell.Type != nbformat.Code || strings.HasPrefix(cell.Source, "%") {
				continue
			}
			cells++
			c := e.prepare(t.Context(), i+1, cell.Source, func() bool { return true })
			if c.fail != nil && magics {
				continue
			}
			if c.fail != nil {
				t.Errorf("%s, cell %d: %v", file, i+1, c.fail.Traceback)
				continue
			}
			if c.Suspicious {
				analysed++
			}
			e.release(c)
		}
		if mu.Lock(); stderr.Len() > 0 {
			t.Errorf("%s: %s", file, stderr.String())
		}
		mu.Unlock()
		e.Close()
		if t.Logf("%s: %d cells, %d analysed", file, cells, analysed); analysed == 0 && !magics {
			t.Errorf("%s: no cell was analysed", file)
		}
	}
}
