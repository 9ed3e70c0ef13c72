// Package display is what a cell's values look like in a notebook: it turns
// any Go value into a MIME bundle, and sends displays, their updates and
// progress to the cell's output. Cells import it; compiled code that must not
// link it is recognised by the methods its values have (see Of).
//
// It does not speak the Jupyter protocol, runs no user code but the methods of
// the values that it shows, and knows nothing of devices and operators.
package display

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"warpbook/kernel/frame"
)

// sink is where events go; nil prints text to standard output.
var sink atomic.Pointer[func(frame.Event)]

// SetSink makes f receive every later event. The cells program calls it once,
// before the first cell; cells have no use for it. f is called from whichever
// goroutine shows something, several at a time, and adds the request's ID. A
// nil f makes displays print their text to standard output, as they do before
// the first call.
func SetSink(f func(frame.Event)) {
	if f == nil {
		sink.Store(nil)
		return
	}
	sink.Store(&f)
}

func send(e frame.Event) {
	if f := sink.Load(); f != nil {
		(*f)(e)
		return
	}
	if text, ok := e.Data[textPlain].(string); ok && e.Type == frame.Display {
		fmt.Println(text)
	}
}

// Show displays each value, in order, as Of turns it into a bundle; of a value
// with parts, each part.
func Show(vs ...any) {
	for _, v := range Parts(vs) {
		data, metadata := Of(v)
		send(frame.Event{Type: frame.Display, Data: data, Metadata: metadata})
	}
}

// Parts puts the parts of values that have a method Parts, such as a table and
// its pictures, in their place. A value may be one of its own parts.
func Parts(vs []any) []any {
	var parts []any
	for _, v := range vs {
		if whole, ok := v.(interface{ Parts() []any }); ok && !isNil(v) {
			parts = append(parts, whole.Parts()...)
		} else {
			parts = append(parts, v)
		}
	}
	return parts
}

// Clear removes the cell's output so far. With wait, the output stays until
// something replaces it, which does not flicker.
func Clear(wait bool) {
	send(frame.Event{Type: frame.Clear, Wait: wait})
}

// Handle is one display that can be replaced by another value later, also
// from other goroutines and other cells.
type Handle struct {
	id string
	mu sync.Mutex // held while sending, so that updates arrive in the order of the calls
}

// New displays v and returns its handle.
func New(v any) *Handle {
	h := &Handle{id: uuid.NewString()}
	h.show(v, false)
	return h
}

// Update replaces what the handle shows by v.
func (h *Handle) Update(v any) { h.show(v, true) }

func (h *Handle) show(v any, update bool) {
	data, metadata := Of(v)
	h.mu.Lock()
	defer h.mu.Unlock()
	send(frame.Event{Type: frame.Display, Data: data, Metadata: metadata, Display: h.id, Update: update})
}
