// Package cellproto holds the messages between package cellproc and the cells program,
// and their encoding: a four-byte big-endian length, then that many bytes of JSON.
// Large texts of an Event's bundle follow its JSON, which gives their sizes. Its main
// types are Request and Event. It opens and owns no descriptor, and imports neither of
// its two users.
//
// Requests go down one pipe, events come up the other. Every request is answered by one
// event of type Done with the same ID; other events with that ID come before it. Output
// that a cell writes to descriptors 1 and 2 does not travel in frames: cellproc reads
// these pipes itself, and drains them at every event, so that output written before an
// event is delivered before it. Executes may overlap; the pipes then belong to one of
// them, and the output of the others travels in frames. Output written after an event
// may overtake the event, unless the program sets Fence and waits; it should do so for
// displays and Clear. A copy of the text that the Go runtime writes as it ends the
// program comes through a separate pipe, descriptor 5.
package cellproto

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"unicode/utf8"
	"unsafe"
)

// maxBytes is the largest frame that Read accepts.
const maxBytes = 256 << 20

// The types of Request.
const (
	Execute   = "execute"
	Complete  = "complete"
	Inspect   = "inspect"
	AskUsage  = "usage"
	AskComms  = "comms"       // the open comms
	Debug     = "debug"       // Text is a request of the Debug Adapter Protocol
	AskTyped  = "is_complete" // whether the user has finished typing Code; a kernel's server answers it itself, a page asks
	Interrupt = "interrupt"   // of every execute that is running; answered at once
	Reply     = "reply"       // the text that the Input event of this ID asked for; not answered
	Passed    = "passed"      // the event of this ID that had Fence set is delivered; not answered
)

// Request is a message to the cells program.
type Request struct {
	ID     uint64 `json:"id"`
	Type   string `json:"type"`
	Code   string `json:"code,omitempty"`
	Cell   int    `json:"cell,omitempty"`   // execute: the number that errors name by CellName
	Shell  int    `json:"shell,omitempty"`  // execute: the place of the cell's shell
	Silent bool   `json:"silent,omitempty"` // execute: takes no output of other cells' goroutines
	Cursor int    `json:"cursor,omitempty"` // complete, inspect: offset in code points
	Detail int    `json:"detail,omitempty"` // inspect: 1 asks for the source
	Pipes  bool   `json:"pipes,omitempty"`  // execute: output on the pipes counts as the cell's
	Place  string `json:"place,omitempty"`  // execute: the client's name of the cell, the same when the cell runs again
	Follow bool   `json:"follow,omitempty"` // execute: no code, but the functions whose controls have changed
	Comm   *Comm  `json:"comm,omitempty"`   // comm
	Text   string `json:"text,omitempty"`   // reply, debug
	Error  string `json:"error,omitempty"`  // reply: why there is no text
}

// The types of Event.
const (
	Ready    = "ready"    // once, when the program can take requests; Text is its release.Name
	Begun    = "begun"    // the program has the cell; made by cellproc, the first event that a cell's sink gets
	Stream   = "stream"   // framed output of a cell
	Display  = "display"  // a display, or the update of one
	Clear    = "clear"    // clear the cell's output
	Debugged = "debugged" // Text is an event of the Debug Adapter Protocol; of no request
	Input    = "input"    // the cell reads a line from the user
	Done     = "done"     // the answer to a request
)

// CommMessage is the type of a request with a client's message to a widget, and of an
// event with messages to the clients' widgets.
const CommMessage = "comm"

