package server

import "sync"

// The limits of a queue. At a limit the receiving of further requests waits.
const (
	queued      = 1024
	queuedBytes = 64 << 20 // the last request may exceed it
)

// queue holds the requests that wait for a dispatcher. One is served at a time.
// Any goroutine may call its methods.
type queue struct {
	mu      sync.Mutex // guards the fields below
	changed *sync.Cond
	calls   []*call
	bytes   int  // of calls
	serving bool // until done is called
	closed  bool
}

func newQueue() *queue {
	q := &queue{}
	q.changed = sync.NewCond(&q.mu)
	return q
}

// push adds a request, and waits while the queue is full. It returns false once the
// queue is closed.
func (q *queue) push(c *call) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for (len(q.calls) >= queued || q.bytes > queuedBytes) && !q.closed {
		q.changed.Wait()
	}
	if q.closed {
		return false
	}
	q.calls = append(q.calls, c)
	q.bytes += c.size()
	q.changed.Broadcast()
	return true
}

// turn reports whether the caller may serve a request at once.
func (q *queue) turn() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.serving || q.closed || len(q.calls) > 0 {
		return false
	}
	q.serving = true
	return true
}

// done ends the service that turn or pop began.
func (q *queue) done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.serving = false
	if q.closed || len(q.calls) > 0 {
		q.changed.Broadcast()
	}
}

// pop waits until the oldest request may be served, and returns it; nil once the queue
// is closed.
func (q *queue) pop() *call {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.serving || len(q.calls) == 0 && !q.closed {
		q.changed.Wait()
	}
	if q.closed {
		return nil
	}
	q.serving = true
	return q.take()
}

// next returns the oldest request if it is of a kind that is served together with the
// current one, else nil.
func (q *queue) next(kind func(*call) bool) *call {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.calls) == 0 || !kind(q.calls[0]) {
		return nil
	}
	return q.take()
}

// take removes the oldest request. The caller holds mu.
func (q *queue) take() *call {
	c := q.calls[0]
	q.calls[0] = nil
	q.calls = q.calls[1:]
	q.bytes -= c.size()
	q.changed.Broadcast()
	return c
}

// dispatch serves requests until the queue is closed and the last one is done.
func (q *queue) dispatch(serve func(c *call, done func())) {
	for c := q.pop(); c != nil; c = q.pop() {
		serve(c, q.done)
	}
}

// close ends the queue and returns the requests left in it.
func (q *queue) close() []*call {
	q.mu.Lock()
	defer q.mu.Unlock()
	left := q.calls
	q.calls, q.bytes, q.closed = nil, 0, true
	q.changed.Broadcast()
	return left
}
