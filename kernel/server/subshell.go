package server

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"
)

// shell answers requests in the order of their arrival. The kernel starts with one, its
// parent shell; clients create others, its subshells, which run cells while the parent
// shell is busy. Each shell counts its own cells.
type shell struct {
	id      string // "" is the parent shell
	place   int    // 0 is the parent shell, 1 the first subshell created
	queue   *queue
	failure failure      // owned by the goroutine that serves its requests
	count   atomic.Int64 // of executions
}

// counted returns the count of the last cell.
func (s *shell) counted() int { return int(s.count.Load()) }

// take serves a cell at once if the shell is idle: passing it to the dispatcher takes
// longer. The dispatcher serves other requests, because they may block while they are
// answered. take returns false once the shell is closed.
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

	mu      sync.Mutex // guards the fields below
	open    map[string]*shell
	made    int // number of shells created so far
	stopped bool
	running sync.WaitGroup // one for each dispatcher
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

// find returns the shell with an id, nil if there is none.
func (s *shells) find(id string) *shell {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[id]
}

// remove removes a subshell and returns it; nil if none has that id.
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

// stop ends all dispatchers after their current request.
func (s *shells) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	for _, open := range s.open {
		open.queue.close()
	}
}

// ids returns the ids of the subshells.
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

// deleteSubshell ends a subshell. Its running cell continues to its end; the requests
// queued after the cell are answered with an error.
func deleteSubshell(c *call, q subshell) (*none, error) {
	removed := c.server.shells.remove(q.ID)
	if removed == nil {
		return nil, noSubshell(q.ID)
	}
	c.server.parents.forget(removed.place)
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
	return fmt.Errorf("server: subshell %q: unknown, list_subshell_request lists the subshells", id)
}
