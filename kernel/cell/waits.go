package cell

import (
	"context"
	"os/exec"
	"sync"
)

// groupGo is the name of a function that starts a goroutine.
const groupGo = "(*sync.WaitGroup).Go"

// registerWaits has what waits in compiled code end when the cell is stopped,
// where nothing is lost by it: locks, wait groups and subprocesses. A wait for a
// condition is not among them, since it must end with the lock held.
func (e *Engine) registerWaits() {
	for name, f := range map[string]any{
		"(*sync.Mutex).Lock":     func(m *sync.Mutex) { e.stop.lock(m) },
		"(*sync.RWMutex).Lock":   func(m *sync.RWMutex) { e.stop.lock(m) },
		"(*sync.RWMutex).RLock":  func(m *sync.RWMutex) { e.stop.lock(reader{m}) },
		groupGo:                  e.groupGo,
		"(*sync.WaitGroup).Wait": func(g *sync.WaitGroup) { e.stop.await(g.Wait) },
		"os/exec.Command": func(name string, arg ...string) *exec.Cmd {
			return exec.CommandContext(untilKilled{context.Background(), e.stop.channel()}, name, arg...)
		},
	} {
		e.external(name, f)
	}
}

// locker is a lock that can be tried.
type locker interface {
	sync.Locker
	TryLock() bool
}

// reader is the read lock of m.
type reader struct{ m *sync.RWMutex }

func (r reader) Lock()         { r.m.RLock() }
func (r reader) Unlock()       { r.m.RUnlock() }
func (r reader) TryLock() bool { return r.m.TryRLock() }

// lock locks m. When the goroutine is stopped before, whoever waits for the
// lock in its place gives it back.
func (s *stopper) lock(m locker) {
	if m.TryLock() {
		return
	}
	got, gone := make(chan struct{}), make(chan struct{})
	go func() {
		m.Lock()
		select {
		case got <- struct{}{}:
		case <-gone:
			m.Unlock()
		}
	}()
	select {
	case <-got:
	case <-s.channel():
		close(gone)
		s.killed()
	}
}

// await calls wait, which returns some time after a goroutine that is stopped
// has left it.
func (s *stopper) await(wait func()) {
	ended := make(chan any, 1)
	go func() {
		defer func() { ended <- recover() }()
		wait()
	}()
	select {
	case failure := <-ended:
		if failure != nil {
			panic(failure)
		}
	case <-s.channel():
		s.killed()
	}
}

// untilKilled is done when code is stopped.
type untilKilled struct {
	context.Context
	kill <-chan struct{}
}

func (u untilKilled) Done() <-chan struct{} { return u.kill }

func (u untilKilled) Err() error {
	select {
	case <-u.kill:
		return context.Canceled
	default:
		return nil
	}
}
