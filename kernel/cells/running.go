//go:build cells

package main

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"warpbook/kernel/cellproto"
)

// running is a cell that has been accepted and not answered.
type running struct {
	id      uint64
	place   string          // the client's name of the cell
	ctx     context.Context // cancelled by an interrupt
	stop    func()
	asking  chan struct{} // holds a value while a question is open
	answers chan cellproto.Request
}

// runnings are the running cells, and the last cell of each shell.
type runnings struct {
	mu     sync.Mutex // guards the fields below
	cells  map[uint64]*running
	shells map[uint64]int // of cells of subshells
	last   map[int]uint64 // by shell: the last cell that is not silent
}

func newRunnings() runnings {
	return runnings{cells: map[uint64]*running{}, shells: map[uint64]int{}, last: map[int]uint64{}}
}

// add accepts a cell.
func (r *runnings) add(q cellproto.Request) *running {
	x := &running{id: q.ID, place: q.Place, asking: make(chan struct{}, 1), answers: make(chan cellproto.Request, 1)}
	x.ctx, x.stop = context.WithCancel(context.Background())
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cells[q.ID] = x
	if q.Shell != 0 {
		r.shells[q.ID] = q.Shell
	}
	if !q.Silent {
		r.last[q.Shell] = q.ID
	}
	return x
}

// shows returns the cell that shows the output of a cell's goroutine: the cell itself
// while it runs, then the last cell of its shell. Clients such as nbclient drop output
// of cells that have ended.
func (r *runnings) shows(id uint64) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last := r.last[r.shells[id]]; r.cells[id] == nil && last != 0 {
		return last
	}
	return id
}

// remove removes a cell that is about to be answered, and drops an interrupt that the
// cell has not observed.
func (r *runnings) remove(x *running) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.cells, x.id)
	x.stop()
}

// interrupt cancels all accepted cells, including those that do not run yet. It reports
// whether one of them was interrupted before.
func (r *runnings) interrupt() (again bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range r.cells {
		again = again || x.ctx.Err() != nil
		x.stop()
	}
	return again
}

func (r *runnings) get(id uint64) *running {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cells[id]
}

// oldest returns the id of the cell that has run longest, 0 if none runs.
func (r *runnings) oldest() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.cells) == 0 {
		return 0
	}
	return slices.MinFunc(slices.Collect(maps.Keys(r.cells)), cmp.Compare)
}
