package server

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"
)

// shell answers requests in the order in which they came. The kernel has one
// from the start, its parent shell; clients make others, its subshells, which
// run cells while the parent shell is busy. Each counts its own cells.
type shell struct {
	id      string // "" is the parent shell
	place   int    // 0 is the parent shell, 1 the first subshell that was made
	queue   *queue
	failure failure      // of who serves its requests
	count   atomic.Int64 // of executions
}

// counted is the count of the last cell.
func (s *shell) counted() int { return int(s.count.Load()) }

// take serves a cell at once, if it is its turn: to hand it to the dispatcher would
// take longer. Other requests may wait for their answer, and wait for the dispatcher.
// It returns false once the shell is closed.
func (s *shell) take(c *call) bool {
	if c.request.Header.Type == "execute_request" && s.queue.turn() {
		c.serve(s.queue.done)
		return true
	}
	return s.queue.push(c)
}

// shells are the parent shell and the subshells.
type shells struct {
	serve func(c *call, done func())

	mu      sync.Mutex // guards what follows
	open    map[string]*shell
	made    int // shells so far
	stopped bool
	running sync.WaitGroup // a dispatcher each
}

// start adds a shell with a dispatcher; it returns false once the kernel stops.
func (s *shells) start(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return false
	}
	added := &shell{id: id, place: s.made, queue: newQueue()}
	s.made++
	s.open[id] = added
	s.running.Go(func() { added.queue.dispatch(s.serve) })
	return true
}

// find returns the shell of an id, nil if there is none.
func (s *shells) find(id string) *shell {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[id]
}

// remove closes a subshell, nil if there is none of that id.
func (s *shells) remove(id string) *shell {
	s.mu.Lock()
	defer s.mu.Unlock()
	removed := s.open[id]
	if id == "" || removed == nil {
		return nil
	}
	delete(s.open, id)
	return removed
}

// stop ends all dispatchers once they have answered what they are at.
func (s *shells) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	for _, open := range s.open {
		open.queue.close()
	}
}

// ids are those of the subshells.
func (s *shells) ids() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := slices.Sorted(maps.Keys(s.open))
	return slices.DeleteFunc(ids, func(id string) bool { return id == "" })
}

type subshell struct {
	ID string `json:"subshell_id"`
}

type subshellList struct {
	IDs []string `json:"subshell_id"`
}

func createSubshell(c *call, _ none) (*subshell, error) {
	id := uuid.NewString()
	if !c.server.shells.start(id) {
		return nil, fmt.Errorf("server: create_subshell_request: the kernel is shutting down")
	}
	return &subshell{id}, nil
}

// deleteSubshell ends a subshell. A cell that runs in it runs to its end; what
// waits behind it is answered with an error.
func deleteSubshell(c *call, q subshell) (*none, error) {
	removed := c.server.shells.remove(q.ID)
	if removed == nil {
		return nil, noSubshell(q.ID)
	}
	for _, left := range removed.queue.close() {
		left.shell = nil
		c.server.shells.serve(left, func() {})
	}
	return nil, nil
}

func listSubshells(c *call, _ none) (*subshellList, error) {
	return &subshellList{c.server.shells.ids()}, nil
}

func noSubshell(id string) error {
	return fmt.Errorf("server: subshell %q: there is none, list_subshell_request tells those there are", id)
}
