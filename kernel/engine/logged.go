//go:build edited

package engine

import (
	"log/slog"

	"github.com/goplus/ixgo"
	"github.com/visualfc/gid"
)

// logging notes the place of a record that this goroutine handles, until end is called.
func (e *host) logging(place logged) (end func()) {
	o := e.ownerOf(gid.Get())
	if o == nil {
		return func() {}
	}
	outer := o.logged
	o.logged = place
	return func() { o.logged = outer }
}

// handling is the place of the record that this goroutine handles.
func (e *host) handling() logged {
	if o := e.ownerOf(gid.Get()); o != nil {
		return o.logged
	}
	return logged{}
}

// sourceOf is the place of the current call of a frame.
func sourceOf(fr *ixgo.Frame) *slog.Source {
	function, file, line := fr.Place()
	return &slog.Source{Function: function, File: file, Line: line}
}

// wrappers are the functions that the compiler makes between a call and its method.
const wrappers = 4

// caller is a frame of this goroutine, 1 for the innermost, nil if there is none.
func (e *host) caller(depth int) *ixgo.Frame {
	for _, fr := range e.Stack(nil, depth+wrappers) {
		if _, _, line := fr.Place(); line > 0 {
			if depth--; depth <= 0 {
				return fr
			}
		}
	}
	return nil
}
