package debug

import "fmt"

// current is the halt, and the stop of it that clients see.
func (s *Session) current() (*halt, *Stop) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.halted == nil {
		return nil, nil
	}
	return s.halted, s.halted.Stop
}

// back shows the stop that lies before the one that clients see.
func (s *Session) back(line bool) error {
	h, at := s.current()
	switch {
	case h == nil:
		return errRunning
	case at.Back == nil:
		return fmt.Errorf("debug: stepBack: Go has no past here: only kernels on the emulator go backwards")
	}
	past, err := at.Back(line)
	if err != nil {
		return fmt.Errorf("debug: stepBack: %w", err)
	}
	s.show(h, past)
	return nil
}

// forward shows the stop in the past that a step leads to; it reports false if the thread
// must go on.
func (s *Session) forward(step *Step) bool {
	h, at := s.current()
	if h == nil || at.Forward == nil || !s.isStarted() {
		return false
	}
	var kind *StepKind
	if step != nil {
		kind = &step.Kind
	}
	next := at.Forward(kind)
	if next != nil {
		s.show(h, next)
	}
	return next != nil
}

// Show replaces the stop that clients see by another one of the same thread, such as that
// of another lane.
func (s *Session) Show(stop *Stop) {
	if h, _ := s.current(); h != nil {
		s.show(h, stop)
	}
}

// show replaces the stop of a halt. A command of the console does that while its request
// is answered: JupyterLab then asks for the frames twice, for the event and for the answer,
// empties its variables in between, and fills them for frames with other ids only.
func (s *Session) show(h *halt, stop *Stop) {
	s.mu.Lock()
	if s.halted != h {
		s.mu.Unlock()
		return
	}
	s.references.clear()
	h.Stop = stop
	h.fresh = 2
	s.mu.Unlock()
	s.announce(stop)
}
