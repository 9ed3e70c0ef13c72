package runs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"warpbook/kernel/leaf/atomicfile"
	"warpbook/kernel/leaf/record"
)

// Summary is the part of a run that the history shows. Its file lies beside the run's.
// It is made again if it is missing, damaged or of another version, so it can be deleted
// at any time, and several programs can make it at once.
type Summary struct {
	Schema      int                 `json:"schema"` // summarySchema
	Bytes       int64               `json:"bytes"`  // of the run's file
	Notebook    string              `json:"notebook"`
	Started     time.Time           `json:"started"`
	Seconds     float64             `json:"elapsed_s"`
	Complete    bool                `json:"complete"`
	Passed      bool                `json:"passed"`
	Rows        record.Tally        `json:"correctness_rows"`
	Environment map[string][]string `json:"environment"`
	Timed       []TimedRow          `json:"timed"`

	ID      string `json:"-"` // the file's name without its extension
	Path    string `json:"-"`
	Problem error  `json:"-"` // why the run cannot be read; nothing above is set
}

// TimedRow is the time of a row without its samples.
type TimedRow struct {
	Key
	Timing
}

const (
	summarySchema    = 1
	summaryExtension = ".summary.json"
)

// History returns the summaries of all runs in a folder, the newest first. A folder
// that is not there has none. A run that cannot be read has a Problem.
func History(folder string) ([]Summary, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("runs: %w", err)
	}
	var list []Summary
	for _, e := range slices.Backward(entries) {
		if strings.HasSuffix(e.Name(), Extension) && !strings.HasPrefix(e.Name(), ".") {
			list = append(list, summaryOf(filepath.Join(folder, e.Name())))
		}
	}
	return list, nil
}

// summaryOf reads the summary of a run, or makes it.
func summaryOf(path string) (s Summary) {
	defer func() { s.Path, s.ID = path, strings.TrimSuffix(filepath.Base(path), Extension) }()
	beside := strings.TrimSuffix(path, Extension) + summaryExtension
	info, err := os.Stat(path)
	if err != nil {
		return Summary{Problem: err}
	}
	if data, err := Open(beside, fileBytes); err == nil && json.Unmarshal(data, &s) == nil && s.Schema == summarySchema && s.Bytes == info.Size() {
		return s
	}
	run, err := Read(path)
	if err != nil {
		return Summary{Problem: err}
	}
	s = Summary{
		Schema: summarySchema, Bytes: info.Size(), Notebook: run.Notebook, Started: run.Started, Seconds: run.Seconds,
		Complete: run.Complete, Passed: run.Passed, Rows: run.Rows, Environment: run.Environment,
	}
	for _, key := range run.Keys {
		if t, ok := run.Timings[key]; ok {
			t.Samples = nil
			s.Timed = append(s.Timed, TimedRow{key, t})
		}
	}
	// Where it cannot be kept, it is made again the next time.
	atomicfile.WriteMode(beside, 0o600, func(w io.Writer) error { return json.NewEncoder(w).Encode(s) })
	return s
}

// Says returns a part of the environment as one text.
func (s Summary) Says(name string) string { return strings.Join(s.Environment[name], "; ") }

// Has reports whether a part of the environment has a text, as Says of a run; "" asks for
// nothing.
func (s Summary) Has(name, text string) bool {
	return text == "" || slices.ContainsFunc(s.Environment[name], func(part string) bool { return says(part, text) })
}
