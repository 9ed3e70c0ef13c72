package engine

import (
	"errors"
	"fmt"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/engine/check"
	"warpbook/kernel/engine/failure"
	"warpbook/kernel/engine/magic"
	"warpbook/kernel/engine/stop"
)

// openMagics lets a cell's magics run until the returned function is called.
func (e *Engine) openMagics(s *check.Source) (shut func()) {
	for _, c := range s.Calls {
		c.Session, c.Out, c.Show = session{e, s}, e.stdout, e.config.Show
		e.calls.Store(c.ID, opened{c, s})
	}
	return func() {
		for _, c := range s.Calls {
			e.calls.Delete(c.ID)
			if c.Always == nil {
				continue
			}
			if err := c.Always(); err != nil {
				fmt.Fprintln(e.stderr, err)
			}
		}
	}
}

// opened is a call that may run, and its cell.
type opened struct {
	*check.Call
	source *check.Source
}

func (e *host) opened(id int) opened {
	o, ok := e.calls.Load(id)
	if !ok { // the cell was abandoned
		panic(stop.Interrupted{})
	}
	return o.(opened)
}

// magic runs a magic, or begins or ends one that takes code.
func (e *host) magic(id int) {
	c := e.opened(id)
	switch {
	case c.Stop != nil:
		c.done(e, c.Stop())
	case c.Start != nil && !c.Help:
		var err error
		c.Call.Stop, err = c.Start(c.Call.Call)
		c.done(e, err)
	default:
		c.done(e, c.Do())
	}
}

func (e *host) magicRuns(id int) int {
	c := e.opened(id)
	var err error
	if c.Next == nil {
		c.Call.Next, err = c.Loop(c.Call.Call)
	}
	n := 0
	if err == nil {
		n, err = c.Next()
	}
	c.done(e, err)
	return n
}

// done ends the cell if a magic has returned an error.
func (o opened) done(e *host, err error) {
	if errors.Is(err, magic.ErrInterrupted) {
		e.stop.Killed()
	}
	if err != nil {
		panic(&magicError{o.source.MagicDiagnostic(o.At, err)})
	}
}

// magicError is the panic value of a magic that fails its cell.
type magicError struct{ failure.Diagnostic }

func (m *magicError) Error() string { return m.String() }

func (e *Engine) magicFailure(m *magicError) *cellproto.Error {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	return &cellproto.Error{Name: failure.ErrorError, Value: m.String(), Traceback: []string{failure.ErrorError + ": " + m.String() + e.Quote(m.Diagnostic)}}
}
