package compile

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the committed PTX of the notebooks again; needs NVRTC and clang")

// updateCommand makes the committed PTX of notebooks.
const updateCommand = "go test ./gpu/compile -run NotebookPTX -update"

var hasMain = regexp.MustCompile(`\bint main\(`)

var committedFlag = regexp.MustCompile(`^%%cuda (\S+)( --debug)? --committed (\S+)$`)

// TestNotebookPTX: the PTX that a cell names is of that very cell, and with
// NVRTC, the output that it produces today. The cells take no flag besides --debug, whose
// PTX is clang's.
func TestNotebookPTX(t *testing.T) {
	notebooks, err := filepath.Glob("../../notebooks/*.ipynb")
	if err != nil || len(notebooks) == 0 {
		t.Fatal("no notebooks: ", err)
	}
	found := 0
	for _, path := range notebooks {
		for _, cell := range cudaCells(t, path) {
			line, body, _ := strings.Cut(cell, "\n")
			m := committedFlag.FindStringSubmatch(line)
			if m == nil {
				t.Errorf("%s: %s: expected %%%%cuda NAME [--debug] --committed FILE, so that the notebook runs without NVRTC", path, line)
				continue
			}
			found++
			checkCommitted(t, m[1]+".cu", body, filepath.Join(filepath.Dir(path), m[3]), m[2] != "")
		}
	}
	if found == 0 {
		t.Error("no cells with committed PTX")
	}
}

func checkCommitted(t *testing.T, name, body, file string, debug bool) {
	t.Helper()
	o := Options{FirstLine: 2, Committed: file, Debug: debug}
	if *update {
		m, err := CUDA(context.Background(), name, body, Options{FirstLine: 2, Debug: debug})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(m.commit(updateCommand, o)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := o.committed(name, body); err != nil {
		t.Errorf("%v: run %s", err, updateCommand)
	}
}

// cudaCells are the sources of a notebook's %%cuda cells. Whole programs are of package program.
func cudaCells(t *testing.T, path string) (sources []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var notebook struct {
		Cells []struct {
			Type   string `json:"cell_type"`
			Source any    `json:"source"` // a string, or a list of lines
		}
	}
	if err := json.Unmarshal(text, &notebook); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for _, c := range notebook.Cells {
		source, ok := c.Source.(string)
		if lines, list := c.Source.([]any); list {
			ok = true
			for _, l := range lines {
				source += l.(string)
			}
		}
		if ok && c.Type == "code" && strings.HasPrefix(source, "%%cuda") && !hasMain.MatchString(source) {
			sources = append(sources, source)
		}
	}
	return sources
}
