package zmtp

import (
	"context"
	"runtime/debug"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// The memory that a message and a frame take besides their bytes: slice headers, the
// allocator's rounding, the place in a queue.
const (
	messageOverhead = 192
	frameOverhead   = 48
)

// The bounds of all peers of a Budget together. A kernel's own messages count
// once however many peers they wait for.
const (
	strangersBytes = 24 << 20 // being received from peers that have not proved that they have the key
	clientsBytes   = 1 << 30  // being received from the others
	answersBytes   = 8 << 20  // answers that wait: pongs, echoes, welcomes
	topicsBytes    = 8 << 20  // subscriptions
	outgoingBytes  = 1 << 30  // everything that waits to be sent
)

// returnAbove is how much must have been held before the memory is given back to
// the system, returnDelay how long after most of it is free.
const (
	returnAbove = 8 << 20
	returnDelay = time.Second
)

// Budget bounds the memory that the peers of one or more sockets make this
// process hold, and counts it. Its methods may be called from any goroutine.
type Budget struct {
	strangers, clients        *semaphore.Weighted
	answers, topics, outgoing counter
	held                      atomic.Int64 // of all of these
	peak                      atomic.Int64 // of held, since memory was last given back
	freeing                   atomic.Bool
	returnToSystem            func() // debug.FreeOSMemory, except in tests
}

// counter is an amount with a bound.
type counter struct {
	limit int64
	used  atomic.Int64
}

// take adds n, unless that would pass the bound.
func (c *counter) take(n int) bool {
	if c.used.Add(int64(n)) > c.limit {
		c.used.Add(-int64(n))
		return false
	}
	return true
}

func (c *counter) give(n int) { c.used.Add(-int64(n)) }

// NewBudget makes the budget of a process.
func NewBudget() *Budget {
	return &Budget{
		strangers: semaphore.NewWeighted(strangersBytes), clients: semaphore.NewWeighted(clientsBytes),
		answers: counter{limit: answersBytes}, topics: counter{limit: topicsBytes}, outgoing: counter{limit: outgoingBytes},
		returnToSystem: debug.FreeOSMemory,
	}
}

// Held is the number of bytes that peers make this process hold now.
func (b *Budget) Held() int64 { return b.held.Load() }

// hold counts n bytes more, or fewer. It returns free memory to the system, because
// the runtime alone would keep the memory of a disconnected peer for minutes.
func (b *Budget) hold(n int) {
	now := b.held.Add(int64(n))
	if n > 0 {
		for peak := b.peak.Load(); now > peak && !b.peak.CompareAndSwap(peak, now); peak = b.peak.Load() {
		}
		return
	}
	if peak := b.peak.Load(); peak > returnAbove && now < peak/4 && b.freeing.CompareAndSwap(false, true) {
		time.AfterFunc(returnDelay, func() {
			b.freeing.Store(false)
			b.peak.Store(b.held.Load())
			b.returnToSystem()
		})
	}
}

// take counts n bytes in one of the counters.
func (b *Budget) take(c *counter, n int) bool {
	if !c.take(n) {
		return false
	}
	b.hold(n)
	return true
}

func (b *Budget) give(c *counter, n int) {
	c.give(n)
	b.hold(-n)
}

// receive waits until n more bytes may be received.
func (b *Budget) receive(ctx context.Context, from *semaphore.Weighted, n int) error {
	if err := from.Acquire(ctx, int64(n)); err != nil {
		return err
	}
	b.hold(n)
	return nil
}

func (b *Budget) received(from *semaphore.Weighted, n int) {
	from.Release(int64(n))
	b.hold(-n)
}
