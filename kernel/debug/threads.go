package debug

import (
	"maps"
	"slices"

	"github.com/google/go-dap"
)

// Beside is a thread that stands still while another one is stopped, such as another warp
// of its block.
type Beside struct {
	Thread int
	Name   string
	Stop   func() *Stop // its place; nil if it has ended
}

// beside is the place of a thread that stands still at a stop, nil if it is none.
func (s *Stop) beside(thread int) *Stop {
	if s.Beside == nil || thread == s.Thread {
		return nil
	}
	for _, b := range s.Beside() {
		if b.Thread == thread {
			return b.Stop()
		}
	}
	return nil
}

// wait makes the stop of a thread the next one, and lists the thread meanwhile. It reports
// false if cancel closes.
func (s *Session) wait(stop *Stop, cancel <-chan struct{}) bool {
	s.mu.Lock()
	s.waiting[stop.Thread] = stop
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.waiting, stop.Thread)
		s.mu.Unlock()
	}()
	return s.take(stop.Thread, cancel)
}

// threads are the one that is stopped, those that wait for their stop, and those that stand
// beside it.
func (s *Session) threads() []dap.Thread {
	s.mu.Lock()
	list := []dap.Thread{}
	var at *Stop
	if s.halted != nil {
		at = s.halted.Stop
		list = append(list, dap.Thread{Id: at.Thread, Name: at.Name})
	}
	for _, id := range slices.Sorted(maps.Keys(s.waiting)) {
		list = append(list, dap.Thread{Id: id, Name: s.waiting[id].Name + ", waits for its stop"})
	}
	s.mu.Unlock()
	if at != nil && at.Beside != nil {
		for _, b := range at.Beside() {
			list = append(list, dap.Thread{Id: b.Thread, Name: b.Name})
		}
	}
	return list
}

// numbered is a frame with its id.
type numbered struct {
	frame Frame
	id    int
}

// framesOf are the frames of a thread: those of the stop if it is not known.
func (s *Session) framesOf(thread int) (list []numbered) {
	h, at := s.current()
	if h == nil {
		return nil
	}
	other := at.beside(thread)
	s.mu.Lock()
	defer s.mu.Unlock()
	if w := s.waiting[thread]; w != nil && thread != at.Thread {
		other = w
	}
	if s.halted != h || h.Stop != at {
		return nil // it went on meanwhile
	}
	if h.fresh > 0 {
		h.fresh--
		s.number(h)
	}
	if other == nil {
		for i, f := range at.Frames {
			list = append(list, numbered{f, h.frames[i]})
		}
		return list
	}
	for _, f := range other.Frames {
		list = append(list, numbered{f, s.references.add(f)})
	}
	return list
}
