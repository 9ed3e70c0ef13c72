// Package display shows a cell's values in a notebook: it turns any Go value into a
// MIME bundle (Of), and sends displays, their updates and progress to the cell's
// output. Cells and the cells program import it. Packages that must not link it give
// their values methods that Of recognises.
//
// It does not speak the Jupyter protocol, and of user code it runs only the methods of
// the values that it shows. It must not import gpu or ops.
package display

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"warpbook/kernel/cellproto"
)

// sink is where events go; nil prints text to standard output.
var sink atomic.Pointer[func(cellproto.Event)]

// SetSink makes f receive every later event. The cells program calls it once,
// before the first cell. f is called from whichever
// goroutine shows something, several at a time, and adds the request's ID. A
// nil f makes displays print their text to standard output, as they do before
// the first call.
func SetSink(f func(cellproto.Event)) {
	if f == nil {
		sink.Store(nil)
		return
	}
	sink.Store(&f)
}

func send(e cellproto.Event) {
	if f := sink.Load(); f != nil {
		(*f)(e)
		return
	}
	if text, ok := e.Data[textPlain].(string); ok && e.Type == cellproto.Display {
		fmt.Println(text)
	}
}

// Show displays each value, in order, as Of turns it into a bundle; of a value
// with parts, each part. When all are shown it panics with the reason if a chart or
// a table could not be drawn, so that its cell fails.
func Show(vs ...any) {
	var failed error
	for _, v := range Parts(vs) {
		data, metadata, err := Draw(v)
		send(cellproto.Event{Type: cellproto.Display, Data: data, Metadata: metadata})
		if failed == nil {
			failed = err
		}
	}
	if failed != nil {
		panic(failed)
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
	send(cellproto.Event{Type: cellproto.Clear, Wait: wait})
}

// Handle is one display that can be replaced by another value later, also
// from other goroutines and other cells.
type Handle struct {
	id string
	mu sync.Mutex // held while sending, so that updates arrive in the order of the calls
}

// New displays v and returns its handle. It panics as Show does.
func New(v any) *Handle {
	h := newHandle()
	h.show(v, false)
	return h
}

func newHandle() *Handle { return &Handle{id: uuid.NewString()} }

// Update replaces the handle's value by v. It panics as Show does.
func (h *Handle) Update(v any) { h.show(v, true) }

func (h *Handle) show(v any, update bool) { h.showAfter(func() {}, v, update) }

// showAfter calls first, and shows v. Updates by other goroutines wait for both.
func (h *Handle) showAfter(first func(), v any, update bool) {
	data, metadata, err := Draw(v)
	h.mu.Lock()
	defer h.mu.Unlock()
	first()
	send(cellproto.Event{Type: cellproto.Display, Data: data, Metadata: metadata, Display: h.id, Update: update})
	if err != nil {
		panic(err)
	}
}
