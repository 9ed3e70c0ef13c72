// Package frame holds the messages between a session and the cells program
// that it started, and their encoding: a four-byte big-endian length, then
// that many bytes of JSON. It opens and owns no descriptor.
//
// Requests go down one pipe, events come up the other. Every request is
// answered by one event of type Done that carries its ID; other events with
// the same ID come before it. Output that a cell writes to descriptors 1 and 2
// does not travel in frames: the session reads these pipes itself, and drains
// them at every event, so that what was written before an event is delivered
// before it. Executes may overlap; the pipes then belong to one of them, and
// what the others print travels in frames. What is written after an event may
// overtake it, unless the program sets Fence and waits; it should do so for
// displays and Clear. A copy of what the Go runtime writes as it ends the
// program comes through a pipe of its own, descriptor 5.
package frame

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"
)

// MaxBytes is the largest frame that Read accepts.
const MaxBytes = 256 << 20

// The types of Request.
const (
	Execute   = "execute"
	Complete  = "complete"
	Inspect   = "inspect"
	Interrupt = "interrupt" // of every execute that is running; answered at once
	Reply     = "reply"     // the text that the Input event of this ID asked for; not answered
	Passed    = "passed"    // the event of this ID that had Fence set is delivered; not answered
)

// Request is a message to the cells program.
type Request struct {
	ID     uint64 `json:"id"`
	Type   string `json:"type"`
	Code   string `json:"code,omitempty"`
	Cell   int    `json:"cell,omitempty"`   // execute: the number that errors name by CellName
	Cursor int    `json:"cursor,omitempty"` // complete, inspect: offset in code points
	Pipes  bool   `json:"pipes,omitempty"`  // execute: what is written to the pipes counts as the cell's
	Text   string `json:"text,omitempty"`   // reply
	Error  string `json:"error,omitempty"`  // reply: why there is no text
}

// The types of Event.
const (
	Ready   = "ready"   // once, when the program can take requests
	Begun   = "begun"   // the program has the cell; the session's own, the first that a cell's sink gets
	Stream  = "stream"  // framed output of a cell
	Display = "display" // a display, or the update of one
	Clear   = "clear"   // clear the cell's output
	Input   = "input"   // the cell reads a line from the user
	Done    = "done"    // the answer to a request
)

// Event is a message from the cells program.
type Event struct {
	ID       uint64  `json:"id,omitempty"` // of the request it belongs to
	Type     string  `json:"type"`
	Name     string  `json:"name,omitempty"` // stream: "stdout" or "stderr"
	Text     string  `json:"text,omitempty"` // stream; input: the prompt
	Data     Bundle  `json:"data,omitempty"` // display, and done of execute
	Metadata Bundle  `json:"metadata,omitempty"`
	Display  string  `json:"display,omitempty"` // display_id
	Update   bool    `json:"update,omitempty"`  // display: replaces the one with this display_id
	Wait     bool    `json:"wait,omitempty"`    // clear: at the next output
	Password bool    `json:"password,omitempty"`
	Fence    bool    `json:"fence,omitempty"`   // the program waits for Passed before it goes on
	Error    *Error  `json:"error,omitempty"`   // done: why the request did not end well
	Matches  []Match `json:"matches,omitempty"` // done of complete
	Next     string  `json:"next,omitempty"`    // done of execute: offered in place of the cell
	Start    int     `json:"start,omitempty"`   // done of complete: the span that a match replaces,
	End      int     `json:"end,omitempty"`     // in code points
}

// Bundle is a MIME bundle, or its metadata. As it is read, its numbers are
// json.Number: a float64 would round the integers of a record.
type Bundle map[string]any

func (b *Bundle) UnmarshalJSON(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	return decoder.Decode((*map[string]any)(b))
}

// Match is one completion.
type Match struct {
	Text string `json:"text"`
	Kind string `json:"kind"` // "function", "variable", "type", "package", "field", "method", "keyword", "magic"
	Type string `json:"type,omitempty"`
}

// Error is how a cell ended without finishing.
type Error struct {
	Name      string   `json:"ename"`  // "compile error", "panic", "interrupted"
	Value     string   `json:"evalue"` // one line
	Traceback []string `json:"traceback"`
}

func (e *Error) Error() string { return e.Name + ": " + e.Value }

// Write encodes v as one frame and writes it with one call.
func Write(w io.Writer, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("frame: encode: %w", err)
	}
	if len(body) > MaxBytes {
		return fmt.Errorf("frame: write: %d bytes, at most %d", len(body), MaxBytes)
	}
	buf := make([]byte, 4, 4+len(body))
	binary.BigEndian.PutUint32(buf, uint32(len(body)))
	_, err = w.Write(append(buf, body...))
	return err
}

// Read reads one frame into v. It returns io.EOF at the end of the stream and
// io.ErrUnexpectedEOF inside a frame.
func Read(r io.Reader, v any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > MaxBytes {
		return fmt.Errorf("frame: read: %d bytes, at most %d", n, MaxBytes)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("frame: decode: %w", err)
	}
	return nil
}

// Incomplete is the number of bytes at the end of data that begin a UTF-8
// sequence and do not finish it: in a frame, which is JSON, they would be lost.
func Incomplete(data []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(data); n++ {
		tail := data[len(data)-n:]
		if utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}
