package zmtp

import "sync"

// outboxBytes is how much may wait for a peer that reads slowly. Messages
// beyond it are dropped, as ZeroMQ does at its high-water mark.
const outboxBytes = 64 << 20

// message is what waits to be written: frames, or the answer to a ping.
type message struct {
	frames [][]byte
	pong   bool
}

// smallBytes is how large messages may be that their sender writes itself.
const smallBytes = 16 << 10

// outbox holds what a peer has not been sent yet, and says who may write to the
// peer: the goroutine that sends a small message when nothing else waits, for
// which waking another one would take longer than to write, or else the peer's
// write goroutine.
type outbox struct {
	mu      sync.Mutex // guards what follows
	changed *sync.Cond // the write goroutine may have something to do
	waiting []message
	bytes   int  // of waiting, and of what take gave out last
	given   int  // of what take gave out last: it may not be sent yet
	lent    bool // a sender writes
	writing bool // the write goroutine writes
	rest    bool // a sender could not write all of its message
	closed  bool
}

func newOutbox() *outbox {
	o := &outbox{}
	o.changed = sync.NewCond(&o.mu)
	return o
}

func (m message) size() (n int) {
	for _, f := range m.frames {
		n += len(f)
	}
	return n
}

// lend lets the caller write messages itself, who then calls giveBack.
func (o *outbox) lend(list []message) bool {
	size := 0
	for _, m := range list {
		size += m.size()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lent || o.writing || o.rest || o.closed || len(o.waiting) > 0 || size > smallBytes {
		return false
	}
	o.lent = true
	return true
}

// giveBack ends what lend has begun; rest says that the write goroutine has to
// go on.
func (o *outbox) giveBack(rest bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lent, o.rest = false, rest
	if rest || len(o.waiting) > 0 || o.closed {
		o.changed.Signal()
	}
}

// add queues a message, whole or not at all.
func (o *outbox) add(m message) {
	size := m.size()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || o.bytes > 0 && o.bytes+size > outboxBytes {
		return
	}
	o.waiting = append(o.waiting, m)
	o.bytes += size
	o.changed.Signal()
}

// take waits for messages, or the rest of one, and gives out all there are; the
// caller writes until it calls take again. Its result is false once the outbox is
// closed: these are the last.
func (o *outbox) take() ([]message, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bytes -= o.given
	o.writing = false
	for o.lent || len(o.waiting) == 0 && !o.rest && !o.closed {
		o.changed.Wait()
	}
	batch := o.waiting
	o.waiting, o.given = nil, o.bytes
	o.writing, o.rest = true, false
	return batch, !o.closed
}

func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.changed.Signal()
}
