// Package history remembers executed cells across restarts and for several kernels at
// once: an append-only file of JSON lines that a user's kernels share, each with its
// own session number. Its main type is History; the server writes it, and the cells
// program reads it for magics.
//
// It must not import the server or any package of messages. If the file cannot be used,
// the cells of this session are still kept in memory.
package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

const (
	fileBytes   = 4 << 20  // a longer file loses its older half
	inputBytes  = 1 << 20  // a longer input is not remembered
	outputBytes = 64 << 10 // a longer output is left out
)

// Entry is an executed cell. The first line of a session is an entry with line 0, which
// no search returns.
type Entry struct {
	Session int    `json:"session"`
	Shell   int    `json:"shell,omitempty"` // 0 is the parent shell, others are subshells
	Line    int    `json:"line,omitempty"`  // of the session's shell, from 1
	Input   string `json:"input,omitempty"`
	Output  string `json:"output,omitempty"` // its value as text; "" where it had none
}

// History is the memory of one session. Its methods may be called from any
// goroutine; only Save waits for other kernels.
type History struct {
	path    string // "": memory only
	session int

	writing sync.Mutex // held by Save, so that entries are written once

	mu      sync.Mutex // guards the fields below; not held during file access
	unsaved []Entry    // not in the file yet
}

// Open begins a session in the file at path. It creates a missing file, readable by
// this user only. If path is "" or an error is returned, the History works in memory
// only.
func Open(path string) (*History, error) {
	h := &History{path: path, session: 1}
	if path == "" {
		return h, nil
	}
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = h.locked(openTime, h.begin)
	}
	if err != nil {
		return &History{session: 1}, fmt.Errorf("history: open: %w", err)
	}
	return h, nil
}

// begin takes the next session number and writes it to the file, which reserves it.
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

// Session returns the number of this session.
func (h *History) Session() int { return h.session }

// Add remembers a cell of a shell, unless its input is too long. Save writes it to the
// file.
func (h *History) Add(shell, line int, input, output string) {
	if len(input) > inputBytes {
		return
	}
	if len(output) > outputBytes {
		output = ""
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unsaved = append(h.unsaved, Entry{h.session, shell, line, input, output})
}

// Save appends the unsaved entries to the file. After an error they stay unsaved, and
// the next Save writes them.
func (h *History) Save() error {
	if h.path == "" {
		return nil
	}
	h.writing.Lock()
	defer h.writing.Unlock()
	batch := h.pending()
	if len(batch) == 0 {
		return nil
	}
	err := h.locked(lockTime, func(f *os.File) error {
		if err := appendTo(f, batch); err != nil {
			return err
		}
		h.mu.Lock()
		h.unsaved = h.unsaved[len(batch):]
		h.mu.Unlock()
		return h.trim(f)
	})
	if err != nil {
		return fmt.Errorf("history: save: %w", err)
	}
	return nil
}

// pending returns the entries that are not in the file yet.
func (h *History) pending() []Entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.unsaved)
}

// all returns the entries of the file, then the unsaved ones. It does not lock the
// file: other kernels append whole lines, or replace the file.
func (h *History) all() ([]Entry, error) {
	unsaved := h.pending()
	if h.path == "" {
		return unsaved, nil
	}
	data, err := os.ReadFile(h.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("history: read: %w", err)
	}
	type place struct{ session, shell, line int }
	waiting := map[place]bool{}
	for _, e := range unsaved {
		waiting[place{e.Session, e.Shell, e.Line}] = true // Save may have written it since
	}
	entries := slices.DeleteFunc(parse(data), func(e Entry) bool {
		return e.Line == 0 || waiting[place{e.Session, e.Shell, e.Line}]
	})
	return append(entries, unsaved...), nil
}

// readAll reads the entries of an open file.
func readAll(f *os.File) ([]Entry, error) {
	data, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<62))
	return parse(data), err
}

// parse reads the entries. It skips invalid lines, such as a line that a full disk
// truncated.
func parse(data []byte) (entries []Entry) {
	for line := range bytes.Lines(data) {
		var e Entry
		if json.Unmarshal(line, &e) == nil && e.Session > 0 && e.Line >= 0 {
			entries = append(entries, e)
		}
	}
	return entries
}
