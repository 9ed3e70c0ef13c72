package zmtp

import (
	"sync"
	"sync/atomic"
)

const (
	outboxBytes = 64 << 20  // may wait for a peer that reads nothing, beside the message being written
	outboxMost  = 512 << 20 // may wait for a peer that reads slowly
	answerBytes = 1 << 20   // of answers to the peer's own messages that may wait for it
	smallBytes  = 16 << 10  // of a message that its sender writes itself
	keptPlaces  = 1 << 10   // of the queue that stay when it is empty
)

// message waits to be written to one or more peers: frames, or a command with its
// body.
type message struct {
	frames  [][]byte
	command string
	answer  bool         // to the peer's own message
	size    int          // with overhead
	queues  atomic.Int32 // that it is in: the budget counts it once
}

func newMessage(frames [][]byte) *message {
	m := &message{frames: frames, size: messageOverhead}
	for _, f := range frames {
		m.size += len(f) + frameOverhead
	}
	return m
}

// outbox owns and counts the messages that wait for a peer, and decides which
// goroutine writes to the peer. The sender of a small message writes it if the queue
// is empty, because waking another goroutine takes longer than writing. Otherwise the
// peer's write goroutine does.
type outbox struct {
	budget *Budget

	mu      sync.Mutex // guards what follows
	changed *sync.Cond // the write goroutine may have something to do
	waiting []*message
	front   *message // being written by the write goroutine
	bytes   int      // of waiting and front
	answers int      // of these, answers
	lent    bool     // a sender writes
	writing bool     // the write goroutine writes
	rest    bool     // a sender could not write all of its message
	closed  bool
	reason  error // why it was closed, if for a violation
}

func newOutbox(budget *Budget) *outbox {
	o := &outbox{budget: budget}
	o.changed = sync.NewCond(&o.mu)
	return o
}

// lend allows the caller to write messages itself; the caller then calls
// giveBack.
func (o *outbox) lend(list []*message) bool {
	size := 0
	for _, m := range list {
		size += m.size
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.lent || o.writing || o.rest || o.closed || len(o.waiting) > 0 || size > smallBytes {
		return false
	}
	o.lent = true
	return true
}

// giveBack ends the loan of the connection. With rest, the write goroutine
// continues.
func (o *outbox) giveBack(rest bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lent, o.rest = false, rest
	if rest || len(o.waiting) > 0 || o.closed {
		o.changed.Signal()
	}
}

// add queues a message. It returns a violation if too much waits for the peer already:
// dropping the message instead could leave a front end busy for ever.
func (o *outbox) add(m *message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.closed:
		return nil
	case m.answer && o.answers+m.size > answerBytes:
		return violates("zmtp: slow reader: more than %d bytes of answers to its own messages wait", answerBytes)
	case len(o.waiting) > 0 && o.bytes+m.size > outboxMost:
		return violates("zmtp: slow reader: more than %d bytes wait", outboxMost)
	}
	if !o.hold(m) {
		return violates("zmtp: slow reader: too much waits for all peers together")
	}
	o.waiting = append(o.waiting, m)
	o.bytes += m.size
	if m.answer {
		o.answers += m.size
	}
	o.changed.Signal()
	return nil
}

// hold counts a message in the budget unless another queue has counted it. If the
// budget is used up, a peer with a short queue still gets its message.
func (o *outbox) hold(m *message) bool {
	c := o.counterOf(m)
	if m.queues.Add(1) > 1 || o.budget.take(c, m.size) {
		return true
	}
	if !m.answer && len(o.waiting) == 0 {
		c.used.Add(int64(m.size))
		o.budget.hold(m.size)
		return true
	}
	m.queues.Add(-1)
	return false
}

func (o *outbox) counterOf(m *message) *counter {
	if m.answer {
		return &o.budget.answers
	}
	return &o.budget.outgoing
}

// drop stops counting a message that has left the queue. The caller holds
// mu.
func (o *outbox) drop(m *message) {
	o.bytes -= m.size
	if m.answer {
		o.answers -= m.size
	}
	if m.queues.Add(-1) == 0 {
		o.budget.give(o.counterOf(m), m.size)
	}
}

// wait returns when there is something to write; false means never again.
func (o *outbox) wait() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writing = false
	for o.lent || len(o.waiting) == 0 && !o.rest && !o.closed {
		o.changed.Wait()
	}
	more := len(o.waiting) > 0 || o.rest
	o.writing, o.rest = true, false
	return more
}

// next returns the next message to write, nil where none waits. The message
// before it has been written.
func (o *outbox) next() *message {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.front != nil {
		o.drop(o.front)
		o.front = nil
	}
	if len(o.waiting) == 0 {
		if cap(o.waiting) > keptPlaces {
			o.waiting = nil
		}
		return nil
	}
	o.front, o.waiting[0] = o.waiting[0], nil
	o.waiting = o.waiting[1:]
	return o.front
}

// behind reports whether the queue exceeds its bound, so that the peer has to read.
func (o *outbox) behind() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	held := o.bytes
	if o.front != nil {
		held -= o.front.size
	}
	return held > outboxBytes
}

// close rejects further messages. Queued ones are still written.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.changed.Signal()
}

// discard closes the outbox and drops the messages that wait. The first reason
// stays.
func (o *outbox) discard(reason error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.clear(reason)
}

// clear is discard. The caller holds mu.
func (o *outbox) clear(reason error) {
	for _, m := range o.waiting {
		o.drop(m)
	}
	o.waiting, o.closed, o.rest = nil, true, false
	if o.reason == nil {
		o.reason = reason
	}
	o.changed.Signal()
}

// end drops all messages. It is the last call of the write goroutine.
func (o *outbox) end() {
	o.discard(nil)
	o.next()
}

// why returns the violation for which the outbox was closed.
func (o *outbox) why() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.reason
}
