package trim

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var kept []byte

// TestHeap: memory is given back a second after the last work, if there was enough.
func TestHeap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		freed := atomic.Int32{}
		m := &Heap{free: func() { freed.Add(1) }}
		for range 10 {
			kept = make([]byte, least)
			m.Worked()
			time.Sleep(pause - time.Millisecond)
		}
		if freed.Load() != 0 {
			t.Errorf("given back %d times during the work", freed.Load())
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if freed.Load() != 1 {
			t.Errorf("given back %d times in the pause, want 1", freed.Load())
		}
		m.Worked()
		time.Sleep(10 * pause)
		synctest.Wait()
		if freed.Load() != 1 {
			t.Errorf("given back %d times after little work, want 1", freed.Load())
		}
		kept = make([]byte, least)
		m.Worked()
		time.Sleep(10 * pause)
		synctest.Wait()
		if freed.Load() != 2 {
			t.Errorf("given back %d times after more work, want 2", freed.Load())
		}
	})
}
