package trim

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"
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

// TestGiveBackEmptiesPools: one collection leaves a pool's objects, and the spans that
// they are in.
func TestGiveBackEmptiesPools(t *testing.T) {
	var pool sync.Pool
	object := new([4096]byte)
	kept := weak.Make(object)
	pool.Put(object)
	object = nil
	giveBack()
	if kept.Value() != nil {
		t.Error("the pool still has its object")
	}
	if n := pool.Get(); n != nil {
		t.Errorf("the pool gives %T, expected nothing", n)
	}
}
