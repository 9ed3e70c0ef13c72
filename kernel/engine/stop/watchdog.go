package stop

import (
	"runtime/metrics"
	"time"
)

// What watches cells looks at them every watchTick and stays for some time after
// the last one: to start it takes a small cell longer than to run.
const (
	watchTick = 10 * time.Millisecond
	watchIdle = 100 // ticks
)

// Watched has cells watched until done is called, which calls lasting at each
// tick.
func (s *Stopper) Watched(lasting func()) (done func()) {
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
func (s *Stopper) look(idle int) (jobs, runs, begun int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watching = s.jobs > 0 || idle < watchIdle
	return s.jobs, s.runs, s.begun
}

// watch calls lasting while there are cells, and raises the flag when their stacks
// have grown beyond measure, so that a runaway recursion becomes an error of its
// cell.
func (s *Stopper) watch(lasting func()) {
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
