package runs

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"warpbook/kernel/leaf/record"
)

const (
	fileBytes = 512 << 20 // of one run's file
	folderMax = 10_000    // runs of one folder
)

// EnvironmentOrder lists the members of a record's environment, the most important
// first.
var EnvironmentOrder = []string{"device", "driver", "method", "data", "commit", "ptx", "host", "date"}

// Run is one run of a notebook, as far as a comparison reads it.
type Run struct {
	Path        string
	Notebook    string
	Started     time.Time
	Seconds     float64
	Complete    bool
	Passed      bool
	Rows        record.Tally
	Environment map[string][]string // of its records, without repetition
	Keys        []Key               // of Timings and Verdicts, in the notebook's order
	Timings     map[Key]Timing
	Verdicts    map[Key]string // of correctness
}

// Key identifies a row in every run of a notebook.
type Key struct {
	Notebook string `json:"notebook"`
	Cell     string `json:"cell"`
	Title    string `json:"title"`
	Row      string `json:"row"`
}

// String names the row for a reader.
func (k Key) String() string { return k.Title + ": " + k.Row }

// Timing is the time of a row in one run, in nanoseconds.
type Timing struct {
	Median  float64   `json:"median_ns"`
	Low     float64   `json:"low_ns"`
	High    float64   `json:"high_ns"`
	Samples []float64 `json:"samples_ns,omitempty"`
	Clock   string    `json:"clock"` // record.Time or record.EmulatorTime
}

// ErrNoRun is a JSON file that no run has written.
var ErrNoRun = errors.New("expected a file that warpbook run has written, such as report/01-reduce.json")

// ReadFolder reads all runs below a folder. Other files are passed over.
func ReadFolder(folder string) ([]Run, error) {
	var list []Run
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.HasSuffix(path, ".json") && !strings.HasSuffix(path, Extension) {
			return err
		}
		run, err := Read(path)
		if errors.Is(err, ErrNoRun) {
			return nil
		}
		if list = append(list, run); len(list) > folderMax {
			err = fmt.Errorf("runs: %s: more than %d runs, expected fewer", folder, folderMax)
		}
		return err
	})
	return list, err
}

// Read reads the file of one run.
func Read(path string) (Run, error) {
	run := Run{Path: path, Environment: map[string][]string{}, Timings: map[Key]Timing{}, Verdicts: map[Key]string{}}
	data, err := Open(path, fileBytes)
	if err != nil {
		return run, fmt.Errorf("runs: %w", err)
	}
	var file struct {
		Schema     int
		Notebook   string
		Started    time.Time
		Seconds    float64 `json:"elapsed_s"`
		Complete   *bool
		Passed     bool
		Rows       record.Tally `json:"correctness_rows"`
		Parameters map[string]json.RawMessage
		Cells      *[]struct {
			ID      string
			Records []json.RawMessage
		}
	}
	var wrong *json.UnmarshalTypeError
	switch err := json.Unmarshal(data, &file); {
	case errors.As(err, &wrong): // its text shows the Go type
		return run, fmt.Errorf("runs: %s: %s is a JSON %s: %w", path, cmp.Or(strings.ToLower(wrong.Field), "the whole"), wrong.Value, ErrNoRun)
	case err != nil:
		return run, fmt.Errorf("runs: %s: %w: %w", path, err, ErrNoRun)
	}
	switch {
	case file.Cells == nil || file.Notebook == "":
		return run, fmt.Errorf("runs: %s: no notebook and cells: %w", path, ErrNoRun)
	case file.Schema > record.Version:
		return run, fmt.Errorf("runs: %s: version %d, expected at most %d: use the warpbook that wrote it, or a newer one", path, file.Schema, record.Version)
	}
	run.Notebook, run.Started, run.Seconds, run.Rows = file.Notebook, file.Started, file.Seconds, file.Rows
	run.Passed, run.Complete = file.Passed, file.Complete == nil || *file.Complete
	for name, value := range file.Parameters {
		run.note("parameter "+name, parameterText(value))
	}
	for _, cell := range *file.Cells {
		for _, raw := range cell.Records {
			run.add(cell.ID, raw)
		}
	}
	return run, nil
}

// parameterText is the value of a parameter: an object in version 1, a text before.
func parameterText(raw json.RawMessage) string {
	var p struct{ Value string }
	if json.Unmarshal(raw, &p) == nil {
		return p.Value
	}
	var text string
	json.Unmarshal(raw, &text) // "" for anything else
	return text
}

// add takes the rows of a record. Other content is skipped.
func (r *Run) add(cell string, raw json.RawMessage) {
	var rec struct {
		Schema      int
		Kind, Title string
		Environment map[string]any
		Rows        []struct {
			Name    string
			Verdict *string
			Clock   string
			Total   json.RawMessage
			GPU     struct {
				Clock float64 `json:"clock_mhz"`
			}
		}
	}
	if json.Unmarshal(raw, &rec) != nil || rec.Schema > record.Version {
		return
	}
	if rec.Kind != record.Figures && rec.Kind != record.Checks {
		return
	}
	for _, name := range EnvironmentOrder {
		if text, ok := rec.Environment[name].(string); ok && name != "date" {
			r.note(name, text)
		}
	}
	for _, row := range rec.Rows {
		key := Key{r.Notebook, cell, rec.Title, row.Name}
		r.Keys = append(r.Keys, key)
		if row.Verdict != nil {
			r.Verdicts[key] = *row.Verdict
		}
		t := Timing{}
		if json.Unmarshal(row.Total, &t) == nil && t.Median > 0 {
			t.Clock = row.Clock
			r.Timings[key] = t
		}
		if row.GPU.Clock > 0 {
			r.note("clock while timed", fmt.Sprintf("%.0f MHz", row.GPU.Clock))
		}
	}
}

// note adds a text to the environment of the run.
func (r *Run) note(name, text string) {
	if !slices.Contains(r.Environment[name], text) {
		r.Environment[name] = append(r.Environment[name], text)
	}
}

// Says reports whether a part of the environment has a text.
func (r *Run) Says(name, text string) bool {
	return slices.ContainsFunc(r.Environment[name], func(s string) bool { return says(s, text) })
}

// emulatorOf begins the names of emulated devices.
const emulatorOf = "emulator of "

// says reports whether a part of an environment has a text. The name of a GPU is not that of
// its emulator: "H200" asks for the GPU, "emulator of NVIDIA H200" for the emulator.
func says(part, text string) bool {
	return strings.Contains(part, text) && (text == "" || strings.Contains(text, "emulator") || !strings.HasPrefix(part, emulatorOf))
}
