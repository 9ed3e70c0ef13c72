package stop

import (
	"runtime/metrics"
	"time"
)

// The watchdog looks at cells every watchTick and stays for some time after the last
// one: starting it takes longer than running a small cell.
const (
	watchTick = 10 * time.Millisecond
	watchIdle = 100 // ticks
)

// Watched makes the watchdog watch cells until done is called, and call lasting at each
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

// look returns the state to watch. If there has been nothing to watch for long, the
// watchdog ends.
func (s *Stopper) look(idle int) (jobs, runs, begun int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watching = s.jobs > 0 || idle < watchIdle
	return s.jobs, s.runs, s.begun
}

// watch calls lasting while there are cells, and raises the flag when their stacks have
// grown too much, so that a runaway recursion becomes an error of its cell.
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
		if begun != seen { // a cell has begun since the last tick, or since watch began
			base, seen = last, begun
		}
		last = read()
		base = min(base, last)
		if time.Since(raised) > lookTime {
			s.change(tooDeep, running)
		}
		if runs > 0 && last > base+maxStackGrowth && s.change(running, tooDeep) {
			raised = time.Now()
			base = last // the stack itself stays large until a collection
		}
	}
}
