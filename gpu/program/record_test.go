//go:build linux

package program

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"warpbook/gpu/clang"
)

var update = flag.Bool("update", false, "record the programs of the notebooks again; needs clang")

// updateCommand records the programs of notebooks.
const updateCommand = "go test ./gpu/program -run NotebookPrograms -update"

var recordedCell = regexp.MustCompile(`^%%cuda (\S+) --committed (\S+)\n`)

// milliseconds are the times in what a program prints.
var milliseconds = regexp.MustCompile(`[\d.]+ ms`)

// TestNotebookPrograms: a cell of a notebook with a whole program names a recorded run of that
// very text. With clang, each prints what was recorded, but for times.
func TestNotebookPrograms(t *testing.T) {
	notebooks, err := filepath.Glob("../../notebooks/*.ipynb")
	if err != nil || len(notebooks) == 0 {
		t.Fatal("no notebooks: ", err)
	}
	var programs []recorded
	for _, path := range notebooks {
		if strings.HasSuffix(path, ".zh.ipynb") { // its code is that of the original
			continue
		}
		for _, cell := range programCells(t, path) {
			m := recordedCell.FindStringSubmatch(cell)
			if m == nil {
				t.Errorf("%s: %.40q: expected %%%%cuda NAME --committed FILE, so that the notebook runs without ziglang", path, cell)
				continue
			}
			source := Source{Name: m[1] + ".cu", Text: cell[len(m[0]):], FirstLine: 2, Folder: filepath.Dir(path)}
			programs = append(programs, recorded{source, filepath.Join(filepath.Dir(path), m[2])})
		}
	}
	if len(programs) == 0 {
		t.Error("no programs in notebooks")
	}
	for _, p := range programs {
		if *update {
			needZig(t)
			writeRecord(t, p.source, p.path)
		}
		if _, err := ReadRecord(p.path, p.source, Options{}, Settings{}); err != nil {
			t.Fatalf("%v: run %s", err, updateCommand)
		}
	}
	if os.Getenv(clang.FolderVariable) == "" || *update {
		return
	}
	for _, p := range sample(t, programs, 1) {
		t.Run(p.source.Name, func(t *testing.T) { runAgain(t, p) })
	}
}

// recorded is a program with the file of its record.
type recorded struct {
	source Source
	path   string
}

// runAgain compares a run with the recorded one.
func runAgain(t *testing.T, p recorded) {
	want, err := ReadRecord(p.path, p.source, Options{}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	got := recordRun(t, p.source)
	masked := func(s string) string { return milliseconds.ReplaceAllString(s, "... ms") }
	if got.Status != want.Status || masked(got.Out) != masked(want.Out) || masked(got.Err) != masked(want.Err) {
		t.Errorf("status %d\n%s%s\nrecorded: status %d\n%s%s: run %s", got.Status, got.Out, got.Err, want.Status, want.Out, want.Err, updateCommand)
	}
}

// recordRun runs a program, one block at a time.
func recordRun(t *testing.T, source Source) Record {
	t.Helper()
	p, err := Build(t.Context(), []Source{source}, Options{}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	err = p.Run(t.Context(), Settings{Sequential: true}, Streams{Out: &out, Err: &errs})
	exit := &ExitError{}
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return Record{Status: exit.Status, Out: out.String(), Err: errs.String()}
}

func writeRecord(t *testing.T, source Source, path string) {
	t.Helper()
	r := recordRun(t, source)
	r.Made = time.Now().Format("2 January 2006") + ", compiled by the clang of ziglang " + clang.Version + ", on an emulated H200"
	r.Hash = recordHash(source, Options{}, Settings{})
	text, err := json.MarshalIndent(r, "", " ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, append(text, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// programCells are the sources of a notebook's cells with whole programs.
func programCells(t *testing.T, path string) (sources []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var notebook struct {
		Cells []struct {
			Type   string          `json:"cell_type"`
			Source json.RawMessage `json:"source"` // a string, or a list of lines
		}
	}
	if err := json.Unmarshal(text, &notebook); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for _, c := range notebook.Cells {
		var source string
		var lines []string
		if json.Unmarshal(c.Source, &lines) == nil {
			source = strings.Join(lines, "")
		} else if err := json.Unmarshal(c.Source, &source); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if c.Type == "code" && strings.HasPrefix(source, "%%cuda") && HasMain(source) {
			sources = append(sources, source)
		}
	}
	return sources
}
