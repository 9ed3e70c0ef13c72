package stop

import (
	"context"
	"io"
	"sync"
	"time"
)

// locker is a lock that can be tried.
type locker interface {
	sync.Locker
	TryLock() bool
}

// ReadLock is the read lock of m.
func ReadLock(m *sync.RWMutex) locker { return reader{m} }

type reader struct{ m *sync.RWMutex }

func (r reader) Lock()         { r.m.RLock() }
func (r reader) Unlock()       { r.m.RUnlock() }
func (r reader) TryLock() bool { return r.m.TryRLock() }

// Lock locks m. If the goroutine is stopped first, the goroutine that waits for the lock
// in its place unlocks it.
func (s *Stopper) Lock(m locker) {
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
	case <-s.Channel():
		close(gone)
		s.Killed()
	}
}

// Await calls wait. After a stop it leaves wait behind, which returns some time later.
func (s *Stopper) Await(wait func()) {
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
	case <-s.Channel():
		s.Killed()
	}
}

// WaitCond is c.Wait. A stop wakes all that wait for c, which are stopped too: Wait returns
// with the lock held, as deferred calls expect.
func (s *Stopper) WaitCond(c *sync.Cond) {
	ended := make(chan any, 1)
	go func() {
		defer func() { ended <- recover() }()
		c.Wait()
	}()
	kill := s.Channel()
	for killed := false; ; killed = true {
		select {
		case failure := <-ended:
			if failure != nil {
				panic(failure)
			}
			if killed {
				s.Killed()
			}
			return
		case <-kill:
			c.Broadcast()
			time.Sleep(time.Millisecond) // the goroutine may not wait yet
		}
	}
}

// Closing calls wait, which ends when c is closed: by a stop too.
func (s *Stopper) Closing(c io.Closer, wait func() error) error {
	kill, ended, closed := s.Channel(), make(chan struct{}), make(chan bool, 1)
	go func() {
		select {
		case <-kill:
			c.Close()
			closed <- true
		case <-ended:
			closed <- false
		}
	}()
	err := wait()
	close(ended)
	if <-closed {
		s.kill(err)
	}
	return err
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

// Context is a context that is done when code is stopped.
func (s *Stopper) Context() context.Context { return Until(context.Background(), s.Channel()) }

// Until is a context that is done when a channel closes. That of ctx never does.
func Until(ctx context.Context, kill <-chan struct{}) context.Context { return untilKilled{ctx, kill} }
