package zmtp

import (
	"context"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"
)

// A counter admits its limit and no byte more; what it refuses it does not keep.
func TestCounterLimit(t *testing.T) {
	b := NewBudget()
	for name, c := range map[string]struct {
		counter *counter
		limit   int
	}{
		"answers": {&b.answers, 8 << 20}, "topics": {&b.topics, 8 << 20}, "outgoing": {&b.outgoing, 1 << 30},
	} {
		if !b.take(c.counter, c.limit) {
			t.Errorf("%s: the limit itself is refused", name)
		}
		for range 3 { // a refused amount that was kept would show here or below
			if b.take(c.counter, 1) {
				t.Errorf("%s: a byte beyond %d is taken", name, c.limit)
			}
		}
		if held := b.Held(); held != int64(c.limit) {
			t.Errorf("%s: %d bytes held, expected %d", name, held, c.limit)
		}
		b.give(c.counter, 1)
		if !b.take(c.counter, 1) || b.take(c.counter, 1) {
			t.Errorf("%s: expected room for one byte after one is given back", name)
		}
		b.give(c.counter, c.limit)
		if held, used := b.Held(), c.counter.used.Load(); held != 0 || used != 0 {
			t.Errorf("%s: %d bytes held and %d used after all are given back", name, held, used)
		}
	}
}

// What is being received waits at its limit, and goes on after other bytes were released.
func TestReceiveLimit(t *testing.T) {
	b := NewBudget()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		from  *semaphore.Weighted
		limit int
	}{"strangers": {b.strangers, 24 << 20}, "clients": {b.clients, 1 << 30}} {
		for range 2 {
			if err := b.receive(t.Context(), c.from, c.limit); err != nil {
				t.Fatal(err)
			}
			if c.from.TryAcquire(1) {
				t.Fatalf("%s: a byte beyond %d is received", name, c.limit)
			}
			if err := b.receive(ended, c.from, 1); err == nil {
				t.Fatalf("%s: waiting for a byte beyond %d does not end with its context", name, c.limit)
			}
			if held := b.Held(); held != int64(c.limit) {
				t.Errorf("%s: %d bytes held, expected %d", name, held, c.limit)
			}
			if !released(b, c.from, c.limit) {
				t.Fatalf("%s: the bytes that were received are not released", name)
			}
		}
	}
	if b.Held() != 0 {
		t.Errorf("%d bytes held at the end", b.Held())
	}
}

// released gives bytes back, and reports whether all can be received again.
func released(b *Budget, from *semaphore.Weighted, n int) bool {
	b.received(from, n)
	if !from.TryAcquire(int64(n)) {
		return false
	}
	from.Release(int64(n))
	return true
}

// Free memory returns to the system once after more than 8 MiB was held and less than a
// quarter of that is left, and then again only after as much was held again.
func TestMemoryReturns(t *testing.T) {
	const large = 8 << 20
	one := NewBudget()
	if one.hold(1); one.peak.Load() != 1 {
		t.Errorf("one byte was held, and the peak is %d", one.peak.Load())
	}
	for _, c := range []struct {
		name       string
		most, left int
		returns    bool
	}{
		{"little was held", large, 0, false},
		{"a byte more was held", large + 1, 0, true},
		{"a quarter is left", 4 * large, large, false},
		{"less than a quarter is left", 4 * large, large - 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, freed := NewBudget(), make(chan time.Time, 9)
			b.returnToSystem = func() { freed <- time.Now() }
			b.hold(c.most)
			b.hold(-2)
			b.hold(1) // fewer than before
			if b.peak.Load() != int64(c.most) {
				t.Fatalf("peak %d, expected %d", b.peak.Load(), c.most)
			}
			start := time.Now()
			b.hold(c.left - c.most + 1)
			if pending := b.freeing.Load(); pending != c.returns {
				t.Fatalf("memory returns: %v, expected %v", pending, c.returns)
			}
			if !c.returns {
				return
			}
			b.hold(1)
			b.hold(-1) // while one return is due, there is no second
			if at := <-freed; at.Sub(start) < returnDelay {
				t.Errorf("memory returns after %v, expected at least %v", at.Sub(start), returnDelay)
			}
			if peak, held := b.peak.Load(), b.Held(); peak != held || b.freeing.Load() {
				t.Errorf("afterwards the peak is %d, expected %d", peak, held)
			}
			b.hold(1)
			b.hold(-1) // little was held since
			if b.freeing.Load() || len(freed) != 0 {
				t.Error("memory returns a second time")
			}
			b.hold(c.most)
			b.hold(-c.most)
			if !b.freeing.Load() {
				t.Error("memory does not return after as much was held again")
			}
		})
	}
}
