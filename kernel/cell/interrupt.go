package cell

import (
	"context"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"github.com/visualfc/gid"
)

// What stopper.flag says.
const (
	running  = 0
	stopping = 1 // every goroutine of every cell ends at its next check
	tooDeep  = 2 // a goroutine whose stack is huge ends at its next check
)

const (
	maxStackGrowth = 40 << 20               // bytes of stack that the cells may add; 100 000 calls fit
	lookTime       = 500 * time.Millisecond // while goroutines look at their stacks, which is slow; copying one may take long
	deepFrames     = 50000                  // a stack of more frames is the one that runs away
	deferTime      = 50 * time.Millisecond
	deferLooks     = 1000
	settleTime     = 200 * time.Millisecond
)

// stopper stops interpreted code.
type stopper struct {
	flag    int32                         // read by interpreted code without synchronisation
	killing atomic.Pointer[chan struct{}] // closes at a stop
	live    atomic.Int64                  // goroutines that cells have started

	mu       sync.Mutex // guards what follows
	jobs     int        // cells that are compiled or run
	runs     int        // cells that run
	begun    int        // cells that have begun to run
	watching bool       // watch runs
	stops    int        // begins without their end
	resuming *sync.Cond // stops has changed

	unwinding sync.Map // ids of goroutines that have been stopped, to *unwind
}

// unwind is a goroutine that has been stopped and runs its deferred calls. They
// get some time to leave things in order, counted from when they begin; where
// the machine is busy and that time passes at once, some looks at the flag.
// It is the goroutine's own.
type unwind struct {
	until time.Time
	looks int
}

func newStopper() *stopper {
	s := &stopper{}
	s.resuming = sync.NewCond(&s.mu)
	c := make(chan struct{})
	s.killing.Store(&c)
	return s
}

// setFlag is hidden from the race detector: interpreted code reads the flag
// at each loop and call, and an atomic read would cost it more than the loop.
// An aligned word is written whole, and a late read only stops later. It is
// called with mu held, so that no stop is lost behind a look at the stacks.
//
//go:norace
func (s *stopper) setFlag(to int32) { s.flag = to }

//go:norace
func (s *stopper) getFlag() int32 { return s.flag }

// change sets the flag if it is what is expected.
func (s *stopper) change(from, to int32) (changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if changed = s.getFlag() == from; changed {
		s.setFlag(to)
	}
	return changed
}

// stop is what code calls that has seen the flag.
func (s *stopper) stop() { s.ended(nil) }

// ended is what code calls that has seen the flag behind a compiled call which
// has returned err.
func (s *stopper) ended(err error) {
	switch s.getFlag() {
	case stopping:
		if !s.unwinds() {
			s.kill(err)
		}
	case tooDeep:
		var pc [1]uintptr
		if runtime.Callers(deepFrames, pc[:]) > 0 && s.change(tooDeep, running) {
			panic(errOverflow)
		}
	}
}

// unwinds says whether this goroutine has been stopped and may go on with its
// deferred calls.
func (s *stopper) unwinds() bool {
	v, ok := s.unwinding.Load(gid.Get())
	if !ok {
		return false
	}
	u := v.(*unwind)
	u.looks++
	return u.looks <= deferLooks || time.Now().Before(u.until)
}

// killed ends the goroutine.
func (s *stopper) killed() { s.kill(nil) }

// kill ends the goroutine; err is what a call made of the stop.
func (s *stopper) kill(err error) {
	s.unwinding.LoadOrStore(gid.Get(), &unwind{until: time.Now().Add(deferTime)})
	panic(interrupted{err})
}

// channel closes when the goroutine must end.
func (s *stopper) channel() <-chan struct{} {
	if s.getFlag() != stopping || !s.unwinds() {
		return *s.killing.Load()
	}
	c := make(chan struct{}) // a deferred call waits: for a while
	time.AfterFunc(deferTime, func() { close(c) })
	return c
}

// block waits for nothing.
func (s *stopper) block() {
	<-s.channel()
	s.killed()
}

func (s *stopper) sleep(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.channel():
		s.killed()
	}
}

// enter begins to run a cell, after what is being stopped has ended. One that is to
// be stopped itself does not wait: it ends where it looks.
func (s *stopper) enter(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.stops > 0 && ctx.Err() == nil {
		s.resuming.Wait()
	}
	if s.runs++; s.runs == 1 {
		s.begun++
	}
}

// leave ends what enter has begun.
func (s *stopper) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runs--; s.runs == 0 && s.getFlag() == tooDeep {
		s.setFlag(running)
	}
}

// busy says whether a cell runs, apart from goroutines.
func (s *stopper) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs > 0
}

// begin stops everything that runs, and reports whether nobody else is doing so.
func (s *stopper) begin() (first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resuming.Broadcast()
	if s.stops++; s.stops > 1 {
		return false
	}
	s.setFlag(stopping)
	close(*s.killing.Load())
	return true
}

// end lets code run again, once the goroutines have ended or have had time to,
// and everybody who began to stop them is done.
func (s *stopper) end() {
	for start := time.Now(); s.live.Load() > 0 && time.Since(start) < settleTime; {
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

// What watches cells looks at them every watchTick and stays for some time after
// the last one: to start it takes a small cell longer than to run.
const (
	watchTick = 10 * time.Millisecond
	watchIdle = 100 // ticks
)

// watched has cells watched until done is called, which calls lasting at each
// tick.
func (s *stopper) watched(lasting func()) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs++
	if !s.watching {
		s.watching = true
		go s.watch(lasting)
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.jobs--
	}
}

// look says what there is to watch. When there has been nothing for long, who
// watches ends.
func (s *stopper) look(idle int) (jobs, runs, begun int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watching = s.jobs > 0 || idle < watchIdle
	return s.jobs, s.runs, s.begun
}

// watch calls lasting while there are cells, and raises the flag when their stacks
// have grown beyond measure, so that a runaway recursion becomes an error of its
// cell.
func (s *stopper) watch(lasting func()) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/stacks:bytes"}}
	read := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	last, base, seen, raised := read(), uint64(0), -1, time.Time{}
	tick := time.NewTicker(watchTick)
	defer tick.Stop()
	for idle := 0; idle <= watchIdle; idle++ {
		<-tick.C
		jobs, runs, begun := s.look(idle)
		if jobs > 0 {
			idle = 0
			lasting()
		}
		if begun != seen { // a cell has begun since the last tick, or when this began
			base, seen = last, begun
		}
		last = read()
		base = min(base, last)
		if time.Since(raised) > lookTime {
			s.change(tooDeep, running)
		}
		if runs > 0 && last > base+maxStackGrowth && s.change(running, tooDeep) {
			raised = time.Now()
			base = last // the stack itself stays big until a collection
		}
	}
}
