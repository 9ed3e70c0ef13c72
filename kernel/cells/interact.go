//go:build cells

package main

import (
	"fmt"
	"sync"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/display"
)

// captures are the cells whose output is the result of a function of display.Interact.
// Other cells share its lock.
type captures struct {
	mu   sync.RWMutex // guards open; held while add is called
	open map[uint64]func(display.Piece) bool
}

// take gives output of a cell to its capture, and reports whether the capture takes it.
func (c *captures) take(cell uint64, p func() display.Piece) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	add := c.open[cell]
	return add != nil && add(p())
}

// during captures the output of a cell while f runs.
func (c *captures) during(cell uint64, f func(), add func(display.Piece) bool) error {
	c.mu.Lock()
	if c.open[cell] != nil {
		c.mu.Unlock()
		return fmt.Errorf("display: interact: called by the function of another interact, expected a call by a cell")
	}
	c.open[cell] = add
	c.mu.Unlock()
	defer c.end(cell)
	f()
	return nil
}

func (c *captures) end(cell uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, cell)
}

// written takes what a cell's goroutine prints.
func (p *program) written(cell uint64, name string, text []byte) (int, error) {
	if cell != 0 && p.captures.take(cell, func() display.Piece { return display.Piece{Text: string(text)} }) {
		return len(text), nil
	}
	return p.printed.write(cell, name, text)
}

// stage is what display.Interact needs.
func (p *program) stage() *display.Stage {
	return &display.Stage{
		Board: p.board,
		Place: func() string {
			if x := p.running.get(p.owner()); x != nil {
				return x.place
			}
			return ""
		},
		Capture: func(f func(), add func(display.Piece) bool) error { return p.captures.during(p.owner(), f, add) },
	}
}

// begins closes the controls that a cell has shown when it ran before.
func (p *program) begins(r cellproto.Request) {
	if closing := p.board.Close(r.Place); len(closing) > 0 {
		p.emit(cellproto.Event{ID: r.ID, Type: cellproto.CommMessage, Comms: closing})
	}
}

// comm takes a client's message to a widget. The functions are called by a later request.
func (p *program) comm(r cellproto.Request) {
	done := cellproto.Event{ID: r.ID, Type: cellproto.Done}
	if r.Comm != nil {
		done.Comms, done.Follow = p.board.Receive(*r.Comm)
	}
	p.emit(done)
}

// follow calls the functions whose controls have changed, each as if it were a cell, until
// all results are of the latest values. An interrupt ends it.
func (p *program) follow(r cellproto.Request, x *running) {
	var once sync.Once
	end := func(err *cellproto.Error) {
		once.Do(func() { p.end(x, cellproto.Event{ID: r.ID, Type: cellproto.Done, Error: err}) })
	}
	for x.ctx.Err() == nil {
		panel := p.board.Next()
		if panel == nil {
			break
		}
		answered := make(chan struct{})
		p.engine.Protect(x.ctx, x.id, func() { panel.Run(panel.Values()) }, func(err *cellproto.Error) {
			defer close(answered)
			if p.board.Ended(panel) {
				p.readOn() // Show may wait for the delivery of another display, which arrives as a request
				panel.Show(err)
			}
			if x.ctx.Err() != nil {
				end(err) // another goroutine, if the function goes on
			}
		})
		<-answered
	}
	end(nil)
}
