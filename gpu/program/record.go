package program

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
)

// Record is a run of a program that is kept in a file, for where programs cannot be built.
// Times in its output are of that run.
type Record struct {
	Made   string `json:"made"` // the day, the compiler and the device
	Hash   string `json:"hash"` // of the source and of what it was built and run with
	Status int    `json:"status"`
	Out    string `json:"out"`
	Err    string `json:"err,omitempty"`
}

// recordHash is that of a record.
func recordHash(s Source, o Options, set Settings) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %v %q\n", o.Arch, o.Std, o.FastMath, o.Define)
	fmt.Fprintf(h, "%q %q %v %v\n%s", set.GPU, set.Args, set.Strict, set.Sanitize, s.Text)
	return fmt.Sprintf("%x", h.Sum(nil))
}

// ReadRecord reads the record of a program. The error is one if the program has changed since.
func ReadRecord(path string, s Source, o Options, set Settings) (*Record, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("program: the recorded run: %w", err)
	}
	r := &Record{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("program: %s: no recorded run: %w", path, err)
	}
	if r.Hash != recordHash(s, o, set) {
		return nil, fmt.Errorf("program: %s has changed since %s was recorded", s.Name, path)
	}
	return r, nil
}

// Exit is the error of the recorded run, nil for status 0.
func (r *Record) Exit(name string) error {
	if r.Status == 0 {
		return nil
	}
	return &ExitError{Name: name, Status: r.Status}
}
