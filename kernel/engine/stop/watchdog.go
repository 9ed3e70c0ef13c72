package stop

import "time"

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

// idles reports whether no cell runs. If none has run for long, the watchdog ends.
func (s *Stopper) idles(ticks int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watching = s.jobs > 0 || ticks < watchIdle
	return s.jobs == 0
}

// watch calls lasting while there are cells.
func (s *Stopper) watch(lasting func()) {
	tick := time.NewTicker(watchTick)
	defer tick.Stop()
	for idle := 0; idle <= watchIdle; idle++ {
		<-tick.C
		if !s.idles(idle) {
			idle = 0
			lasting()
		}
	}
}