// Comm is one message of a comm, the channel of a widget: a message of Jupyter's
// protocol without its header.
type Comm struct {
	Type     string          `json:"type"` // "comm_open", "comm_msg" or "comm_close"
	ID       string          `json:"comm_id"`
	Target   string          `json:"target_name,omitempty"` // comm_open
	Data     json.RawMessage `json:"data"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// Event is a message from the cells program.
type Event struct {
	ID       uint64  `json:"id,omitempty"` // of the request it belongs to
	Type     string  `json:"type"`
	Name     string  `json:"name,omitempty"` // stream: "stdout" or "stderr"
	Text     string  `json:"text,omitempty"` // ready: the version; stream; input: the prompt; debugged; done of debug: the response
	Data     Bundle  `json:"data,omitempty"` // display, and done of execute
	Metadata Bundle  `json:"metadata,omitempty"`
	Display  string  `json:"display,omitempty"` // display_id
	Update   bool    `json:"update,omitempty"`  // display: replaces the one with this display_id
	Wait     bool    `json:"wait,omitempty"`    // clear: at the next output
	Password bool    `json:"password,omitempty"`
	Fence    bool    `json:"fence,omitempty"`   // the program waits for Passed before it goes on
	Error    *Error  `json:"error,omitempty"`   // done: why the request did not end well
	Matches  []Match `json:"matches,omitempty"` // done of complete
	Next     string  `json:"next,omitempty"`    // done of execute: text that replaces the cell
	Start    int     `json:"start,omitempty"`   // done of complete: the span that a match replaces,
	End      int     `json:"end,omitempty"`     // in code points
	Usage    *Usage  `json:"usage,omitempty"`   // done of usage
	Typed    string  `json:"typed,omitempty"`   // done of is_complete: an answer of split.Typed
	Depth    int     `json:"depth,omitempty"`   // likewise: brackets that are open
	Comms    []Comm  `json:"comms,omitempty"`   // comm; done of comm: the answer; done of comms: the open ones
	Follow   bool    `json:"follow,omitempty"`  // done of comm: an execute with Follow is due
}

// Usage is the memory and processor time of the cells program and of its kernel.
type Usage struct {
	PID        int     `json:"pid"`
	Memory     uint64  `json:"memory"` // bytes in memory
	CPU        float64 `json:"cpu"`    // percent of one core since the last request
	Goroutines int     `json:"goroutines"`
}

// Bundle is a MIME bundle, or its metadata. Decoded numbers are json.Number: a float64
// would round the integers of a record.
type Bundle map[string]any

func (b *Bundle) UnmarshalJSON(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	return decoder.Decode((*map[string]any)(b))
}

// Match is one completion.
type Match struct {
	Text string `json:"text"`
	Kind string `json:"kind"` // "function", "variable", "type", "package", "field", "method", "keyword", "label", "magic", "text"
	Type string `json:"type,omitempty"`
}

// Error is the reason for which a cell did not finish.
type Error struct {
	Name      string   `json:"ename"`  // "compile error", "panic", "interrupted"
	Value     string   `json:"evalue"` // one line
	Traceback []string `json:"traceback"`
}

func (e *Error) Error() string { return e.Name + ": " + e.Value }

// largeBytes is the size from which a text of an Event's bundle follows its JSON
// unescaped: escaping and decoding it would take most of the time of a large display.
const largeBytes = 64 << 10

// part is a text of Data that follows the JSON.
type part struct {
	Key  string `json:"key"`
	Size int    `json:"size"`
}

// carrier is an Event as it travels.
type carrier struct {
	Event
	Large []part `json:"large,omitempty"`
}

// split takes the large texts out of an event.
func split(e Event) (c carrier, texts []string) {
	c.Event = e
	for key, value := range e.Data {
		text, ok := value.(string)
		if !ok || len(text) < largeBytes {
			continue
		}
		if len(texts) == 0 {
			c.Data = maps.Clone(e.Data)
		}
		delete(c.Data, key)
		c.Large = append(c.Large, part{key, len(text)})
		texts = append(texts, text)
	}
	return c, texts
}

// Write encodes v as one frame. A frame without large texts is written with one
// call.
func Write(w io.Writer, v any) error {
	var texts []string
	if e, ok := v.(Event); ok {
		v, texts = split(e)
	}
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("cellproto: encode: %w", err)
	}
	size := len(body)
	for _, text := range texts {
		size += len(text)
	}
	if size > maxBytes {
		return fmt.Errorf("cellproto: write: %d bytes, at most %d", size, maxBytes)
	}
	buf := make([]byte, 4, 4+len(body))
	binary.BigEndian.PutUint32(buf, uint32(len(body)))
	_, err = w.Write(append(buf, body...))
	for _, text := range texts {
		if err == nil {
			_, err = io.WriteString(w, text)
		}
	}
	return err
}

// Read reads one frame into v. It returns io.EOF at the end of the stream and
// io.ErrUnexpectedEOF inside a frame.
func Read(r io.Reader, v any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	body, err := readBytes(r, int(binary.BigEndian.Uint32(head[:])))
	if err != nil {
		return err
	}
	e, ok := v.(*Event)
	if !ok {
		return decode(body, v)
	}
	var c carrier
	if err := decode(body, &c); err != nil {
		return err
	}
	for _, p := range c.Large {
		text, err := readBytes(r, p.Size)
		if err != nil {
			return err
		}
		if c.Data == nil {
			c.Data = Bundle{}
		}
		c.Data[p.Key] = unsafe.String(unsafe.SliceData(text), len(text)) // no other reference to text exists
	}
	*e = c.Event
	return nil
}

func decode(body []byte, v any) error {
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("cellproto: decode: %w", err)
	}
	return nil
}

func readBytes(r io.Reader, n int) ([]byte, error) {
	if n < 0 || n > maxBytes {
		return nil, fmt.Errorf("cellproto: read: %d bytes, at most %d", n, maxBytes)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return body, nil
}

// Incomplete returns the number of bytes at the end of data that begin a UTF-8 sequence
// and do not finish it: a frame, which is JSON, would lose them.
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
