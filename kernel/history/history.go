// Package history remembers the cells that were run, over restarts and for
// several kernels at once: an append-only file of JSON lines that the kernels
// of a user share, each with a session number of its own.
//
// It knows no messages. Where the file cannot be used, the cells of this
// session are still remembered in memory.
package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

const (
	fileBytes   = 4 << 20  // a longer file loses its older half
	inputBytes  = 1 << 20  // a longer input is not remembered
	outputBytes = 64 << 10 // a longer output is left out
)

// Entry is a cell that was run. The line that begins a session is an entry
// with line 0, which is never found.
type Entry struct {
	Session int    `json:"session"`
	Shell   int    `json:"shell,omitempty"` // 0 is the parent shell, others are subshells
	Line    int    `json:"line,omitempty"`  // of the session's shell, from 1
	Input   string `json:"input,omitempty"`
	Output  string `json:"output,omitempty"` // its value as text; "" where it had none
}

// History is the memory of one session. Its methods must not overlap.
type History struct {
	path    string // "": memory only
	session int
	unsaved []Entry // not in the file yet
}

// Open begins a session in the file at path, which is made if need be, for
// nobody else to read. With the path "", and where it returns an error, the
// History is usable and in memory only.
func Open(path string) (*History, error) {
	h := &History{path: path, session: 1}
	if path == "" {
		return h, nil
	}
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = h.locked(h.begin)
	}
	if err != nil {
		return &History{session: 1}, fmt.Errorf("history: open: %w", err)
	}
	return h, nil
}

// begin takes the next number and, so that nobody else does, writes it down.
func (h *History) begin(f *os.File) error {
	entries, err := readAll(f)
	if err != nil {
		return err
	}
	for _, e := range entries {
		h.session = max(h.session, e.Session+1)
	}
	return appendTo(f, []Entry{{Session: h.session}})
}

// Session is the number of this session.
func (h *History) Session() int { return h.session }

// Add remembers a cell of a shell, unless it is huge. Save writes it down.
func (h *History) Add(shell, line int, input, output string) {
	if len(input) > inputBytes {
		return
	}
	if len(output) > outputBytes {
		output = ""
	}
	h.unsaved = append(h.unsaved, Entry{h.session, shell, line, input, output})
}

// Save writes what has been added since to the file. After an error it is still
// remembered, and written by the next Save.
func (h *History) Save() error {
	if h.path == "" || len(h.unsaved) == 0 {
		return nil
	}
	err := h.locked(func(f *os.File) error {
		if err := appendTo(f, h.unsaved); err != nil {
			return err
		}
		h.unsaved = nil
		return h.trim(f)
	})
	if err != nil {
		return fmt.Errorf("history: save: %w", err)
	}
	return nil
}

// all returns what the file holds and then what it does not.
func (h *History) all() ([]Entry, error) {
	if h.path == "" {
		return h.unsaved, nil
	}
	var entries []Entry
	err := h.locked(func(f *os.File) (err error) {
		entries, err = readAll(f)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("history: read: %w", err)
	}
	entries = slices.DeleteFunc(entries, func(e Entry) bool { return e.Line == 0 })
	return append(entries, h.unsaved...), nil
}

// readAll reads the entries. Lines that are none, such as one that a full disk
// cut off, are passed over.
func readAll(f *os.File) ([]Entry, error) {
	data, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<62))
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for line := range bytes.Lines(data) {
		var e Entry
		if json.Unmarshal(line, &e) == nil && e.Session > 0 && e.Line >= 0 {
			entries = append(entries, e)
		}
	}
	return entries, nil
}
