//go:build cells

package main

import (
	"sync"

	"warpbook/kernel/cellproto"
	"warpbook/kernel/engine/magic"
	"warpbook/kernel/history"
)

// past gives magics the history of the kernel that started the program.
type past struct {
	mu      sync.Mutex // guards history
	history *history.History
}

// inheritedPast is nil if the parent keeps no history.
func inheritedPast() magic.Past {
	if h := history.Inherit(); h != nil {
		return &past{history: h}
	}
	return nil
}

func (p *past) Tail(n int) ([]magic.Cell, error) {
	return p.cells(func() ([]history.Entry, error) { return p.history.Tail(n) })
}

func (p *past) Range(session, start int, stop *int) ([]magic.Cell, error) {
	return p.cells(func() ([]history.Entry, error) { return p.history.Range(0, session, start, stop) })
}

func (p *past) Search(pattern string) ([]magic.Cell, error) {
	return p.cells(func() ([]history.Entry, error) { return p.history.Search(pattern, true, 0) })
}

func (p *past) cells(find func() ([]history.Entry, error)) (cells []magic.Cell, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	entries, err := find()
	for _, e := range entries {
		c := magic.Cell{Session: e.Session, Number: cellproto.CellNumber(e.Shell, e.Line), Source: e.Input}
		if e.Session == p.history.Session() {
			c.Session = 0
		}
		cells = append(cells, c)
	}
	return cells, err
}
