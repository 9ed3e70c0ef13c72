package stop

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/visualfc/gid"
)

// The values of the flag.
const (
	running  = 0
	stopping = 1 // every goroutine of every cell ends at its next check
)

const (
	deferTime  = 50 * time.Millisecond
	deferLooks = 1000
	SettleTime = 200 * time.Millisecond
)

// Stopper stops interpreted code.
type Stopper struct {
	Flag    int32                         // read by interpreted code without synchronisation
	killing atomic.Pointer[chan struct{}] // closes at a stop
	Live    atomic.Int64                  // goroutines that cells have started

	mu       sync.Mutex // guards the fields below
	jobs     int        // cells that are compiled or run
	runs     int        // cells that run
	watching bool       // watch runs
	stops    int        // begins without an end
	resuming *sync.Cond // stops has changed

	unwinding sync.Map // ids of goroutines that have been stopped, to *unwind
}

// unwind is a goroutine that has been stopped and runs its deferred calls. They get some
// time to clean up, counted from their start, and some checks of the flag in case a busy
// machine uses up that time. It belongs to its goroutine.
type unwind struct {
	until time.Time
	looks int
}

func New() *Stopper {
	s := &Stopper{}
	s.resuming = sync.NewCond(&s.mu)
	c := make(chan struct{})
	s.killing.Store(&c)
	return s
}

// setFlag is hidden from the race detector: interpreted code reads the flag at each loop
// and call, where an atomic read would cost more than the loop. An aligned word is
// written whole, and a late read only stops later. It is called with mu held.
//
//go:norace
func (s *Stopper) setFlag(to int32) { s.Flag = to }

//go:norace
func (s *Stopper) getFlag() int32 { return s.Flag }

// Stop runs in the goroutine that observed the flag.
func (s *Stopper) Stop() { s.Ended(nil) }

// Ended is called by code that has seen the flag after a compiled call that returned
// err.
func (s *Stopper) Ended(err error) {
	if s.getFlag() == stopping && !s.unwinds() {
		s.kill(err)
	}
}

// unwinds reports whether this goroutine has been stopped and may continue with its
// deferred calls.
func (s *Stopper) unwinds() bool {
	v, ok := s.unwinding.Load(gid.Get())
	if !ok {
		return false
	}
	u := v.(*unwind)
	u.looks++
	return u.looks <= deferLooks || time.Now().Before(u.until)
}

// Killed ends the goroutine.
func (s *Stopper) Killed() { s.kill(nil) }

// kill ends the goroutine; err is the error of a call that the stop ended.
func (s *Stopper) kill(err error) {
	s.unwinding.LoadOrStore(gid.Get(), &unwind{until: time.Now().Add(deferTime)})
	panic(Interrupted{err})
}

// Channel closes when the goroutine must end.
func (s *Stopper) Channel() <-chan struct{} {
	if s.getFlag() != stopping || !s.unwinds() {
		return *s.killing.Load()
	}
	c := make(chan struct{}) // a deferred call waits: for a limited time
	time.AfterFunc(deferTime, func() { close(c) })
	return c
}

// Block blocks until the goroutine is stopped.
func (s *Stopper) Block() {
	<-s.Channel()
	s.Killed()
}

func (s *Stopper) Sleep(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.Channel():
		s.Killed()
	}
}

// Enter begins to run a cell, after earlier stops have ended. A cell that is itself to
// be stopped does not wait: it ends at its next check.
func (s *Stopper) Enter(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.stops > 0 && ctx.Err() == nil {
		s.resuming.Wait()
	}
	s.runs++
}

// Leave is the end of Enter.
func (s *Stopper) Leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs--
}

// Busy reports whether a cell runs, apart from goroutines.
func (s *Stopper) Busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs > 0
}

// Begin stops everything that runs, and reports whether no other caller is doing so.
func (s *Stopper) Begin() (first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.beginLocked()
}

// BeginIdle is Begin, unless a cell runs.
func (s *Stopper) BeginIdle() (first, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runs > 0 {
		return false, false
	}
	return s.beginLocked(), true
}

// beginLocked is Begin with mu held.
func (s *Stopper) beginLocked() (first bool) {
	s.resuming.Broadcast()
	if s.stops++; s.stops > 1 {
		return false
	}
	s.setFlag(stopping)
	close(*s.killing.Load())
	return true
}

// End lets code run again, once the goroutines have ended or have had the time to, and
// every caller of Begin has called End.
func (s *Stopper) End() {
	for start := time.Now(); s.Live.Load() > 0 && time.Since(start) < SettleTime; {
		time.Sleep(2 * time.Millisecond)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stops--; s.stops > 0 {
		return
	}
	c := make(chan struct{})
	s.killing.Store(&c)
	s.unwinding.Clear()
	s.setFlag(running)
	s.resuming.Broadcast()
}

// Interrupted is the panic value that stops interpreted code at an interrupt.
type Interrupted struct {
	By error // the error of a compiled call that the interrupt ended, if any
}

func (Interrupted) Error() string { return "interrupted" }

// MaxStack is the number of bytes of a goroutine's stack beyond which a call of an
// interpreted function is a runaway recursion; 100 000 calls fit. The runtime ends the process at
// 512 MB: deferred calls and compiled functions add to these bytes.
const MaxStack = 48 << 20

// ErrOverflow is the panic value of a runaway recursion.
var ErrOverflow = errors.New("stack overflow: the cell recursed too deeply")
