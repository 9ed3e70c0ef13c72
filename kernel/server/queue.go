package server

import "sync"

// queued is how many requests wait for a dispatcher before their senders do.
const queued = 1024

// queue holds the requests that wait for a dispatcher. One is served at a time.
// Any goroutine may call its methods.
type queue struct {
	mu      sync.Mutex // guards what follows
	changed *sync.Cond
	calls   []*call
	serving bool // until done is called
	closed  bool
}

func newQueue() *queue {
	q := &queue{}
	q.changed = sync.NewCond(&q.mu)
	return q
}

// push adds a request, which may wait. It returns false once the queue is
// closed.
func (q *queue) push(c *call) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.calls) >= queued && !q.closed {
		q.changed.Wait()
	}
	if q.closed {
		return false
	}
	q.calls = append(q.calls, c)
	q.changed.Broadcast()
	return true
}

// turn says whether a request may be served at once, by the caller.
func (q *queue) turn() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.serving || q.closed || len(q.calls) > 0 {
		return false
	}
	q.serving = true
	return true
}

// done ends what turn or pop has begun.
func (q *queue) done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.serving = false
	if q.closed || len(q.calls) > 0 {
		q.changed.Broadcast()
	}
}

// pop waits for the turn of the oldest request. It returns nil once the queue is
// closed.
func (q *queue) pop() *call {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.serving || len(q.calls) == 0 && !q.closed {
		q.changed.Wait()
	}
	if q.closed {
		return nil
	}
	c := q.calls[0]
	q.calls[0] = nil
	q.calls = q.calls[1:]
	q.serving = true
	q.changed.Broadcast()
	return c
}

// dispatch has the requests served, until the queue is closed and the last one is
// done.
func (q *queue) dispatch(serve func(c *call, done func())) {
	for c := q.pop(); c != nil; c = q.pop() {
		serve(c, q.done)
	}
}

// close ends the queue and returns what was left in it.
func (q *queue) close() []*call {
	q.mu.Lock()
	defer q.mu.Unlock()
	left := q.calls
	q.calls, q.closed = nil, true
	q.changed.Broadcast()
	return left
}
